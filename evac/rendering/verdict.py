"""What came of it, in sentences: how many left gracefully, how many were lost, and which budget held them."""

from collections.abc import Iterator

from evac.rendering.words import clean, enumerated, folded, offset, plural
from evac.replay.outcome import Mode, Replay
from lambdas.domain.values.drains import Departure, DrainRecord, Ending
from lambdas.domain.values.messages import Malformed

_ENDINGS = {
    Ending.NOT_OURS: "no node of this cluster: not ours, acknowledged",
    Ending.ALREADY_GONE: "its node is already gone: nothing to drain",
    Ending.STALE: "its deadline is long past (stale): nothing touched",
    Ending.JOINED: "joined another drain",
    Ending.FAILED: "could not be drained: given back, to be tried again",
}


def sentences(replay: Replay) -> Iterator[str]:
    """The closing lines, the most important one last."""
    yield from _events(replay)
    for record in replay.records:
        if record.ending in _ENDINGS:
            yield f"{clean(record.node_name or record.notice.instance_id)}: {_ENDINGS[record.ending]}"
    yield from _problems(replay)
    if replay.drains:
        yield from _ways(replay)
        yield from _losses(replay)
        if replay.mode is Mode.LIVE:
            yield f"our marks stay on {_nodes(replay)}; where the host is not taken after all: evac undo NODE"
        yield _sum(replay)


def _events(replay: Replay) -> Iterator[str]:
    """Messages that led to no drain, as the handler counts them."""
    for heard in replay.heard:
        if isinstance(heard.message, Malformed):
            yield f"malformed: {clean(heard.place)}: {clean(heard.message.reason)}"
    if replay.malformed or replay.ignored:
        notices = len(replay.heard) - replay.malformed - replay.ignored
        yield (
            f"{plural(len(replay.heard), 'event')}: {plural(notices, 'interruption')}, "
            f"{replay.ignored} ignored, {replay.malformed} malformed"
        )


def _problems(replay: Replay) -> Iterator[str]:
    problems = dict.fromkeys(problem.message for record in replay.records for problem in record.problems)
    for message in problems:
        yield f"problem: {clean(message)}"


def _ways(replay: Replay) -> Iterator[str]:
    fates = replay.fates
    against = [f for f in fates if f.departure is Departure.DELETED_AGAINST_BUDGET]
    if against:
        names = sorted({str(b) for f in against for b in f.held_by})
        yield (
            f"{plural(len(against), 'pod')} held by PDB {enumerated([clean(n) for n in names])} to the last safe "
            "moment, then deleted: with SIGTERM and grace, instead of being killed with the host"
        )
        for low in replay.budgets:
            if low.name in names and low.fewest < min(low.wanted, low.at_start):
                yield f"PDB {clean(low.name)} asks for {low.wanted} Ready; at worst {low.fewest} were"
    cut = [f for f in fates if f.pod.uid in replay.cut_short]
    if cut:
        yield f"SIGKILL at the end of a grace that was too short: {' '.join(folded([str(f.pod) for f in cut]))}"


def _losses(replay: Replay) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for fate in replay.lost:
        reasons.setdefault(clean(fate.note) or "killed with its host", []).append(str(fate.pod))
    for reason, names in reasons.items():
        yield f"LOST {plural(len(names), 'pod')}: {reason}: {' '.join(folded(names))}"
    for budget, count in replay.lost_by_budget().items():
        share = "all" if count == len(replay.lost) else f"{count} of the"
        yield f"PDB {clean(str(budget))} held {share} {plural(len(replay.lost), 'lost pod')}"


def _sum(replay: Replay) -> str:
    fates, lost = replay.fates, len(replay.lost)
    would = "would have " if replay.mode is Mode.DRY_RUN else ""
    if not fates:
        return "no pod to drain"
    if lost:
        return f"{plural(len(fates), 'pod')}: {len(fates) - lost} {would}left gracefully, {lost} LOST with the host"
    cut = sum(1 for fate in fates if fate.pod.uid in replay.cut_short)
    how = f"before their host went, {cut} by SIGKILL at the end of their grace" if cut else "gracefully"
    return f"{plural(len(fates), 'pod')}: all {would}left {how}, {_spare(replay)}"


def _spare(replay: Replay) -> str:
    spare = min((_spare_seconds(replay, record) for record in replay.drains if record.pods), default=0.0)
    last = max((f.gone_at for f in replay.fates if f.gone_at), default=None)
    return f"the last at {offset(replay.offset(last))}, {spare:.0f} s before reclaim"


def _spare_seconds(replay: Replay, record: DrainRecord) -> float:
    reclaimed = replay.reclaimed_at.get(record.node_name, record.notice.reclaim_at)
    last = max((f.gone_at for f in record.pods if f.gone_at), default=reclaimed)
    return (reclaimed - last).total_seconds()


def _nodes(replay: Replay) -> str:
    return enumerated([clean(record.node_name) for record in replay.drains])
