"""A replay on the simulator: the application's own loop against a cluster in memory, under its clock.

Law: the same inputs give the same outcome every time. What truly happened is the simulator's word, not the drain's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from evac.errors import InputError
from evac.memory import InlineBackground
from evac.replay.courses import with_courses
from evac.replay.hearing import Heard, first_notice, spot_notice, timed
from evac.replay.lows import budget_lows, workload_lows
from evac.replay.maintenance import Maintenance
from evac.replay.outcome import Mode, Replay
from evac.replay.places import Place, no_such_node, nothing_matched, place_of, with_instances
from evac.replay.recording import Listener, Recorder
from evac.replay.story import Replacements, untold
from evac.scenario.collecting import Scenario
from evac.scenario.completion import snapshot_moment
from evac.scenario.graces import own_graces
from evac.scenario.kinds import COMMAND
from evac.simulator import Simulation, SimulatorOptions
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.domain.decisions.deadline import LATE_PATH, NOTHING_TOUCHED_AFTER
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate
from lambdas.domain.values.settings import Settings

_AFTERWARDS = timedelta(seconds=1)
_PATIENCE = timedelta(hours=1)
"""Where no host is ever taken: what has not left by then waits for something that the simulator does not know."""
_NOTES = 5


@dataclass(frozen=True, slots=True)
class Simulated:
    """A replay on the simulator, as asked for; `nodes`: those for which the notice is made here."""

    scenario: Scenario
    heard: Sequence[Heard]
    nodes: Sequence[str]
    keeps_times: bool
    settings: Settings
    options: SimulatorOptions
    mode: Mode = Mode.SIMULATED
    maintenance: Maintenance | None = None
    """What the named nodes are emptied for; None: each gets the notice of a spot interruption."""


def replay_simulated(asked: Simulated, listener: Listener) -> Replay:
    """Run it to the last reclaim. Raises `InputError` where no event and no name leads to a node."""
    nodes = with_instances(asked.scenario.of_kind("Node"))
    places = [place_of(node) for node in nodes.values()]
    now = snapshot_moment(asked.scenario.objects) or datetime.now(UTC).replace(microsecond=0)
    heard = _timed(asked, places, now)
    reclaims = _reclaims(heard, places, now)
    _check_pods(asked)
    others = [o for o in asked.scenario.objects if o["kind"] != "Node"]
    simulation = Simulation([*nodes.values(), *others], now, options=asked.options)
    _refuse_what_is_unknown(asked, simulation)
    zero = first_notice(heard) or now
    recorder = Recorder(listener(zero), Replacements(simulation, set(reclaims)).up_to)
    records = _run(simulation, heard, reclaims, recorder, asked.settings)
    judged = [replace(r, pods=tuple(_judged(f, simulation) for f in r.pods)) for r in records]
    recorder.add(untold(judged, recorder.lines))
    pods = [fate.pod for record in judged for fate in record.pods]
    return Replay(
        mode=asked.mode,
        zero=zero,
        settings=asked.settings,
        startup=asked.options.startup,
        shutdown=asked.options.shutdown,
        heard=heard,
        records=[with_courses(record, simulation, asked.scenario.objects, zero) for record in judged],
        lines=recorder.lines,
        reclaimed_at=reclaims,
        workloads=workload_lows(simulation, asked.scenario.objects, pods, zero),
        budgets=budget_lows(simulation, asked.scenario.objects, pods, zero),
        cut_short=frozenset(pod.uid for pod in pods if simulation.journal.of(pod.uid).was_cut_short),
        own_graces=own_graces(asked.scenario.of_kind("Pod")),
        unknown_kinds=[kind.name for kind in asked.scenario.unknown],
        notes=[*asked.scenario.notes, *_shortened(simulation.notes)],
    )


def _refuse_what_is_unknown(asked: Simulated, simulation: Simulation) -> None:
    """A dry run foretells what may not be done where a kind may not be read."""
    if asked.mode is Mode.DRY_RUN:
        for kind in asked.scenario.unknown:
            simulation.faults.forbidden("list", kind.plural)


def _check_pods(asked: Simulated) -> None:
    """Raises `InputError` where nothing says which pods there are: a node without any would always drain well."""
    if "Pod" not in asked.scenario.known:
        raise InputError(
            "the cluster files hold no Pod: what would have to leave is not known",
            cure=f"print the pods too: {COMMAND}; where there truly are none, an empty PodList says so",
        )


def _timed(asked: Simulated, places: Sequence[Place], now: datetime) -> list[Heard]:
    """The messages at their times on the cluster's clock. Raises `InputError`."""
    heard = timed(asked.heard, now, keeps_times=asked.keeps_times)
    by_name = {place.node_name: place for place in places}
    for name in asked.nodes:
        if name not in by_name:
            raise no_such_node(name, places, option="" if asked.maintenance else "--node ")
        place = by_name[name]
        notice = asked.maintenance.notice(place, now) if asked.maintenance else None
        heard.append(notice or spot_notice(name, place.instance_id, now))
    return heard


