"""One instance, from its notice to its record: looked up, located, locked, worked on, ended."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import Enum, auto

from lambdas.application.aftermath import Aftermath
from lambdas.application.chronicle import Chronicle
from lambdas.application.drain_lock import DrainLock
from lambdas.application.errands import Errand
from lambdas.application.node_work import SCHEDULERS_SEE_BY, NodeWork
from lambdas.application.requests import Fate, Ports, Request
from lambdas.application.witness import Witness
from lambdas.domain.decisions.cures import doing, problem_of
from lambdas.domain.decisions.deadline import (
    LATE_PATH,
    Deadline,
    is_long_past,
    mark_of,
    notice_that_counts,
    time_left,
)
from lambdas.domain.decisions.ownership import (
    ending_without_a_node,
    has_changed_hands,
    how_to_locate,
    is_called_off,
    is_foreign,
    is_going,
    may_still_join,
)
from lambdas.domain.decisions.steps import Doomed, Door, was_born_before
from lambdas.domain.values.actions import Announce, Locate
from lambdas.domain.values.answers import Absent, Answer, Located
from lambdas.domain.values.drains import DrainRecord, Ending, Problem, Trouble
from lambdas.domain.values.journal import Entry, Happening
from lambdas.domain.values.kubernetes import Node, Pod, PodRef
from lambdas.domain.values.notices import Instance
from lambdas.domain.values.observation import NodeView, Observation
from lambdas.domain.values.settings import Settings

_PROBLEMS_KEPT = 20
_LOOK_FOR_IT = timedelta(seconds=60)
_LOOK_FOR_IT_EVERY = timedelta(seconds=5)
"""An instance of this cluster that has no node yet may be about to join; then it is given pods like any other."""


_CORDONED_BY = timedelta(seconds=5)
"""Releases wait so long for the cordon, or their replacements might land on the node itself."""


class Phase(Enum):
    """How far it has come."""

    ASLEEP = auto()
    LOOKING_UP = auto()
    LOCATING = auto()
    DRAINING = auto()
    ENDED = auto()


class NodeDrain:
    """State of one instance's drain; every method is given the moment and starts what is due."""

    def __init__(self, requests: list[Request], ports: Ports, settings: Settings, owner: str) -> None:
        self.requests = requests
        now = ports.clock.now()
        self._begins_at = min(max(r.not_before or now, now) for r in requests)
        self.notice = notice_that_counts((r.notice for r in requests), self._begins_at)
        self.phase = Phase.ASLEEP
        self.chronicle = Chronicle("", ports.reporter)
        self._ports = ports
        self._settings = settings
        self._instance: Instance | None = None
        self._was_asked = False
        self._node: Node | None = None
        self._work: NodeWork | None = None
        self.witness: Witness | None = None
        self._doomed: dict[PodRef, Doomed] = {}
        self._record: DrainRecord | None = None
        self._started_at: datetime | None = None
        self._problems: dict[Problem, None] = {}
        self._locate = Errand(self.notice.instance_id)
        self._lock = DrainLock(self.notice, ports.ledger, ports.background, owner)
        self._aftermath = Aftermath(ports, owner, self.notice.instance_id)

    @property
    def node_name(self) -> str:
        """Of the node found; empty before that."""
        return self._node.name if self._node else ""

    @property
    def may_be_stale(self) -> bool:
        """Whether only EC2's word lets anything be touched."""
        return is_long_past(self.notice, self._started_at or self.notice.reclaim_at)

    @property
    def _ends_at(self) -> datetime:
        """When nothing more can be done for its pods."""
        started = self._started_at or self.notice.noticed_at
        return max(self.notice.reclaim_at, started + LATE_PATH)

    # --- what is due

    def begin_when_due(self, now: datetime) -> list[datetime]:
        """Take the notice up, or say when."""
        if self.phase is not Phase.ASLEEP:
            return []
        if self._begins_at > now:
            return [self._begins_at]
        self._started_at = now
        self.phase = Phase.LOOKING_UP
        return []

    def looked_up(self, instance: Instance | None, now: datetime, *, was_asked: bool) -> None:
        """EC2's word, or that it could not be had in time."""
        if self.phase is not Phase.LOOKING_UP:
            return
        self._instance, self._was_asked = instance, was_asked
        if self.may_be_stale and not is_going(instance):
            self.end(Ending.STALE, now)
        elif is_foreign(instance, self._settings.cluster_name):
            self.end(Ending.NOT_OURS, now)
        else:
            self.phase = Phase.LOCATING

    def advance(self, now: datetime, observation: Observation) -> list[datetime]:
        """Start what is due; when to look again."""
        match self.phase:
            case Phase.LOCATING:
                return [self._ends_at, *self._advance_locating(now)]
            case Phase.DRAINING:
                return [self._ends_at, *self._advance_draining(now, observation)]
            case Phase.ENDED if self._record is not None:
                return self._aftermath.look_again_at(self._record)
            case _:
                return []

    def _advance_locating(self, now: datetime) -> list[datetime]:
        if now >= self._ends_at:
            self.end(Ending.FAILED, now, Problem(Trouble.API, "the node could not be found in time"))
        elif self._locate.may_start(now):
            self._locate.started(now)
            name = self._settings.cluster_name
            how = how_to_locate(
                self.notice,
                self._instance,
                was_asked=self._was_asked,
                cluster_name=name,
                node_name=next((r.node_name for r in self.requests if r.node_name), ""),
            )
            self._ports.cluster.start(how)
        return [self._locate.look_again_at] if self._locate.look_again_at else []

    def _advance_draining(self, now: datetime, observation: Observation) -> list[datetime]:
        wakes = self._lock.keep(now)
        self.trouble(self._lock.problem, now)
        if self._lock.has_ended_elsewhere:
            self.end(Ending.JOINED, now)
        elif not self._lock.is_held_elsewhere(now) and self._work is not None and self._node is not None:
            view = observation.nodes.get(self.node_name)
            if view is not None and has_changed_hands(view.node, self._node):
                self._end_with_the_host(now, Problem(Trouble.API, f"node {self.node_name} is another instance's now"))
                return wakes
            if view is not None:
                self.chronicle.saw(view.pods, now)
            if view is not None and self._work.shows_all_pods(view) and is_called_off(view.node, self.notice):
                self.end(Ending.FAILED, now, Problem(Trouble.API, "called off: our mark was taken off the node"))
                return wakes
            wakes += self._work.advance(now, observation, self.chronicle)
            self._end_when_due(self._work, view, now)
        return wakes

    def _end_when_due(self, work: NodeWork, view: NodeView | None, now: datetime) -> None:
        if now >= self._ends_at and view is None:
            self.end(Ending.FAILED, now, Problem(Trouble.API, f"the pods of {self.node_name} were not listed in time"))
        elif now >= self._ends_at:
            self._end_with_the_host(now)
        elif view is not None and work.shows_all_pods(view) and self.chronicle.is_over():
            self.end(Ending.DRAINED, now)

    def _end_with_the_host(self, now: datetime, problem: Problem | None = None) -> None:
        if not self.notice.takes_the_host and not self.chronicle.has_lost_none():
            self.end(Ending.FAILED, now, problem or Problem(Trouble.API, "its time is up, and pods are still there"))
            return
        self.chronicle.lose_what_is_left(now)
        self.end(Ending.DRAINED if self.chronicle.has_lost_none() else Ending.PODS_LOST, now, problem)

    def doomed(self, observation: Observation, now: datetime) -> Iterable[Doomed]:
        """Its pods, where they may be acted on now."""
        view = observation.nodes.get(self.node_name)
        if self.phase is not Phase.DRAINING or view is None or not self._lock.may_act(now):
            return ()
        deadline = Deadline(self.notice.reclaim_at, self._settings)
        is_open, door = self._is_still_given_pods(view, now), self._door(view, now)
        before, self._doomed = self._doomed, {}
        for pod in view.pods:
            came_later = is_open and self._is_newcomer(pod)
            known = before.get(pod.ref)
            if known is None or known.pod is not pod or (known.came_after_notice, known.door) != (came_later, door):
                known = Doomed(pod, self.node_name, deadline, came_later, door)
            self._doomed[pod.ref] = known
        return self._doomed.values()

    def _door(self, view: NodeView, now: datetime) -> Door:
        """As the node shows it, or as our own cordon was answered just now."""
        if view.node is None or view.node.unschedulable:
            return Door.SHUT
        cordoned_at = self._work.cordoned_at if self._work else None
        if cordoned_at is not None and now < cordoned_at + SCHEDULERS_SEE_BY:
            return Door.SHUT
        return Door.SHUTTING if now < (self._started_at or now) + _CORDONED_BY else Door.OPEN

    def _is_still_given_pods(self, view: NodeView, now: datetime) -> bool:
        """Not cordoned, or so lately that a scheduler may not have seen it: it would bind here what is evicted."""
        if view.node is not None and not view.node.unschedulable:
            return True
        cordoned_at = self._work.cordoned_at if self._work else None
        return cordoned_at is not None and now < cordoned_at + SCHEDULERS_SEE_BY

    def _is_newcomer(self, pod: Pod) -> bool:
        """By its age, or, within a second that the API does not split, by not having been there at first."""
        is_old = self._started_at is not None and was_born_before(pod, self._started_at)
        return not is_old or self.chronicle.came_later(pod.ref)

    # --- answers

    def answered(self, answer: Answer) -> None:
        """The answer to an action of this node's, its pods' aside."""
        self.trouble(problem_of(answer.result, doing(answer.action)), answer.at)
        match answer.action:
            case Locate():
                self._locate.answered(answer.result, answer.at)
                self._located(answer)
            case Announce():
                self._aftermath.announced()
            case _ if self._work is not None:
                self._work.answered(answer)
            case _:
                pass

    def _located(self, answer: Answer) -> None:
        match answer.result:
            case Located(node) if self.phase is Phase.LOCATING:
                self._begin_draining(node, answer.at)
            case Absent() if self.phase is Phase.LOCATING and self._may_still_join(answer.at):
                self._locate.again_at(answer.at + _LOOK_FOR_IT_EVERY)
            case Absent() if self.phase is Phase.LOCATING:
                name = self._settings.cluster_name
                ending = ending_without_a_node(self._instance, was_asked=self._was_asked, cluster_name=name)
                self.end(ending, answer.at)
            case _:
                pass

    def _may_still_join(self, now: datetime) -> bool:
        is_young = now < (self._started_at or now) + _LOOK_FOR_IT
        return is_young and may_still_join(self._instance, self._settings.cluster_name)

    def _begin_draining(self, node: Node, now: datetime) -> None:
        self._node = node
        self.phase = Phase.DRAINING
        self.chronicle = Chronicle(node.name, self._ports.reporter)
        self.witness = Witness(self.chronicle.stories)
        notice = self.notice
        mark = mark_of(notice, node, self._started_at or now, now)
        self._work = NodeWork(node.name, mark, self._ports.cluster, self._tell)
        text = f"{notice.reason.value}, {time_left(notice, now)}"
        self._tell(Happening.NOTICED, now, text)
        reason, kind = ("SpotInterruption", "Warning") if notice.takes_the_host else ("Maintenance", "Normal")
        self._aftermath.announce(node, reason, f"draining: {text}", kind)

    def background_answered(self, key: object, value: object, now: datetime) -> None:
        """The outcome of a call to the ledger."""
        match key:
            case ("lock", _):
                self._lock.answered(value, now)
            case ("finish", _):
                self._aftermath.written(value)
            case _:
                pass

    def trouble(self, problem: Problem | None, now: datetime) -> None:
        """Remember a problem, and tell it once; the one that ended the drain is kept whatever came before."""
        is_kept = len(self._problems) < _PROBLEMS_KEPT or self.phase is Phase.ENDED
        if problem is not None and problem not in self._problems and is_kept:
            self._problems[problem] = None
            self._tell(Happening.PROBLEM, now, problem.message)

    # --- the end

    def end(self, ending: Ending, now: datetime, problem: Problem | None = None) -> None:
        """Make the record; what follows it is started here and waited for by `is_finished`."""
        self.phase = Phase.ENDED
        self.trouble(problem, now)
        self._record = self._make_record(ending, now)
        self._tell(Happening.ENDED, now, ending.value)
        if self._node is not None:
            self._aftermath.follow(self._record, self._node, now)

    def is_finished(self, now: datetime) -> bool:
        """Whether it has ended and all that follows is done, or has had its time."""
        return self._record is not None and self._aftermath.is_over(self._record, now)

    def fate(self, request: Request) -> Fate:
        """What became of one of its requests, once it has ended."""
        record = self._record or self._make_record(Ending.FAILED, self._ports.clock.now())
        return Fate(request, self._aftermath.completed(record), record.ending is not Ending.FAILED)

    def _make_record(self, ending: Ending, now: datetime) -> DrainRecord:
        return DrainRecord(
            notice=self.notice,
            ending=ending,
            node_name=self.node_name,
            started_at=self._started_at,
            ended_at=now,
            cordoned_at=self._work.cordoned_at if self._work else None,
            excluded_at=self._work.excluded_at if self._work else None,
            budgets=self.witness.budgets(now) if self.witness else (),
            workloads=self.witness.workloads(now) if self.witness else (),
            first_signal_at=self.chronicle.first_signal_at,
            is_late=self._started_at is not None and self._started_at >= self.notice.reclaim_at,
            pods=tuple(story.fate() for _, story in sorted(self.chronicle.stories.items())),
            skipped=tuple(sorted(self.chronicle.skipped.items())),
            problems=tuple(self._problems),
        )

    def _tell(self, happening: Happening, now: datetime, detail: str = "") -> None:
        name = self.node_name or self.notice.instance_id
        self._ports.reporter.tell(Entry(now, happening, name, name, detail))
