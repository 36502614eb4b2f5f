"""What has been counted of a Job's pods, each pod once.

Law: a pod on its way out counts as failed at once, unless the Job replaces only pods that have failed
(podReplacementPolicy, or any podFailurePolicy); the back-off counts ignored failures too (pkg/controller/job).
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from evac.simulator.controllers.job_indexes import index_of, read_indexes
from evac.simulator.controllers.job_policy import action_for
from evac.simulator.objects import Raw, spec_of, status_of, uid_of
from evac.simulator.pods import is_terminating, phase_of

_FIRST_BACKOFF = timedelta(seconds=10)
_LONGEST_BACKOFF = timedelta(minutes=10)


def is_indexed(job: Raw) -> bool:
    """Whether each completion has an index of its own."""
    return bool(spec_of(job).get("completionMode") == "Indexed")


def replaces_failed_only(job: Raw) -> bool:
    """Whether a pod is replaced only once it has failed, not while it is shutting down."""
    spec = spec_of(job)
    return bool(spec.get("podReplacementPolicy") == "Failed" or spec.get("podFailurePolicy"))


@dataclass(slots=True)
class Tally:
    """Successes and failures of one Job. `fails_because`: why it has failed as a whole."""

    successes: int
    failed: int
    indexes: set[int]
    counted: set[str] = field(default_factory=set)
    failures_in_a_row: int = 0
    last_failure: datetime | None = None
    fails_because: str = ""

    @classmethod
    def of(cls, job: Raw) -> Self:
        """What the Job's status has counted already."""
        status = status_of(job)
        indexes = read_indexes(str(status.get("completedIndexes") or ""))
        return cls(0 if is_indexed(job) else status.get("succeeded") or 0, status.get("failed") or 0, indexes)

    @property
    def completed(self) -> int:
        """How many completions there are."""
        return len(self.indexes) or self.successes

    def wait(self, now: datetime) -> timedelta:
        """What is left of the back-off after the newest failure."""
        if self.last_failure is None or not self.failures_in_a_row:
            return timedelta(0)
        doublings: int = min(self.failures_in_a_row - 1, 10)
        backoff = min(_FIRST_BACKOFF * (1 << doublings), _LONGEST_BACKOFF)
        return max(self.last_failure + backoff - now, timedelta(0))

    def see(self, job: Raw, pod: Raw, now: datetime, *, was_there: bool) -> None:
        """Count a changed pod if it has come to its end; one that a scenario begins with is in the Job's status."""
        phase = phase_of(pod)
        if uid_of(pod) in self.counted:
            return
        if phase in {"Succeeded", "Failed"} and not was_there and status_of(job).get("startTime"):
            self.counted.add(uid_of(pod))
        elif phase == "Succeeded":
            self._succeed(pod)
        elif phase == "Failed" or (is_terminating(pod) and not replaces_failed_only(job)):
            self._fail(job, pod, now)

    def _succeed(self, pod: Raw) -> None:
        self.counted.add(uid_of(pod))
        self.failures_in_a_row = 0
        index = index_of(pod)
        if index is None:
            self.successes += 1
        else:
            self.indexes.add(index)

    def _fail(self, job: Raw, pod: Raw, now: datetime) -> None:
        self.counted.add(uid_of(pod))
        self.failures_in_a_row += 1
        self.last_failure = now
        match action_for(job, pod):
            case "Ignore":
                return
            case "FailJob":
                self.fails_because = "PodFailurePolicy"
        self.failed += 1
