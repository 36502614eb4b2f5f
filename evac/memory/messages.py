"""The queue's two ports in memory: which messages were held how long, and which nobody understood."""

from collections.abc import Iterable
from datetime import timedelta

from lambdas.domain.errors import PassingError, PortError


class MemoryLease:
    """`MessageLease` that remembers. `known`: the messages of this delivery; None takes any."""

    def __init__(self, known: Iterable[str] | None = None) -> None:
        self._known = None if known is None else set(known)
        self.held: list[tuple[tuple[str, ...], timedelta]] = []
        """Each call: which messages, for how long."""
        self.error: PortError | None = None

    def hold(self, message_ids: Iterable[str], visibility: timedelta) -> None:
        """Remember it; those of another delivery cannot be held, which costs the others nothing."""
        if self.error:
            raise self.error
        ids = tuple(message_ids)
        unknown = [i for i in ids if self._known is not None and i not in self._known]
        self.held.append((tuple(i for i in ids if i not in unknown), visibility))
        if unknown:
            raise PassingError(f"{len(unknown)} of {len(ids)} messages could not be held: {'; '.join(unknown)}")

    def visibility_of(self, message_id: str) -> timedelta | None:
        """How long it was held for the last time; None where it never was."""
        return next((visibility for ids, visibility in reversed(self.held) if message_id in ids), None)


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
