"""The kinds of objects that are kept current, and how each is listed, watched and read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lambdas.adapters.kubernetes import paths
from lambdas.adapters.kubernetes.calls import Collection
from lambdas.adapters.kubernetes.store import Seen
from lambdas.contract import LABEL_DRAINING, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.values.kubernetes import Budget, Node, Pod, Service
from lambdas.domain.values.manifests import read_budget, read_node, read_pod, read_service
from lambdas.domain.values.workload_manifests import (
    read_autoscaler,
    read_claim,
    read_daemon_set,
    read_deployment,
    read_job,
    read_network_policy,
    read_quota,
    read_replica_set,
    read_replication_controller,
)
from lambdas.domain.values.workloads import Deployment, ReplicaSet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """`page`: at most so many at a time, where a cluster may have thousands."""

    collection: Collection
    read: Callable[[Mapping[str, Any]], T]
    page: int = 0

    @property
    def resource(self) -> str:
        """RBAC's word for it."""
        return self.collection.resource

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


NODES: Kind[Node] = Kind(Collection("nodes", paths.NODES), read_node, page=500)
MARKED_NODES: Kind[Node] = Kind(Collection("nodes", paths.NODES, labels=LABEL_DRAINING), read_node, page=500)
RELEASED_PODS: Kind[Pod] = Kind(Collection("pods", paths.PODS, labels=LABEL_RELEASED), read_pod, page=500)
BUDGETS: Kind[Budget] = Kind(Collection("poddisruptionbudgets", paths.BUDGETS), read_budget, page=500)
SERVICES: Kind[Service] = Kind(Collection("services", paths.SERVICES), read_service, page=500)
"""Watched like the rest, though a Service seldom changes in two minutes: a list without a watch would be another rule
for one request less, and a Service that turns `Local` in mid-drain would be missed."""


def the_node(name: str) -> Kind[Node]:
    """One node. Raises BadName."""
    return Kind(Collection("nodes", paths.NODES, fields=f"metadata.name={paths.checked(name)}"), read_node)


def pods_on(node_name: str) -> Kind[Pod]:
    """The pods bound to one node, in one go: the API server serves that from its cache by an index, pages from etcd.

    Raises BadName.
    """
    return Kind(Collection("pods", paths.PODS, fields=f"spec.nodeName={paths.checked(node_name)}"), read_pod)


def pods_of_deployments(namespace: str) -> Kind[Pod]:
    """The pods of a namespace that carry a template hash, released or not. Raises BadName."""
    path = paths.within(namespace, "api/v1", "pods")
    return Kind(Collection("pods", path, labels=LABEL_TEMPLATE_HASH), read_pod, page=500)


def deployments(namespace: str) -> Kind[Deployment]:
    """Of one namespace. Raises BadName."""
    return Kind(_apps(namespace, "deployments"), read_deployment, page=500)


def replica_sets(namespace: str) -> Kind[ReplicaSet]:
    """Of one namespace. Raises BadName."""
    return Kind(_apps(namespace, "replicasets"), read_replica_set, page=500)


def _apps(namespace: str, resource: str) -> Collection:
    return Collection(f"{resource}.apps", paths.within(namespace, "apis/apps/v1", resource))


_LOOKED_AT: Mapping[str, tuple[str, str, Callable[[Mapping[str, Any]], object]]] = {
    "daemonsets": ("daemonsets.apps", "apis/apps/v1", read_daemon_set),
    "jobs": ("jobs.batch", "apis/batch/v1", read_job),
    "replicationcontrollers": ("replicationcontrollers", "api/v1", read_replication_controller),
    "networkpolicies": ("networkpolicies.networking.k8s.io", "apis/networking.k8s.io/v1", read_network_policy),
    "resourcequotas": ("resourcequotas", "api/v1", read_quota),
    "horizontalpodautoscalers": ("horizontalpodautoscalers.autoscaling", "apis/autoscaling/v2", read_autoscaler),
    "persistentvolumeclaims": ("persistentvolumeclaims", "api/v1", read_claim),
}
LOOKED_AT_ONCE = tuple(_LOOKED_AT)
"""What may forbid a release, by its resource's name; the first SELECTING of them select pods."""
SELECTING = LOOKED_AT_ONCE[:4]


def looked_at_once(namespace: str, name: str) -> Kind[Any]:
    """One of LOOKED_AT_ONCE, in one namespace. Raises BadName."""
    resource, group, read = _LOOKED_AT[name]
    return Kind(Collection(resource, paths.within(namespace, group, name)), read, page=500)
