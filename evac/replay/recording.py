"""The reporter of a replay: keeps every entry, and passes it on to whoever watches.

Law: a reporter never raises. Who watches may go away (`| head`); a drain goes on.
"""

from collections.abc import Callable
from datetime import datetime

from lambdas.domain.values.journal import Entry

Listener = Callable[[datetime], Callable[[Entry], None]]
"""Given the moment from which offsets count, what is called with each entry."""


def nobody(_zero: datetime) -> Callable[[Entry], None]:
    """A listener for when nobody watches."""
    return lambda _entry: None


class Recorder:
    """Keeps every entry, and passes it on; a reader that fails (a closed pipe) is told nothing more."""

    def __init__(self, listener: Callable[[Entry], None]) -> None:
        self.entries: list[Entry] = []
        self._listener: Callable[[Entry], None] | None = listener

    def tell(self, entry: Entry) -> None:
        """Keep it and pass it on."""
        self.entries.append(entry)
        if self._listener is None:
            return
        try:
            self._listener(entry)
        except OSError:
            self._listener = None
