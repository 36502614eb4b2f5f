"""Which PodDisruptionBudgets hold a pod, and how much room each has left in this step.

Law: the evictions of one budget go one after the other (side by side they collide inside the API server in half
seconds); those of different budgets side by side.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod
from lambdas.domain.values.observation import Freshness, Listing

_Label = tuple[str, str, str]


class BudgetIndex:
    """Budgets by namespace and by one label that their pods must have, so that a pod looks at few of hundreds."""

    def __init__(self, budgets: Iterable[Budget]) -> None:
        self._by_label: defaultdict[_Label, list[Budget]] = defaultdict(list)
        self._others: defaultdict[str, list[Budget]] = defaultdict(list)
        for budget in budgets:
            label = _label_of(budget)
            if label:
                self._by_label[label].append(budget)
            else:
                self._others[budget.ref.namespace].append(budget)

    def of(self, pod: Pod) -> tuple[Budget, ...]:
        """Those that the eviction API would ask for this pod: a pending pod is evicted whatever they say."""
        if pod.phase == "Pending":
            return ()
        namespace = pod.ref.namespace
        candidates = list(self._others.get(namespace, ()))
        for label in pod.labels.items():
            candidates += self._by_label.get((namespace, *label), ())
        found = [b for b in candidates if b.selector.matches(pod.labels)]
        return tuple(sorted(found, key=lambda b: b.ref) if len(found) > 1 else found)


def _label_of(budget: Budget) -> _Label | None:
    """A label without which no pod is this budget's."""
    for requirement in budget.selector.requirements or ():
        if requirement.operator == "In" and len(requirement.values) == 1:
            [value] = requirement.values
            return budget.ref.namespace, requirement.key, value
    return None


def lets_unready_go(budget: Budget) -> bool:
    """Whether an unready pod costs this budget nothing (unhealthyPodEvictionPolicy, policy/v1)."""
    if not budget.is_observed:
        return False
    return budget.always_allows_unhealthy or budget.healthy >= budget.desired > 0


COLLIDED_AFTER = timedelta(milliseconds=150)
"""An eviction takes 11 ms; one that met another writer of its budget half a second more."""


_SHOWS_AFTER = {True: timedelta(seconds=2), False: timedelta(seconds=12)}
"""Where a budget is watched, and where it is listed now and then: by then it has counted a pod that was deleted under
several budgets. No eviction asks those for us, and a newer version may yet be of something that came before."""


@dataclass(slots=True)
class Rooms:
    """The room of each budget within one step: what its status shows, less what it cannot have seen yet.

    `spent` counts requests sent since the version observed now; `busy` are budgets with a request in flight.
    """

    spent: Counter[BudgetRef] = field(default_factory=Counter)
    busy: set[BudgetRef] = field(default_factory=set)
    reserved: Counter[BudgetRef] = field(default_factory=Counter)

    @classmethod
    def after(cls, attempts: Iterable[Attempt], budgets: Listing[Budget], now: datetime) -> "Rooms":
        """From the requests that this invocation remembers. One that is out for long has collided, and sleeps in the
        server: the next need not wait for it."""
        rooms = cls()
        observed = {budget.ref: budget.version for budget in budgets.items}
        shows_after = _SHOWS_AFTER[budgets.freshness is Freshness.CURRENT]
        for attempt in attempts:
            if not attempt.in_flight and attempt.signalled is None:
                continue
            asked_nobody = len(attempt.versions or ()) > 1
            is_recent = attempt.asked_at is not None and now < attempt.asked_at + shows_after
            for ref, version in (attempt.versions or {}).items():
                if attempt.in_flight and attempt.asked_at and now < attempt.asked_at + COLLIDED_AFTER:
                    rooms.busy.add(ref)
                if ref in observed and (observed[ref] == version or (asked_nobody and is_recent)):
                    rooms.spent[ref] += 1
        return rooms

    def has_room(self, pod: Pod, budget: Budget) -> bool:
        """Whether the budget would let one more go now."""
        if not pod.ready and lets_unready_go(budget):
            return True
        return budget.is_observed and self._left(budget) > 0

    def _left(self, budget: Budget) -> int:
        return budget.allowed - self.spent[budget.ref] - self.reserved[budget.ref]

    def is_free(self, budget: Budget) -> bool:
        """Whether no request of ours is in flight at it."""
        return budget.ref not in self.busy

    def take(self, budgets: Iterable[Budget]) -> None:
        """A request goes out now."""
        for budget in budgets:
            self.busy.add(budget.ref)
            self.spent[budget.ref] += 1

    def reserve(self, budget: Budget) -> None:
        """A pod waits its turn for room that is there."""
        self.reserved[budget.ref] += 1
