"""A request that is repeated until it is served."""

from dataclasses import dataclass
from datetime import datetime

from lambdas.domain.decisions.attempts import pause_after
from lambdas.domain.values.answers import Absent, Done, Located, Result


@dataclass(slots=True)
class Errand:
    """Where one request stands. `served_at`: when it was done, or there was nothing to do it to."""

    seed: str
    begun_at: datetime | None = None
    is_in_flight: bool = False
    served_at: datetime | None = None
    failures: int = 0
    not_before: datetime | None = None

    def may_start(self, now: datetime) -> bool:
        """Whether it may be sent (again)."""
        if self.served_at or self.is_in_flight:
            return False
        return self.not_before is None or self.not_before <= now

    def started(self, now: datetime) -> None:
        """It was handed over."""
        self.is_in_flight = True
        self.begun_at = self.begun_at or now

    def answered(self, result: Result, now: datetime) -> None:
        """Its answer came."""
        self.is_in_flight = False
        match result:
            case Done() | Located() | Absent():
                self.served_at = now
            case _:
                self.failures += 1
                self.not_before = now + pause_after(result, self.failures, self.seed)

    def again_at(self, moment: datetime) -> None:
        """What was not there may be by then."""
        self.served_at, self.not_before = None, moment

    def again(self) -> None:
        """What it did is to be done once more."""
        self.served_at = None

    @property
    def was_answered(self) -> bool:
        """Whether any answer has come, good or bad."""
        return self.served_at is not None or self.failures > 0

    @property
    def look_again_at(self) -> datetime | None:
        """When it may be sent again, where it waits for that."""
        return None if self.served_at or self.is_in_flight else self.not_before
