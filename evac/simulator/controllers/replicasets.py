"""ReplicaSets and ReplicationControllers: as many pods as asked for, whoever took one away.

Rules: pkg/controller/replicaset, controller_ref_manager.go. Law: a pod counts while it is owned and active; one whose
labels no longer match is let go of, an ownerless one that matches is adopted.
"""

from datetime import datetime, timedelta
from functools import partial

from evac.simulator.controllers.adoption import Adoption, claimed
from evac.simulator.controllers.availability import available_in, replica_status, replicas_of
from evac.simulator.controllers.creation import Pace, generated_name, pod_of
from evac.simulator.controllers.expectations import Expectations
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
from evac.simulator.pods import is_active, is_terminating
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
        self._admits_ownerless = options.admits_ownerless
        self._deletion_takes = options.latencies.delete / 2
        self._expected = Expectations()
        self._failures: dict[Key, tuple[int, str]] = {}
        """How often in a row a round failed; why, where it could not create."""

    def on_change(self, change: Change) -> None:
        """Owners of changed pods; those that may adopt an ownerless one; themselves."""
        if change.key.kind in REPLICATED and change.new is not None:
            self.enqueue(change.key)
        elif change.key.kind == "Pod":
            for pod in (change.old, change.new):
                self._enqueue_owner(pod)
            self._see_deletion(change)
            if change.new is not None and controller_of(change.new) is None:
                for key in self._adoption.adopters(change.new):
                    if key.kind in REPLICATED:
                        self.enqueue(key)

    def _enqueue_owner(self, pod: Raw | None) -> None:
        owner = controller_of(pod) if pod else None
        if pod and owner and owner["kind"] in REPLICATED:
            self.enqueue(Key(owner["kind"], key_of(pod).namespace, owner["name"]))

    def _see_deletion(self, change: Change) -> None:
        pod = change.old if change.new is None else change.new
        owner = controller_of(pod) if pod and (change.new is None or is_terminating(pod)) else None
        if pod and owner and owner["kind"] in REPLICATED:
            self._expected.seen(Key(owner["kind"], change.key.namespace, owner["name"]), uid_of(pod))

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
            if self._expected.are_met(key, self.timeline.now()) and self._scale(owner, active):
                self._failures.pop(key, None)
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
        """By a patch of its own; an admission policy that wants owners refuses to let go, and all else waits."""
        if controller_of(pod) is not None and not self._admits_ownerless:
            self._back_off(key_of(owner))
            return False
        self.store.put(claimed(pod, owner))
        return True

    def _scale(self, owner: Raw, active: list[Raw]) -> bool:
        """Whether nothing is left to be tried again."""
        surplus = len(active) - replicas_of(owner)
        if surplus > 0:
            self._give_up(owner, first_to_go(active, self._related(owner), self.timeline.now())[:surplus])
        return all(self._has_place(key_of(owner)) and self._create(owner) for _ in range(-surplus))

    def _give_up(self, owner: Raw, pods: list[Raw]) -> None:
        """The requests take a moment, in which a pod may be let go of: it is deleted all the same."""
        self._expected.expect(key_of(owner), set(map(uid_of, pods)), self.timeline.now())
        for pod in pods:
            self.timeline.after(self._deletion_takes, partial(self._delete, key_of(owner), key_of(pod), uid_of(pod)))

    def _delete(self, owner: Key, key: Key, uid: str) -> None:
        pod = self.store.get(key)
        if pod is None or uid_of(pod) != uid:
            self._expected.seen(owner, uid)
        else:
            self._deletions.ask(pod, None, Hand.CONTROLLER)

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
        self.store.put(pod)
        return True

    def _back_off(self, key: Key, refusal: str = "") -> None:
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
        message = self._failures.get(key, (0, ""))[1]
        if not message:
            return None
        return [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]
