"""What follows a drain: its record in the ledger, its Events on the node and on lost pods; none is waited for long."""

from dataclasses import replace
from datetime import datetime, timedelta

from lambdas.application.requests import Ports
from lambdas.domain.values.actions import Announce
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, Problem, Trouble
from lambdas.domain.values.kubernetes import Node

_PATIENCE = timedelta(seconds=2)
_NAMED = 10
_MOST_POD_EVENTS = 50
"""API servers may limit Events; the one on the node counts all, and the record names them."""


class Aftermath:
    """Events and ledger of one node's drain."""

    def __init__(self, ports: Ports, owner: str, instance_id: str) -> None:
        self._ports = ports
        self._owner = owner
        self._key = ("finish", instance_id)
        self._announced = 0
        self._is_writing = False
        self._problem: Problem | None = None

    def announce(self, node: Node, reason: str, message: str, kind: str) -> None:
        """An Event on the node, as `kubectl describe node` shows it."""
        self._announced += 1
        self._ports.cluster.start(Announce(node.name, node.uid, reason, message, kind))

    def _announce_lost(self, record: DrainRecord, node: Node) -> None:
        """An Event on each lost pod, as `kubectl describe pod` shows it: its successor's owner asks there first."""
        lost = [fate for fate in record.pods if fate.departure is Departure.LOST]
        for fate in lost[:_MOST_POD_EVENTS]:
            self._announced += 1
            why = fate.note or "it never had its SIGTERM"
            text = f"lost with its host {node.name}: {why}"
            self._ports.cluster.start(Announce(node.name, node.uid, "PodLost", text, "Warning", involved=fate.pod))

    def announced(self) -> None:
        """One of them was answered."""
        self._announced -= 1

    def follow(self, record: DrainRecord, node: Node, now: datetime) -> None:
        """Tell what became of the node. Nothing is written over the record of the drain that this one joined."""
        lost = [str(fate.pod) for fate in record.pods if fate.departure is Departure.LOST]
        if record.ending is Ending.PODS_LOST:
            names = ", ".join(lost[:_NAMED]) + (" …" if len(lost) > _NAMED else "")
            text = f"{len(lost)} of {len(record.pods)} pods were lost with the host: {names}"
            self.announce(node, "PodsLost", text, "Warning")
            self._announce_lost(record, node)
        elif record.ending is Ending.DRAINED:
            before = " before reclaim" if record.notice.takes_the_host else ""
            self.announce(node, "Drained", f"all {len(record.pods)} pods left{before}", "Normal")
        ledger = self._ports.ledger
        if ledger is not None and record.ending is not Ending.JOINED:
            self._is_writing = True
            self._ports.background.start(self._key, lambda: ledger.finish(record, self._owner, now))

    def written(self, value: object) -> None:
        """What the ledger said."""
        self._is_writing = False
        if value is not None:
            self._problem = Problem(Trouble.LEDGER, f"the record was not written down: {value}")

    def is_over(self, record: DrainRecord, now: datetime) -> bool:
        """Whether nothing is owed any more, or it has had its time."""
        return not (self._is_writing or self._announced > 0) or now >= self._patience(record)

    def look_again_at(self, record: DrainRecord) -> list[datetime]:
        """When its time is up."""
        return [self._patience(record)]

    @staticmethod
    def _patience(record: DrainRecord) -> datetime:
        return (record.ended_at or record.notice.reclaim_at) + _PATIENCE

    def completed(self, record: DrainRecord) -> DrainRecord:
        """The record, with what went wrong while it was written down."""
        problem = self._problem
        if self._is_writing:
            problem = Problem(Trouble.LEDGER, "the record was not written down: no answer in time")
        return replace(record, problems=(*record.problems, problem)) if problem else record
