"""The end of the table output: tables, then what came of it in sentences."""

import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from evac.rendering.tables import print_tables
from evac.rendering.verdict import sentences
from evac.rendering.words import clean
from evac.replay.outcome import Mode, Replay

if TYPE_CHECKING:
    from rich.console import Console


def print_summary(replay: Replay, console: "Console") -> None:
    """Print it; the last line says the most."""
    print_tables(replay, console)
    console.print()
    if replay.unknown_kinds:
        is_simulated = replay.mode is Mode.SIMULATED
        what = "not in the files (if there are any, print them too)" if is_simulated else "may not be read"
        _print(console, f"{what}, so unknown: {', '.join(replay.unknown_kinds)}", "dim")
    for note in replay.notes:
        _print(console, f"note: {clean(note)}", "dim")
    *others, last = list(sentences(replay)) or [""]
    for sentence in others:
        _print(console, sentence, "bold red" if sentence.startswith("LOST") else "")
    if last:
        style = "bold red" if replay.exit_code else "bold yellow" if replay.exceeded else "bold green"
        _print(console, last, style)


def _print(console: "Console", text: str, style: str) -> None:
    lines = textwrap.wrap(text, console.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    console.print(Text("\n".join(lines), style=style), soft_wrap=True)
