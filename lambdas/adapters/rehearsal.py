"""A cluster on which nothing is changed: what would be asked of it is answered here as if it had been done.

Law: only `Locate` and `Observe` ever reach the API server. A pod that would have had its SIGTERM is gone at once, and
its budgets count it as never replaced: a rehearsal knows what would be tried first and what a budget would hold, not
how fast replacements would come.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from lambdas.application.ports import Clock, Cluster
from lambdas.domain.values.actions import Action, Delete, Evict, Locate, Observe
from lambdas.domain.values.answers import Answer, Done
from lambdas.domain.values.kubernetes import Budget, Pod, PodRef
from lambdas.domain.values.observation import Observation


class RehearsalCluster:
    """A `Cluster` that looks at another and touches nothing there."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._answers: list[Answer] = []
        self._seen: dict[PodRef, Pod] = {}
        self._gone: set[PodRef] = set()

    def start(self, action: Action) -> None:
        """Pass on what only looks; all else is done, in word only."""
        match action:
            case Locate() | Observe():
                self._cluster.start(action)
                return
            case Evict(pod=pod) | Delete(pod=pod):
                self._gone.add(pod)
            case _:
                pass
        self._answers.append(Answer(action, Done(), self._clock.now()))
        self._cluster.wake()

    def wait(self, until: datetime) -> Sequence[Answer]:
        """As the other's, and the answers made up here."""
        answers = [*self._cluster.wait(until), *self._answers]
        self._answers.clear()
        return answers

    def observe(self) -> Observation:
        """What the other sees, without the pods that would have left."""
        seen = self._cluster.observe()
        for view in seen.nodes.values():
            self._seen.update((pod.ref, pod) for pod in view.pods)
        nodes = {
            name: replace(view, pods=tuple(pod for pod in view.pods if pod.ref not in self._gone))
            for name, view in seen.nodes.items()
        }
        budgets = replace(seen.budgets, items=tuple(self._without_the_gone(budget) for budget in seen.budgets.items))
        return replace(seen, nodes=nodes, budgets=budgets)

    def _without_the_gone(self, budget: Budget) -> Budget:
        """Its own count of disruptions still allowed, as its controller would keep it."""
        left = sum(1 for ref in self._gone if (pod := self._seen.get(ref)) and _counts(budget, pod))
        return replace(budget, allowed=max(0, budget.allowed - left), healthy=max(0, budget.healthy - left))

    def wake(self) -> None:
        """End the current or next `wait`."""
        self._cluster.wake()

    def close(self) -> None:
        """Close the other."""
        self._cluster.close()


def _counts(budget: Budget, pod: Pod) -> bool:
    return budget.ref.namespace == pod.ref.namespace and pod.ready and budget.selector.matches(pod.labels)
