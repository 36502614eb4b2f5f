"""What this invocation remembers of its release patches.

Law: a takeover forgets it at the cost of one more try; a workload whose release was refused is tried once, not thirty
times.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lambdas.domain.decisions.attempts import pause_after
from lambdas.domain.values.actions import Release
from lambdas.domain.values.answers import Absent, Conflict, Done, Forbidden, Refused, Result
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.releases import Released

WAKE_EVERY = timedelta(seconds=2)

_TRIES = 3
_GIVEN_UP_AFTER = timedelta(seconds=5)


@dataclass(slots=True)
class ReleaseMemory:
    """`accepted`: pods as they are once released, until that shows; `refused`: workloads (by uid), with the reason."""

    accepted: dict[PodRef, Pod] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    """Workloads that a pod was released from."""
    _woken: dict[str, datetime] = field(default_factory=dict)
    _in_flight: dict[PodRef, str] = field(default_factory=dict)
    _not_before: dict[PodRef, datetime] = field(default_factory=dict)
    _failing: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    """By workload: how often in a row, and since when."""

    def asked(self, ask: Release) -> None:
        """A patch was handed over."""
        self._in_flight[ask.pod] = ask.deployment.uid

    def answered(self, ask: Release, pod: Pod | None, result: Result, now: datetime) -> None:
        """Its answer. `pod`: as last seen. An outcome that nobody told is looked for in what is observed."""
        self._in_flight.pop(ask.pod, None)
        match result:
            case Done() if pod is not None:
                self._failing.pop(ask.deployment.uid, None)
                self.touched.add(ask.deployment.uid)
                self.accepted[ask.pod] = replace(pod, owner=None, released=released_by(ask))
            case Done() | Absent():
                pass
            case Forbidden(message) | Refused(message):
                self.refused[ask.deployment.uid] = message
            case Conflict():  # somebody was faster, perhaps another invocation: no failure of the workload
                self._not_before[ask.pod] = now + pause_after(result, 1, ask.pod.uid)
            case _:
                self._failed(ask, result, now)

    def _failed(self, ask: Release, result: Result, now: datetime) -> None:
        """What fails again and again is given up: its pods leave by their budget while there is time for that."""
        uid = ask.deployment.uid
        times, since = self._failing.get(uid, (0, now))
        self._failing[uid] = times + 1, since
        self._not_before[ask.pod] = now + pause_after(result, times + 1, ask.pod.uid)
        if times >= _TRIES and now >= since + _GIVEN_UP_AFTER:
            self.refused[uid] = f"it failed {times + 1} times, the last with {_words(result)}"

    def forget(self, pod: PodRef) -> None:
        """What was accepted shows by now."""
        self.accepted.pop(pod, None)

    def is_in_flight(self, pod: PodRef) -> bool:
        """Whether its patch is on its way."""
        return pod in self._in_flight

    def in_flight_of(self, deployment_uid: str) -> int:
        """How many patches of a workload are on their way."""
        return sum(1 for uid in self._in_flight.values() if uid == deployment_uid)

    def may_wake(self, deployment_uid: str, now: datetime) -> bool:
        """Whether its ReplicaSet may be touched (again)."""
        last = self._woken.get(deployment_uid)
        return last is None or last + WAKE_EVERY <= now

    def woke(self, deployment_uid: str, now: datetime) -> None:
        """It was touched."""
        self._woken[deployment_uid] = now

    def may_ask_at(self, pod: PodRef) -> datetime | None:
        """When the next patch makes sense."""
        return self._not_before.get(pod)


def _words(result: Result) -> str:
    return str(getattr(result, "message", "") or type(result).__name__)


def released_by(ask: Release) -> Released:
    """What the pod's annotation says once the patch is accepted, save what was overwritten."""
    return Released(
        replica_set=ask.replica_set.name,
        replica_set_uid=ask.replica_set.uid,
        deployment=ask.deployment.name,
        deployment_uid=ask.deployment.uid,
        hash=ask.hash,
        at=ask.at,
    )
