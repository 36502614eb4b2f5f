"""What the drain saw of budgets and workloads while it took their pods away, for the record.

Law: it only looks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from lambdas.application.chronicle import Story
from lambdas.application.sightings import BudgetSeen, Course, budget_story, workload_story
from lambdas.domain.decisions.budgets import BudgetIndex
from lambdas.domain.decisions.steps import Cause, Hold
from lambdas.domain.values.actions import Delete
from lambdas.domain.values.courses import BudgetStory, WorkloadStory
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod, PodRef
from lambdas.domain.values.observation import Listing, NamespaceView, Observation
from lambdas.domain.values.owners import workload_of


class Witness:
    """Watches over the budgets and workloads of one node's pods; `stories` are the chronicle's, which it reads only."""

    def __init__(self, stories: Mapping[PodRef, Story]) -> None:
        self._stories = stories
        self._covers: dict[PodRef, tuple[BudgetRef, ...]] = {}
        self._budgets: dict[BudgetRef, BudgetSeen] = {}
        self._deployment_of: dict[PodRef, str] = {}
        self._deployments: dict[str, tuple[str, str, Course]] = {}
        self._last_budgets: Listing[Budget] | None = None
        self._last_views: dict[str, tuple[NamespaceView, int]] = {}

    def saw(self, now: datetime, observation: Observation) -> None:
        """What is observed now, after the chronicle was told what is decided about it."""
        if observation.budgets.freshness.is_read:
            self._saw_budgets(observation.budgets, now)
        self._saw_holds(now)
        for namespace in {ref.namespace for ref in self._stories}:
            view = observation.namespaces.get(namespace)
            if view is not None and view.replica_sets.freshness.is_read and view.deployments.freshness.is_read:
                self._saw_workloads(namespace, view, now)

    # --- budgets

    def _saw_budgets(self, budgets: Listing[Budget], now: datetime) -> None:
        new = [story.pod for ref, story in self._stories.items() if ref not in self._covers]
        if new:
            index = BudgetIndex(budgets.items)
            for pod in new:
                self._covers[pod.ref] = tuple(budget.ref for budget in index.of(pod))
                for ref in self._covers[pod.ref]:
                    self._budgets.setdefault(ref, BudgetSeen())
        elif budgets is self._last_budgets:
            return
        self._last_budgets = budgets
        for budget in budgets.items:
            if seen := self._budgets.get(budget.ref):
                seen.saw(budget, now)

    def _saw_holds(self, now: datetime) -> None:
        holding: set[BudgetRef] = set()
        for story in self._stories.values():
            stay = story.last_stay
            if stay is not None and stay.hold is Hold.BUDGET and not story.signalled_at and not story.has_ended:
                holding.update(stay.budgets)
            if isinstance(story.ask, Delete):
                self._saw_deletion(story, story.ask)
        for ref in holding:
            self._budgets.setdefault(ref, BudgetSeen())
        for ref, seen in self._budgets.items():
            seen.hold(now, is_held=ref in holding)
            seen.weigh()

    def _saw_deletion(self, story: Story, ask: Delete) -> None:
        for ref in ask.against:
            seen = self._budgets.setdefault(ref, BudgetSeen())
            seen.is_exceeded = True
            if story.going is not None and story.going.cause is Cause.PACED:
                seen.text = story.going.detail

    def budgets(self, now: datetime) -> tuple[BudgetStory, ...]:
        """Those that covered pods of this node, as of now."""
        lost = Counter(ref for pod in self._taken() for ref in self._covers.get(pod.ref, ()))
        return tuple(budget_story(ref, seen, now, lost[ref]) for ref, seen in sorted(self._budgets.items()))

    # --- workloads

    def _saw_workloads(self, namespace: str, view: NamespaceView, now: datetime) -> None:
        last, count = self._last_views.get(namespace, (None, 0))
        if last is view and count == len(self._stories):
            return
        self._last_views[namespace] = view, len(self._stories)
        above = {r.uid: r.owner.uid for r in view.replica_sets.items if r.owner is not None}
        named = {d.uid: d for d in view.deployments.items}
        for ref, story in self._stories.items():
            uid = _deployment_of(story.pod, above)
            if ref.namespace == namespace and uid in named:
                self._deployment_of[ref] = uid
                self._deployments.setdefault(uid, (namespace, named[uid].name, Course()))
        ready = Counter(_deployment_of(pod, above) for pod in view.pods.items if _serves(pod))
        for uid, (space, _, course) in self._deployments.items():
            if space == namespace and uid in named and view.pods.freshness.is_read:
                course.add(now, ready[uid], named[uid].replicas)

    def workloads(self, now: datetime) -> tuple[WorkloadStory, ...]:
        """Those whose pods were on this node, as of now; the ones that nobody counts are left out."""
        return tuple(sorted(self._workloads(now), key=lambda story: (story.kind, str(story))))

    def _workloads(self, now: datetime) -> Iterator[WorkloadStory]:
        lost = Counter(self._deployment_of.get(pod.ref, "") for pod in self._taken())
        for uid, (namespace, name, course) in self._deployments.items():
            yield from workload_story("Deployment", namespace, name, "", course.ended(now, lost[uid]))
        others: dict[tuple[str, str, str], BudgetRef] = {}
        for ref, story in self._stories.items():
            covers = self._covers.get(ref, ())
            kind, name = workload_of(story.pod)
            if ref not in self._deployment_of and kind and len(covers) == 1:
                others[kind, ref.namespace, name] = covers[0]
        gone = Counter(ref for pod in self._taken() for ref in self._covers.get(pod.ref, ()))
        for key, by in others.items():
            yield from workload_story(*key, str(by), self._budgets[by].expected.ended(now, gone[by]))

    def _taken(self) -> Iterator[Pod]:
        """Pods that served until their host was taken."""
        return (s.pod for s in self._stories.values() if s.is_lost and not s.signalled_at and _serves(s.pod))


def _serves(pod: Pod) -> bool:
    return pod.ready and pod.deletion is None and pod.phase == "Running"


def _deployment_of(pod: Pod, above: Mapping[str, str]) -> str:
    """The uid of the pod's Deployment; empty where it has none. `above`: of each ReplicaSet its owner's."""
    if pod.owner is not None:
        return above.get(pod.owner.uid, "")
    return pod.released.deployment_uid if pod.released else ""
