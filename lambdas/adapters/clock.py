"""The system's clock: the one place where a running drain reads the time."""

from datetime import UTC, datetime


class SystemClock:
    """`Clock` by the operating system."""

    def now(self) -> datetime:
        """This moment, aware, in UTC."""
        return datetime.now(UTC)
