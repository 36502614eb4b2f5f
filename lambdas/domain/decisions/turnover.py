"""Which pods are replaced before they go: sorted to their Deployments, or with the reason why not.

Law: workloads are counted over all nodes that carry our mark. A pod whose release was accepted counts as released,
though that does not show yet.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.budgets import BudgetIndex
from lambdas.domain.decisions.consent import Refusal, most_at_a_time, why_not_released
from lambdas.domain.decisions.places import Place, places
from lambdas.domain.decisions.steps import Doomed, Door
from lambdas.domain.decisions.surroundings import Workload, Workloads
from lambdas.domain.decisions.waves import can_be_replaced
from lambdas.domain.values.kubernetes import Budget, Pod, PodRef
from lambdas.domain.values.observation import Listing, NamespaceView
from lambdas.domain.values.settings import Settings


@dataclass(slots=True)
class Turnover:
    """Where each pod stands.

    `waiting`: by Deployment uid, in the plan's order, the pods that are replaced before they go; `orphans`: released
    ones whose Deployment is no more, or wants none and would not count them; `refusals`: why other pods of ReplicaSets
    are not released.
    """

    workloads: Workloads
    accepted: Mapping[PodRef, Pod]
    places: Mapping[str, Place]
    waiting: defaultdict[str, list[Doomed]] = field(default_factory=lambda: defaultdict(list))
    orphans: set[PodRef] = field(default_factory=set)
    refusals: dict[PodRef, Refusal] = field(default_factory=dict)
    replaced_first: set[PodRef] = field(default_factory=set)
    """All that wait; one that is not Ready costs no availability, and is none of them: its budget alone decides."""

    def as_released(self, pod: Pod) -> Pod:
        """The pod with its release, where that was accepted and does not show yet."""
        return pod if pod.released else self.accepted.get(pod.ref, pod)

    def is_released(self, pod: Pod) -> bool:
        """Whether it has no ReplicaSet any more, by a release."""
        return self.as_released(pod).released is not None


def sort_out(
    everywhere: Sequence[Doomed],
    around: Around,
    budgets: Listing[Budget],
    index: BudgetIndex,
    settings: Settings,
    now: datetime,
) -> Turnover:
    """Sort the pods of all marked nodes, given in the plan's order."""
    accepted = around.memory.accepted
    turnover = Turnover(Workloads.gather(around.namespaces, accepted), accepted, places(around, budgets))
    for d in everywhere:
        if d.is_drained:
            _sort(d, turnover, around, index, settings)
    for uid in turnover.waiting:
        _leave_to_budgets(uid, turnover, index, settings, now)
    _charge(turnover, around)
    return turnover


def _charge(turnover: Turnover, around: Around) -> None:
    """Pods that are there beside their replacements, or are about to be: released, and those on their way out, which
    quotas count until the end."""
    for name, view in around.namespaces.items():
        if view.quotas.items:
            for pod in view.pods.items:
                if pod.deletion or turnover.is_released(pod) or around.memory.is_in_flight(pod.ref):
                    turnover.places[name].charge(pod)


def _sort(d: Doomed, turnover: Turnover, around: Around, index: BudgetIndex, settings: Settings) -> None:
    pod = d.pod
    workload = turnover.workloads.of(pod)
    is_unwanted = workload is not None and workload.deployment.replicas == 0 and turnover.is_released(pod)
    if turnover.workloads.is_orphan(turnover.as_released(pod)) or (is_unwanted and not pod.ready):
        turnover.orphans.add(pod.ref)
    elif workload is None:
        if reason := _why_unknown(pod, around):
            turnover.refusals[pod.ref] = Refusal(reason)
    elif pod.ready:
        place = turnover.places[pod.ref.namespace]
        refusal = None if turnover.is_released(pod) else _why_not(d, workload, place, around, settings)
        if refusal is not None:
            turnover.refusals[pod.ref] = refusal
        if refusal is None or _waits_all_the_same(d, refusal, index):
            turnover.waiting[workload.deployment.uid].append(d)
            turnover.replaced_first.add(pod.ref)


def _waits_all_the_same(d: Doomed, refusal: Refusal, index: BudgetIndex) -> bool:
    return refusal.is_passing and not (refusal.leaves_by_budget and index.of(d.pod))


def _leave_to_budgets(uid: str, turnover: Turnover, index: BudgetIndex, settings: Settings, now: datetime) -> None:
    """Where so few may be released at a time that the rest would be too late, the rest need not wait for it: their
    budgets let them go, paced, beside the waves."""
    workload, waiting = turnover.workloads.by_uid[uid], turnover.waiting[uid]
    left = [d for d in waiting if not turnover.is_released(d.pod) and d.pod.ref not in turnover.refusals]
    within = workload.replaced_within()
    if not left or within is None:
        return
    most = most_at_a_time(left[0].pod, workload, turnover.places[left[0].pod.ref.namespace], settings)
    if most is None:
        return
    busy = [max(timedelta(), within - (now - d.pod.released.at)) for d in waiting if d.pod.released]
    times = [max(timedelta(), d.last_safe_moment - now) for d in left]
    late = [d for d in left[can_be_replaced(times, within, most, busy) :] if index.of(d.pod)]
    for d in late:
        reason = f"there is no time to replace it, {most} being released at a time"
        turnover.refusals[d.pod.ref] = Refusal(reason)
        turnover.replaced_first.discard(d.pod.ref)
    turnover.waiting[uid] = [d for d in waiting if d.pod.ref in turnover.replaced_first]


def _why_not(d: Doomed, workload: Workload, place: Place, around: Around, settings: Settings) -> Refusal | None:
    if d.door is not Door.SHUT:
        return Refusal(f"its node {d.door.value}", is_passing=d.door is Door.SHUTTING)
    refused = around.memory.refused.get(workload.deployment.uid)
    if around.forbidden or refused:
        return Refusal(around.forbidden or f"its release was refused: {refused}")
    return why_not_released(d.pod, workload, place, settings)


def _why_unknown(pod: Pod, around: Around) -> str:
    """Why a ReplicaSet's pod has no workload here; empty for all others, and while it may still be read."""
    if pod.owner is None or pod.owner.kind != "ReplicaSet" or pod.ref.namespace in around.awaited:
        return ""
    view = around.namespaces.get(pod.ref.namespace) or NamespaceView()
    freshness = {
        "deployments": view.deployments.freshness,
        "replicasets": view.replica_sets.freshness,
        "pods": view.pods.freshness,
    }
    unread = [name for name, how in freshness.items() if not how.is_read]
    if unread:
        return f"not checked: {', '.join(unread)} could not be read"
    return "its ReplicaSet is no apps/v1 Deployment's"
