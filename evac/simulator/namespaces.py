"""What one client has seen of the workloads of a namespace: what it keeps current, and what it listed once."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from evac.simulator.objects import Raw, key_of, labels_of
from evac.simulator.quotas import Quotas
from evac.simulator.watches import Watch, Watches
from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.values.answers import Done, Forbidden, Result
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.observation import NamespaceView
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
from lambdas.domain.values.workloads import Selecting

T = TypeVar("T")

_SELECTING: Mapping[str, tuple[str, Callable[[Raw], Selecting]]] = {
    "daemonsets": ("DaemonSet", read_daemon_set),
    "jobs": ("Job", read_job),
    "replicationcontrollers": ("ReplicationController", read_replication_controller),
    "networkpolicies": ("NetworkPolicy", read_network_policy),
}


class NamespaceWatch:
    """One namespace; its view is made afresh only where something changed."""

    def __init__(self, namespace: str, quotas: Quotas, changed: Callable[[], None]) -> None:
        self._namespace = namespace
        self._tell = changed
        self._view: NamespaceView | None = None
        self._pods = self._watch("Pod", "pods", read_pod, _has_hash)
        self._deployments = self._watch("Deployment", "deployments", read_deployment)
        self._replica_sets = self._watch("ReplicaSet", "replicasets", read_replica_set)
        self._selecting = {resource: self._once(kind, resource, read) for resource, (kind, read) in _SELECTING.items()}
        self._quotas = self._once("ResourceQuota", "resourcequotas", lambda raw: read_quota(quotas.with_usage(raw)))
        self._autoscalers = self._once("HorizontalPodAutoscaler", "horizontalpodautoscalers", read_autoscaler)
        self._claims = self._once("PersistentVolumeClaim", "persistentvolumeclaims", read_claim)

    def _watch(
        self, kind: str, resource: str, read: Callable[[Raw], T], accepts: Callable[[Raw], bool] = lambda _: True
    ) -> Watch[T]:
        return Watch(kind, resource, lambda raw: self._is_here(raw) and accepts(raw), read, self._changed)

    def _once(self, kind: str, resource: str, read: Callable[[Raw], T]) -> Watch[T]:
        return Watch(kind, resource, self._is_here, read, self._changed, is_listed_once=True)

    def _is_here(self, raw: Raw) -> bool:
        return key_of(raw).namespace == self._namespace

    def _changed(self) -> None:
        self._view = None
        self._tell()

    def list(self, watches: Watches, done: Callable[[Result], None]) -> None:
        """List everything side by side; answered when all has been. What may not be read is seen in its listing."""
        current: list[Watch[Any]] = [self._pods, self._deployments, self._replica_sets]
        once: list[Watch[Any]] = [*self._selecting.values(), self._quotas, self._autoscalers, self._claims]
        results: list[Result] = []

        def answered(result: Result) -> None:
            results.append(result)
            if len(results) == len(current) + len(once):
                done(next((r for r in results if not isinstance(r, Done)), Done()))

        for watch in current:
            watches.list(watch, answered)
        for watch in once:
            watches.list(watch, lambda result: answered(Done() if isinstance(result, Forbidden) else result))

    def view(self) -> NamespaceView:
        """Everything that was told so far."""
        if self._view is None:
            self._view = NamespaceView(
                pods=self._pods.listing(),
                deployments=self._deployments.listing(),
                replica_sets=self._replica_sets.listing(),
                selecting={resource: watch.listing() for resource, watch in self._selecting.items()},
                quotas=self._quotas.listing(),
                autoscalers=self._autoscalers.listing(),
                claims=self._claims.listing(),
            )
        return self._view


def _has_hash(pod: Raw) -> bool:
    return LABEL_TEMPLATE_HASH in labels_of(pod)
