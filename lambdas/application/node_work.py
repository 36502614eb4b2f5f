"""What is done to the node itself: cordoned, listed after that, taken out of load balancers when it may be."""

from collections.abc import Callable
from datetime import datetime, timedelta

from lambdas.application.chronicle import Chronicle
from lambdas.application.errands import Errand
from lambdas.application.ports import Cluster
from lambdas.domain.decisions.traffic import serves_locally
from lambdas.domain.values.actions import Action, Cordon, ExcludeFromLoadBalancers, Mark, Observe
from lambdas.domain.values.answers import Answer, Done
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.observation import Freshness, NodeView, Observation

_CORDON_FIRST = timedelta(milliseconds=300)
"""The first list waits this long for the cordon's answer, then goes on beside it."""

_SEEN_BY = timedelta(seconds=2)
"""A watch shows our own cordon long before this."""

SCHEDULERS_SEE_BY = timedelta(seconds=2)
"""A scheduler that is behind by up to this binds pods to a node that is cordoned already (seen: 51 in one second)."""

_PATIENCE_WITH_SERVICES = timedelta(seconds=2)

Tell = Callable[[Happening, datetime], None]


class NodeWork:
    """The errands of one node, each repeated until it is served; none waits for another's failure."""

    def __init__(self, node_name: str, mark: Mark, cluster: Cluster, tell: Tell) -> None:
        self.cordoned_at: datetime | None = None
        self.excluded_at: datetime | None = None
        self._node_name = node_name
        self._mark = mark
        self._first_seen_at: datetime | None = None
        self._cluster = cluster
        self._tell = tell
        self._cordon, self._observe, self._exclude = (Errand(f"{node_name}{i}") for i in range(3))

    def advance(self, now: datetime, observation: Observation, chronicle: Chronicle) -> list[datetime]:
        """Start what is due; when to look again."""
        view = observation.nodes.get(self._node_name)
        if self._was_undone(view, now):
            self._cordon.again()
        self._start(self._cordon, Cordon(self._node_name, self._mark), now)
        wakes = self._list_when_due(view, now)
        if self._exclude.may_start(now) and self._may_leave_load_balancers(view, observation, chronicle, now):
            self._start(self._exclude, ExcludeFromLoadBalancers(self._node_name), now)
        if self.cordoned_at:
            wakes.append(self.cordoned_at + SCHEDULERS_SEE_BY)
        errands = (self._cordon, self._observe, self._exclude)
        return wakes + [e.look_again_at for e in errands if e.look_again_at]

    def _may_leave_load_balancers(
        self, view: NodeView | None, observation: Observation, chronicle: Chronicle, now: datetime
    ) -> bool:
        """As soon as no Local Service needs it there; Services that cannot be read in time keep nothing."""
        if view is None:
            return False
        self._first_seen_at = self._first_seen_at or now
        if observation.services.freshness is Freshness.PENDING:
            return now >= self._first_seen_at + _PATIENCE_WITH_SERVICES
        return not serves_locally(view.pods, observation.services, chronicle.signalled())

    def _was_undone(self, view: NodeView | None, now: datetime) -> bool:
        """Whether another hand uncordoned the node since: it is doomed all the same, and would be given new pods."""
        if view is None or view.node is None or view.node.unschedulable or self._cordon.served_at is None:
            return False
        return self._cordon.served_at + _SEEN_BY <= now

    def _list_when_due(self, view: NodeView | None, now: datetime) -> list[datetime]:
        """Pods may be bound until the cordon: the list that counts is begun after it."""
        patience = (self._cordon.begun_at or now) + _CORDON_FIRST
        if not self._cordon.was_answered and now < patience:
            return [patience]
        if view is not None and self.cordoned_at and view.listed_at < self.cordoned_at:
            self._observe.again()
        self._start(self._observe, Observe(self._node_name), now)
        return []

    def _start(self, errand: Errand, action: Action, now: datetime) -> None:
        if errand.may_start(now):
            errand.started(now)
            self._cluster.start(action)

    def shows_all_pods(self, view: NodeView) -> bool:
        """Whether no pod can have been bound unseen: an uncordoned node may be given new ones at any moment."""
        return view.node is None or (self.cordoned_at is not None and view.listed_at >= self.cordoned_at)

    def answered(self, answer: Answer) -> None:
        """The answer to one of its errands."""
        match answer.action:
            case Cordon():
                self._cordon.answered(answer.result, answer.at)
                if isinstance(answer.result, Done) and self.cordoned_at is None:
                    self.cordoned_at = answer.at
                    self._tell(Happening.CORDONED, answer.at)
            case Observe():
                self._observe.answered(answer.result, answer.at)
            case ExcludeFromLoadBalancers():
                self._exclude.answered(answer.result, answer.at)
                if isinstance(answer.result, Done):
                    self.excluded_at = answer.at
                    self._tell(Happening.EXCLUDED, answer.at)
            case _:
                pass
