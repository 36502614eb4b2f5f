"""The drain as it happens: an entry a line, pods that share one at one moment put together."""

import textwrap
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from rich.console import Console
from rich.text import Text

from evac.rendering.words import clean, folded, offset
from lambdas.domain.values.journal import Entry, Happening

_INDENT: Final = 20
_NARROWEST: Final = 40
_VERBS: Final = {Happening.EXCLUDED: "excluded", Happening.LOST: "LOST"}
_DETAILS: Final = {Happening.EXCLUDED: "from external load balancers"}
_STYLES: Final = {
    Happening.NOTICED: "bold",
    Happening.CORDONED: "bold",
    Happening.HELD: "yellow",
    Happening.DELETED: "magenta",
    Happening.EVICTED: "cyan",
    Happening.GONE: "green",
    Happening.LOST: "bold red",
    Happening.PROBLEM: "red",
    Happening.ENDED: "bold",
}


class LiveLines:
    """Prints entries. Where it `groups`, one is held back until it is known whether the next shares it."""

    def __init__(self, console: Console, zero: datetime, *, groups: bool) -> None:
        self._console = console
        self._zero = zero
        self._groups = groups
        self._pending: list[Entry] = []

    def tell(self, entry: Entry) -> None:
        """Print it, or hold it back."""
        self.before(entry)
        self._pending.append(entry)
        if not self._groups:
            self.flush()

    def before(self, entry: Entry) -> None:
        """Print what is held back and is not shared by this one."""
        if self._pending and self._shared(self._pending[0]) != self._shared(entry):
            self.flush()

    def flush(self) -> None:
        """Print what is held back."""
        if self._pending:
            entries, self._pending = self._pending, []
            self._print(entries)

    def _shared(self, entry: Entry) -> tuple[str, Happening, str, str]:
        """What puts entries together: the moment as it is shown, what happened, where, and how."""
        return self._when(entry), entry.happening, entry.node_name, entry.detail

    def _when(self, entry: Entry) -> str:
        return offset((entry.at - self._zero).total_seconds())

    def _print(self, entries: list[Entry]) -> None:
        first = entries[0]
        detail = _detail(first)
        if len(entries) == 1:
            paragraphs = [f"{clean(first.subject)}  {detail}".rstrip()]
        else:
            paragraphs = [f"{len(entries)} pods  {detail}".rstrip(), " ".join(folded([e.subject for e in entries]))]
        width = max(_NARROWEST, self._console.width - _INDENT)
        lines = [part for p in paragraphs for part in textwrap.wrap(p, width, break_on_hyphens=False)]
        verb = (f"{_VERBS.get(first.happening, first.happening.value):<9}", _STYLES.get(first.happening, ""))
        text = Text.assemble((f"{self._when(first):>8}", "dim"), "  ", verb, " ", f"\n{' ' * _INDENT}".join(lines))
        self._console.print(text, soft_wrap=True)


def _detail(entry: Entry) -> str:
    detail = clean(_DETAILS.get(entry.happening, entry.detail))
    return detail.removeprefix("held ") if entry.happening is Happening.HELD else detail


class Pace:
    """Holds virtual time back, so that a person can watch: `speed` virtual seconds in one real second."""

    def __init__(self, zero: datetime, speed: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._last = zero
        self._speed = speed
        self._sleep = sleep

    def until(self, moment: datetime) -> None:
        """Sleep for the virtual time since the last call."""
        passed = (moment - self._last).total_seconds()
        if passed > 0:
            self._last = moment
            self._sleep(passed / self._speed)
