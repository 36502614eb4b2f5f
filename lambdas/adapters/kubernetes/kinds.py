"""The kinds of objects that are kept current, and how each is listed, watched and read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lambdas.adapters.kubernetes import paths
from lambdas.adapters.kubernetes.store import Seen
from lambdas.domain.values.kubernetes import Budget, Node, Pod, Service
from lambdas.domain.values.manifests import read_budget, read_node, read_pod, read_service

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """`selector` is a field selector. `page`: at most so many at a time, where a cluster may have thousands."""

    resource: str
    path: str
    read: Callable[[Mapping[str, Any]], T]
    selector: str = ""
    page: int = 0

    def seen(self, item: Mapping[str, Any]) -> Seen[T]:
        """An object, read once. One that cannot be read is known by name and fault, and harms no other."""
        metadata = _metadata(item)
        version = version_of(item)
        name = "/".join(str(metadata[k]) for k in ("namespace", "name") if metadata.get(k))
        key = str(metadata.get("uid") or name)
        try:
            return Seen(key, version, self.read(item))
        except Exception as error:  # noqa: BLE001 - any shape may come, and the others must be read
            return Seen(key, version, None, f"{self.resource} {name} ({type(error).__name__}: {error})")


def version_of(item: Mapping[str, Any]) -> str:
    """Its resource version; empty where it has none."""
    return str(_metadata(item).get("resourceVersion") or "")


def _metadata(item: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = item.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


NODES: Kind[Node] = Kind("nodes", paths.NODES, read_node, page=500)
BUDGETS: Kind[Budget] = Kind("poddisruptionbudgets", paths.BUDGETS, read_budget, page=500)
SERVICES: Kind[Service] = Kind("services", paths.SERVICES, read_service, page=500)
"""Watched like the rest, though a Service seldom changes in two minutes: a list without a watch would be another rule
for one request less, and a Service that turns `Local` in mid-drain would be missed."""


def the_node(name: str) -> Kind[Node]:
    """One node. Raises BadName."""
    return Kind("nodes", paths.NODES, read_node, f"metadata.name={paths.checked(name)}")


def pods_on(node_name: str) -> Kind[Pod]:
    """The pods bound to one node, in one go: the API server serves that from its cache by an index, pages from etcd.

    Raises BadName.
    """
    return Kind("pods", paths.PODS, read_pod, f"spec.nodeName={paths.checked(node_name)}")
