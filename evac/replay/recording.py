"""The reporter of a replay: keeps the story, and passes it on to whoever watches.

Law: a reporter never raises. Who watches may go away (`| head`); a drain goes on.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from evac.replay.story import Line, line_of
from lambdas.domain.values.journal import Entry

Listener = Callable[[datetime], Callable[[Line], None]]
"""Given the moment from which offsets count, what is called with each line."""

Meanwhile = Callable[[datetime], Iterable[Line]]
"""Given a moment, what else has happened up to then and is not told yet."""


def nobody(_zero: datetime) -> Callable[[Line], None]:
    """A listener for when nobody watches."""
    return lambda _line: None


def nothing(_moment: datetime) -> Iterable[Line]:
    """Where no more is known than what the drain reports."""
    return ()


class Recorder:
    """Keeps every line, and passes it on; a reader that fails (a closed pipe) is told nothing more."""

    def __init__(self, listener: Callable[[Line], None], meanwhile: Meanwhile = nothing) -> None:
        self.lines: list[Line] = []
        self._listener: Callable[[Line], None] | None = listener
        self._meanwhile = meanwhile

    def tell(self, entry: Entry) -> None:
        """Keep it and pass it on, after what happened before it."""
        self.catch_up(entry.at)
        self._pass_on(line_of(entry))

    def catch_up(self, moment: datetime) -> None:
        """Tell what else happened up to `moment`."""
        for line in self._meanwhile(moment):
            self._pass_on(line)

    def add(self, lines: Iterable[Line]) -> None:
        """Tell what came to light afterwards."""
        for line in list(lines):
            self._pass_on(line)

    def _pass_on(self, line: Line) -> None:
        self.lines.append(line)
        if self._listener is None:
            return
        try:
            self._listener(line)
        except OSError:
            self._listener = None
