"""Which pods are replaced before they go: sorted to their Deployments, or with the reason why not.

Law: workloads are counted over all nodes that carry our mark. A pod whose release was accepted counts as released,
though that does not show yet.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.consent import Refusal, why_not_released
from lambdas.domain.decisions.places import Place, places
from lambdas.domain.decisions.steps import Doomed, Door
from lambdas.domain.decisions.surroundings import Workload, Workloads
from lambdas.domain.values.kubernetes import Budget, Pod, PodRef
from lambdas.domain.values.observation import Listing, NamespaceView
from lambdas.domain.values.settings import Settings


@dataclass(slots=True)
class Turnover:
    """`waiting`: by Deployment uid, in the plan's order, the pods that are replaced before they go; `orphans`: released
    ones whose Deployment is no more; `refusals`: why other pods of ReplicaSets are not released."""

    workloads: Workloads
    accepted: Mapping[PodRef, Pod]
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


def sort_out(everywhere: Sequence[Doomed], around: Around, budgets: Listing[Budget], settings: Settings) -> Turnover:
    """Sort the pods of all marked nodes, given in the plan's order: where a quota has room for some, for the first."""
    accepted = around.memory.accepted
    turnover = Turnover(Workloads.gather(around.namespaces, accepted), accepted)
    there = places(around, budgets)
    for workload in turnover.workloads.by_uid.values():
        for pod in workload.released:
            there[pod.ref.namespace].charge(pod)
    for d in everywhere:
        if d.is_drained:
            _sort(d, turnover, there[d.pod.ref.namespace], around, settings)
    return turnover


def _sort(d: Doomed, turnover: Turnover, place: Place, around: Around, settings: Settings) -> None:
    pod = d.pod
    workload = turnover.workloads.of(pod)
    if turnover.workloads.is_orphan(turnover.as_released(pod)):
        turnover.orphans.add(pod.ref)
    elif workload is None:
        if reason := _why_unknown(pod, around):
            turnover.refusals[pod.ref] = Refusal(reason)
    elif pod.ready:
        refusal = None if turnover.is_released(pod) else _why_not(d, workload, place, around, settings)
        if refusal is not None:
            turnover.refusals[pod.ref] = refusal
        elif not turnover.is_released(pod):
            place.charge(pod)
        if refusal is None or refusal.is_passing:
            turnover.waiting[workload.deployment.uid].append(d)
            turnover.replaced_first.add(pod.ref)


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
