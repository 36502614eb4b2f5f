"""The same events on a real cluster, in real time, with a person's own rights: a drain, in fact.

Law: no EC2, no ledger, no queue. What it leaves on nodes is what the function leaves, and `evac undo` takes it off.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evac.apiserver import NODES, NotReadable, list_raw, read_node_raw
from evac.errors import InputError
from evac.kubeconfig import cluster_of
from evac.memory import InlineBackground
from evac.replay.hearing import Heard, first_notice, spot_notice, timed
from evac.replay.outcome import Mode, Replay
from evac.replay.places import Place, no_such_node, nothing_matched, place_of
from evac.replay.recording import Listener, Recorder
from evac.replay.story import untold
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes.calls import Server
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import Clock, Cluster
from lambdas.application.requests import Ports, Request
from lambdas.domain.values.settings import Settings


@dataclass(frozen=True, slots=True)
class Live:
    """A drain of a real cluster, as asked for; `nodes`: those for which the notice is made here."""

    kubeconfig: str
    context: str | None
    heard: Sequence[Heard]
    nodes: Sequence[str]
    keeps_times: bool
    settings: Settings


def replay_live(asked: Live, listener: Listener) -> Replay:
    """Drain until every pod is gone or its host must be. Raises `InputError` where no node is found."""
    clock = SystemClock()
    cluster = cluster_of(asked.kubeconfig, asked.context, clock)
    try:
        return _drain(asked, cluster, cluster.server, clock, listener)
    finally:
        cluster.close()


def _drain(asked: Live, cluster: Cluster, server: Server, clock: Clock, listener: Listener) -> Replay:
    heard = _timed(asked, server, clock)
    if not any(h.notices for h in heard):
        raise nothing_matched(heard, [])
    zero = first_notice(heard) or clock.now()
    recorder = Recorder(listener(zero))
    ports = Ports(clock, cluster, InlineBackground(cluster.wake), recorder)
    requests = [Request(notice, not_before=notice.noticed_at) for h in heard for notice in h.notices]
    fates = evacuate(requests, ports, asked.settings)
    records = list({fate.record.notice.instance_id: fate.record for fate in fates}.values())
    recorder.add(untold(records, recorder.lines))
    replay = Replay(
        mode=Mode.LIVE,
        zero=zero,
        settings=asked.settings,
        startup=None,
        shutdown=None,
        heard=heard,
        records=records,
        lines=recorder.lines,
        reclaimed_at={},
    )
    if not replay.has_found_a_node:
        raise nothing_matched(heard, _places(server))
    return replay


def _timed(asked: Live, server: Server, clock: Clock) -> list[Heard]:
    """The messages at their times. What is read for --node comes first, so that it costs nothing of the two minutes."""
    named = []
    for name in asked.nodes:
        node = read_node_raw(server, name)
        if node is None:
            raise no_such_node(name, _places(server))
        place = place_of(node)
        if not place.instance_id:
            raise InputError(
                f"--node {name}: the node has no providerID, by which a notice finds it",
                cure="on EKS every node has one; elsewhere replay with --dry-run",
            )
        named.append(place)
    now = clock.now()
    heard = timed(asked.heard, now, keeps_times=asked.keeps_times)
    return heard + [spot_notice(place.node_name, place.instance_id, now) for place in named]


def _places(server: Server) -> list[Place]:
    nodes = list_raw(server, NODES)
    return [] if isinstance(nodes, NotReadable) else [place_of(node) for node in nodes]
