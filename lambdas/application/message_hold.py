"""The messages of a batch, kept invisible by short leases while the invocation lives."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from lambdas.application.ports import Background, MessageLease
from lambdas.contract import MESSAGE_VISIBILITY_SECONDS

_VISIBILITY = timedelta(seconds=MESSAGE_VISIBILITY_SECONDS)


class MessageHold:
    """Renews every third of the visibility, for every message until the invocation returns.

    Whoever received the messages took them first of all; the first renewal is due a third later.
    """

    KEY = "hold"

    def __init__(self, messages: Iterable[str], lease: MessageLease | None, background: Background) -> None:
        self._messages = sorted(set(messages))
        self._lease = lease
        self._background = background
        self._renewed_at: datetime | None = None

    def advance(self, now: datetime) -> list[datetime]:
        """Renew where it is time to; when to look again."""
        lease = self._lease
        if lease is None or not self._messages:
            return []
        self._renewed_at = self._renewed_at or now
        if self._renewed_at + _VISIBILITY / 3 <= now:
            self._renewed_at = now
            self._background.start(self.KEY, lambda: lease.hold(self._messages, _VISIBILITY))
        return [self._renewed_at + _VISIBILITY / 3]
