"""`evac replay`: events against a cluster, on the simulator or for real."""

from enum import Enum
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
    instead,
)
from lambdas.domain.values.settings import BudgetMode, ReleaseMode


class Output(Enum):
    """How the outcome is shown."""

    TABLE = "table"
    JSON = "json"


_HELP = """Replay spot interruption notices against a cluster, and show what becomes of every pod.

With --cluster it runs on the built-in simulator, in virtual time: two minutes take a blink, and nothing is
touched. With --kubeconfig it drains that cluster for real, in real time, with your own rights; add --dry-run
to read the cluster and replay there on the simulator instead.

\b
Examples:
  evac replay examples/s1/events --cluster examples/s1/cluster.yaml
  kubectl get nodes,pods,pdb,deploy,rs,sts,ds,jobs,rc,svc,pvc,hpa,quota,netpol -A -o json > mine.json
  evac replay --node ip-10-0-1-2.ec2.internal --cluster mine.json
  evac replay --node ip-10-0-1-2.ec2.internal --kubeconfig ~/.kube/config --dry-run

A pod left gracefully if it had its SIGTERM early enough for its whole shutdown, or for its whole grace cut to
what was left, and was gone before reclaim; that a PodDisruptionBudget was exceeded for it is said, and is no failure.

Exit codes: 0 every pod left gracefully, 1 some did not, 2 wrong usage, unreadable file or no node matched.
"""

_EVENTS = """EventBridge events as JSON: a file (one event, an array, or one a line), a folder of such files (with
its subfolders), or - for standard input. Bodies wrapped by SNS or SQS are unwrapped. Not needed with --node."""
_CLUSTER = """Kubernetes manifests, YAML or JSON: a file, a folder (with its subfolders), or - for standard input; may
be given several times. What the kubectl command above prints is a cluster, with -o yaml too; a kind that is not
there is said to be unknown, not taken for empty."""
_TO_THE_END = "--respect-budgets-to-the-end"


def replay(  # noqa: PLR0913, PLR0917 - a command's options are its parameters
    events: Annotated[str | None, typer.Argument(metavar="EVENTS", help=_EVENTS, show_default=False)] = None,
    cluster: Annotated[list[str] | None, typer.Option(metavar="FILE", help=_CLUSTER, show_default=False)] = None,
    kubeconfig: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Drain the cluster of this kubeconfig, for real.", show_default=False),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Context in it; else its current one.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --kubeconfig: change nothing, say what would happen.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Drain a real cluster without asking. (Only a terminal is ever asked.)")
    ] = False,
    node: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Make the spot notice of this node; may be repeated.", show_default=False),
    ] = None,
    keep_times: Annotated[
        bool,
        typer.Option("--keep-times", help="Leave the events' times alone. Else the first notice's becomes now."),
    ] = False,
    output: Annotated[Output, typer.Option(help="How to show the outcome.")] = Output.TABLE,
    report: Report = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the summary, without the story.")] = False,
    speed: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Virtual seconds in one real second, for watching. Default: as fast as it goes.",
            show_default=False,
        ),
    ] = None,
    startup: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From a new pod's placement to Ready; pods annotated replay.spot-evac.dev/startup have their own."
            " Default: 10s.",
            show_default=False,
        ),
    ] = None,
    shutdown: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From SIGTERM to the pod's end; replay.spot-evac.dev/shutdown overrides it. Default: 2s.",
            show_default=False,
        ),
    ] = None,
    margin: Margin = MARGIN,
    grace_counted: GraceCounted = GRACE_COUNTED,
    budgets: Budgets = BudgetMode.PACE,
    release: Release = ReleaseMode.ENOUGH,
    release_unchecked: ReleaseUnchecked = False,
    _no_pacing: Annotated[
        bool, typer.Option("--no-pacing", hidden=True, callback=instead("--no-pacing", "--budgets deadline"))
    ] = False,
    _to_the_end: Annotated[
        bool, typer.Option(_TO_THE_END, hidden=True, callback=instead(_TO_THE_END, "--budgets never"))
    ] = False,
) -> None:
    from evac.cli.orders import Orders  # noqa: PLC0415 - `evac version` and `--help` need none of it
    from evac.cli.run import run  # noqa: PLC0415 - the same

    orders = Orders(
        events=events,
        clusters=tuple(cluster or ()),
        kubeconfig=kubeconfig,
        context=context,
        is_dry_run=dry_run,
        nodes=tuple(dict.fromkeys(node or ())),
        keeps_times=keep_times,
        as_json=output is Output.JSON,
        is_quiet=quiet,
        is_agreed=yes,
        speed=speed,
        startup=startup,
        shutdown=shutdown,
        report=report,
        settings=drain_settings(
            margin=margin,
            grace_counted=grace_counted,
            budgets=budgets,
            release=release,
            release_unchecked=release_unchecked,
        ),
    )
    raise typer.Exit(run(orders))


replay.__doc__ = _HELP
