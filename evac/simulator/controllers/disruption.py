"""The disruption controller: keeps each budget's status true, a moment after its pods change.

Rules: pkg/controller/disruption/disruption.go. Law: it alone says how many disruptions are allowed; the eviction API
takes one away, and this controller counts again once it sees the deletion.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from evac.simulator.controllers.availability import replicas_of
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.objects import (
    Key,
    Raw,
    controller_of,
    key_of,
    labels_of,
    read_moment,
    revised,
    spec_of,
    status_of,
    uid_of,
)
from evac.simulator.pods import is_ready, is_terminating, with_condition
from evac.simulator.quantities import share
from evac.simulator.selections import BUDGET, Selections
from evac.simulator.store import Change, Store

DELETION_TIMEOUT = timedelta(minutes=2)
_SCALABLE = {"ReplicaSet", "ReplicationController", "StatefulSet"}


class UnknownScale(Exception):
    """A pod's controller has no scale that can be read: the budget cannot be computed."""


@dataclass(frozen=True, slots=True)
class _Count:
    expected: int
    desired: int


class Disruption(Reconciler):
    """Status of the PodDisruptionBudgets."""

    def __init__(self, store: Store, selections: Selections, delay: timedelta) -> None:
        super().__init__(store, delay)
        self._selections = selections

    def on_change(self, change: Change) -> None:
        """A budget of which the spec changed; those that select a changed pod. A change of scale alone wakes nobody."""
        if change.key.kind == BUDGET and change.new is not None:
            if change.old is None or change.old["metadata"]["generation"] != change.new["metadata"]["generation"]:
                self.enqueue(change.key)
        elif change.key.kind == "Pod" and _matters(change):
            for key in self._selections.touched:
                if key.kind == BUDGET:
                    self.enqueue(key)

    def budgets_over(self, pod: Raw) -> list[Raw]:
        """The budgets that select a stored pod, by name."""
        keys = sorted(key for key in self._selections.over(pod) if key.kind == BUDGET)
        return [budget for key in keys if (budget := self.store.get(key)) is not None]

    def reconcile(self, key: Key) -> None:
        """Count afresh; where that cannot be done, allow none (failSafe)."""
        budget = self.store.get(key)
        if budget is None:
            return
        pods = list(self._selections.pods_of(key))
        try:
            count = self._count(budget, pods)
        except UnknownScale as why:
            self._fail(budget, str(why))
            return
        now = self.timeline.now()
        disrupted = _still_disrupted(budget, pods, now)
        healthy = sum(
            1 for p in pods if not is_terminating(p) and p["metadata"]["name"] not in disrupted and is_ready(p)
        )
        allowed = max(healthy - count.desired, 0) if count.expected > 0 else 0
        self._write(budget, count, healthy, allowed, disrupted)
        if disrupted:
            first = min(filter(None, map(read_moment, disrupted.values())))
            self.enqueue(key, after=max(first + DELETION_TIMEOUT - now, timedelta(seconds=1)))

    def _write(self, budget: Raw, count: _Count, healthy: int, allowed: int, disrupted: dict[str, str]) -> None:
        status = {
            "observedGeneration": budget["metadata"]["generation"],
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": count.desired,
            "expectedPods": count.expected,
            "disruptedPods": disrupted or None,
        }
        if any(status_of(budget).get(name) != value for name, value in status.items()):
            verdict = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
            written = revised(budget, status=status)
            now = self.timeline.now()
            self.store.put(with_condition(written, "DisruptionAllowed", verdict[0], now, reason=verdict[1], message=""))

    def _fail(self, budget: Raw, why: str) -> None:
        closed = revised(budget, status={"disruptionsAllowed": 0})
        now = self.timeline.now()
        failed = with_condition(closed, "DisruptionAllowed", "False", now, reason="SyncFailed", message=why)
        if failed["status"] != budget.get("status"):
            self.store.put(failed)

    def _count(self, budget: Raw, pods: list[Raw]) -> _Count:
        spec = spec_of(budget)
        if (limit := spec.get("maxUnavailable")) is not None:
            expected = self._scale(budget, pods)
            return _Count(expected, max(expected - share(limit, expected), 0))
        floor = spec.get("minAvailable")
        if floor is None:
            return _Count(0, 0)
        if isinstance(floor, int):
            return _Count(len(pods), floor)
        expected = self._scale(budget, pods)
        return _Count(expected, share(floor, expected))

    def _scale(self, budget: Raw, pods: list[Raw]) -> int:
        """The sum of the scales of the controllers of its pods; pods without a controller do not count."""
        scales: dict[str, tuple[str, int]] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is not None and owner["uid"] not in scales:
                try:
                    scales[owner["uid"]] = self._scale_of(owner, key_of(pod).namespace)
                except UnknownScale:
                    return self._remembered(budget, pod)
        return sum(dict(scales.values()).values())

    def _scale_of(self, owner: Raw, namespace: str) -> tuple[str, int]:
        found = self.store.get(Key(owner["kind"], namespace, owner["name"])) if owner["kind"] in _SCALABLE else None
        if found is None or uid_of(found) != owner.get("uid"):
            raise UnknownScale(f"found no controllers for a pod of {owner['kind']} {owner['name']}")
        parent = controller_of(found)
        if parent and parent["kind"] == "Deployment":
            deployment = self.store.get(Key("Deployment", namespace, parent["name"]))
            if deployment is not None and uid_of(deployment) == parent.get("uid"):
                return uid_of(deployment), replicas_of(deployment)
        return uid_of(found), replicas_of(found)

    @staticmethod
    def _remembered(budget: Raw, pod: Raw) -> int:
        """A scenario may lack the controllers; what the real one had counted is then believed."""
        expected = status_of(budget).get("expectedPods")
        if not expected:
            raise UnknownScale(f'found no controllers for pod "{pod["metadata"]["name"]}"')
        return int(expected)


def _matters(change: Change) -> bool:
    """Whether what a budget counts can have changed."""
    old, new = change.old, change.new
    if old is None or new is None:
        return True
    return (labels_of(old), is_ready(old), is_terminating(old), controller_of(old)) != (
        labels_of(new),
        is_ready(new),
        is_terminating(new),
        controller_of(new),
    )


def _still_disrupted(budget: Raw, pods: list[Raw], now: datetime) -> dict[str, str]:
    """Pods whose eviction was allowed and whose deletion is not seen yet; after two minutes it is not believed in."""
    told = status_of(budget).get("disruptedPods") or {}
    waiting = {p["metadata"]["name"] for p in pods if not is_terminating(p)}
    return {
        name: time
        for name, time in told.items()
        if name in waiting and (moment := read_moment(time)) is not None and moment + DELETION_TIMEOUT > now
    }
