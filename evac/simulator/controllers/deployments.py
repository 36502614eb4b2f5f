"""Deployments: one ReplicaSet a template, scaled by their strategy.

Rules: pkg/controller/deployment (rolling.go, recreate.go, util/deployment_util.go). Law: a Deployment whose ReplicaSets
the scenario does not hold is left alone, or it would make all its pods a second time.
"""

from datetime import timedelta

from evac.simulator.controllers.availability import replicas_of
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.controllers.templates import REVISION, fenceposts, replica_set_of, revision_of, template_of
from evac.simulator.labels import selects
from evac.simulator.objects import (
    Key,
    Raw,
    annotations_of,
    controller_of,
    key_of,
    labels_of,
    revised,
    spec_of,
    status_of,
    uid_of,
)
from evac.simulator.store import Change, Store


class Deployments(Reconciler):
    """Scaling and rolling updates. Not simulated: proportional scaling in mid-rollout, progress deadlines."""

    def __init__(self, store: Store, delay: timedelta) -> None:
        super().__init__(store, delay)
        self._loaded: dict[str, Raw] = {}
        """By uid: the template that the Deployment came with."""

    def on_change(self, change: Change) -> None:
        """Itself, the owner of a changed ReplicaSet, and that of a pod that is gone: Recreate waits for the last."""
        if change.key.kind == "Deployment" and change.new is not None:
            if change.old is None:
                self._loaded[uid_of(change.new)] = template_of(change.new)
            self.enqueue(change.key)
        elif change.key.kind == "ReplicaSet":
            self._enqueue_owner(change.new or change.old)
        elif change.key.kind == "Pod" and change.new is None:
            owner = controller_of(change.old or {"metadata": {}})
            if owner and owner["kind"] == "ReplicaSet":
                self._enqueue_owner(self.store.get(Key("ReplicaSet", change.key.namespace, owner["name"])))

    def _enqueue_owner(self, replica_set: Raw | None) -> None:
        owner = controller_of(replica_set) if replica_set else None
        if replica_set and owner and owner["kind"] == "Deployment":
            self.enqueue(Key("Deployment", key_of(replica_set).namespace, owner["name"]))

    def reconcile(self, key: Key) -> None:
        """One step of the strategy; the next follows the ReplicaSets' status."""
        deployment = self.store.get(key)
        if deployment is None or deployment["metadata"].get("deletionTimestamp"):
            return
        owned = sorted(self.store.owned_by(uid_of(deployment), "ReplicaSet"), key=_age)
        current = self._current(deployment, owned)
        if current is None and (self._is_unknown(deployment, owned) or spec_of(deployment).get("paused")):
            return
        old = [rs for rs in owned if rs is not current]
        if (spec_of(deployment).get("strategy") or {}).get("type") == "Recreate":
            self._recreate(deployment, current, old)
        else:
            self._roll(deployment, current or self._make(deployment), old)
        self._write_status(key)

    def _current(self, deployment: Raw, owned: list[Raw]) -> Raw | None:
        """The ReplicaSet of the Deployment's template.

        In a scenario that began with it, also the one of its revision: where a template was printed without what the
        API had filled in, it looks like another, and nobody asked for a rollout.
        """
        template = template_of(deployment)
        found = next((rs for rs in owned if template_of(rs) == template), None)
        if found is None and self._loaded.get(uid_of(deployment)) == template:
            revision = annotations_of(deployment).get(REVISION)
            found = next((rs for rs in owned if revision and annotations_of(rs).get(REVISION) == revision), None)
        return found

    def _is_unknown(self, deployment: Raw, owned: list[Raw]) -> bool:
        """Pods that it selects belong to a ReplicaSet that the scenario does not hold."""
        namespace = key_of(deployment).namespace
        if owned:
            return False
        for pod in self.store.of_kind("Pod"):
            owner = controller_of(pod)
            if owner and owner["kind"] == "ReplicaSet" and key_of(pod).namespace == namespace:
                is_held = self.store.get(Key("ReplicaSet", namespace, owner["name"])) is not None
                if not is_held and selects(spec_of(deployment).get("selector"), labels_of(pod)):
                    return True
        return False

    def _make(self, deployment: Raw) -> Raw:
        """A new ReplicaSet without replicas, and its revision in the Deployment."""
        owned = self.store.owned_by(uid_of(deployment), "ReplicaSet")
        revision = str(1 + max((revision_of(rs) for rs in owned), default=0))
        annotations = {**annotations_of(deployment), REVISION: revision}
        self.store.put(revised(deployment, metadata={"annotations": annotations}))
        return self.store.put(replica_set_of(deployment, revision))

    def _scale(self, replica_set: Raw, replicas: int) -> None:
        if replicas_of(replica_set) != replicas:
            self.store.put(revised(replica_set, spec={"replicas": replicas}))

    def _recreate(self, deployment: Raw, current: Raw | None, old: list[Raw]) -> None:
        for replica_set in old:
            self._scale(replica_set, 0)
        if not any(any(True for _ in self.store.owned_by(uid_of(rs))) for rs in old):
            self._scale(current or self._make(deployment), replicas_of(deployment))

    def _roll(self, deployment: Raw, current: Raw, old: list[Raw]) -> None:
        wanted = replicas_of(deployment)
        surge, unavailable = fenceposts(deployment)
        total = sum(map(replicas_of, [current, *old]))
        have = replicas_of(current)
        if have > wanted:
            self._scale(current, wanted)
        elif have < wanted and total < wanted + surge:
            self._scale(current, have + min(wanted + surge - total, wanted - have))
        elif any(map(replicas_of, old)):
            self._shrink(current, old, wanted - unavailable)

    def _shrink(self, current: Raw, old: list[Raw], at_least: int) -> None:
        """The old ones' unhealthy replicas first, then as many as availability allows; oldest ReplicaSet first."""
        total = sum(map(replicas_of, [current, *old]))
        room = total - at_least - (replicas_of(current) - _available(current))
        left = {uid_of(rs): replicas_of(rs) for rs in old}
        for replica_set in old:
            unhealthy = min(max(room, 0), max(replicas_of(replica_set) - _available(replica_set), 0))
            left[uid_of(replica_set)] -= unhealthy
            room -= unhealthy
        spare = min(sum(map(_available, [current, *old])) - at_least, room)
        for replica_set in old:
            goes = min(max(spare, 0), left[uid_of(replica_set)])
            spare -= goes
            self._scale(replica_set, left[uid_of(replica_set)] - goes)

    def _write_status(self, key: Key) -> None:
        deployment = self.store.get(key)
        if deployment is None:
            return
        owned = list(self.store.owned_by(uid_of(deployment), "ReplicaSet"))
        counts = {
            n: sum(status_of(rs).get(n) or 0 for rs in owned)
            for n in ("replicas", "readyReplicas", "availableReplicas")
        }
        updated = [rs for rs in owned if template_of(rs) == template_of(deployment)]
        status = {
            **counts,
            "updatedReplicas": sum(status_of(rs).get("replicas") or 0 for rs in updated),
            "observedGeneration": deployment["metadata"]["generation"],
        }
        if any(status_of(deployment).get(name) != value for name, value in status.items()):
            self.store.put(revised(deployment, status=status))


def _available(replica_set: Raw) -> int:
    return int(status_of(replica_set).get("availableReplicas") or 0)


def _age(raw: Raw) -> tuple[str, str]:
    return raw["metadata"].get("creationTimestamp") or "", raw["metadata"]["name"]
