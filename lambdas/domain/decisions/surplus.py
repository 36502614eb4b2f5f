"""How many pods of a Deployment may go now, and which.

The Ready pods of all its ReplicaSets and those released from it, less `spec.replicas`: that one formula covers
replacements, scale-down, scale to 0, rollouts and takeover.

Law: released pods go first, and a budget shared with other workloads adds none.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.decisions.turnover import Turnover
from lambdas.domain.values.kubernetes import Pod, PodRef


@dataclass(frozen=True, slots=True)
class Counted:
    """The Ready pods of a workload. `ripe_at`: when the next one has been Ready for its minReadySeconds."""

    ready: int
    ripe_at: datetime | None = None


def count_ready(
    workload: Workload, signalled: Collection[PodRef], taken_hosts: Collection[str], now: datetime
) -> Counted:
    """The pods that serve: Ready for minReadySeconds, not signalled, on a host that still stands.

    Of owned ones no more than are wanted: where there are more their controllers are taking the rest away just now.
    """
    wanted, ripening = workload.deployment.replicas, []
    counts = []
    for pods in (workload.owned, workload.released):
        ripe_at = [_ripe_at(pod, workload) for pod in _serving(pods, signalled, taken_hosts)]
        counts.append(sum(1 for at in ripe_at if at is None or at <= now))
        ripening += [at for at in ripe_at if at is not None and at > now]
    owned = min(counts[0], wanted) if len(workload.owned) > wanted else counts[0]
    return Counted(owned + counts[1], min(ripening, default=None))


def _ripe_at(pod: Pod, workload: Workload) -> datetime | None:
    """When it has been Ready for its minReadySeconds; None: there are none to wait for."""
    min_ready = workload.deployment.min_ready
    return pod.ready_at + min_ready if pod.ready_at and min_ready else None


def _serving(pods: Iterable[Pod], signalled: Collection[PodRef], taken_hosts: Collection[str]) -> Iterable[Pod]:
    return (p for p in pods if p.ready and p.ref not in signalled and p.node_name not in taken_hosts)


class Surplus:
    """Who may go in this step, of those that wait for a replacement; `look_again`: when that changes by time alone."""

    def __init__(self, turnover: Turnover, around: Around, signalled: Collection[PodRef], now: datetime) -> None:
        self.look_again: list[datetime] = []
        self._turnover = turnover
        self._awaited = around.awaited
        self._going: set[PodRef] = set()
        self._unwanted = set(turnover.orphans)
        for uid, waiting in turnover.waiting.items():
            workload = turnover.workloads.by_uid[uid]
            there = [d for d in waiting if d.pod.ref not in signalled]
            counted = count_ready(workload, signalled, around.taken_hosts, now)
            self._going |= self._who(there, counted.ready - workload.deployment.replicas, now)
            if counted.ripe_at:
                self.look_again.append(counted.ripe_at)
            if workload.deployment.replicas == 0:
                self._unwanted |= {d.pod.ref for d in there}

    def _who(self, there: Sequence[Doomed], may_go: int, now: datetime) -> set[PodRef]:
        """A pod past its last safe moment goes anyway, and is counted first."""
        due = sum(1 for d in there if d.last_safe_moment <= now)
        others = [d for d in there if d.last_safe_moment > now and not d.wish]
        others.sort(key=lambda d: (not self._turnover.is_released(d.pod), d.is_critical))
        return {d.pod.ref for d in others[: max(0, may_go - due)]}

    @property
    def going(self) -> frozenset[PodRef]:
        """All that may go, on whatever node."""
        return frozenset(self._going)

    def is_awaited(self, pod: Pod) -> bool:
        """Whether it is not known yet if the pod may be released, and worth a moment's wait."""
        is_in_question = pod.released is not None or (pod.owner is not None and pod.owner.kind == "ReplicaSet")
        return is_in_question and pod.ref.namespace in self._awaited

    def is_replaced_first(self, pod: Pod) -> bool:
        """Whether the pod waits for its replacement: then it is no matter of pacing."""
        return pod.ref in self._turnover.replaced_first

    def lets_go(self, pod: Pod) -> bool:
        """Whether its replacement is Ready, or nobody wants one."""
        return pod.ref in self._going or pod.ref in self._turnover.orphans

    def is_unwanted(self, pod: Pod) -> bool:
        """Whether nobody wants its replica: a budget that counts no pod of its workload must not keep it for ever."""
        return pod.ref in self._unwanted and self.lets_go(pod)

    def is_released(self, pod: Pod) -> bool:
        """Whether no controller would take it."""
        return self._turnover.is_released(pod)
