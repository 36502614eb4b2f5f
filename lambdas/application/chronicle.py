"""The story of each pod of one node: what was seen of it, asked for it, and what became of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lambdas.application.ports import Reporter
from lambdas.domain.decisions.filters import Verdict, judge
from lambdas.domain.decisions.steps import Cause, Decision, Doomed, Go, Hold, Stay
from lambdas.domain.values.actions import Delete, Evict, Release
from lambdas.domain.values.answers import Done, Passing, Result, Unknown
from lambdas.domain.values.drains import Departure, PodFate
from lambdas.domain.values.journal import Entry, Happening
from lambdas.domain.values.kubernetes import BudgetRef, Pod, PodRef
from lambdas.domain.values.notices import NO_DEADLINE
from lambdas.domain.values.owners import workload_named

_FINISHED = frozenset({"Succeeded", "Failed"})
_WORTH_TELLING = frozenset({Hold.BUDGET, Hold.REPLACEMENT, Hold.FINISH, Hold.CRITICAL, Hold.OPEN_NODE})
_PASSING = frozenset({Hold.ANSWER, Hold.TURN, Hold.REPLACEMENT})
"""Over in a moment, or told by its own times: no explanation of why a pod stayed."""


@dataclass(slots=True)
class Story:
    """One pod. `ask`: the request of ours that gave it its SIGTERM; `unanswered`: one whose outcome nobody told us."""

    pod: Pod
    ask: Evict | Delete | None = None
    unanswered: Evict | Delete | None = None
    going: Go | None = None
    signalled_at: datetime | None = None
    gone_at: datetime | None = None
    is_finished: bool = False
    is_lost: bool = False
    held_by: list[BudgetRef] = field(default_factory=list)
    hold: str = ""
    told: str = ""
    last_stay: Stay | None = None
    released_at: datetime | None = None
    replaced_at: datetime | None = None
    not_released: str = ""
    last_safe_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        """Nothing is left to wait for: its UID is gone, or it finished without having been asked to leave.

        One that was asked, and whose containers have ended, is still waited for: gone means gone.
        """
        return self.gone_at is not None or (self.is_finished and self.signalled_at is None)

    @property
    def has_ended(self) -> bool:
        """Nothing of it runs any more, so that the host takes nothing with it."""
        return self.gone_at is not None or self.is_finished

    def departure(self) -> Departure:
        """How it left, or that it did not."""
        if not self.has_ended:
            return Departure.LOST if self.is_lost else Departure.STAYED
        match self.ask or (self.unanswered if self.signalled_at else None):
            case Evict():
                return Departure.EVICTED
            case Delete(against=against) if against:
                return Departure.DELETED_AGAINST_BUDGET
            case Delete():
                several = self.going is not None and self.going.cause is Cause.SEVERAL_BUDGETS
                return Departure.DELETED_SEVERAL_BUDGETS if several else Departure.DELETED
            case None:
                return Departure.FINISHED if self.is_finished else Departure.LEFT

    def fate(self) -> PodFate:
        """What the record says of it."""
        return PodFate(
            pod=self.pod.ref,
            departure=self.departure(),
            grace_given=self.ask.grace if self.ask else None,
            signalled_at=self.signalled_at,
            gone_at=self.gone_at,
            held_by=tuple(self.held_by),
            note=self._note(),
            released_at=self.released_at,
            replaced_at=self.replaced_at,
            not_released="" if self.released_at else self.not_released,
            last_safe_at=self.last_safe_at,
            workload=workload_named(self.pod),
        )

    def _note(self) -> str:
        if self.is_lost and self.signalled_at:
            return "its shutdown was not over at reclaim"
        if self.ask and self.going and self.going.detail:
            return self.going.reason
        return self.hold if not self.has_ended or self.held_by else ""


class Chronicle:
    """Keeps the stories of one node's pods and tells the reporter what changed."""

    def __init__(self, node_name: str, reporter: Reporter) -> None:
        self.stories: dict[PodRef, Story] = {}
        self.skipped: dict[PodRef, str] = {}
        self.first_signal_at: datetime | None = None
        self._node_name = node_name
        self._reporter = reporter
        self._last_seen: Sequence[Pod] = ()
        self._first: frozenset[PodRef] | None = None

    def saw(self, pods: Sequence[Pod], now: datetime) -> None:
        """The node's pods as just observed; one that is no longer among them is gone."""
        if pods is self._last_seen:
            return
        self._last_seen = pods
        if self._first is None:
            self._first = frozenset(pod.ref for pod in pods)
        present = set()
        for pod in pods:
            present.add(pod.ref)
            self._saw(pod, now)
        for ref, story in self.stories.items():
            if ref not in present and story.gone_at is None:
                story.gone_at = now
                self._tell(Happening.GONE, ref, now)

    def _saw(self, pod: Pod, now: datetime) -> None:
        story = self.stories.get(pod.ref)
        judgement = judge(pod)
        if story is None:
            if judgement.verdict is Verdict.SKIP:
                self.skipped[pod.ref] = judgement.reason
                return
            self.skipped.pop(pod.ref, None)
            story = self.stories[pod.ref] = Story(pod)
        story.pod = pod
        if pod.released and story.released_at is None:
            story.released_at = pod.released.at
        if pod.deletion and story.signalled_at is None:
            story.signalled_at = pod.deletion.signalled_at
        if pod.phase in _FINISHED and not story.is_finished:
            story.is_finished = True
            if story.ask is None:
                self._tell(Happening.GONE, pod.ref, now, f"finished by itself ({pod.phase})")

    def decided(self, ref: PodRef, decision: Decision, now: datetime) -> None:
        """The plan for a pod; a hold is told once for each reason."""
        story = self.stories.get(ref)
        if story is not None and isinstance(decision, Go):
            story.going, story.last_stay = decision, None
            self._replaced(ref, story, decision, now)
            _add(story.held_by, decision.ask.against if isinstance(decision.ask, Delete) else ())
        if story is None or not isinstance(decision, Stay) or decision == story.last_stay:
            return
        story.last_stay = decision
        if decision.hold is Hold.BUDGET:
            _add(story.held_by, decision.budgets)
        text = f"{decision.hold.value}: {decision.detail}" if decision.detail else decision.hold.value
        kind = f"{decision.hold.value} {decision.budgets}"
        if decision.hold in _WORTH_TELLING and story.told != kind:
            story.told = kind
            self._tell(Happening.HELD, ref, now, text)
        if decision.hold not in _PASSING:
            story.hold = text

    def _replaced(self, ref: PodRef, story: Story, decision: Go, now: datetime) -> None:
        """A released pod that goes because its replacement is Ready."""
        if story.released_at and story.replaced_at is None and decision.cause is Cause.REPLACED:
            story.replaced_at = now
            self._tell(Happening.REPLACED, ref, now)

    def placed(self, d: Doomed, refusal: str) -> None:
        """What the plan knew of the pod: its last safe moment, and why it is not released (empty where it may be)."""
        story = self.stories.get(d.pod.ref)
        if story is not None and (story.last_safe_at is None or refusal):
            story.last_safe_at = d.last_safe_moment if d.deadline.reclaim < NO_DEADLINE else None
            story.not_released = refusal or story.not_released

    def release_answered(self, ask: Release, result: Result, now: datetime) -> None:
        """The answer to a release."""
        story = self.stories.get(ask.pod)
        if isinstance(result, Done) and story is not None:
            story.released_at = story.released_at or now
            self._tell(Happening.RELEASED, ask.pod, now, f"from ReplicaSet {ask.replica_set.name}")

    def answered(self, ask: Evict | Delete, result: Result, now: datetime) -> None:
        """The answer to a request for a pod."""
        story = self.stories.get(ask.pod)
        if story is not None and isinstance(result, Unknown | Passing):
            story.unanswered = ask
        if not isinstance(result, Done):
            return
        self.first_signal_at = self.first_signal_at or now
        if story is not None and story.ask is None:
            story.ask, story.signalled_at = ask, now
        match ask:
            case Evict():
                self._tell(Happening.EVICTED, ask.pod, now, _grace(ask))
            case Delete(against=against):
                names = ", ".join(str(b) for b in against)
                reason = f"; {story.going.reason}" if story and story.going else ""
                detail = f"{_grace(ask)}{reason}" + (f"; against {names}" if names else "")
                self._tell(Happening.DELETED, ask.pod, now, detail)

    def came_later(self, ref: PodRef) -> bool:
        """Whether the pod was not yet among those that were seen first."""
        return self._first is not None and ref not in self._first

    def is_over(self) -> bool:
        """Whether no pod is left to wait for."""
        return all(story.is_over for story in self.stories.values())

    def has_lost_none(self) -> bool:
        """Whether nothing still runs that the host would take with it."""
        return all(story.has_ended for story in self.stories.values())

    def signalled(self) -> set[PodRef]:
        """Pods that have their SIGTERM, whether or not that is seen yet."""
        return {ref for ref, story in self.stories.items() if story.signalled_at}

    def lose_what_is_left(self, now: datetime) -> None:
        """The host is taken."""
        for ref, story in self.stories.items():
            if not story.has_ended:
                story.is_lost = True
                self._tell(Happening.LOST, ref, now, story.fate().note or "never had its SIGTERM")

    def _tell(self, happening: Happening, ref: PodRef, now: datetime, detail: str = "") -> None:
        self._reporter.tell(Entry(now, happening, self._node_name, str(ref), detail))


def _add(held_by: list[BudgetRef], budgets: Iterable[BudgetRef]) -> None:
    held_by += [budget for budget in budgets if budget not in held_by]


def _grace(ask: Evict | Delete) -> str:
    return f"grace {ask.grace.total_seconds():.0f} s"
