"""`evac drain`: empties nodes for upgrades and repairs, and no replica goes missing."""

from datetime import timedelta
from typing import Annotated

import typer

from evac.cli.drain_options import (
    GRACE_COUNTED,
    MARGIN,
    Budgets,
    GraceCounted,
    Margin,
    Release,
    ReleaseUnchecked,
    Report,
    drain_settings,
    duration_of,
)
from evac.cli.replay import Output
from evac.errors import InputError
from lambdas.domain.values.settings import BudgetMode, ReleaseMode

_HELP = """Empty nodes for an upgrade or a repair: cordon them, have Deployments' pods replaced first, then evict.

Without a deadline budgets are never exceeded: a pod that its PodDisruptionBudget holds, a Job's pod, or one annotated
to be left to finish is waited for, and the output says so. With --within a pod that is still there at its last safe
moment is deleted against its budget, as on a host that dies. Pods without a controller leave too, and nobody makes
them anew. DaemonSet pods stay.

\b
Examples:
  evac drain ip-10-0-1-2.ec2.internal --dry-run
  evac drain ip-10-0-1-2.ec2.internal
  evac drain ip-10-0-1-2.ec2.internal ip-10-0-3-4.ec2.internal --within 15m
  evac undo ip-10-0-1-2.ec2.internal

The nodes stay cordoned, with our marks; evac undo NODE gives them pods again. Broken off (Ctrl-C), the same command
goes on where it stopped.

Exit codes: 0 every pod left, 1 some are still there, 2 wrong usage or no such node, 130 broken off.
"""


def drain(  # noqa: PLR0913, PLR0917 - a command's options are its parameters
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="The nodes, by their names.")],
    within: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The node is to be empty by then (10m): budgets are exceeded where they would prevent that.",
            show_default=False,
        ),
    ] = None,
    no_deadline: Annotated[
        bool, typer.Option("--no-deadline", help="It takes as long as it takes. The default.")
    ] = False,
    kubeconfig: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Default: $KUBECONFIG, else ~/.kube/config.", show_default=False),
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="Default: its current context.", show_default=False)
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Change nothing: read the cluster, and say what would happen, played on the simulator."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Drain without asking. (Only a terminal is ever asked.)")] = False,
    output: Annotated[Output, typer.Option(help="How to show the outcome.")] = Output.TABLE,
    report: Report = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the summary, without the story.")] = False,
    margin: Margin = MARGIN,
    grace_counted: GraceCounted = GRACE_COUNTED,
    budgets: Budgets = BudgetMode.PACE,
    release: Release = ReleaseMode.ENOUGH,
    release_unchecked: ReleaseUnchecked = False,
) -> None:
    from evac.cli.draining import DrainOrders, drain_nodes  # noqa: PLC0415 - `--help` needs none of it

    if within is not None and no_deadline:
        raise InputError("--within gives a deadline, and --no-deadline takes it away", cure="leave one of them out")
    orders = DrainOrders(
        nodes=tuple(dict.fromkeys(nodes)),
        within=None if within is None else _deadline(within),
        kubeconfig=kubeconfig,
        context=context,
        is_dry_run=dry_run,
        is_agreed=yes,
        as_json=output is Output.JSON,
        is_quiet=quiet,
        report=report,
        settings=drain_settings(
            margin=margin,
            grace_counted=grace_counted,
            budgets=budgets,
            release=release,
            release_unchecked=release_unchecked,
        ),
    )
    raise typer.Exit(drain_nodes(orders))


drain.__doc__ = _HELP


def _deadline(text: str) -> timedelta:
    """The duration of --within. Raises `InputError` for a bare number: budgets would be overridden in seconds by who
    meant minutes."""
    if text.strip().replace(".", "").isdigit():
        raise InputError(
            f"--within: {text!r} has no unit", cure=f"write {text.strip()}m for minutes, or {text.strip()}s"
        )
    return duration_of("--within", text)
