"""What happened, in sentences: the headline, and all that went wrong."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evac.rendering.words import ENDINGS, enumerated, folded, plural
from evac.replay.outcome import Mode
from evac.report.told import Told
from lambdas.domain.values.courses import WorkloadStory
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate

_NAMED = 12
_WELL_ENDED = (Ending.DRAINED, Ending.PODS_LOST)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know. `grade`: "bad" (a pod died with its host), "costly" (a budget paid) or "note"; `names`: the
    pods that it is about."""

    grade: str
    text: str
    names: Sequence[str] = ()


def headline(told: Told) -> str:
    """All of it in one sentence."""
    drains = told.drains
    fates = [fate for record in drains for fate in record.pods]
    where = enumerated([record.node_name for record in drains], most=3)
    if not drains:
        return "No node was found: nothing was drained."
    would = "would have " if told.mode is Mode.DRY_RUN else ""
    lost = sum(1 for fate in fates if fate.departure is Departure.LOST)
    stayed = sum(1 for fate in fates if fate.departure is Departure.STAYED)
    left = len(fates) - lost - stayed
    if not fates:
        return f"{where} had no pod to drain."
    if lost or stayed:
        ends = [f"{lost} {would}died with the host"] if lost else []
        ends += [f"{stayed} stayed"] if stayed else []
        first, *others = ends
        rest = "".join(f", {words}" for words in (*others, f"{left} {would}left in time"))
        return f"{_of(first, plural(len(fates), 'pod'), where)}{rest}{_cost(told)}."
    all_of = "All" if len(fates) > 1 else "The one"
    pods = f"{all_of} {plural(len(fates), 'pod')}" if len(fates) > 1 else f"{all_of} pod"
    return f"{pods} of {where} {would}left{_spare(told)}{_cost(told)}."


def _of(ending: str, pods: str, where: str) -> str:
    """Its number with what it is a part of: "19 of 33 pods of spot-a died with the host"."""
    count, _, verb = ending.partition(" ")
    return f"{count} of {pods} of {where} {verb}"


def _spare(told: Told) -> str:
    """How long before reclaim the last one was gone; of several nodes the one that came closest."""
    spare = []
    for record in told.drains:
        reclaim, last = told.reclaim(record), record.last_gone_at
        if reclaim is not None and last is not None:
            spare.append((reclaim - last).total_seconds())
    if not spare:
        return ""
    return f", the last {min(spare):.0f} s before reclaim" if min(spare) >= 0 else ", the last after reclaim"


def _cost(told: Told) -> str:
    short = [w for record in told.drains for w in record.workloads if short_by(w)]
    exceeded = {b.ref for record in told.drains for b in record.budgets if b.exceeded_by}
    known = any(record.workloads for record in told.drains)
    parts = []
    if short:
        worst = max(short, key=short_by)
        parts.append(f"{worst.kind} {worst} was down to {worst.fewest_ready} of {worst.replicas} Ready")
    elif known:
        parts.append("no workload was short of a replica")
    if exceeded:
        parts.append(f"{plural(len(exceeded), 'disruption budget')} exceeded")
    return "".join(f"; {part}" for part in parts)


def short_by(story: WorkloadStory) -> int:
    """How many replicas it lacked at the worst, beyond those that it lacked at first."""
    before = story.curve[0].missing if story.curve else 0
    return max(0, story.replicas - story.fewest_ready - before)


def findings(told: Told) -> list[Finding]:
    """What went wrong, and what it cost; the worst first."""
    found = [*_endings(told), *_losses(told), *_costs(told), *_cut(told), *_problems(told), *_unreleased(told)]
    return sorted(found, key=lambda finding: ("bad", "costly", "note").index(finding.grade))


def _endings(told: Told) -> Iterator[Finding]:
    for record in told.records:
        if record.ending not in _WELL_ENDED:
            name = record.node_name or record.notice.instance_id
            yield Finding("bad" if record.ending is Ending.FAILED else "note", f"{name}: {ENDINGS[record.ending]}")


def _losses(told: Told) -> Iterator[Finding]:
    for record in told.drains:
        for text, fates in _by(record.pods, _why_lost).items():
            yield Finding("bad", f"{plural(len(fates), 'pod')} {text}", _names(fates))


def _why_lost(fate: PodFate) -> str:
    if fate.departure is Departure.STAYED:
        return f"stayed: {fate.note or 'no reason was told'}"
    return f"died with the host: {fate.note or 'never had a SIGTERM'}" if fate.departure is Departure.LOST else ""


def _costs(told: Told) -> Iterator[Finding]:
    for record in told.drains:
        for budget in record.budgets:
            if budget.exceeded_by:
                why = f" ({budget.arithmetic})" if budget.arithmetic else ""
                text = f"PDB {budget.ref} was exceeded by {budget.exceeded_by} at {told.at(budget.exceeded_at)}{why}"
                yield Finding("costly", text, _against(record, str(budget.ref)))
        for story in record.workloads:
            if short_by(story):
                at = told.at(story.fewest_ready_at)
                text = f"{story.kind} {story} was down to {story.fewest_ready} of {story.replicas} Ready ({at})"
                yield Finding("costly", text)


def _against(record: DrainRecord, budget: str) -> Sequence[str]:
    against = [f for f in record.pods if f.departure is Departure.DELETED_AGAINST_BUDGET]
    return _names([f for f in against if budget in map(str, f.held_by)])


def _cut(told: Told) -> Iterator[Finding]:
    cut = [fate for record in told.drains for fate in record.pods if fate.pod.uid in told.cut_short]
    if cut:
        yield Finding("costly", f"{plural(len(cut), 'pod')} had a SIGKILL at the end of the grace", _names(cut))


def _problems(told: Told) -> Iterator[Finding]:
    for message in dict.fromkeys(problem.message for record in told.records for problem in record.problems):
        yield Finding("costly", message)
    for note in told.notes:
        yield Finding("note", note)


def _unreleased(told: Told) -> Iterator[Finding]:
    fates = [fate for record in told.drains for fate in record.pods]
    for text, of in _by(fates, lambda fate: fate.not_released).items():
        yield Finding("note", f"{plural(len(of), 'pod')} not released before eviction: {text}", _names(of))


def _by(fates: Iterable[PodFate], reason_of: Callable[[PodFate], str]) -> dict[str, list[PodFate]]:
    """Together what shares a reason; those without one are left out."""
    found: dict[str, list[PodFate]] = {}
    for fate in fates:
        if reason := reason_of(fate):
            found.setdefault(reason, []).append(fate)
    return found


def _names(fates: Sequence[PodFate]) -> Sequence[str]:
    named = folded([str(fate.pod) for fate in fates[:_NAMED]])
    return [*named, f"and {len(fates) - _NAMED} more"] if len(fates) > _NAMED else named
