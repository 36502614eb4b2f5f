"""Showing a drain, simulated or real: its story as it happens, its outcome at the end, or all of it as JSON."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evac.rendering.document import write_document
from evac.replay.outcome import Replay
from evac.replay.recording import Listener, nobody
from evac.replay.story import Line

if TYPE_CHECKING:
    from rich.console import Console

    from evac.rendering.lines import LiveLines


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How it is to be shown. `is_live`: time is real, so that no line is held back to see whether the next shares it.

    `speed`: virtual seconds in a real one; None: as fast as it goes. `report`: a file for it as a page.
    """

    as_json: bool = False
    is_quiet: bool = False
    is_live: bool = False
    speed: float | None = None
    report: Path | None = None


def show(carry_out: Callable[[Listener], Replay], view: View) -> int:
    """Carry it out before a listener's eyes; the exit code comes back. Raises `InputError`, for a report that cannot
    be written before anything begins."""
    if view.report is None:
        return _show(carry_out, view).exit_code
    from evac.report.page import check, write  # noqa: PLC0415 - only a report needs them
    from evac.report.told import told_of  # noqa: PLC0415 - the same

    check(view.report)
    replay = _show(carry_out, view)
    write(view.report, told_of(replay))
    return replay.exit_code


def _show(carry_out: Callable[[Listener], Replay], view: View) -> Replay:
    if view.as_json:
        replay = carry_out(nobody)
        sys.stdout.write(write_document(replay))
        return replay
    from evac.rendering.console import PatientConsole  # noqa: PLC0415 - rich is slow to import; JSON needs none of it
    from evac.rendering.summary import print_summary  # noqa: PLC0415 - the same

    story = _Story(PatientConsole(highlight=False), view)
    try:
        replay = carry_out(nobody if view.is_quiet else story.listener)
    finally:
        story.end()
    print_summary(replay, story.console)
    return replay


class _Story:
    """The live part of the table output."""

    def __init__(self, console: "Console", view: View) -> None:
        self.console = console
        self._view = view
        self._lines: LiveLines | None = None

    def listener(self, zero: datetime) -> Callable[[Line], None]:
        """Print each line as it comes, at the speed that was asked for."""
        from evac.rendering.lines import LiveLines, Pace  # noqa: PLC0415 - loads rich

        lines = self._lines = LiveLines(self.console, zero, groups=not self._view.is_live)
        if self._view.speed is None:
            return lines.tell
        pace = Pace(zero, self._view.speed)

        def paced(line: Line) -> None:
            lines.before(line)
            pace.until(line.at)
            lines.tell(line)

        return paced

    def end(self) -> None:
        """Print what was kept back."""
        if self._lines is not None:
            self._lines.flush()
