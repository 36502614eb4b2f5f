"""A cluster on which nothing is changed: what would be asked of it is answered here as if it had been done.

Law: only what looks ever reaches the API server. A pod that would have had its SIGTERM is gone at once. One that would
have been released is replaced after its workload's start-up time, as if there were room; one that was not released is
never replaced: a rehearsal knows what would be tried and what a budget would hold, not what a scheduler would find.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lambdas.application.ports import Clock, Cluster
from lambdas.contract import ANNOTATION_MARK, LABEL_DRAINING, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.pacing import startup_of
from lambdas.domain.decisions.release_memory import released_by
from lambdas.domain.values.actions import (
    Action,
    CheckGuard,
    Cordon,
    Delete,
    Evict,
    ListMarked,
    ListReleased,
    Locate,
    Mark,
    Observe,
    ObserveWorkloads,
    Release,
    Restore,
)
from lambdas.domain.values.answers import Answer, Done
from lambdas.domain.values.kubernetes import Budget, Node, Pod, PodRef
from lambdas.domain.values.marks import Former, encode_mark
from lambdas.domain.values.observation import NamespaceView, Observation
from lambdas.domain.values.releases import RELEASED, released_hash

_ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class _Release:
    """A release in word only. `ready_at`: when its replacement would be Ready; None where nobody can say."""

    ask: Release
    replacement: Pod
    ready_at: datetime | None

    def released(self, pod: Pod) -> Pod:
        """The pod as its patch would leave it."""
        labels = {**pod.labels, LABEL_TEMPLATE_HASH: released_hash(self.ask.hash), LABEL_RELEASED: RELEASED}
        return replace(pod, owner=None, labels=labels, released=released_by(self.ask))

    def replaced(self, now: datetime) -> Pod:
        """Its replacement by now."""
        is_ready = self.ready_at is not None and self.ready_at <= now
        return replace(self.replacement, ready=True, ready_at=self.ready_at) if is_ready else self.replacement


class RehearsalCluster:
    """A `Cluster` that looks at another and touches nothing there."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._looked_at = clock.now()
        self._answers: list[Answer] = []
        self._cordoned: dict[str, Mark] = {}
        self._released: dict[PodRef, _Release] = {}
        self._gone: set[PodRef] = set()

    def start(self, action: Action) -> None:
        """Pass on what only looks; all else is done, in word only."""
        match action:
            case Locate() | Observe() | ObserveWorkloads() | CheckGuard() | ListReleased() | ListMarked():
                self._cluster.start(action)
                return
            case Cordon(node_name, mark):
                self._cordoned.setdefault(node_name, mark)
            case Restore(node_name):
                self._cordoned.pop(node_name, None)
            case Evict(pod=pod) | Delete(pod=pod):
                self._gone.add(pod)
            case Release():
                self._release(action)
            case _:
                pass
        self._answers.append(Answer(action, Done(), self._clock.now()))
        self._cluster.wake()

    def _release(self, ask: Release) -> None:
        seen, now = self._cluster.observe(), self._clock.now()
        pod = _pods(seen).get(ask.pod)
        if pod is None:
            return
        peers = [p for p in _pods(seen).values() if p.ready and p.owner and p.owner.uid == ask.replica_set.uid]
        took = startup_of(peers)
        ref = PodRef(pod.ref.namespace, f"{pod.ref.name}-replaced", f"{pod.ref.uid}-replaced")
        born = replace(pod, ref=ref, node_name=_ELSEWHERE, ready=False, ready_at=None, created_at=now, scheduled_at=now)
        self._released[ask.pod] = _Release(ask, replace(born, owner=ask.replica_set), now + took if took else None)

    def wait(self, until: datetime) -> Sequence[Answer]:
        """As the other's, and the answers made up here; a replacement that becomes Ready is a change too."""
        moments = [r.ready_at for r in self._released.values() if r.ready_at and r.ready_at > self._looked_at]
        answers = [*self._cluster.wait(min([until, *moments])), *self._answers]
        self._looked_at = self._clock.now()
        self._answers.clear()
        return answers

    def observe(self) -> Observation:
        """What the other sees, as it would be by now."""
        seen, now = self._cluster.observe(), self._clock.now()
        new = [release.replaced(now) for release in self._released.values()]
        left = [pod for ref, pod in _pods(seen).items() if ref in self._gone]
        return replace(
            seen,
            nodes={
                name: replace(view, node=self._node(view.node), pods=self._still_there(view.pods))
                for name, view in seen.nodes.items()
            },
            namespaces={name: self._namespace(name, view, new) for name, view in seen.namespaces.items()},
            budgets=replace(seen.budgets, items=tuple(_recounted(budget, left, new) for budget in seen.budgets.items)),
        )

    def _node(self, node: Node | None) -> Node | None:
        mark = self._cordoned.get(node.name) if node else None
        if node is None or mark is None:
            return node
        text = encode_mark(mark, Former(node.unschedulable))
        return replace(
            node,
            unschedulable=True,
            labels={**node.labels, LABEL_DRAINING: "true"},
            annotations={ANNOTATION_MARK: text, **node.annotations},
        )

    def _namespace(self, name: str, view: NamespaceView, new: Iterable[Pod]) -> NamespaceView:
        items = (*self._still_there(view.pods.items), *(pod for pod in new if pod.ref.namespace == name))
        return replace(view, pods=replace(view.pods, items=items))

    def _still_there(self, pods: Iterable[Pod]) -> tuple[Pod, ...]:
        staying = (pod for pod in pods if pod.ref not in self._gone)
        return tuple(self._released[pod.ref].released(pod) if pod.ref in self._released else pod for pod in staying)

    def wake(self) -> None:
        """End the current or next `wait`."""
        self._cluster.wake()

    def close(self) -> None:
        """Close the other."""
        self._cluster.close()


def _pods(seen: Observation) -> Mapping[PodRef, Pod]:
    """All that are observed."""
    on_nodes = (pod for view in seen.nodes.values() for pod in view.pods)
    of_workloads = (pod for view in seen.namespaces.values() for pod in view.pods.items)
    return {pod.ref: pod for pods in (of_workloads, on_nodes) for pod in pods}


def _recounted(budget: Budget, left: Iterable[Pod], new: Iterable[Pod]) -> Budget:
    """Its status as its controller would keep it; another version each time, so that nobody takes it for the old."""
    fewer = sum(1 for pod in left if _counts(budget, pod))
    more = sum(1 for pod in new if _counts(budget, pod))
    allowed = budget.allowed or min(0, budget.healthy - budget.desired)
    return replace(
        budget,
        version=f"{budget.version}-{fewer}-{more}",
        allowed=max(0, allowed + more - fewer),
        healthy=max(0, budget.healthy + more - fewer),
    )


def _counts(budget: Budget, pod: Pod) -> bool:
    return budget.ref.namespace == pod.ref.namespace and pod.ready and budget.selector.matches(pod.labels)
