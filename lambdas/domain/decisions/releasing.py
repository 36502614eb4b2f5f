"""Replace, then evict: the releases of one step, and what follows from releases that found no replacement.

Law: a workload's waves are counted over all nodes that carry our mark; whoever plans acts on its own nodes' pods among
those.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.consent import mode_of, most_at_a_time
from lambdas.domain.decisions.release_memory import WAKE_EVERY
from lambdas.domain.decisions.steps import Doomed, Free
from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.decisions.turnover import Turnover
from lambdas.domain.decisions.waves import Standing, next_wave
from lambdas.domain.values.actions import Release, Wake
from lambdas.domain.values.kubernetes import Owner, Pod, PodRef
from lambdas.domain.values.settings import Settings


@dataclass(slots=True)
class Releases:
    """`frees`: the pods to be released now; `wakes`: by Deployment uid, a touch that ends its ReplicaSet's back-off."""

    frees: dict[PodRef, Free] = field(default_factory=dict)
    wakes: dict[str, Wake] = field(default_factory=dict)
    look_again: list[datetime] = field(default_factory=list)
    elsewhere: set[PodRef] = field(default_factory=set)
    """Pods of other nodes that it would be the turn of."""


def releases(
    turnover: Turnover,
    around: Around,
    settings: Settings,
    now: datetime,
    own: Collection[PodRef],
    leaving: Collection[PodRef],
) -> Releases:
    """The releases of this step. `own`: pods that we may act on; `leaving`: those that have their SIGTERM, or get it in
    this step, and so count against no wave any more."""
    found = Releases()
    for uid, waiting in turnover.waiting.items():
        workload = turnover.workloads.by_uid[uid]
        left = [d for d in waiting if _may_be_released(d, turnover, around, leaving, now)]
        if not left:
            continue
        in_flight = sum(1 for d in waiting if turnover.is_released(d.pod) and d.pod.ref not in leaving)
        wave = next_wave(_standing(workload, left, in_flight, turnover, around, settings), now)
        found.look_again += [wave.look_again_at] if wave.look_again_at else []
        room = min(wave.room, _most_of(workload, around))
        for d in left[: max(0, room)]:
            _free(d, workload, turnover, around, now, own, found)
    _wake(turnover, around, now, found)
    return found


def _free(
    d: Doomed,
    workload: Workload,
    turnover: Turnover,
    around: Around,
    now: datetime,
    own: Collection[PodRef],
    found: Releases,
) -> None:
    place = turnover.places[d.pod.ref.namespace]
    not_before = around.memory.may_ask_at(d.pod.ref)
    if not_before is not None and not_before > now:
        found.look_again.append(not_before)
    elif d.pod.owner is not None and place.has_room_for(d.pod):
        place.charge(d.pod)
        if d.pod.ref in own:
            found.frees[d.pod.ref] = Free(_release(d.pod, d.pod.owner, workload, now))
        else:
            found.elsewhere.add(d.pod.ref)


def _may_be_released(d: Doomed, turnover: Turnover, around: Around, leaving: Collection[PodRef], now: datetime) -> bool:
    ref = d.pod.ref
    if ref in leaving or ref in turnover.refusals or turnover.is_released(d.pod) or d.came_after_notice:
        return False
    return d.last_safe_moment > now and not around.memory.is_in_flight(ref)


def _standing(
    workload: Workload,
    left: Sequence[Doomed],
    in_flight: int,
    turnover: Turnover,
    around: Around,
    settings: Settings,
) -> Standing:
    place = turnover.places[workload.deployment.namespace]
    return Standing(
        workload,
        [d.last_safe_moment for d in left],
        in_flight + around.memory.in_flight_of(workload.deployment.uid),
        mode_of(workload, settings),
        most_at_a_time(left[0].pod, workload, place, settings),
    )


def _most_of(workload: Workload, around: Around) -> int:
    """One patch alone until one was accepted (an admission policy is met once, not thirty times); and one pod stays
    owned until a replacement exists: a budget reads its scale from the owners of its pods."""
    deployment, memory = workload.deployment, around.memory
    asked = memory.in_flight_of(deployment.uid)
    is_first = not workload.released and deployment.uid not in memory.touched
    keeps = 1 if deployment.replicas > 1 else 0
    return min(1 - asked if is_first else len(workload.owned), len(workload.owned) - asked - keeps)


def _release(pod: Pod, replica_set: Owner, workload: Workload, now: datetime) -> Release:
    deployment = workload.deployment
    owner = Owner("Deployment", deployment.name, deployment.uid, "apps/v1")
    return Release(pod.ref, pod.labels[LABEL_TEMPLATE_HASH], replica_set, owner, now)


def _wake(turnover: Turnover, around: Around, now: datetime, found: Releases) -> None:
    """ReplicaSets that fail to replace what was released, though pods have gone: one touch of any pod of theirs."""
    for uid, workload in turnover.workloads.by_uid.items():
        replica_set = workload.current
        was_touched = bool(workload.released) or uid in around.memory.touched
        if replica_set is None or not replica_set.failure or not was_touched or not around.memory.may_wake(uid, now):
            continue
        own = [p for p in workload.owned if p.owner and p.owner.uid == replica_set.uid]
        if own and len(workload.owned) < workload.deployment.replicas:
            found.wakes[uid] = Wake(min(p.ref for p in own), now)
            found.look_again.append(now + WAKE_EVERY)


def shortfalls(turnover: Turnover, signalled: Collection[PodRef]) -> Mapping[str, int]:
    """Per Deployment that has replacements without room: those, and the pods still to be released."""
    found: dict[str, int] = {}
    for uid, waiting in turnover.waiting.items():
        workload = turnover.workloads.by_uid[uid]
        if unplaced := workload.unplaced():
            left = sum(1 for d in waiting if not turnover.is_released(d.pod) and d.pod.ref not in signalled)
            found[str(workload.deployment)] = unplaced + left
    return found