def _reclaims(heard: Sequence[Heard], places: Sequence[Place], now: datetime) -> dict[str, datetime]:
    """When each node's host is taken. One that is late lives on for as long as a late drain hopes it does.

    Raises `InputError` where no notice is about any node.
    """
    names = {place.instance_id: place.node_name for place in places}
    notices = [notice for h in heard for notice in h.notices if notice.instance_id in names]
    if not notices:
        raise nothing_matched(heard, places)
    reclaims: dict[str, datetime] = {}
    for notice in (n for n in notices if n.takes_the_host):
        heard_at = max(notice.noticed_at, now)
        if heard_at <= notice.reclaim_at + NOTHING_TOUCHED_AFTER:
            taken_at = max(notice.reclaim_at, heard_at + LATE_PATH)
            name = names[notice.instance_id]
            reclaims[name] = min(taken_at, reclaims.get(name, taken_at))
    return reclaims


def _run(
    simulation: Simulation,
    heard: Sequence[Heard],
    reclaims: Mapping[str, datetime],
    recorder: Recorder,
    settings: Settings,
) -> list[DrainRecord]:
    """Drain, and let time pass until every host is gone; the records, one for each drain."""
    for node_name, at in reclaims.items():
        simulation.reclaim(node_name, at)
    cluster = simulation.cluster()
    ports = Ports(simulation.clock, cluster, InlineBackground(cluster.wake), recorder)
    requests = [Request(notice, not_before=notice.noticed_at) for h in heard for notice in h.notices]
    until = None if reclaims else simulation.clock.now() + _PATIENCE
    fates = evacuate(requests, ports, settings, until=until)
    simulation.run_until(max([simulation.clock.now(), *reclaims.values()]) + _AFTERWARDS)
    recorder.catch_up(simulation.clock.now())
    cluster.close()
    return list({fate.record.notice.instance_id: fate.record for fate in fates}.values())


def _judged(fate: PodFate, simulation: Simulation) -> PodFate:
    """The fate as the simulator knows it: a pod that died with its host is lost, whatever the drain believed."""
    story = simulation.journal.of(fate.pod.uid)
    if story.killed_at is not None and fate.departure is not Departure.LOST:
        return replace(fate, departure=Departure.LOST, note=fate.note or "its shutdown was not over at reclaim")
    gone_at = story.finished_at if fate.departure is Departure.FINISHED else story.gone_at
    return replace(fate, gone_at=fate.gone_at or gone_at) if fate.departure is not Departure.LOST else fate


def _shortened(notes: Sequence[str]) -> list[str]:
    return list(notes) if len(notes) <= _NOTES else [*notes[: _NOTES - 1], f"and {len(notes) - _NOTES + 1} more"]
