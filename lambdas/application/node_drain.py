"""One instance, from its notice to its record: found, locked, cordoned, observed, ended. Its pods are the loop's."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum, auto

from lambdas.application.chronicle import Chronicle
from lambdas.application.drain_lock import DrainLock
from lambdas.application.errands import Errand
from lambdas.application.requests import Ports, Request
from lambdas.domain.decisions.cures import problem_of
from lambdas.domain.decisions.deadline import LATE_PATH, NOTHING_TOUCHED_AFTER, Deadline
from lambdas.domain.decisions.ownership import ending_without_a_node, how_to_locate, is_foreign, is_going
from lambdas.domain.decisions.plan import Doomed
from lambdas.domain.decisions.traffic import serves_locally
from lambdas.domain.values.actions import (
    Action,
    Announce,
    Cordon,
    ExcludeFromLoadBalancers,
    Locate,
    Mark,
    Observe,
)
from lambdas.domain.values.answers import Absent, Answer, Done, Located
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, Problem
from lambdas.domain.values.journal import Entry, Happening
from lambdas.domain.values.kubernetes import Node, PodRef
from lambdas.domain.values.notices import Instance
from lambdas.domain.values.observation import NodeView, Observation
from lambdas.domain.values.settings import Settings

_MARK_OUTLIVES_RECLAIM = timedelta(minutes=15)
_CORDON_FIRST = timedelta(milliseconds=300)
"""The first list waits this long for the cordon's answer, then goes on beside it."""


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
        self.notice = min((r.notice for r in requests), key=lambda n: n.reclaim_at)
        self.phase = Phase.ASLEEP
        self.node: Node | None = None
        self.record: DrainRecord | None = None
        self.is_writing = False
        self.chronicle = Chronicle("", ports.reporter)
        self.lock = DrainLock(self.notice, ports.ledger, ports.background, owner)
        self._ports = ports
        self._settings = settings
        self._owner = owner
        self._instance: Instance | None = None
        self._was_asked = False
        self._started_at: datetime | None = None
        self._cordoned_at: datetime | None = None
        self._problems: dict[Problem, None] = {}
        seed = self.notice.instance_id
        self._locate, self._cordon, self._observe, self._exclude = (Errand(f"{seed}{i}") for i in range(4))

    # --- before the node is known

    def begin(self, now: datetime) -> None:
        """The notice is taken up."""
        self._started_at = now
        self.phase = Phase.LOOKING_UP

    @property
    def may_be_stale(self) -> bool:
        """So long past that only EC2's word lets anything be touched."""
        started = self._started_at or self.notice.reclaim_at
        return self.notice.is_replayed or started > self.notice.reclaim_at + NOTHING_TOUCHED_AFTER

    @property
    def ends_at(self) -> datetime:
        """When nothing more can be done for its pods."""
        started = self._started_at or self.notice.noticed_at
        return max(self.notice.reclaim_at, started + LATE_PATH)

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

    def trouble(self, problem: Problem | None, now: datetime) -> None:
        """Remember a problem, and tell it once."""
        if problem is not None and problem not in self._problems:
            self._problems[problem] = None
            self._tell(Happening.PROBLEM, now, problem.message)

    # --- what is due now

    def advance(self, now: datetime, observation: Observation) -> list[datetime]:
        """Start what is due; when to look again."""
        if self.phase is Phase.LOCATING:
            self._start(self._locate, self._how_to_locate(), now)
            if now >= self.ends_at:
                self.end(Ending.FAILED, now)
            return self._wakes(self._locate)
        if self.phase is Phase.DRAINING:
            return self._advance_draining(now, observation)
        return []

    def _how_to_locate(self) -> Locate:
        name = self._settings.cluster_name
        return how_to_locate(self.notice, self._instance, was_asked=self._was_asked, cluster_name=name)

    def _advance_draining(self, now: datetime, observation: Observation) -> list[datetime]:
        lock_wake = self.lock.keep(now)
        self.trouble(self.lock.problem, now)
        if self.lock.ended:
            self.end(Ending.JOINED, now)
            return []
        if self.lock.is_held_elsewhere:
            return [lock_wake] if lock_wake else []
        name = self.node_name
        self._start(self._cordon, Cordon(name, self._mark(now)), now)
        view = observation.nodes.get(name)
        cordon_wake = self._list_when_due(view, now)
        if view is not None:
            self.chronicle.saw(view.pods, now)
            if not serves_locally(view.pods, observation.services, self.signalled()):
                self._start(self._exclude, ExcludeFromLoadBalancers(name), now)
        self._end_when_due(view, now)
        wakes = self._wakes(self._cordon, self._observe, self._exclude)
        return wakes + [w for w in (lock_wake, cordon_wake) if w]

    def _list_when_due(self, view: NodeView | None, now: datetime) -> datetime | None:
        """Pods may be bound until the cordon: the list that counts is begun after it."""
        patience = (self._cordon.begun_at or now) + _CORDON_FIRST
        if not self._cordon.was_answered and now < patience:
            return patience
        if view is not None and self._cordoned_at and view.listed_at < self._cordoned_at:
            self._observe.again()
        self._start(self._observe, Observe(self.node_name), now)
        return None

    def _end_when_due(self, view: NodeView | None, now: datetime) -> None:
        if now >= self.ends_at:
            self.chronicle.lose_what_is_left(now)
            if view is None:
                self.end(Ending.FAILED, now)
            else:
                self.end(Ending.DRAINED if self.chronicle.is_over() else Ending.PODS_LOST, now)
        elif view is not None and self._is_listed_after_cordon(view) and self.chronicle.is_over():
            self.end(Ending.DRAINED, now)

    def _is_listed_after_cordon(self, view: NodeView) -> bool:
        """An uncordoned node may be given new pods at any moment: such a drain ends with its time."""
        return self._cordoned_at is not None and view.listed_at >= self._cordoned_at

    def _start(self, errand: Errand, action: Action, now: datetime) -> None:
        if errand.may_start(now):
            errand.started(now)
            self._ports.cluster.start(action)

    def _mark(self, now: datetime) -> Mark:
        reclaim = self.notice.reclaim_at
        expires = max(reclaim, now) + _MARK_OUTLIVES_RECLAIM
        return Mark(self.notice.instance_id, self.notice.reason.value, reclaim, self._started_at or now, expires)

    @staticmethod
    def _wakes(*errands: Errand) -> list[datetime]:
        return [e.look_again_at for e in errands if e.look_again_at]

    # --- its pods, for the loop

    @property
    def node_name(self) -> str:
        """Of the node found; empty before that."""
        return self.node.name if self.node else ""

    def doomed(self, observation: Observation, now: datetime) -> Iterable[Doomed]:
        """Its pods, where they may be acted on now."""
        view = observation.nodes.get(self.node_name)
        if self.phase is not Phase.DRAINING or view is None or not self.lock.may_act(now):
            return ()
        deadline = Deadline(self.notice.reclaim_at, self._settings)
        return [Doomed(pod, self.node_name, deadline) for pod in view.pods]

    def signalled(self) -> set[PodRef]:
        """Pods whose SIGTERM was accepted, whether or not that is seen yet."""
        return {ref for ref, story in self.chronicle.stories.items() if story.signalled_at}

    # --- answers

    def answered(self, answer: Answer) -> None:
        """The answer to an action of this node's, its pods' aside."""
        match answer.action:
            case Locate():
                self._locate.answered(answer.result, answer.at)
                self._located(answer)
            case Cordon():
                self._cordon.answered(answer.result, answer.at)
                if self._cordon.served_at and self._cordoned_at is None:
                    self._cordoned_at = answer.at
                    self._tell(Happening.CORDONED, answer.at)
            case Observe():
                self._observe.answered(answer.result, answer.at)
            case ExcludeFromLoadBalancers():
                self._exclude.answered(answer.result, answer.at)
                if isinstance(answer.result, Done):
                    self._tell(Happening.EXCLUDED, answer.at)
            case _:
                pass
        self.trouble(problem_of(answer.result, _describe(answer.action)), answer.at)

    def _located(self, answer: Answer) -> None:
        if self.phase is not Phase.LOCATING:
            return
        match answer.result:
            case Located(node):
                self.node = node
                self.phase = Phase.DRAINING
                self.chronicle = Chronicle(node.name, self._ports.reporter)
                left = (self.notice.reclaim_at - answer.at).total_seconds()
                self._tell(Happening.NOTICED, answer.at, f"{self.notice.reason.value}; {left:.0f} s left")
                self._announce(
                    "SpotInterruption", f"{self.notice.reason.value}: draining, {left:.0f} s left", "Warning"
                )
            case Absent():
                name = self._settings.cluster_name
                ending = ending_without_a_node(self._instance, was_asked=self._was_asked, cluster_name=name)
                self.end(ending, answer.at)
            case _:
                pass

    # --- the end

    def end(self, ending: Ending, now: datetime, problem: Problem | None = None) -> None:
        """Write the record; what follows (ledger, Event) is started and not waited for here."""
        self.trouble(problem, now)
        self.phase = Phase.ENDED
        self.record = self._make_record(ending, now)
        self._tell(Happening.ENDED, now, ending.value)
        if self.node is not None and ending in (Ending.DRAINED, Ending.PODS_LOST):
            self._announce_outcome(self.record)
        self._write_down(self.record, now)

    def _make_record(self, ending: Ending, now: datetime) -> DrainRecord:
        return DrainRecord(
            notice=self.notice,
            ending=ending,
            node_name=self.node_name,
            started_at=self._started_at,
            ended_at=now,
            cordoned_at=self._cordoned_at,
            first_signal_at=self.chronicle.first_signal_at,
            is_late=self._started_at is not None and self._started_at >= self.notice.reclaim_at,
            pods=tuple(story.fate() for _, story in sorted(self.chronicle.stories.items())),
            skipped=tuple(sorted(self.chronicle.skipped.items())),
            problems=tuple(self._problems),
        )

    def _announce_outcome(self, record: DrainRecord) -> None:
        lost = [f.pod for f in record.pods if f.departure is Departure.LOST]
        if lost:
            names = ", ".join(str(ref) for ref in lost[:10]) + (" …" if len(lost) > 10 else "")
            self._announce(
                "PodsLost", f"{len(lost)} of {len(record.pods)} pods were lost with the host: {names}", "Warning"
            )
        else:
            self._announce("Drained", f"all {len(record.pods)} pods left before reclaim", "Normal")

    def _announce(self, reason: str, message: str, kind: str) -> None:
        if self.node is not None:
            self._ports.cluster.start(Announce(self.node.name, self.node.uid, reason, message, kind))

    def _write_down(self, record: DrainRecord, now: datetime) -> None:
        """Nothing is written of instances that are no node of ours, nor over another's record."""
        ledger = self._ports.ledger
        if ledger is None or self.node is None or record.ending is Ending.JOINED:
            return
        self.is_writing = True
        self._ports.background.start(self.finish_key, lambda: ledger.finish(record, self._owner, now))

    def with_problem(self, problem: Problem) -> DrainRecord:
        """The record, with what went wrong after its end."""
        self._problems[problem] = None
        assert self.record is not None, "it has ended"  # noqa: S101 - callers hold that
        self.record = replace(self.record, problems=tuple(self._problems))
        return self.record

    @property
    def finish_key(self) -> tuple[str, str]:
        """Of the background call that writes the record down."""
        return ("finish", self.notice.instance_id)

    def _tell(self, happening: Happening, now: datetime, detail: str = "") -> None:
        name = self.node_name or self.notice.instance_id
        self._ports.reporter.tell(Entry(now, happening, name, name, detail))


def _describe(action: Action) -> str:
    """What was asked, in words."""
    match action:
        case Locate(instance_id):
            return f"finding the node of {instance_id}"
        case Observe(node_name):
            return f"listing node {node_name} and its pods"
        case Cordon(node_name):
            return f"cordoning node {node_name}"
        case ExcludeFromLoadBalancers(node_name):
            return f"taking node {node_name} out of load balancers"
        case Announce(node_name):
            return f"writing an Event on node {node_name}"
        case other:
            return type(other).__name__
