"""What this invocation remembers of its requests for one pod, and when the next may be sent.

Law: forgetting all of it costs a takeover one more try, and nothing else.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import (
    Absent,
    Blocked,
    Conflict,
    Done,
    Forbidden,
    NamespaceTerminating,
    Passing,
    Refused,
    Result,
    SeveralBudgets,
    Throttled,
    Unauthenticated,
    Unknown,
)
from lambdas.domain.values.kubernetes import BudgetRef, PodRef

Ask = Evict | Delete

_LONGEST = timedelta(seconds=2)
_POLL_BLOCKED = timedelta(seconds=2)
_POLL_REFUSED = timedelta(seconds=5)
_DOUBT = timedelta(seconds=3)
_URGENT = timedelta(milliseconds=250)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The requests for one pod. `versions`: its budgets' resource versions when the last one was sent."""

    pod: PodRef
    in_flight: tuple[Ask, ...] = ()
    asked_at: datetime | None = None
    last_ask: Ask | None = None
    versions: Mapping[BudgetRef, str] | None = None
    signalled: Ask | None = None
    signalled_at: datetime | None = None
    is_absent: bool = False
    failures: int = 0
    last_result: Result | None = None
    not_before: datetime | None = None

    def asking(self, ask: Ask, versions: Mapping[BudgetRef, str], now: datetime) -> "Attempt":
        """After a request was handed to the pool."""
        return replace(
            self,
            in_flight=(*self.in_flight, ask),
            asked_at=now,
            last_ask=ask,
            versions=dict(versions),
            is_absent=False,
        )

    def answered(self, ask: Ask, result: Result, now: datetime) -> "Attempt":
        """After its answer came; `not_before` is when the next request makes sense."""
        left = tuple(a for a in self.in_flight if a is not ask)
        match result:
            case Done():
                first = self.signalled is None
                return replace(
                    self,
                    in_flight=left,
                    signalled=ask if first else self.signalled,
                    signalled_at=now if first else self.signalled_at,
                    last_result=result,
                )
            case Absent():
                return replace(self, in_flight=left, is_absent=True, last_result=result, not_before=now + _DOUBT)
            case _:
                failures = self.failures + 1
                pause = pause_after(result, failures, self.pod.uid)
                return replace(self, in_flight=left, failures=failures, last_result=result, not_before=now + pause)

    def is_believed_absent(self, now: datetime, *, is_due: bool) -> bool:
        """Whether a 404 is taken at its word: at the last safe moment a pod that is still listed is asked for again."""
        return self.is_absent and not (is_due and self.not_before is not None and self.not_before <= now)

    def may_ask_at(self, *, is_due: bool) -> datetime | None:
        """When the next request may go; at and past the last safe moment (`is_due`) never long after the last one."""
        if self.not_before is None or self.asked_at is None or not is_due:
            return self.not_before
        return min(self.not_before, self.asked_at + _URGENT)


def pause_after(result: Result, failures: int, seed: str) -> timedelta:
    """How long to leave the API alone after this answer; spread by `seed`, so that not all return together."""
    match result:
        case Blocked() | NamespaceTerminating() | SeveralBudgets():
            return _POLL_BLOCKED
        case Forbidden() | Unauthenticated() | Refused():
            return min(_POLL_REFUSED, timedelta(seconds=(1 << min(failures, 4)) / 2))
        case Throttled(retry_after):
            return min(max(retry_after, backoff(failures, seed)), _LONGEST)
        case Conflict() | Passing() | Unknown():
            return backoff(failures, seed)
        case _:
            return timedelta(0)


def backoff(failures: int, seed: str) -> timedelta:
    """0.1 s doubling to 2 s, between half and the whole of it by `seed`: jitter that repeats from run to run."""
    whole = min(_LONGEST, timedelta(milliseconds=100 * (1 << min(failures - 1, 6))))
    return whole * (0.5 + (zlib.crc32(seed.encode()) % 1000) / 2000)
