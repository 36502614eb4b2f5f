"""Deployments: one ReplicaSet a template, scaled by their strategy.

Rules: pkg/controller/deployment (rolling.go, recreate.go, util/deployment_util.go). Law: a Deployment whose ReplicaSets
the scenario does not hold is left alone, or it would make all its pods a second time.
"""

from evac.simulator.controllers.availability import replicas_of
from evac.simulator.controllers.creation import short_hash
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.labels import selects
from evac.simulator.objects import (
    Key,
    Raw,
    controller_of,
    controller_reference,
    key_of,
    labels_of,
    revised,
    spec_of,
    status_of,
    uid_of,
)
from evac.simulator.quantities import share, share_down
from evac.simulator.store import Change

HASH = "pod-template-hash"


class Deployments(Reconciler):
    """Scaling and rolling updates."""

    def on_change(self, change: Change) -> None:
        """Itself, and the owner of a changed ReplicaSet."""
        if change.key.kind == "Deployment" and change.new is not None:
            self.enqueue(change.key)
        elif change.key.kind == "ReplicaSet":
            owner = controller_of(change.new or change.old or {"metadata": {}})
            if owner and owner["kind"] == "Deployment":
                self.enqueue(Key("Deployment", change.key.namespace, owner["name"]))

    def reconcile(self, key: Key) -> None:
        """One step of the strategy; the next follows the ReplicaSets' status."""
        deployment = self.store.get(key)
        if deployment is None or deployment["metadata"].get("deletionTimestamp"):
            return
        owned = sorted(self.store.owned_by(uid_of(deployment), "ReplicaSet"), key=_age)
        current = next((rs for rs in owned if _template(rs) == _template(deployment)), None)
        if current is None and (self._is_unknown(deployment, owned) or spec_of(deployment).get("paused")):
            return
        old = [rs for rs in owned if rs is not current]
        if (spec_of(deployment).get("strategy") or {}).get("type") == "Recreate":
            self._recreate(deployment, current, old)
        else:
            self._roll(deployment, current or self._make(deployment, 0), old)
        self._write_status(key)

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

    def _make(self, deployment: Raw, replicas: int) -> Raw:
        spec, metadata = spec_of(deployment), deployment["metadata"]
        template, labels = (
            spec.get("template") or {},
            labels_of({"metadata": (spec.get("template") or {}).get("metadata") or {}}),
        )
        name_hash = short_hash(template)
        hashed = {**labels, HASH: name_hash}
        selector = spec.get("selector") or {}
        return self.store.put(
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {
                    "name": f"{metadata['name']}-{name_hash}",
                    "namespace": metadata.get("namespace") or "default",
                    "labels": hashed,
                    "ownerReferences": [controller_reference(deployment)],
                },
                "spec": {
                    "replicas": replicas,
                    "minReadySeconds": spec.get("minReadySeconds") or 0,
                    "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH: name_hash}},
                    "template": {**template, "metadata": {**(template.get("metadata") or {}), "labels": hashed}},
                },
                "status": {"replicas": 0},
            }
        )

    def _scale(self, replica_set: Raw, replicas: int) -> None:
        if replicas_of(replica_set) != replicas:
            self.store.put(revised(replica_set, spec={"replicas": replicas}))

    def _recreate(self, deployment: Raw, current: Raw | None, old: list[Raw]) -> None:
        for replica_set in old:
            self._scale(replica_set, 0)
        if not any(any(True for _ in self.store.owned_by(uid_of(rs))) for rs in old):
            self._scale(current or self._make(deployment, 0), replicas_of(deployment))

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
        updated = [rs for rs in owned if _template(rs) == _template(deployment)]
        status = {
            **counts,
            "updatedReplicas": sum(status_of(rs).get("replicas") or 0 for rs in updated),
            "observedGeneration": deployment["metadata"]["generation"],
        }
        if any(status_of(deployment).get(name) != value for name, value in status.items()):
            self.store.put(revised(deployment, status=status))


def fenceposts(deployment: Raw) -> tuple[int, int]:
    """maxSurge (rounds up) and maxUnavailable (rounds down), 25 % where unset; never both 0 (ResolveFenceposts)."""
    wanted = replicas_of(deployment)
    rolling = (spec_of(deployment).get("strategy") or {}).get("rollingUpdate") or {}
    surge = share(_given(rolling.get("maxSurge")), wanted)
    unavailable = min(share_down(_given(rolling.get("maxUnavailable")), wanted), wanted)
    return (0, 1) if surge == 0 and unavailable == 0 else (surge, unavailable)


def _given(value: int | str | None) -> int | str:
    return "25%" if value is None else value


def _template(owner: Raw) -> Raw:
    """The pod template without what the Deployment controller adds to it."""
    template: Raw = spec_of(owner).get("template") or {}
    metadata = {k: v for k, v in (template.get("metadata") or {}).items() if v is not None}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _available(replica_set: Raw) -> int:
    return int(status_of(replica_set).get("availableReplicas") or 0)


def _age(raw: Raw) -> tuple[str, str]:
    return raw["metadata"].get("creationTimestamp") or "", raw["metadata"]["name"]
