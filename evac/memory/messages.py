"""The queue's two ports in memory: which messages were held how long, and which nobody understood."""

from collections.abc import Iterable
from datetime import timedelta

from lambdas.domain.errors import PortError


class MemoryLease:
    """`MessageLease` that remembers."""

    def __init__(self) -> None:
        self.held: list[tuple[tuple[str, ...], timedelta]] = []
        """Each call: which messages, for how long."""
        self.error: PortError | None = None

    def hold(self, message_ids: Iterable[str], visibility: timedelta) -> None:
        """Remember it."""
        if self.error:
            raise self.error
        self.held.append((tuple(message_ids), visibility))


class MemoryMalformed:
    """`MalformedMessages` that remembers."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str]] = []
        """Body and reason of each."""
        self.error: PortError | None = None

    def keep(self, body: str, reason: str) -> None:
        """Remember it."""
        if self.error:
            raise self.error
        self.kept.append((body, reason))
