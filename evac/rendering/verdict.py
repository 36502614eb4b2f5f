"""What came of it, in sentences: how many left in time, how many were lost, and what it cost the budgets."""

from collections.abc import Iterator

from evac.rendering.cuts import cut_sentences
from evac.rendering.emptied import emptied_sentences, emptied_sum
from evac.rendering.heard import event_sentences
from evac.rendering.released import release_sentences
from evac.rendering.words import ENDINGS, clean, enumerated, folded, of_several, offset, plural
from evac.replay.outcome import Low, Mode, Replay
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate

_EXPLAINED = frozenset(Ending) - {Ending.DRAINED, Ending.PODS_LOST}
_MOST_BUDGETS = 3
_PACED = "paced"
"""How the note of a pod begins that went early, so that fewer are missing at once."""


def sentences(replay: Replay) -> Iterator[str]:
    """The closing lines, the most important one last."""
    yield from event_sentences(replay)
    for record in replay.records:
        if record.ending in _EXPLAINED and record.notice.takes_the_host:
            yield f"{clean(record.node_name or record.notice.instance_id)}: {ENDINGS[record.ending]}"
    yield from _problems(replay)
    if replay.drains:
        yield from release_sentences(replay)
        yield from _against(replay)
        yield from cut_sentences(replay)
        yield from _losses(replay)
        if replay.is_for_maintenance:
            yield from emptied_sentences(replay)
        elif replay.mode is Mode.LIVE:
            yield f"our marks stay on {_nodes(replay)}; where the host is not taken after all: evac undo NODE"
        if "PodDisruptionBudget" in replay.unknown_kinds:
            yield "no PodDisruptionBudget is known: pods left as if there were none, so this is optimistic"
        yield emptied_sum(replay, _cost(replay)) if replay.is_for_maintenance else _sum(replay)


def _problems(replay: Replay) -> Iterator[str]:
    problems = dict.fromkeys(problem.message for record in replay.records for problem in record.problems)
    for message in problems:
        yield f"problem: {clean(message)}"


def _against(replay: Replay) -> Iterator[str]:
    """Pods that went a few at a time, so that replacements could follow, and those that went at the end."""
    against = [f for f in replay.fates if f.departure is Departure.DELETED_AGAINST_BUDGET]
    paced = [f for f in against if f.note.startswith(_PACED)]
    if paced:
        yield (
            f"{plural(len(paced), 'pod')} held by {_holder(paced)} went early, deleted a few at a time: fewer are "
            "missing at once than if all went at the end"
        )
    if len(against) > len(paced):
        last = [f for f in against if f not in paced]
        kept = replay.is_for_maintenance
        why = "so that the node is empty in time" if kept else "instead of being killed with the host"
        yield (
            f"{plural(len(last), 'pod')} held by {_holder(last)} to the last safe moment, then deleted: with SIGTERM "
            f"and grace, {why}"
        )


def _holder(fates: list[PodFate]) -> str:
    names = sorted({clean(str(budget)) for fate in fates for budget in fate.held_by})
    return f"PDB {enumerated(names)}" if names else "a PDB"


def _losses(replay: Replay) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for fate in replay.lost:
        reasons.setdefault(clean(fate.note) or "killed with its host", []).append(str(fate.pod))
    for reason, names in reasons.items():
        why = of_several(reason) if len(names) > 1 else reason
        yield f"LOST {plural(len(names), 'pod')}: {why}: {' '.join(folded(names))}"
    for budget, count in replay.lost_by_budget().items():
        share = "all" if count == len(replay.lost) else f"{count} of the"
        yield f"PDB {clean(str(budget))} held {share} {plural(len(replay.lost), 'lost pod')}"


def _sum(replay: Replay) -> str:
    fates, lost = replay.fates, len(replay.lost)
    would = "would have " if replay.mode is Mode.DRY_RUN else ""
    if not fates:
        return "no pod to drain"
    cost = _cost(replay)
    if lost:
        left = f"{len(fates) - lost} {would}left gracefully, {lost} LOST with the host"
        return f"{plural(len(fates), 'pod')}: {left}{cost}"
    cut = sum(1 for fate in fates if fate.pod.uid in replay.cut_short)
    how = "before their host went" if cut or cost else "gracefully"
    killed = f", {cut} by SIGKILL at the end of their grace" if cut else ""
    return f"{plural(len(fates), 'pod')}: all {would}left {how}{killed}, {_spare(replay)}{_full(replay)}{cost}"


def _full(replay: Replay) -> str:
    """What all of it is for, where it was reached: nobody's replica went missing."""
    is_known = bool(replay.workloads) and replay.mode is not Mode.LIVE
    return "; no workload was short of a replica" if is_known and not any(map(_fell, replay.workloads)) else ""


def _fell(low: Low) -> bool:
    """Below what it wanted, and below what it had."""
    return low.fewest < min(low.wanted, low.at_start)


def _cost(replay: Replay) -> str:
    """The budgets that were exceeded: seen, or, on a real cluster, known from the requests."""
    told = [_exceeded(low, replay) for low in replay.exceeded]
    seen = {low.name for low in replay.budgets}
    against = [f for f in replay.fates if f.departure is Departure.DELETED_AGAINST_BUDGET]
    for name in sorted({str(budget) for fate in against for budget in fate.held_by} - seen):
        count = sum(1 for fate in against if name in map(str, fate.held_by))
        told.append(f"PDB {clean(name)} was overridden for {plural(count, 'pod')}{_at_worst(replay, name)}")
    more = [f"and {plural(len(told) - _MOST_BUDGETS, 'more PDB')}"] if len(told) > _MOST_BUDGETS else []
    return "".join(f"; {words}" for words in told[:_MOST_BUDGETS] + more)


def _at_worst(replay: Replay, name: str) -> str:
    """How far the drains saw it exceeded."""
    seen = [budget for record in replay.drains for budget in record.budgets if str(budget.ref) == name]
    worst = max(seen, key=lambda budget: budget.exceeded_by, default=None)
    if worst is None or not worst.exceeded_by:
        return ""
    return f", {worst.exceeded_by} short at worst ({offset(replay.offset(worst.exceeded_at))})"


def _exceeded(low: Low, replay: Replay) -> str:
    at = offset(replay.offset(low.fewest_at))
    return f"PDB {clean(low.name)} was exceeded: {low.fewest} of {low.wanted} Ready at worst ({at})"


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
