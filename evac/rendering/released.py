"""Release before evict in sentences: whose pods were replaced first, in how many waves, and whose were not, and why."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from evac.rendering.words import clean, enumerated, of_several, plural
from evac.replay.outcome import Mode, Replay
from evac.scenario.kinds import KINDS
from lambdas.domain.values.drains import PodFate

_BETWEEN_WAVES: Final = timedelta(seconds=1)
_NOBODYS: Final = "no workload that is known"
_DECIDING: Final = frozenset(kind.name for kind in KINDS) - {"Node", "Pod", "PodDisruptionBudget", "StatefulSet"}
"""Kinds that may forbid a release."""


def release_sentences(replay: Replay) -> Iterator[str]:
    """What was released, what became of it, and what was not released, each reason once."""
    fates = replay.fates
    released = [fate for fate in fates if fate.released_at]
    yield from _released([fate for fate in released if fate.replaced_at])
    yield from _in_vain([fate for fate in released if not fate.replaced_at and fate.signalled_at])
    yield from _not_released(fates, {fate.workload for fate in released})
    if released and _DECIDING.intersection(replay.unknown_kinds) and replay.mode is Mode.SIMULATED:
        yield "pods were released as if there were none of the unknown kinds; some of them may forbid it"


def _released(fates: Sequence[PodFate]) -> Iterator[str]:
    match [(workload, of, _in_waves(of)) for workload, of in _by_workload(fates)]:
        case []:
            return
        case [(workload, _, waves)]:
            yield f"{plural(len(fates), 'pod')} of {workload} released{waves}, each replaced before it went"
        case several:
            each = enumerated([f"{len(of)} of {workload}{waves}" for workload, of, waves in several])
            yield f"{plural(len(fates), 'pod')} released, each replaced before it went: {each}"


def _in_waves(fates: Iterable[PodFate]) -> str:
    count = count_waves(fate.released_at for fate in fates if fate.released_at)
    return f" in {count} waves" if count > 1 else ""


def count_waves(moments: Iterable[datetime]) -> int:
    """How many waves the releases of one workload came in: one ends where nothing is released for a second."""
    found, last = 0, None
    for moment in sorted(moments):
        found += last is None or moment - last > _BETWEEN_WAVES
        last = moment
    return found


def _in_vain(fates: Sequence[PodFate]) -> Iterator[str]:
    if fates:
        each = enumerated([f"{len(of)} of {workload}" for workload, of in _by_workload(fates)])
        yield f"{plural(len(fates), 'pod')} released, but gone before a replacement was Ready: {each}"


def _not_released(fates: Sequence[PodFate], released: Container[str]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for fate in fates:
        if reason := fate.not_released or _no_turn(fate, released):
            counts.setdefault(reason, Counter())[fate.workload] += 1
    for reason, of in counts.items():
        workloads = enumerated([clean(workload) or _NOBODYS for workload in sorted(of)])
        why = clean(of_several(reason) if of.total() > 1 else reason)
        yield f"not released: {plural(of.total(), 'pod')} of {workloads}: {why}"


def _no_turn(fate: PodFate, released: Container[str]) -> str:
    """Nothing forbade its release, and the waves before it took too long."""
    if fate.released_at or fate.workload not in released or not fate.signalled_at or not fate.last_safe_at:
        return ""
    return "its turn did not come before its last safe moment" if fate.signalled_at >= fate.last_safe_at else ""


def _by_workload(fates: Sequence[PodFate]) -> list[tuple[str, list[PodFate]]]:
    """The largest first."""
    found: dict[str, list[PodFate]] = {}
    for fate in fates:
        found.setdefault(clean(fate.workload) or _NOBODYS, []).append(fate)
    return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
