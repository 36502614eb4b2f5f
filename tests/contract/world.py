"""What the contract of the `Cluster` port is tried on: a cluster with kubelets, and an administrator's hands in it.

Law: each test finds it empty (namespaces and system objects apart), with at least the namespace `default`. Virtual or
real, time passes only in `until`, `idle` and a port's `wait`.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from lambdas.application.ports import Clock, Cluster

T = TypeVar("T")
Json = dict[str, Any]


class World(Protocol):
    """A cluster. Kinds are those of manifests ("PodDisruptionBudget"); `namespace` is "" for cluster-wide ones."""

    @property
    def clock(self) -> Clock:
        """The cluster's clock, which its ports go by."""
        ...

    def apply(self, manifest: Json) -> Json:
        """Create the object, as the API server then holds it. Its status is not taken over, save a Node's."""
        ...

    def patch(self, kind: str, namespace: str, name: str, patch: Json) -> None:
        """A JSON merge patch (RFC 7386)."""
        ...

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete as kubectl does: gracefully, dependents in the background."""
        ...

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        """The object as the API shows it, None where there is none."""
        ...

    def list(self, kind: str) -> list[Json]:
        """All objects of a kind, of all namespaces."""
        ...

    def cluster(self) -> Cluster:
        """A port of its own, closed when the test ends."""
        ...

    def without_guard(self) -> None:
        """Take away the admission policy that holds our group to its patches of pods, or its binding."""
        ...

    def requests_of(self, cluster: Cluster) -> int:
        """How many requests (watches apart) that port has sent so far."""
        ...

    def until(self, holds: Callable[[], T], within: float = 20) -> T:
        """Let time pass until `holds()` is true; its value. Fails after `within` seconds."""
        ...

    def idle(self, seconds: float) -> None:
        """Let time pass."""
        ...
