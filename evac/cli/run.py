"""Carrying out a replay as ordered."""

from functools import partial

from evac.cli.agreeing import agree
from evac.cli.orders import Orders
from evac.cli.showing import View, show
from evac.replay.hearing import hear
from evac.replay.outcome import Mode, Replay
from evac.replay.recording import Listener
from evac.replay.simulated import Simulated, replay_simulated
from evac.scenario.collecting import Scenario
from evac.scenario.events import read_bodies
from evac.scenario.manifests import read_scenario


def run(orders: Orders) -> int:
    """Carry it out; the exit code comes back. Raises `InputError`."""
    orders.check()
    view = View(
        as_json=orders.as_json,
        is_quiet=orders.is_quiet,
        is_live=orders.is_live,
        speed=orders.speed,
        report=orders.report,
    )
    return show(partial(_replay, orders), view)


def _replay(orders: Orders, listener: Listener) -> Replay:
    heard = hear(read_bodies(orders.events)) if orders.events is not None else []
    if orders.is_live:
        from evac.replay.live import Live, replay_live  # noqa: PLC0415 - loads the Kubernetes client

        instances = dict.fromkeys(notice.instance_id for h in heard for notice in h.notices)
        agree([*orders.nodes, *instances], orders.kubeconfig, orders.context, is_agreed=orders.is_agreed)
        live = Live(orders.kubeconfig, orders.context, heard, orders.nodes, orders.keeps_times, orders.settings)
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
