"""What to do now with every pod of every node that drains.

Law: pure and level-based. The same observation, memory and moment give the same plan, whoever came before. On a host
that dies a budget protects nothing past a pod's last safe moment (what kubernetes-sigs/karpenter 2350 asks for).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lambdas.domain.decisions.allotment import Allotment, Seen
from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.budgets import BudgetIndex
from lambdas.domain.decisions.releasing import releases, shortfalls
from lambdas.domain.decisions.steps import Await, Decision, Doomed, Go, Hold, Stay
from lambdas.domain.decisions.surplus import Surplus
from lambdas.domain.decisions.turnover import sort_out
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
    elsewhere: frozenset[PodRef] = frozenset()
    """Pods of other marked nodes whose turn it is: whoever drains those is to see to them."""
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
    doomed = tuple(doomed)
    everywhere = sorted((*doomed, *around.elsewhere), key=lambda d: d.rank(now))
    own = {d.pod.ref for d in doomed}
    ranked = [d for d in everywhere if d.pod.ref in own]
    signalled = {ref for ref, a in attempts.items() if a.signalled or a.in_flight}
    index = BudgetIndex(budgets.items)
    turnover = sort_out(everywhere, around, budgets, index, settings, now)
    surplus = Surplus(turnover, around, signalled, now)
    allotment = Allotment(
        everywhere, Seen(budgets, index, attempts, recovered, around.settling), settings, now, surplus
    )
    _allot(ranked, allotment)
    leaving = signalled | {ref for ref, decision in allotment.decisions.items() if isinstance(decision, Go)}
    made = releases(turnover, around, settings, now, own, leaving)
    moments = [*surplus.look_again, *made.look_again]
    moments += [allotment.look_again_at] if allotment.look_again_at else []
    return Plan(
        decisions={**allotment.decisions, **made.frees},
        look_again_at=min(moments, default=None),
        refusals={ref: refusal.reason for ref, refusal in turnover.refusals.items()},
        wakes=made.wakes,
        shortfalls=shortfalls(turnover, signalled),
        elsewhere=frozenset(surplus.going - own | made.elsewhere),
    )


def _allot(ranked: Sequence[Doomed], allotment: Allotment) -> None:
    """Each in its turn; pods that others need to shut down cleanly when the others have had theirs."""
    ordinary = [d for d in ranked if not d.is_critical]
    for d in ordinary:
        allotment.decide(d)
    moving = {d.node_name for d in ordinary if _is_on_its_way(allotment.decisions[d.pod.ref])}
    for d in ranked:
        if d.is_critical:
            allotment.decide(d, waits_for_others=d.node_name in moving)


def _is_on_its_way(decision: Decision) -> bool:
    """Leaving, or about to; one that is blocked or left to finish is nobody to wait for."""
    if isinstance(decision, Stay):
        return decision.hold in (Hold.ANSWER, Hold.RETRY, Hold.TURN)
    return isinstance(decision, Go | Await)
