"""`evac`: the commands and the words that explain them."""

from typing import Annotated

import typer

from evac.cli import drain, rbac, replay, undo
from evac.cli.complaints import Commands
from evac.cli.version import show_version, version

app = typer.Typer(
    cls=Commands,
    name="evac",
    help="Drains spot nodes of Amazon EKS within their two minutes, and any node for an upgrade or a repair.",
    epilog="Exit codes: 0 all went well, 1 it did not, 2 wrong usage or unreadable input.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _evac(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Options of `evac` itself."""


app.command("replay", short_help="Replay spot notices against a cluster, simulated or real.")(replay.replay)
app.command("drain", short_help="Empty nodes, their Deployments' pods replaced before they leave.")(drain.drain)
app.command("rbac", short_help="Print the rights that the function needs in a cluster.")(rbac.rbac)
app.command("undo", short_help="Take our marks off nodes, and give released pods back.")(undo.undo)
app.command("version")(version)


def main() -> None:
    """The console script."""
    app()


def kubectl() -> None:
    """The console script that `kubectl evac` runs."""
    app(prog_name="kubectl evac")
