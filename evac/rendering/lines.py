"""The drain as it happens: a line each, pods that share one at about one moment put together."""

import textwrap
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from rich.console import Console
from rich.text import Text

from evac.rendering.moments import belongs_to, grouped
from evac.rendering.words import ENDINGS, clean, enumerated, folded, of_several, offset
from evac.replay.story import NEW_ON, READY, Line
from lambdas.domain.decisions.steps import Hold
from lambdas.domain.values.journal import Happening

_INDENT: Final = 20
_NARROWEST: Final = 40
_VERBS: Final = {Happening.EXCLUDED.value: "excluded", Happening.LOST.value: "LOST"}
_ENDINGS: Final = {ending.value: words for ending, words in ENDINGS.items()}
_STYLES: Final = {
    Happening.NOTICED.value: "bold",
    Happening.CORDONED.value: "bold",
    Happening.HELD.value: "yellow",
    Happening.RELEASED.value: "blue",
    Happening.REPLACED.value: "dim",
    Happening.DELETED.value: "magenta",
    Happening.EVICTED.value: "cyan",
    Happening.GONE.value: "green",
    Happening.LOST.value: "bold red",
    Happening.PROBLEM.value: "red",
    Happening.ENDED.value: "bold",
    READY: "dim",
}


class LiveLines:
    """Prints lines. Where it `groups`, those of a moment are held back until it is over, and told together."""

    def __init__(self, console: Console, zero: datetime, *, groups: bool) -> None:
        self._console = console
        self._zero = zero
        self._groups = groups
        self._pending: list[Line] = []
        self._released: set[tuple[str, str]] = set()

    def tell(self, line: Line) -> None:
        """Print it, or hold it back."""
        self.before(line)
        self._pending.append(line)
        if not self._groups:
            self.flush()

    def before(self, line: Line) -> None:
        """Print what is held back and is of an earlier moment than this one."""
        if self._pending and not belongs_to(self._pending[0], line):
            self.flush()

    def flush(self) -> None:
        """Print what is held back."""
        lines, self._pending = self._pending, []
        groups = grouped([line for line in lines if not self._goes_without_saying(line)])
        for group in sorted(groups, key=lambda group: (self._shown(group[0]), group[0].what == Happening.HELD.value)):
            self._print(group)

    def _goes_without_saying(self, line: Line) -> bool:
        """That a pod waits for its replacement, where its release was told."""
        who = (line.node_name, line.subject)
        if line.what == Happening.RELEASED.value:
            self._released.add(who)
        return line.what == Happening.HELD.value and line.detail == Hold.REPLACEMENT.value and who in self._released

    def _shown(self, line: Line) -> float:
        """Seconds from the notice, as finely as they are shown: of what looks simultaneous holds come last."""
        return round((line.at - self._zero).total_seconds(), 1)

    def _print(self, group: list[Line]) -> None:
        first = group[0]
        width = max(_NARROWEST, self._console.width - _INDENT)
        lines = [part for p in self._paragraphs(group) for part in textwrap.wrap(p, width, break_on_hyphens=False)]
        verb = (f"{_VERBS.get(first.what, first.what):<9}", _STYLES.get(first.what, ""))
        text = Text.assemble(
            (f"{offset(self._shown(first)):>8}", "dim"), "  ", verb, " ", f"\n{' ' * _INDENT}".join(lines)
        )
        self._console.print(text, soft_wrap=True)

    def _paragraphs(self, group: list[Line]) -> list[str]:
        if len(group) == 1:
            return [f"{clean(group[0].subject)}  {_detail(group[0])}".rstrip()]
        took = self._shown(group[-1]) - self._shown(group[0])
        count = f"{len(group)} pods within {took:.1f} s" if took else f"{len(group)} pods"
        return [f"{count}  {_of_group(group)}".rstrip(), " ".join(folded([line.subject for line in group]))]


def _of_group(group: list[Line]) -> str:
    """Of replacements the nodes that they are on, of others what they share."""
    first, *others = dict.fromkeys(clean(line.detail) for line in group)
    if not others:
        return of_several(_detail(group[0]))
    return enumerated([first, *(detail.removeprefix(NEW_ON) for detail in others)])


def _detail(line: Line) -> str:
    match line.what:
        case Happening.EXCLUDED.value:
            return "from external load balancers"
        case Happening.HELD.value:
            return clean(line.detail).removeprefix("held ")
        case Happening.ENDED.value:
            return _ENDINGS.get(line.detail, clean(line.detail))
        case _:
            return clean(line.detail)


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
