"""The workloads around the doomed pods: which Deployment each belongs to, what it has left, and what is missing.

Law: a released pod counts as its Deployment's, whoever released it; a pod on a host that has been taken counts no more.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.pacing import startup_of
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.observation import NamespaceView
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
    """All workloads of the namespaces observed, by the uid of their Deployment.

    A released pod is its ReplicaSet's, so that a Deployment made anew over the same ReplicaSet takes it over; while no
    Deployment has that ReplicaSet, it is counted by itself, under its own uid.
    """

    by_uid: dict[str, Workload] = field(default_factory=dict)
    _by_replica_set: dict[str, str] = field(default_factory=dict)
    _replica_sets: dict[str, ReplicaSet] = field(default_factory=dict)
    _known: frozenset[str] = frozenset()

    def of(self, pod: Pod) -> Workload | None:
        """The workload of a pod, by its owner or by where it was released from."""
        if pod.released:
            replica_set = self._former_of(pod)
            return self.by_uid.get(self._uid_over(replica_set)) if replica_set else None
        uid = self._by_replica_set.get(pod.owner.uid) if pod.owner else None
        return self.by_uid.get(uid) if uid else None

    def is_orphan(self, pod: Pod) -> bool:
        """Whether the pod was released from a ReplicaSet that is no more: nobody wants its replica."""
        if pod.released is None or pod.ref.namespace not in self._known:
            return False
        replica_set = self._replica_sets.get(pod.released.replica_set_uid)
        workload = self.by_uid.get(self._uid_over(replica_set)) if replica_set else None
        return replica_set is None or (workload is not None and workload.deployment.is_being_deleted)

    def _former_of(self, pod: Pod) -> ReplicaSet | None:
        """The ReplicaSet that a released pod would be again: whoever only says so is none of its pods."""
        released = pod.released
        replica_set = self._replica_sets.get(released.replica_set_uid) if released else None
        if released is None or replica_set is None or pod.owner is not None:
            return None
        return replica_set if replica_set.selector.matches({**pod.labels, LABEL_TEMPLATE_HASH: released.hash}) else None

    def _uid_over(self, replica_set: ReplicaSet) -> str:
        return self._by_replica_set.get(replica_set.uid, replica_set.uid)

    @classmethod
    def gather(cls, namespaces: Mapping[str, NamespaceView], accepted: Mapping[PodRef, Pod]) -> "Workloads":
        """Sort pods to their Deployments. `accepted`: pods whose release was accepted, which may not show yet."""
        found = cls(_known=frozenset(n for n, view in namespaces.items() if _is_read(view)))
        for view in namespaces.values():
            found._add(view, accepted)
        return found

    def _add(self, view: NamespaceView, accepted: Mapping[PodRef, Pod]) -> None:
        deployments = {deployment.uid: deployment for deployment in view.deployments.items}
        sets: defaultdict[str, list[ReplicaSet]] = defaultdict(list)
        for replica_set in view.replica_sets.items:
            self._replica_sets[replica_set.uid] = replica_set
            owner = replica_set.owner
            if owner and owner.kind == "Deployment" and owner.api_version == "apps/v1" and owner.uid in deployments:
                self._by_replica_set[replica_set.uid] = owner.uid
            sets[self._uid_over(replica_set)].append(replica_set)
        owned, released = self._sorted(view, accepted)
        for uid in (*deployments, *(uid for uid in released if uid not in deployments)):
            deployment = deployments.get(uid) or _alone(sets[uid][0])
            self.by_uid[uid] = Workload(deployment, tuple(sets[uid]), tuple(owned[uid]), tuple(released[uid]))

    def _sorted(
        self, view: NamespaceView, accepted: Mapping[PodRef, Pod]
    ) -> tuple[defaultdict[str, list[Pod]], defaultdict[str, list[Pod]]]:
        """The active pods, owned and released, by the uid that they are counted under."""
        owned: defaultdict[str, list[Pod]] = defaultdict(list)
        released: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in view.pods.items:
            if pod.deletion or pod.phase in _FINISHED:
                continue
            once = pod if pod.released else accepted.get(pod.ref, pod)
            if once.released:
                if former := self._former_of(once):
                    released[self._uid_over(former)].append(once)
            elif pod.owner and pod.owner.uid in self._replica_sets:
                owned[self._uid_over(self._replica_sets[pod.owner.uid])].append(pod)
        return owned, released


def _alone(replica_set: ReplicaSet) -> Deployment:
    """A ReplicaSet that no Deployment has (any more), counted as one: it consents to no pod more than its replicas."""
    return Deployment(
        replica_set.namespace,
        replica_set.name,
        replica_set.uid,
        replica_set.replicas,
        max_surge=0,
        is_being_deleted=replica_set.is_being_deleted,
    )


def _is_read(view: NamespaceView) -> bool:
    return view.deployments.freshness.is_read and view.replica_sets.freshness.is_read
