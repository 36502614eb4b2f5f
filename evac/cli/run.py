"""Carrying out a replay as ordered, and showing it."""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from evac.cli.orders import Orders
from evac.rendering.document import write_document
from evac.replay.hearing import hear
from evac.replay.outcome import Mode, Replay
from evac.replay.recording import Listener, nobody
from evac.replay.simulated import Simulated, replay_simulated
from evac.scenario.collecting import Scenario
from evac.scenario.events import read_bodies
from evac.scenario.manifests import read_scenario
from lambdas.domain.values.journal import Entry

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
    replay = _replay(orders, show.listener)
    show.end()
    print_summary(replay, show.console)
    return replay.exit_code


def _replay(orders: Orders, listener: Listener) -> Replay:
    heard = hear(read_bodies(orders.events)) if orders.events is not None else []
    if orders.is_live:
        from evac.replay.live import Live, replay_live  # noqa: PLC0415 - loads the Kubernetes client

        where = f"context {orders.context}" if orders.context else "the current context"
        typer.echo(f"evac: draining for real: {where} of {orders.kubeconfig}", err=True)
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

    def listener(self, zero: datetime) -> Callable[[Entry], None]:
        """Print each entry as it comes, at the speed that was asked for."""
        from evac.rendering.lines import LiveLines, Pace  # noqa: PLC0415 - loads rich

        lines = self._lines = LiveLines(self.console, zero, groups=not self._orders.is_live)
        if self._orders.speed is None:
            return lines.tell
        pace = Pace(zero, self._orders.speed)

        def paced(entry: Entry) -> None:
            lines.before(entry)
            pace.until(entry.at)
            lines.tell(entry)

        return paced

    def end(self) -> None:
        """Print what was kept back."""
        if self._lines is not None:
            self._lines.flush()
