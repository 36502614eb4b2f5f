"""Carrying out `evac drain` as ordered: on the real cluster, or, for a dry run, on the simulator with what is there."""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from evac.cli.agreeing import agree
from evac.cli.showing import View, show
from evac.replay.maintenance import Maintenance
from evac.replay.outcome import Mode, Replay
from evac.replay.recording import Listener
from evac.simulator import SimulatorOptions
from lambdas.domain.values.settings import Settings

_OPTIONS = SimulatorOptions(startup=timedelta(seconds=10), shutdown=timedelta(seconds=2))


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainOrders:
    """A drain as it was asked for. `within`: None where it may take what it takes."""

    nodes: tuple[str, ...]
    within: timedelta | None = None
    kubeconfig: str | None = None
    context: str | None = None
    is_dry_run: bool = False
    is_agreed: bool = False
    as_json: bool = False
    is_quiet: bool = False
    report: Path | None = None
    settings: Settings


def drain_nodes(orders: DrainOrders) -> int:
    """Carry it out; the exit code comes back. Raises `InputError`, `Interrupted`."""
    view = View(as_json=orders.as_json, is_quiet=orders.is_quiet, is_live=not orders.is_dry_run, report=orders.report)
    return show(partial(_rehearse if orders.is_dry_run else _drain, orders), view)


def _drain(orders: DrainOrders, listener: Listener) -> Replay:
    from evac.replay.live import Live, replay_live  # noqa: PLC0415 - loads the Kubernetes client

    agree(orders.nodes, orders.kubeconfig, orders.context, is_agreed=orders.is_agreed)
    live = Live(
        kubeconfig=orders.kubeconfig,
        context=orders.context,
        heard=(),
        nodes=orders.nodes,
        keeps_times=False,
        settings=orders.settings,
        maintenance=Maintenance(orders.within),
    )
    return replay_live(live, listener)


def _rehearse(orders: DrainOrders, listener: Listener) -> Replay:
    from evac.replay.reading import read_cluster  # noqa: PLC0415 - loads the Kubernetes client
    from evac.replay.simulated import Simulated, replay_simulated  # noqa: PLC0415 - a drain needs none of it

    simulated = Simulated(
        scenario=read_cluster(orders.kubeconfig, orders.context),
        heard=(),
        nodes=orders.nodes,
        keeps_times=False,
        settings=orders.settings,
        options=_OPTIONS,
        mode=Mode.DRY_RUN,
        maintenance=Maintenance(orders.within),
    )
    return replay_simulated(simulated, listener)
