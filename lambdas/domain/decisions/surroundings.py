"""The workloads around the doomed pods: which Deployment each belongs to, what it has left, and what is missing.

Law: a released pod counts as its Deployment's, whoever released it; a pod on a host that has been taken counts no more.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.decisions.pacing import startup_of
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.observation import Listing, NamespaceView
from lambdas.domain.values.workloads import Deployment, ReplicaSet

_FINISHED = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment with its ReplicaSets and pods, as observed at one moment. `owned` and `released` are the active ones
    (neither finished nor on their way out)."""

    deployment: Deployment
    replica_sets: tuple[ReplicaSet, ...]
    owned: tuple[Pod, ...] = ()
    released: tuple[Pod, ...] = ()

    @property
    def current(self) -> ReplicaSet | None:
        """The ReplicaSet of the Deployment's newest revision."""
        if len(self.replica_sets) == 1:
            return self.replica_sets[0]
        newest = [r for r in self.replica_sets if r.revision and r.revision == self.deployment.revision]
        return newest[0] if len(newest) == 1 else None

    def owned_by(self, replica_set: ReplicaSet) -> int:
        """How many active pods that ReplicaSet has."""
        return sum(1 for pod in self.owned if pod.owner and pod.owner.uid == replica_set.uid)

    @property
    def first_released_at(self) -> datetime | None:
        """The earliest release that still shows."""
        return min((p.released.at for p in self.released if p.released), default=None)

    def replacements(self) -> Sequence[Pod]:
        """Owned pods made since the first release (the API tells whole seconds)."""
        since = self.first_released_at
        if since is None:
            return ()
        since = since.replace(microsecond=0)
        return [pod for pod in self.owned if pod.created_at is not None and pod.created_at >= since]

    def pending(self) -> int:
        """Replacements that are not Ready yet, made or not."""
        made = sum(1 for pod in self.replacements() if not pod.ready)
        return made + max(0, self.deployment.replicas - len(self.owned)) if self.released else 0

    def unplaced_since(self) -> datetime | None:
        """Since when the replacement that has waited longest for a node has been waiting."""
        waiting = (p.created_at for p in self.replacements() if not p.node_name and p.created_at)
        return min(waiting, default=None)

    def unplaced(self) -> int:
        """Replacements for which the scheduler found no node."""
        return sum(1 for pod in self.replacements() if not pod.node_name and pod.is_unschedulable)

    def startup(self) -> timedelta | None:
        """From placed to Ready: as this drain's replacements show it, before that as the running pods do."""
        fresh = startup_of(p for p in self.replacements() if p.ready)
        return fresh or startup_of(p for p in (*self.owned, *self.released) if p.ready)

    def replaced_within(self) -> timedelta | None:
        """From placed to counted: the start-up time, and minReadySeconds; None where it is not known."""
        startup = self.startup()
        return startup + self.deployment.min_ready if startup is not None else None


@dataclass(slots=True)
class Workloads:
    """All workloads of the namespaces observed."""

    by_uid: dict[str, Workload] = field(default_factory=dict)
    _by_replica_set: dict[str, str] = field(default_factory=dict)
    _known: frozenset[str] = frozenset()

    def of(self, pod: Pod) -> Workload | None:
        """The workload of a pod, by its owner or by where it was released from."""
        if pod.released:
            return self.by_uid.get(pod.released.deployment_uid)
        uid = self._by_replica_set.get(pod.owner.uid) if pod.owner else None
        return self.by_uid.get(uid) if uid else None

    def is_orphan(self, pod: Pod) -> bool:
        """Whether the pod was released from a Deployment that is no more: nobody wants its replicas."""
        if pod.released is None or pod.ref.namespace not in self._known:
            return False
        workload = self.by_uid.get(pod.released.deployment_uid)
        return workload is None or workload.deployment.is_being_deleted

    @classmethod
    def gather(cls, namespaces: Mapping[str, NamespaceView], accepted: Mapping[PodRef, Pod]) -> "Workloads":
        """Sort pods to their Deployments. `accepted`: pods whose release was accepted, which may not show yet."""
        found = cls(_known=frozenset(n for n, view in namespaces.items() if _is_read(view.deployments)))
        for view in namespaces.values():
            found._add(view, accepted)
        return found

    def _add(self, view: NamespaceView, accepted: Mapping[PodRef, Pod]) -> None:
        sets: defaultdict[str, list[ReplicaSet]] = defaultdict(list)
        for replica_set in view.replica_sets.items:
            owner = replica_set.owner
            if owner and owner.kind == "Deployment" and owner.api_version == "apps/v1":
                sets[owner.uid].append(replica_set)
                self._by_replica_set[replica_set.uid] = owner.uid
        owned: defaultdict[str, list[Pod]] = defaultdict(list)
        released: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in view.pods.items:
            now_released = pod if pod.released else accepted.get(pod.ref)
            if pod.deletion or pod.phase in _FINISHED:
                continue
            if now_released and now_released.released:
                released[now_released.released.deployment_uid].append(now_released)
            elif pod.owner and pod.owner.uid in self._by_replica_set:
                owned[self._by_replica_set[pod.owner.uid]].append(pod)
        for deployment in view.deployments.items:
            uid = deployment.uid
            self.by_uid[uid] = Workload(deployment, tuple(sets[uid]), tuple(owned[uid]), tuple(released[uid]))


def _is_read(listing: Listing[Deployment]) -> bool:
    return listing.freshness.is_read
