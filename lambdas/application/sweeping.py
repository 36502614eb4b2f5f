"""One sweep over all marks of ours in the cluster: what nobody works on is finished, or undone.

Law: a sweep is level-based and repeated: what does not succeed now is met again by the next.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.application.asking import ask
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.contract import DRAIN_LOCK_SECONDS, LABEL_RELEASED
from lambdas.domain.decisions.cures import doing, problem_of
from lambdas.domain.decisions.sweeping import NodeVerdict, Sweep, judge_node, judge_pod, notice_of
from lambdas.domain.errors import PortError
from lambdas.domain.values.actions import (
    Action,
    Delete,
    ListMarked,
    ListReleased,
    ObserveWorkloads,
    Restore,
    TakeBack,
    TidyUp,
)
from lambdas.domain.values.answers import Absent, Done, Found, Result
from lambdas.domain.values.drains import DrainRecord, Ending, Problem, Trouble
from lambdas.domain.values.kubernetes import Node, Pod
from lambdas.domain.values.locks import Acquired
from lambdas.domain.values.notices import Instance, Notice
from lambdas.domain.values.releases import RELEASED
from lambdas.domain.values.settings import Settings

_LISTING = timedelta(seconds=15)
_ACTING = timedelta(seconds=15)
_LIFE = timedelta(seconds=DRAIN_LOCK_SECONDS)


@dataclass(slots=True)
class Swept:
    """What one sweep met and did.

    `drained`: records of the drains that it went on with; `is_whole`: everything that there is was seen.
    """

    nodes: int = 0
    pods: int = 0
    given_back: list[str] = field(default_factory=list)
    pods_taken_back: list[str] = field(default_factory=list)
    pods_deleted: list[str] = field(default_factory=list)
    pods_tidied: list[str] = field(default_factory=list)
    drained: list[DrainRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    is_whole: bool = True

    @property
    def has_failed(self) -> bool:
        """Whether something was not seen, or could not be finished or undone: the next sweep meets it again."""
        has_unfinished = any(record.ending is Ending.FAILED for record in self.drained)
        return not self.is_whole or bool(self.problems) or has_unfinished

    @property
    def things_done(self) -> int:
        """How many nodes and pods were finished or undone."""
        lists = (self.given_back, self.pods_taken_back, self.pods_deleted, self.pods_tidied, self.drained)
        return sum(len(found) for found in lists)


def sweep(ports: Ports, settings: Settings = Settings(), *, owner: str, until: datetime) -> Swept:  # noqa: B008 - frozen
    """Look at every mark of ours once. A drain that has to be finished is finished here, by the same engine."""
    return _Sweep(ports, settings, owner, until).run()


class _Sweep:
    def __init__(self, ports: Ports, settings: Settings, owner: str, until: datetime) -> None:
        self._ports = ports
        self._cluster = ports.cluster
        self._settings = settings
        self._owner = owner
        self._until = until
        self._swept = Swept()

    def run(self) -> Swept:
        marked, released = self._ask([ListMarked(), ListReleased()], _LISTING)
        nodes = marked.nodes if isinstance(marked, Found) else ()
        pods = released.pods if isinstance(released, Found) else ()
        self._swept.is_whole = isinstance(marked, Found) and isinstance(released, Found)
        self._swept.nodes, self._swept.pods = len(nodes), len(pods)
        self._finish(self._judge(nodes, None))
        if isinstance(marked, Found) and (nodes or pods):
            self._undo(nodes, pods, self._judge(nodes, self._instances(nodes) if nodes else None))
        return self._swept

    def _judge(self, nodes: Sequence[Node], instances: Mapping[str, Instance] | None) -> Mapping[str, NodeVerdict]:
        """By EC2's word, or without it: a host that is still to be taken needs none, and no moment's wait for it."""
        now, was_asked = self._ports.clock.now(), instances is not None
        return {
            node.name: judge_node(node, (instances or {}).get(node.instance_id), now, was_asked=was_asked)
            for node in nodes
        }

    def _instances(self, nodes: Sequence[Node]) -> Mapping[str, Instance] | None:
        if self._ports.directory is None:
            return None
        try:
            return self._ports.directory.describe({node.instance_id for node in nodes})
        except PortError as error:
            self._trouble(
                Problem(Trouble.DIRECTORY, f"{error} Nodes past their reclaim are left until their marks expire.")
            )
            return None

    # --- undoing

    def _undo(self, nodes: Iterable[Node], pods: Sequence[Pod], verdicts: Mapping[str, NodeVerdict]) -> None:
        """Pods first: a node that is uncordoned with released pods on it would keep them for good."""
        namespaces = sorted({pod.ref.namespace for pod in pods})
        self._ask([ObserveWorkloads(namespace) for namespace in namespaces], _LISTING)
        views = self._cluster.observe().namespaces
        now = self._ports.clock.now()
        judged = [judge_pod(pod, verdicts, views.get(pod.ref.namespace), now) for pod in pods]
        actions = [action for action in judged if action is not None]
        for action, result in zip(actions, self._ask(actions, _ACTING), strict=True):
            self._account_for(action, result)
        still_released = self._still_released(pods)
        names = [
            node.name for node in nodes if verdicts[node.name].sweep is Sweep.UNDO and node.name not in still_released
        ]
        for name, result in zip(names, self._ask([Restore(name) for name in names], _ACTING), strict=True):
            if isinstance(result, Done):
                self._swept.given_back.append(name)

    def _still_released(self, pods: Iterable[Pod]) -> frozenset[str]:
        """Nodes with pods that could not be taken back: they are met again by the next sweep."""
        done = {*self._swept.pods_taken_back, *self._swept.pods_deleted}
        left = (p for p in pods if p.labels.get(LABEL_RELEASED) == RELEASED and not p.deletion)
        return frozenset(p.node_name for p in left if str(p.ref) not in done)

    def _account_for(self, action: Action, result: Result | None) -> None:
        if not isinstance(result, Done | Absent):
            return
        match action:
            case TakeBack(pod):
                self._swept.pods_taken_back.append(str(pod))
            case Delete(pod):
                self._swept.pods_deleted.append(str(pod))
            case TidyUp(pod):
                self._swept.pods_tidied.append(str(pod))
            case _:
                pass

    # --- finishing

    def _finish(self, verdicts: Mapping[str, NodeVerdict]) -> None:
        """Take over what nobody works on: the drain's own lock says whether somebody does."""
        notices = [
            notice
            for verdict in verdicts.values()
            if verdict.sweep is Sweep.FINISH and verdict.mark and (notice := notice_of(verdict.mark))
        ]
        requests = [Request(notice) for notice in notices if self._is_free(notice)]
        if requests:
            fates = evacuate(requests, self._ports, self._settings, owner=self._owner, until=self._until)
            self._swept.drained += [fate.record for fate in fates]

    def _is_free(self, notice: Notice) -> bool:
        ledger = self._ports.ledger
        if ledger is None:
            return True
        now = self._ports.clock.now()
        try:
            return isinstance(ledger.acquire(notice, self._owner, now, now + _LIFE), Acquired)
        except PortError as error:
            self._trouble(Problem(Trouble.LEDGER, f"{error} The drain is joined without the ledger."))
            return True

    # --- asking

    def _ask(self, actions: Sequence[Action], within: timedelta) -> list[Result | None]:
        """Carry them out side by side; None for what was not answered in time."""
        clock = self._ports.clock
        results = ask(self._cluster, clock, actions, min(within, self._until - clock.now()))
        for action, result in zip(actions, results, strict=True):
            self._trouble(problem_of(result, doing(action)) if result else None)
        self._swept.is_whole = self._swept.is_whole and None not in results
        return results

    def _trouble(self, problem: Problem | None) -> None:
        if problem is not None and problem not in self._swept.problems:
            self._swept.problems.append(problem)
