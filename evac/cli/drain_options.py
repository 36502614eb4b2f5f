"""How a drain drains, as options: the same for every command that drains.

Law: bounds and defaults are the function's own.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from evac.errors import InputError
from evac.scenario.durations import read_duration
from lambdas.contract import MOST_GRACE_COUNTED_SECONDS, MOST_MARGIN_SECONDS
from lambdas.domain.values.settings import BudgetMode, ReleaseMode, Settings

MARGIN: Final = "5s"
GRACE_COUNTED: Final = "60s"

Margin = Annotated[
    str,
    typer.Option("--margin", metavar="TIME", help="Kept free before the deadline: shutdowns are to be over by then."),
]
GraceCounted = Annotated[
    str,
    typer.Option(
        "--grace-counted",
        metavar="TIME",
        help="At most this much of a controlled pod's grace counts towards its last safe moment.",
    ),
]
Budgets = Annotated[
    BudgetMode,
    typer.Option(
        "--budgets",
        help="How far PDBs are exceeded to keep a deadline. pace: one that cannot be kept by the least, and early;"
        " deadline: strictly kept until a pod's last safe moment, then it is deleted; never: a pod that its PDB holds"
        " is left there.",
    ),
]
Release = Annotated[
    ReleaseMode,
    typer.Option(
        "--release",
        help="How many pods of a Deployment are released from it at a time, to be replaced before they leave. within:"
        " its maxSurge; enough: more where the deadline asks for it or there is no room; all: all at once; off: none.",
    ),
]
ReleaseUnchecked = Annotated[
    bool,
    typer.Option("--release-unchecked", help="Release also where a kind that may forbid it cannot be read."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write the drain as a page too, which opens in a browser, offline.",
        show_default=False,
    ),
]


def drain_settings(
    *, margin: str, grace_counted: str, budgets: BudgetMode, release: ReleaseMode, release_unchecked: bool
) -> Settings:
    """The settings of a drain that a person runs, durations as they were typed. Raises `InputError`.

    Their rights are their own, so no admission policy is asked for: it holds the function to its patches.
    """
    return Settings(
        margin=duration_of("--margin", margin, most=MOST_MARGIN_SECONDS),
        grace_counted=duration_of("--grace-counted", grace_counted, most=MOST_GRACE_COUNTED_SECONDS),
        budgets=budgets,
        release=release,
        releases_unchecked=release_unchecked,
        needs_guard=False,
    )


def duration_of(option: str, text: str, most: int | None = None) -> timedelta:
    """The duration that an option was given, of `most` seconds. Raises `InputError`, which names the option."""
    try:
        duration = read_duration(text)
    except InputError as error:
        raise InputError(f"{option}: {error.message}", cure=error.cure) from error
    if most is not None and duration > timedelta(seconds=most):
        raise InputError(f"{option}: {text!r} is more than {most}s", cure=f"give 0s to {most}s")
    return duration


def instead(option: str, words: str) -> Callable[[bool], bool]:
    """A callback for an option that is no more: given, it is refused with the words to type in its place."""

    def refuse(given: bool) -> bool:
        if given:
            raise InputError(f"{option} is no more", cure=f"type {words} instead")
        return given

    return refuse
