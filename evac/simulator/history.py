"""How many pods of each workload and under each budget were truly Ready, over time: for oracles.

Law: counted are Ready pods that are not on their way out and whose host lives, though the API sees a dead host's pods
as Ready.
"""

from collections.abc import Callable
from datetime import datetime

from evac.simulator.controllers.availability import replicas_of
from evac.simulator.objects import Key, Raw, status_of, uid_of
from evac.simulator.pods import is_ready, is_terminating
from evac.simulator.selections import BUDGET, WORKLOADS, Selections
from evac.simulator.store import Change, Store
from lambdas.domain.values.kubernetes import BudgetRef

_COUNTED = (*WORKLOADS, BUDGET)


class Count:
    """One number over time."""

    def __init__(self) -> None:
        self.steps: list[tuple[datetime, int]] = []

    @property
    def now(self) -> int:
        """The newest value, 0 where there is none."""
        return self.steps[-1][1] if self.steps else 0

    def set(self, moment: datetime, value: int) -> None:
        """The value from `moment` on; of several at one moment the last counts."""
        if self.steps and self.steps[-1][0] == moment:
            self.steps[-1] = (moment, value)
        elif not self.steps or self.steps[-1][1] != value:
            self.steps.append((moment, value))

    def at(self, moment: datetime) -> int:
        """The value at a moment."""
        return next((value for since, value in reversed(self.steps) if since <= moment), 0)

    def within(self, since: datetime | None, until: datetime | None) -> list[int]:
        """All values between two moments, the one that stood at `since` included."""
        held = [self.at(since)] if since and self.steps and self.steps[0][0] <= since else []
        return held + [v for m, v in self.steps if (not since or m > since) and (not until or m <= until)]


class History:
    """Ready counts of workloads and budgets."""

    def __init__(self, store: Store, selections: Selections, is_dead: Callable[[Raw], bool]) -> None:
        self._store = store
        self._selections = selections
        self._is_dead = is_dead
        self._ready: dict[Key, Count] = {}
        self._wanted: dict[Key, Count] = {}
        self._serving: dict[str, frozenset[Key]] = {}
        """By pod uid, while it serves: the workloads and budgets that count it."""

    def on_change(self, change: Change) -> None:
        """Count again what the change concerns."""
        if change.key.kind == "Pod":
            self._count(change.new or change.old or {}, is_gone=change.new is None)
        elif change.key.kind in _COUNTED and change.new is not None:
            self._follow(change.key, change.new, is_new=change.old is None)

    def host_taken(self, pods: list[Raw]) -> None:
        """Pods that serve no more, though no object changed."""
        for pod in pods:
            self._count(pod)

    def _follow(self, key: Key, raw: Raw, *, is_new: bool) -> None:
        now = self._store.timeline.now()
        is_budget = key.kind == BUDGET
        wanted = int(status_of(raw).get("desiredHealthy") or 0) if is_budget else replicas_of(raw)
        self._wanted.setdefault(key, Count()).set(now, wanted)
        if is_new:
            self._ready.setdefault(key, Count()).set(now, 0)
            for pod in self._selections.pods_of(key):
                self._count(pod)

    def _count(self, pod: Raw, *, is_gone: bool = False) -> None:
        uid = uid_of(pod)
        serves = not is_gone and is_ready(pod) and not is_terminating(pod) and not self._is_dead(pod)
        before = self._serving.pop(uid, frozenset())
        over = self._selections.over(pod) if serves else frozenset()
        after = frozenset(key for key in over if key.kind in _COUNTED)
        if serves:
            self._serving[uid] = after
        self._move(after - before, +1)
        self._move(before - after, -1)

    def _move(self, keys: frozenset[Key], by: int) -> None:
        now = self._store.timeline.now()
        for key in keys:
            self._ready[key].set(now, self._ready[key].now + by)

    # --- what oracles ask ---------------------------------------------------------------------------------------

    def ready_over_time(self, workload: Key) -> list[tuple[datetime, int]]:
        """When the number of Ready pods that its selector finds changed, and to what."""
        return list(self._ready[workload].steps)

    def levels_over_time(self, key: Key) -> list[tuple[datetime, int, int]]:
        """When Ready or wanted pods of a workload or budget changed, and both from then on."""
        ready, wanted = self._ready[key], self._wanted[key]
        moments = sorted({moment for moment, _ in (*ready.steps, *wanted.steps)})
        return [(moment, ready.at(moment), wanted.at(moment)) for moment in moments]

    def fewest_ready(self, workload: Key, since: datetime | None = None, until: datetime | None = None) -> int:
        """The least that were Ready at once. Raises KeyError for a workload that never was."""
        return min(self._ready[workload].within(since, until))

    def most_short(self, workload: Key, since: datetime | None = None, until: datetime | None = None) -> int:
        """The most by which Ready pods fell below spec.replicas; 0 where they never did."""
        return max(0, *self._deficits(workload, since, until))

    def budget_exceeded(self, budget: BudgetRef, since: datetime | None = None) -> int:
        """The most healthy pods missing to what the budget wants, beyond those that were missing at the beginning."""
        deficits = self._deficits(Key(BUDGET, budget.namespace, budget.name), since, None)
        return max(0, *(deficit - max(deficits[0], 0) for deficit in deficits))

    def _deficits(self, key: Key, since: datetime | None, until: datetime | None) -> list[int]:
        ready, wanted = self._ready[key], self._wanted[key]
        moments = sorted({moment for moment, _ in (*ready.steps, *wanted.steps)} | ({since} if since else set()))
        chosen = [m for m in moments if (not since or m >= since) and (not until or m <= until)]
        return [wanted.at(moment) - ready.at(moment) for moment in chosen]
