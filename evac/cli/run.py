"""Carrying out a replay as ordered, and showing it."""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from evac.cli.orders import Orders
from evac.errors import InputError
from evac.rendering.document import write_document
from evac.rendering.words import clean, enumerated
from evac.replay.hearing import Heard, hear
from evac.replay.outcome import Mode, Replay
from evac.replay.recording import Listener, nobody
from evac.replay.simulated import Simulated, replay_simulated
from evac.replay.story import Line
from evac.scenario.collecting import Scenario
from evac.scenario.events import read_bodies
from evac.scenario.manifests import read_scenario

if TYPE_CHECKING:
    from rich.console import Console

    from evac.rendering.lines import LiveLines


def run(orders: Orders) -> int:
    """Carry it out; the exit code comes back. Raises `InputError`."""
    orders.check()
    if orders.as_json:
        replay = _replay(orders, nobody)
        sys.stdout.write(write_document(replay))
        return replay.exit_code
    from evac.rendering.console import PatientConsole  # noqa: PLC0415 - rich is slow to import; JSON needs none of it
    from evac.rendering.summary import print_summary  # noqa: PLC0415 - the same

    show = _Show(PatientConsole(highlight=False), orders)
    try:
        replay = _replay(orders, nobody if orders.is_quiet else show.listener)
    finally:
        show.end()
    print_summary(replay, show.console)
    return replay.exit_code


def _replay(orders: Orders, listener: Listener) -> Replay:
    heard = hear(read_bodies(orders.events)) if orders.events is not None else []
    if orders.is_live:
        from evac.replay.live import Live, replay_live  # noqa: PLC0415 - loads the Kubernetes client

        _announce(orders, heard)
        live = Live(orders.kubeconfig or "", orders.context, heard, orders.nodes, orders.keeps_times, orders.settings)
        return replay_live(live, listener)
    simulated = Simulated(
        scenario=_scenario(orders),
        heard=heard,
        nodes=orders.nodes,
        keeps_times=orders.keeps_times,
        settings=orders.settings,
        options=orders.options,
        mode=Mode.DRY_RUN if orders.is_dry_run else Mode.SIMULATED,
    )
    return replay_simulated(simulated, listener)


def _announce(orders: Orders, heard: Sequence[Heard]) -> None:
    """Say what is going to be drained for real; on a terminal it has to be agreed to. Raises `InputError`."""
    from evac.kubeconfig import target_of  # noqa: PLC0415 - loads the Kubernetes client

    target = target_of(orders.kubeconfig, orders.context)
    instances = dict.fromkeys(notice.instance_id for h in heard for notice in h.notices)
    what = enumerated([clean(name) for name in (*orders.nodes, *instances)]) or "nothing"
    typer.echo(f"evac: draining for real: {what}", err=True)
    typer.echo(f"  of cluster {clean(target.cluster)}, {clean(target.server)}", err=True)
    typer.echo(f"  by context {clean(target.context)} of {clean(target.place)}", err=True)
    if orders.is_agreed or sys.stdin is None or not sys.stdin.isatty():
        return
    if not typer.confirm("drain it?", err=True):
        raise InputError(
            "not agreed to: nothing was touched", cure="--yes goes on without asking; --dry-run only looks"
        )


def _scenario(orders: Orders) -> Scenario:
    if orders.kubeconfig is None:
        return read_scenario(orders.clusters)
    from evac.replay.reading import read_cluster  # noqa: PLC0415 - loads the Kubernetes client

    return read_cluster(orders.kubeconfig, orders.context)


class _Show:
    """The live part of the table output."""

    def __init__(self, console: "Console", orders: Orders) -> None:
        self.console = console
        self._orders = orders
        self._lines: LiveLines | None = None

    def listener(self, zero: datetime) -> Callable[[Line], None]:
        """Print each line as it comes, at the speed that was asked for."""
        from evac.rendering.lines import LiveLines, Pace  # noqa: PLC0415 - loads rich

        lines = self._lines = LiveLines(self.console, zero, groups=not self._orders.is_live)
        if self._orders.speed is None:
            return lines.tell
        pace = Pace(zero, self._orders.speed)

        def paced(line: Line) -> None:
            lines.before(line)
            pace.until(line.at)
            lines.tell(line)

        return paced

    def end(self) -> None:
        """Print what was kept back."""
        if self._lines is not None:
            self._lines.flush()
