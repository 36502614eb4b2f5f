"""ReplicaSets and ReplicationControllers: as many pods as asked for, whoever took one away.

Rules: pkg/controller/replicaset, controller_ref_manager.go. Law: a pod counts while it is owned and active; one whose
labels no longer match is let go of, an ownerless one that matches is adopted.
"""

from datetime import datetime, timedelta

from evac.simulator.controllers.adoption import Adoption, claimed
from evac.simulator.controllers.availability import available_in, replica_status, replicas_of
from evac.simulator.controllers.creation import Pace, generated_name, pod_of
from evac.simulator.controllers.ranking import first_to_go
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.deletions import Deletions
from evac.simulator.journal import Hand
from evac.simulator.objects import (
    Key,
    Raw,
    controller_of,
    key_of,
    revised,
    spec_of,
    status_of,
    uid_of,
)
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import is_active
from evac.simulator.quotas import Quotas
from evac.simulator.selections import REPLICATED, Selections
from evac.simulator.store import Change, Store

_FIRST_BACKOFF = timedelta(milliseconds=5)
_LONGEST_BACKOFF = timedelta(seconds=1000)


class ReplicaSets(Reconciler):
    """Both kinds; one client's request rate for all of them."""

    def __init__(self, store: Store, selections: Selections, deletions: Deletions, options: SimulatorOptions) -> None:
        super().__init__(store, options.latencies.controllers)
        self._selections = selections
        self._deletions = deletions
        self._adoption = Adoption(store, selections)
        self._quotas = Quotas(store)
        now = store.timeline.now()
        self._pace = Pace(options.pods_created_per_second, options.pods_created_in_burst, now)
        self._reserved: dict[Key, datetime] = {}
        self._failures: dict[Key, tuple[int, str]] = {}
        """How often in a row creating failed, and why."""

    def on_change(self, change: Change) -> None:
        """Owners of changed pods; those that may adopt an ownerless one; themselves."""
        if change.key.kind in REPLICATED and change.new is not None:
            self.enqueue(change.key)
        elif change.key.kind == "Pod":
            for pod in (change.old, change.new):
                self._enqueue_owner(pod)
            if change.new is not None and controller_of(change.new) is None:
                for key in self._adoption.adopters(change.new):
                    if key.kind in REPLICATED:
                        self.enqueue(key)

    def _enqueue_owner(self, pod: Raw | None) -> None:
        owner = controller_of(pod) if pod else None
        if pod and owner and owner["kind"] in REPLICATED:
            self.enqueue(Key(owner["kind"], key_of(pod).namespace, owner["name"]))

    def reconcile(self, key: Key) -> None:
        """Let go, adopt, then create or delete, each by one request when there is a place for it."""
        owner = self.store.get(key)
        if owner is None or owner["metadata"].get("deletionTimestamp"):
            return
        active = [p for p in self.store.owned_by(uid_of(owner)) if is_active(p)]
        disputed = self._disputed(key, active)
        if all(self._has_place(key) and self._claim(owner, pod) for pod in disputed):
            if disputed:
                active = [p for p in self.store.owned_by(uid_of(owner)) if is_active(p)]
            self._scale(owner, active)
        self._write_status(key, active)

    def _has_place(self, key: Key) -> bool:
        """Whether a request may be sent now; else the key is looked at again when its place has come."""
        now = self.timeline.now()
        due = self._reserved.get(key)
        if due is None:
            due = now + self._pace.reserve(now)
        if due > now:
            self._reserved[key] = due
            self.enqueue(key, after=due - now)
            return False
        self._reserved.pop(key, None)
        return True

    def _disputed(self, key: Key, active: list[Raw]) -> list[Raw]:
        """Its own that it no longer selects; then the ownerless ones that it, first of those who may, adopts."""
        leavers = [p for p in active if key not in self._selections.over(p)]
        return leavers + self._adoption.orphans_for(key)

    def _claim(self, owner: Raw, pod: Raw) -> bool:
        self.store.put(claimed(pod, owner))
        return True

    def _scale(self, owner: Raw, active: list[Raw]) -> None:
        surplus = len(active) - replicas_of(owner)
        if surplus > 0:
            for pod in first_to_go(active, self._related(owner), self.timeline.now())[:surplus]:
                self._deletions.ask(pod, None, Hand.CONTROLLER)
        for _ in range(-surplus):
            if not self._has_place(key_of(owner)) or not self._create(owner):
                return

    def _related(self, owner: Raw) -> list[Raw]:
        """The active pods of all ReplicaSets of the same Deployment: those doubled up on a node go first."""
        parent = controller_of(owner)
        siblings = self.store.owned_by(parent["uid"], owner["kind"]) if parent else [owner]
        return [p for sibling in siblings for p in self.store.owned_by(uid_of(sibling)) if is_active(p)]

    def _create(self, owner: Raw) -> bool:
        key, template = key_of(owner), spec_of(owner).get("template") or {}
        pod = pod_of(owner, template, generated_name(self.store, owner, f"{key.name}-"))
        refusal = self._quotas.refusal(pod)
        if refusal:
            self._back_off(key, refusal)
            return False
        self._failures.pop(key, None)
        self.store.put(pod)
        return True

    def _back_off(self, key: Key, refusal: str) -> None:
        """The work queue's exponential wait; any event about one of its pods still comes at once."""
        failures = self._failures.get(key, (0, ""))[0]
        self._failures[key] = failures + 1, refusal
        self.enqueue(key, after=min(_FIRST_BACKOFF * 2 ** min(failures, 20), _LONGEST_BACKOFF))

    def _write_status(self, key: Key, owned: list[Raw]) -> None:
        """As of before this round: what the round did is an event of its own."""
        owner = self.store.get(key)
        if owner is None:
            return
        status = replica_status(owner, owned, self.timeline.now())
        status["conditions"] = self._conditions(key)
        if any(status_of(owner).get(name) != value for name, value in status.items()):
            self.store.put(revised(owner, status=status))
        wait = available_in(owner, owned, self.timeline.now())
        if wait:
            self.enqueue(key, after=wait)

    def _conditions(self, key: Key) -> list[Raw] | None:
        if key not in self._failures:
            return None
        message = self._failures[key][1]
        return [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]
