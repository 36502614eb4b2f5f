"""Who gets the room that there is, in one step: each pod in its turn, each by its own rules.

Law: until its last safe moment a pod's budget is respected, or exceeded by the least (`pacing`); from then on nothing
that the API answers keeps its SIGTERM from being tried.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.budgets import COLLIDED_AFTER, BudgetIndex, Rooms, lets_unready_go
from lambdas.domain.decisions.filters import Verdict
from lambdas.domain.decisions.pacing import Pacer
from lambdas.domain.decisions.settling import Settling
from lambdas.domain.decisions.steps import Await, Cause, Decision, Doomed, Go, Hold, Skip, Stay, was_born_before
from lambdas.domain.decisions.surplus import Surplus
from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import Blocked, Forbidden, Refused, SeveralBudgets
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing
from lambdas.domain.values.settings import Settings

_TURN = timedelta(seconds=1)
"""A pod past its last safe moment waits this long for its turn at a budget that has room; the margin bears it."""

_UNANSWERED = timedelta(seconds=2)
"""An eviction can take 10 s inside the server: past the last safe moment a delete is sent beside it after this."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of budgets and of our own requests. `recovered`: budgets of which a pod was replaced in this drain;
    `settling`: those that are being written."""

    budgets: Listing[Budget]
    index: BudgetIndex
    attempts: Mapping[PodRef, Attempt]
    recovered: Collection[BudgetRef]
    settling: Settling


class Allotment:
    """One step's allotment: who gets the room that there is."""

    def __init__(
        self, everywhere: Sequence[Doomed], seen: Seen, settings: Settings, now: datetime, surplus: Surplus
    ) -> None:
        """`everywhere`: the pods of all marked nodes, in the plan's order; budgets are paced over all of them."""
        budgets = seen.budgets
        self.now = now
        self.decisions: dict[PodRef, Decision] = {}
        self.look_again_at: datetime | None = None
        self._are_budgets_known = budgets.freshness is not Freshness.PENDING
        self._versions = {b.ref: b.version for b in budgets.items}
        self._index = seen.index
        self._attempts = seen.attempts
        self._settings = settings
        self._surplus = surplus
        self._settling = seen.settling
        self._rooms = Rooms.after(seen.attempts.values(), budgets, now)
        self._pacer = Pacer(self._index, seen.attempts.values(), seen.recovered, now)
        if settings.paces_budgets:
            for d in everywhere:
                if not surplus.is_replaced_first(d.pod):
                    self._pacer.expect(d, self._attempts.get(d.pod.ref))

    def decide(self, d: Doomed, *, waits_for_others: bool = False) -> None:
        """Give the pod its turn."""
        decision = self._decide(d, waits_for_others)
        self.decisions[d.pod.ref] = decision
        if isinstance(decision, Stay) and decision.until is not None:
            self.look_again(decision.until)

    def look_again(self, at: datetime) -> None:
        """By then something may have changed by time alone."""
        self.look_again_at = at if self.look_again_at is None else min(at, self.look_again_at)

    def _decide(self, d: Doomed, waits_for_others: bool) -> Decision:
        judgement = d.judgement
        if judgement.verdict is Verdict.SKIP:
            return Skip(judgement.reason)
        if judgement.verdict is Verdict.AWAIT:
            return Await(judgement.reason)
        attempt = self._attempts.get(d.pod.ref) or Attempt(d.pod.ref)
        is_due = d.last_safe_moment <= self.now
        if attempt.signalled or attempt.is_believed_absent(self.now, is_due=is_due):
            if attempt.is_absent and attempt.not_before:
                self.look_again(max(attempt.not_before, d.last_safe_moment))
            return Await("signalled")
        waiting = self._waiting(d, attempt, is_due)
        if waiting:
            return waiting
        if d.came_after_notice and not (is_due and was_born_before(d.pod, d.last_safe_moment)):
            return Stay(Hold.OPEN_NODE, None if is_due else d.last_safe_moment)
        if is_due:
            return self._last_chance(d, attempt)
        if d.wish:
            return Stay(Hold.FINISH, d.last_safe_moment, detail=d.wish)
        if waits_for_others:
            return Stay(Hold.CRITICAL, d.last_safe_moment, detail=d.pod.priority_class)
        return self._if_room(d, attempt)

    def _waiting(self, d: Doomed, attempt: Attempt, is_due: bool) -> Decision | None:
        """Whether an answer, or the pause after one, is to be waited for."""
        if attempt.in_flight and attempt.asked_at:
            impatient = max(attempt.asked_at, d.last_safe_moment) + _UNANSWERED
            if impatient > self.now or isinstance(attempt.in_flight[-1], Delete):
                until = impatient if impatient > self.now else None
                return Stay(Hold.ANSWER, until)
            return self._beside_what_is_unanswered(d)
        may_ask_at = attempt.may_ask_at(is_due=is_due)
        if may_ask_at and may_ask_at > self.now and not self._has_changed(attempt):
            until = may_ask_at if is_due else min(may_ask_at, d.last_safe_moment)
            return self._pausing(d, attempt, until)
        return None

    def _beside_what_is_unanswered(self, d: Doomed) -> Decision:
        """A delete; its own eviction may have taken the room, so that only the budgets' own words count here."""
        shut = tuple(b for b in self._index.of(d.pod) if not Rooms().has_room(d.pod, b))
        if shut and not self._settings.deletes_at_last_safe_moment:
            return _left_to_die(shut)
        return self._delete(d, Cause.UNANSWERED, shut)

    def _has_changed(self, attempt: Attempt) -> bool:
        """A blocked pod need not wait out its pause once one of its budgets has changed."""
        if not isinstance(attempt.last_result, Blocked) or not attempt.versions:
            return False
        return any(self._versions.get(ref) != version for ref, version in attempt.versions.items())

    def _pausing(self, d: Doomed, attempt: Attempt, until: datetime) -> Stay:
        match attempt.last_result:
            case Blocked(message, budget):
                named = (budget,) if budget else tuple(attempt.versions or ())
                return Stay(Hold.BUDGET, until, named, message)
            case SeveralBudgets(message):
                return Stay(Hold.BUDGET, until, self._names(d.pod), message)
            case other:
                return Stay(Hold.RETRY, until, detail=_describe(other))

    def _if_room(self, d: Doomed, attempt: Attempt) -> Decision:
        """Before its last safe moment a pod goes when it is replaced and every one of its budgets has room."""
        if not self._are_budgets_known:
            return Stay(Hold.ANSWER, d.last_safe_moment, detail="the budgets are not read yet")
        if self._surplus.is_awaited(d.pod):
            return Stay(Hold.ANSWER, d.last_safe_moment, detail="the workloads of its namespace are not read yet")
        held_by = self._index.of(d.pod)
        if self._surplus.is_replaced_first(d.pod):
            return self._if_replaced(d, held_by)
        if isinstance(attempt.last_result, SeveralBudgets) and len(held_by) < 2:
            return Stay(Hold.BUDGET, d.last_safe_moment, detail=attempt.last_result.message)
        shut = self._shut(d, held_by)
        if shut:
            return self._uncounted(d, shut) or self._exceed(d, shut) or self._held(d, shut)
        return self._in_turn(d, held_by)

    def _if_replaced(self, d: Doomed, held_by: Sequence[Budget]) -> Decision:
        """Its replacement decides; its one budget is asked all the same, and several cannot be."""
        if not self._surplus.lets_go(d.pod):
            return Stay(Hold.REPLACEMENT, d.last_safe_moment)
        cause = Cause.UNWANTED if self._surplus.is_unwanted(d.pod) else Cause.REPLACED
        if len(held_by) > 1:
            return self._delete(d, cause, detail=", ".join(str(b.ref) for b in held_by))
        shut = self._shut(d, held_by)
        if shut:
            return self._uncounted(d, shut) or self._held(d, shut)
        return self._in_turn(d, held_by, cause)

    def _shut(self, d: Doomed, held_by: Sequence[Budget]) -> tuple[Budget, ...]:
        return tuple(b for b in held_by if not self._rooms.has_room(d.pod, b))

    @staticmethod
    def _held(d: Doomed, shut: Sequence[Budget]) -> Stay:
        names = tuple(b.ref for b in shut)
        return Stay(Hold.BUDGET, d.last_safe_moment, names, _arithmetic(d.pod, shut[0]))

    def _uncounted(self, d: Doomed, shut: Sequence[Budget]) -> Decision | None:
        """A delete where a budget would keep a released pod for ever: nobody wants its replica, or none counts it."""
        is_free = self._surplus.lets_go(d.pod) and self._surplus.is_released(d.pod)
        counts_none = all(b.expected == 0 and b.is_observed for b in shut)
        if is_free and (counts_none or self._surplus.is_unwanted(d.pod)):
            return self._delete(d, Cause.UNWANTED)
        return None

    def _in_turn(self, d: Doomed, held_by: Sequence[Budget], cause: Cause = Cause.ROOM) -> Decision:
        if not all(self._rooms.is_free(b) for b in held_by):
            self.look_again(self.now + COLLIDED_AFTER)
            return Stay(Hold.TURN, d.last_safe_moment, tuple(b.ref for b in held_by))
        if len(held_by) > 1:
            return self._delete(d, Cause.SEVERAL_BUDGETS, detail=", ".join(str(b.ref) for b in held_by))
        settles_at = max((at for b in held_by if (at := self._settling.settles_at(b.ref, self.now))), default=None)
        if settles_at is not None:
            return Stay(Hold.TURN, min(settles_at, d.last_safe_moment), tuple(b.ref for b in held_by))
        return self._evict(d, held_by, cause)

    def _exceed(self, d: Doomed, shut: Sequence[Budget]) -> Decision | None:
        """A delete where the budget is to be exceeded now, so that it is exceeded by less later."""
        if not self._pacer.is_paced(d.pod):
            return None
        pace = self._pacer.pace_of(shut[0])
        if pace is None:
            return None
        if self._pacer.missing(shut[0]) >= pace.most:
            self.look_again(self.now + Pacer.SEEN_WITHIN)
            return None
        return self._delete(d, Cause.PACED, shut, pace.arithmetic)

    def _last_chance(self, d: Doomed, attempt: Attempt) -> Decision:
        """At its last safe moment: evicted where its budget shows room, else deleted without asking.

        Evictions and deletes take turns until one is served: either may be what RBAC or a webhook refuses.
        """
        held_by = self._index.of(d.pod)
        shut = self._shut(d, held_by)
        may_delete = self._settings.deletes_at_last_safe_moment
        if shut and not may_delete:
            return _left_to_die(shut)
        if isinstance(attempt.last_ask, Delete) and isinstance(attempt.last_result, Forbidden | Refused):
            return self._evict(d, held_by)
        was_refused = isinstance(attempt.last_ask, Evict) and attempt.last_result is not None
        if was_refused and isinstance(attempt.last_result, Blocked):
            was_refused = may_delete
        if shut or len(held_by) > 1 or was_refused:
            return self._delete(d, Cause.LAST_SAFE_MOMENT, shut)
        busy = [b for b in held_by if not self._rooms.is_free(b)]
        if not busy:
            return self._evict(d, held_by)
        turn_ends = d.last_safe_moment + _TURN
        if turn_ends <= self.now:
            return self._without_a_turn(d, held_by)
        self._rooms.reserve(busy[0])
        return Stay(Hold.TURN, turn_ends, tuple(b.ref for b in held_by))

    def _without_a_turn(self, d: Doomed, held_by: Sequence[Budget]) -> Decision:
        """Its budget has room, and others are in the way for too long: a delete is against no budget."""
        if not self._settings.deletes_at_last_safe_moment:
            return Stay(Hold.TURN, None, tuple(b.ref for b in held_by))
        return self._delete(d, Cause.NO_TURN)

    def _names(self, pod: Pod) -> tuple[BudgetRef, ...]:
        return tuple(b.ref for b in self._index.of(pod))

    def _evict(self, d: Doomed, held_by: Sequence[Budget], cause: Cause = Cause.ROOM) -> Go:
        versions = self._spend(d.pod, held_by)
        return Go(Evict(d.pod.ref, d.deadline.grace(d.pod, self.now)), versions, cause)

    def _delete(self, d: Doomed, cause: Cause, against: Sequence[Budget] = (), detail: str = "") -> Go:
        versions = self._spend(d.pod, self._index.of(d.pod))
        ask = Delete(d.pod.ref, d.deadline.grace(d.pod, self.now), tuple(b.ref for b in against))
        return Go(ask, versions, cause, detail)

    def _spend(self, pod: Pod, held_by: Sequence[Budget]) -> Mapping[BudgetRef, str]:
        """Take the pod's turn at its budgets, and room at those whose status will change for it."""
        costs = [b for b in held_by if pod.ready or not lets_unready_go(b)]
        self._rooms.take(costs)
        self._pacer.take(costs)
        return {b.ref: b.version for b in costs}


def _left_to_die(shut: Sequence[Budget]) -> Stay:
    return Stay(Hold.BUDGET, None, tuple(b.ref for b in shut), "deleting at the last safe moment is switched off")


def _arithmetic(pod: Pod, budget: Budget) -> str:
    """The budget's own numbers, as somebody asks for them at 3 a.m., and the cure where there is one."""
    if not budget.is_observed:
        return f"{budget.ref} is new or changed, and its controller has not counted yet"
    name = f"{budget.ref} ({budget.rule})" if budget.rule else str(budget.ref)
    text = f"{name} needs {budget.desired} of {budget.expected} healthy and has {budget.healthy}"
    if not pod.ready:
        return f"{text}; the pod is not Ready itself: unhealthyPodEvictionPolicy: AlwaysAllow would let it go"
    return text if budget.allowed <= 0 else f"{text}; its room is taken by another pod that goes first"


def _describe(result: object) -> str:
    message = getattr(result, "message", "")
    return f"{type(result).__name__}: {message}" if message else type(result).__name__
