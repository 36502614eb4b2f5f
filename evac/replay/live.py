"""A drain of a real cluster, in real time, with a person's own rights: for events, or because that person wants it.

Law: no EC2, no ledger, no queue. What it leaves on nodes is what the function leaves, and `evac undo` takes it off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evac.apiserver import NODES, NotReadable, list_raw, read_node_raw
from evac.errors import InputError, Interrupted
from evac.kubeconfig import cluster_of
from evac.memory import InlineBackground
from evac.rendering.words import enumerated
from evac.replay.hearing import Heard, first_notice, spot_notice, timed
from evac.replay.maintenance import Maintenance
from evac.replay.outcome import Mode, Replay
from evac.replay.places import Place, no_such_node, nothing_matched, place_of
from evac.replay.recording import Listener, Recorder
from evac.replay.seen import workloads_seen
from evac.replay.story import untold
from evac.replay.waiting import Watched
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes.calls import Server
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import Clock, Cluster
from lambdas.application.requests import Ports, Request
from lambdas.domain.values.settings import Settings


@dataclass(frozen=True, slots=True)
class Live:
    """A drain of a real cluster, as asked for; `nodes`: those for which the notice is made here.

    `maintenance`: what those are emptied for; None: each gets the notice of a spot interruption.
    """

    kubeconfig: str | None
    context: str | None
    heard: Sequence[Heard]
    nodes: Sequence[str]
    keeps_times: bool
    settings: Settings
    maintenance: Maintenance | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done. `named`: the nodes that were asked for by name, by the instance ids of their notices."""

    heard: Sequence[Heard]
    settings: Settings
    named: Mapping[str, str] = field(default_factory=dict)

    def requests(self) -> list[Request]:
        """One for each notice."""
        notices = (notice for h in self.heard for notice in h.notices)
        return [Request(n, not_before=n.noticed_at, node_name=self.named.get(n.instance_id, "")) for n in notices]


def replay_live(asked: Live, listener: Listener) -> Replay:
    """Drain until every pod is gone or its host must be. Raises `InputError` where no node is found, `Interrupted`."""
    clock = SystemClock()
    cluster = cluster_of(asked.kubeconfig, asked.context, clock)
    try:
        due = _due(asked, cluster.server, clock)
        replay = carry_out(due, cluster, clock, listener)
        if not replay.has_found_a_node:
            raise nothing_matched(due.heard, _places(cluster.server))
        return replay
    finally:
        cluster.close()


def carry_out(due: Due, cluster: Cluster, clock: Clock, listener: Listener) -> Replay:
    """Drain what is due. Raises `InputError` where that is nothing, `Interrupted`."""
    if not any(h.notices for h in due.heard):
        raise nothing_matched(due.heard, [])
    zero = first_notice(due.heard) or clock.now()
    recorder = Recorder(listener(zero))
    watched = Watched(cluster, clock, recorder, list(due.named.values()))
    ports = Ports(clock, watched, InlineBackground(cluster.wake), recorder)
    try:
        fates = evacuate(due.requests(), ports, due.settings)
    except KeyboardInterrupt:
        if not due.named:
            raise
        raise _interrupted(watched, list(due.named.values())) from None
    records = list({fate.record.notice.instance_id: fate.record for fate in fates}.values())
    recorder.add(untold(records, recorder.lines))
    return Replay(
        mode=Mode.LIVE,
        zero=zero,
        settings=due.settings,
        startup=None,
        shutdown=None,
        heard=due.heard,
        records=records,
        lines=recorder.lines,
        reclaimed_at={},
        workloads=workloads_seen(records),
    )


def _interrupted(watched: Watched, names: Sequence[str]) -> Interrupted:
    """What is left on each node, and the two ways from here."""
    left = [f"{name} still has {who}" for name in names if (who := watched.who(name))]
    message = f"interrupted: {'; '.join(left) or f'nothing is known to be left on {enumerated(list(names))}'}"
    each = "; ".join(f"evac undo {name}" for name in names)
    return Interrupted(message, cure=f"evac drain {' '.join(names)} goes on from here; to take it back: {each}")


def _due(asked: Live, server: Server, clock: Clock) -> Due:
    """The messages at their times. What is read of the named nodes comes first: it costs nothing of the two minutes."""
    places = [_place(asked, server, name) for name in asked.nodes]
    now = clock.now()
    heard = timed(asked.heard, now, keeps_times=asked.keeps_times)
    if asked.maintenance is None:
        named = [spot_notice(place.node_name, place.instance_id, now) for place in places]
        return Due(heard + named, asked.settings)
    maintained = [asked.maintenance.notice(place, now) for place in places]
    return Due(
        heard + maintained,
        asked.settings,
        {n.instance_id: place.node_name for h, place in zip(maintained, places, strict=True) for n in h.notices},
    )


def _place(asked: Live, server: Server, name: str) -> Place:
    is_spot = asked.maintenance is None
    node = read_node_raw(server, name)
    if node is None:
        raise no_such_node(name, _places(server), option="--node " if is_spot else "")
    place = place_of(node)
    if is_spot and not place.instance_id:
        raise InputError(
            f"--node {name}: the node has no providerID, by which a notice finds it",
            cure="on EKS every node has one; elsewhere replay with --dry-run",
        )
    return place


def _places(server: Server) -> list[Place]:
    nodes = list_raw(server, NODES)
    return [] if isinstance(nodes, NotReadable) else [place_of(node) for node in nodes]
