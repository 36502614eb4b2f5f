"""What to do now with every pod of every node that drains.

Law: pure and level-based. The same observation, memory and moment give the same plan, whoever came before.
Until its last safe moment a pod's budget is respected; from then on nothing that the API answers keeps its SIGTERM
from being tried, since on a host that dies a budget protects nothing (facts: kubernetes-sigs/karpenter 2350).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.budgets import Rooms, budgets_by_namespace, budgets_of, lets_unready_go
from lambdas.domain.decisions.deadline import Deadline
from lambdas.domain.decisions.filters import Verdict, is_critical, judge, why_let_finish
from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import Blocked, SeveralBudgets
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing
from lambdas.domain.values.settings import Settings

_TURN = timedelta(seconds=1)
"""A pod past its last safe moment waits this long for its turn at a budget that has room; the margin bears it."""

_UNANSWERED = timedelta(seconds=2)
"""An eviction can take 10 s inside the server: past the last safe moment a delete is sent beside it after this."""


class Hold(Enum):
    """Why a pod stays for now; the value is what people read."""

    BUDGET = "held by its budget"
    TURN = "waits its turn at its budget"
    FINISH = "left to finish"
    CRITICAL = "goes when the others are gone"
    OPEN_NODE = "the node could not be cordoned and would be given it back"
    ANSWER = "waits for the API's answer"
    RETRY = "tried again shortly"


@dataclass(frozen=True, slots=True)
class Skip:
    """Not drained."""

    reason: str


@dataclass(frozen=True, slots=True)
class Await:
    """Has its SIGTERM; gone when its UID is."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stay:
    """Stays for now, at the latest until `until` (None: until its answer, its budget or the host goes)."""

    hold: Hold
    until: datetime | None
    budgets: tuple[BudgetRef, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """Goes now, by this request; `versions` are its budgets' resource versions, `budgets` those that were asked."""

    ask: Evict | Delete
    versions: Mapping[BudgetRef, str]
    reason: str = ""


Decision = Skip | Await | Stay | Go


@dataclass(frozen=True, slots=True)
class Doomed:
    """A pod on a node that will be taken. `came_after_notice`: to a node that is not cordoned, in spite of us."""

    pod: Pod
    node_name: str
    deadline: Deadline
    came_after_notice: bool = False

    @property
    def last_safe_moment(self) -> datetime:
        """The latest moment for its SIGTERM."""
        return self.deadline.last_safe_moment(self.pod)


@dataclass(frozen=True, slots=True)
class Plan:
    """A decision for every pod, and when to look again even if nothing changes."""

    decisions: Mapping[PodRef, Decision]
    look_again_at: datetime | None


def plan(
    doomed: Iterable[Doomed],
    budgets: Listing[Budget],
    attempts: Mapping[PodRef, Attempt],
    settings: Settings,
    now: datetime,
) -> Plan:
    """Decide for all pods of all draining nodes at once: budgets are counted over all of them, in one order."""
    ranked = sorted(doomed, key=lambda d: _rank(d, now))
    desk = _Desk(budgets, attempts, settings, now)
    ordinary = [d for d in ranked if not is_critical(d.pod)]
    for d in ordinary:
        desk.decide(d)
    moving = {d.node_name for d in ordinary if isinstance(desk.decisions[d.pod.ref], Go | Await)}
    moving |= {d.node_name for d in ordinary if _is_on_its_way(desk.decisions[d.pod.ref])}
    for d in ranked:
        if is_critical(d.pod):
            desk.decide(d, waits_for_others=d.node_name in moving)
    return Plan(desk.decisions, desk.look_again_at)


def was_born_before(pod: Pod, moment: datetime) -> bool:
    """Whether the pod is older than `moment`, by the API's whole seconds."""
    return pod.created_at is not None and pod.created_at < moment


def _is_on_its_way(decision: Decision) -> bool:
    """Asked for and not yet answered for good; one that is blocked or left to finish is nobody to wait for."""
    return isinstance(decision, Stay) and decision.hold in (Hold.ANSWER, Hold.RETRY, Hold.TURN)


def _rank(d: Doomed, now: datetime) -> tuple[object, ...]:
    """Earliest last safe moment first, then longest own grace (the grace counted makes ties), then unready, then name.

    That order meets every deadline that can be met. Among those whose moment has come a Job's pod is first: only an
    eviction sets the DisruptionTarget condition that its podFailurePolicy may ignore.
    """
    pod, moment = d.pod, d.last_safe_moment
    is_due = moment <= now
    is_job = pod.owner is not None and pod.owner.kind == "Job"
    return (not (is_due and is_job), moment, -pod.grace, pod.ready, pod.ref)


class _Desk:
    """One step's allotment: who gets the room that there is."""

    def __init__(
        self, budgets: Listing[Budget], attempts: Mapping[PodRef, Attempt], settings: Settings, now: datetime
    ) -> None:
        self.now = now
        self.decisions: dict[PodRef, Decision] = {}
        self.look_again_at: datetime | None = None
        self._are_budgets_known = budgets.freshness is not Freshness.PENDING
        self._budgets = budgets_by_namespace(budgets.items)
        self._attempts = attempts
        self._settings = settings
        self._rooms = Rooms.after(attempts.values(), {b.ref: b for b in budgets.items})

    def decide(self, d: Doomed, *, waits_for_others: bool = False) -> None:
        decision = self._decide(d, waits_for_others)
        self.decisions[d.pod.ref] = decision
        if isinstance(decision, Stay) and decision.until is not None:
            self.look_again(decision.until)

    def look_again(self, at: datetime) -> None:
        self.look_again_at = at if self.look_again_at is None else min(at, self.look_again_at)

    def _decide(self, d: Doomed, waits_for_others: bool) -> Decision:
        judgement = judge(d.pod)
        if judgement.verdict is Verdict.SKIP:
            return Skip(judgement.reason)
        if judgement.verdict is Verdict.AWAIT:
            return Await(judgement.reason)
        attempt = self._attempts.get(d.pod.ref) or Attempt(d.pod.ref)
        if attempt.signalled or attempt.is_absent:
            return Await("signalled")
        is_due = d.last_safe_moment <= self.now
        waiting = self._waiting(d, attempt, is_due)
        if waiting:
            return waiting
        if d.came_after_notice and not (is_due and was_born_before(d.pod, d.last_safe_moment)):
            return Stay(Hold.OPEN_NODE, None if is_due else d.last_safe_moment)
        if is_due:
            return self._last_chance(d, attempt)
        wish = why_let_finish(d.pod)
        if wish:
            return Stay(Hold.FINISH, d.last_safe_moment, detail=wish)
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
            return self._delete(d, "no answer to its eviction")
        may_ask_at = attempt.may_ask_at(is_due=is_due)
        if may_ask_at and may_ask_at > self.now and not self._has_changed(attempt):
            until = may_ask_at if is_due else min(may_ask_at, d.last_safe_moment)
            return self._pausing(d, attempt, until)
        return None

    def _has_changed(self, attempt: Attempt) -> bool:
        """A blocked pod need not wait out its pause once one of its budgets has changed."""
        if not isinstance(attempt.last_result, Blocked) or not attempt.versions:
            return False
        known = {b.ref: b.version for b in self._budgets.get(attempt.pod.namespace, ())}
        return any(known.get(ref) != version for ref, version in attempt.versions.items())

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
        """Before its last safe moment a pod goes when every one of its budgets has room."""
        if not self._are_budgets_known:
            return Stay(Hold.ANSWER, d.last_safe_moment, detail="the budgets are not read yet")
        if isinstance(attempt.last_result, SeveralBudgets) and len(budgets_of(d.pod, self._budgets)) < 2:
            return Stay(Hold.BUDGET, d.last_safe_moment, detail=attempt.last_result.message)
        held_by = budgets_of(d.pod, self._budgets)
        shut = tuple(b for b in held_by if not self._rooms.has_room(d.pod, b))
        if shut:
            return Stay(Hold.BUDGET, d.last_safe_moment, tuple(b.ref for b in shut), _arithmetic(d.pod, shut[0]))
        if not all(self._rooms.is_free(b) for b in held_by):
            return Stay(Hold.TURN, d.last_safe_moment, tuple(b.ref for b in held_by))
        if len(held_by) > 1:
            return self._delete(d, "several budgets, all with room")
        return self._evict(d, held_by)

    def _last_chance(self, d: Doomed, attempt: Attempt) -> Decision:
        """At its last safe moment: evicted where its budget shows room, else deleted without asking.

        Evictions and deletes take turns until one is served: either may be what RBAC or a webhook refuses.
        """
        held_by = budgets_of(d.pod, self._budgets)
        shut = tuple(b for b in held_by if not self._rooms.has_room(d.pod, b))
        may_delete = self._settings.deletes_at_last_safe_moment
        if shut and not may_delete:
            names = tuple(b.ref for b in shut)
            return Stay(Hold.BUDGET, None, names, "deleting at the last safe moment is switched off")
        was_refused = isinstance(attempt.last_ask, Evict) and attempt.last_result is not None
        if was_refused and isinstance(attempt.last_result, Blocked):
            was_refused = may_delete
        if shut or len(held_by) > 1 or was_refused:
            return self._delete(d, "its last safe moment", shut)
        busy = [b for b in held_by if not self._rooms.is_free(b)]
        if not busy:
            return self._evict(d, held_by)
        turn_ends = d.last_safe_moment + _TURN
        if turn_ends <= self.now:
            return self._delete(d, "its last safe moment, and no turn at its budget", held_by)
        self._rooms.reserve(busy[0])
        return Stay(Hold.TURN, turn_ends, tuple(b.ref for b in held_by))

    def _names(self, pod: Pod) -> tuple[BudgetRef, ...]:
        return tuple(b.ref for b in budgets_of(pod, self._budgets))

    def _evict(self, d: Doomed, held_by: Sequence[Budget]) -> Go:
        versions = self._spend(d.pod, held_by)
        return Go(Evict(d.pod.ref, d.deadline.grace(d.pod, self.now)), versions)

    def _delete(self, d: Doomed, reason: str, against: Sequence[Budget] = ()) -> Go:
        versions = self._spend(d.pod, budgets_of(d.pod, self._budgets))
        ask = Delete(d.pod.ref, d.deadline.grace(d.pod, self.now), tuple(b.ref for b in against))
        return Go(ask, versions, reason)

    def _spend(self, pod: Pod, held_by: Sequence[Budget]) -> Mapping[BudgetRef, str]:
        """Take the pod's turn at its budgets, and room at those whose status will change for it."""
        costs = [b for b in held_by if pod.ready or not lets_unready_go(b)]
        self._rooms.take(costs)
        return {b.ref: b.version for b in costs}


def _arithmetic(pod: Pod, budget: Budget) -> str:
    """The budget's own numbers, as somebody asks for them at 3 a.m., and the cure where there is one."""
    if not budget.is_observed:
        return f"{budget.ref} is new or changed, and its controller has not counted yet"
    text = f"{budget.ref} needs {budget.desired} of {budget.expected} healthy and has {budget.healthy}"
    if not pod.ready:
        return f"{text}; the pod is not Ready itself: unhealthyPodEvictionPolicy: AlwaysAllow would let it go"
    return text if budget.allowed <= 0 else f"{text}; its room is spoken for"


def _describe(result: object) -> str:
    message = getattr(result, "message", "")
    return f"{type(result).__name__}: {message}" if message else type(result).__name__
