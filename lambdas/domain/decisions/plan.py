"""What to do now with every pod of every node that drains.

Law: pure and level-based. The same observation, memory and moment give the same plan, whoever came before. On a host
that dies a budget protects nothing past a pod's last safe moment (what kubernetes-sigs/karpenter 2350 asks for).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lambdas.domain.decisions.allotment import Allotment, Seen
from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.releasing import Around, Releases
from lambdas.domain.decisions.steps import Await, Decision, Doomed, Go, Hold, Stay
from lambdas.domain.values.actions import Wake
from lambdas.domain.values.kubernetes import Budget, BudgetRef, PodRef
from lambdas.domain.values.observation import Listing
from lambdas.domain.values.settings import Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """A decision for every pod, and when to look again even if nothing changes."""

    decisions: Mapping[PodRef, Decision]
    look_again_at: datetime | None
    refusals: Mapping[PodRef, str] = field(default_factory=dict)
    """Why pods of a Deployment are not released."""
    wakes: Mapping[str, Wake] = field(default_factory=dict)
    """Touches of ReplicaSets that back off, by their Deployment's uid."""
    shortfalls: Mapping[str, int] = field(default_factory=dict)
    """Per Deployment with replacements that find no room: how many pods want it."""


def plan(
    doomed: Iterable[Doomed],
    budgets: Listing[Budget],
    attempts: Mapping[PodRef, Attempt],
    settings: Settings,
    now: datetime,
    recovered: Collection[BudgetRef] = frozenset(),
    around: Around = Around(),  # noqa: B008 - it is frozen; its memory is read here, never written
) -> Plan:
    """Decide for all pods of all draining nodes at once: budgets are counted over all of them, in one order.

    `recovered`: budgets that have been seen to recover in this drain, so that replacements do become Ready. Evictions
    come first, then releases.
    """
    ranked = sorted(doomed, key=lambda d: _rank(d, now))
    releases = Releases(ranked, budgets, attempts, settings, now, around)
    allotment = Allotment(
        ranked, Seen(budgets, attempts, recovered, around.elsewhere, around.settling), settings, now, releases
    )
    ordinary = [d for d in ranked if not d.is_critical]
    for d in ordinary:
        allotment.decide(d)
    moving = {d.node_name for d in ordinary if _is_on_its_way(allotment.decisions[d.pod.ref])}
    for d in ranked:
        if d.is_critical:
            allotment.decide(d, waits_for_others=d.node_name in moving)
    decisions = {**allotment.decisions, **releases.frees(allotment.decisions)}
    refusals = {ref: refusal.reason for ref, refusal in releases.refusals.items()}
    wakes = releases.wakes()
    moments = [*releases.look_again, *([allotment.look_again_at] if allotment.look_again_at else [])]
    return Plan(decisions, min(moments, default=None), refusals, wakes, releases.shortfalls())


def _is_on_its_way(decision: Decision) -> bool:
    """Leaving, or about to; one that is blocked or left to finish is nobody to wait for."""
    if isinstance(decision, Stay):
        return decision.hold in (Hold.ANSWER, Hold.RETRY, Hold.TURN)
    return isinstance(decision, Go | Await)


def _rank(d: Doomed, now: datetime) -> tuple[object, ...]:
    """Earliest last safe moment first, then longest own grace (the grace counted makes ties), then unready, then name.

    That order meets every deadline that can be met. Among those whose moment has come a Job's pod is first: only an
    eviction sets the DisruptionTarget condition that its podFailurePolicy may ignore.
    """
    pod, moment = d.pod, d.last_safe_moment
    is_due = moment <= now
    is_job = pod.owner is not None and pod.owner.kind == "Job"
    return (not (is_due and is_job), moment, -pod.grace, pod.ready, pod.ref)
