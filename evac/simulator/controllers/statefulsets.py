"""StatefulSets: pods with names of their own, each made again only when the one before it is gone.

Rules: pkg/controller/statefulset/stateful_set_control.go. Not simulated: updates of the template, revisions.
"""

from evac.simulator.controllers.availability import available_in, is_available, replica_status, replicas_of
from evac.simulator.controllers.creation import pod_of
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.deletions import Deletions
from evac.simulator.journal import Hand
from evac.simulator.objects import Key, Raw, controller_of, revised, spec_of, status_of, uid_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import is_finished, is_ready, is_terminating, phase_of
from evac.simulator.store import Change, Store


class StatefulSets(Reconciler):
    """OrderedReady, one after the other, or Parallel."""

    def __init__(self, store: Store, deletions: Deletions, options: SimulatorOptions) -> None:
        super().__init__(store, options.latencies.controllers)
        self._deletions = deletions

    def on_change(self, change: Change) -> None:
        """Itself, and the owner of a changed pod."""
        if change.key.kind == "StatefulSet" and change.new is not None:
            self.enqueue(change.key)
        elif change.key.kind == "Pod":
            owner = controller_of(change.new or change.old or {"metadata": {}})
            if owner and owner["kind"] == "StatefulSet":
                self.enqueue(Key("StatefulSet", change.key.namespace, owner["name"]))

    def reconcile(self, key: Key) -> None:
        """One round over the ordinals, lowest first; then those beyond the wanted number, highest first."""
        owner = self.store.get(key)
        if owner is None or owner["metadata"].get("deletionTimestamp"):
            return
        if self._fill(key, owner):
            self._shrink(key, owner)
        self._write_status(key)

    def _fill(self, key: Key, owner: Raw) -> bool:
        """Whether the round came to its end: an ordered set stops at the first that is not as it should be."""
        first = (spec_of(owner).get("ordinals") or {}).get("start") or 0
        ordered = _is_ordered(owner)
        for ordinal in range(first, first + replicas_of(owner)):
            name = f"{key.name}-{ordinal}"
            pod = self.store.get(Key("Pod", key.namespace, name))
            if pod is None:
                self.store.put(_pod(owner, name, ordinal))
                if ordered:
                    return False
            elif is_finished(pod):
                if not is_terminating(pod):
                    self._deletions.ask(pod, None, Hand.CONTROLLER)
                return False
            elif ordered and not self._stands(owner, pod):
                return False
        return True

    def _stands(self, owner: Raw, pod: Raw) -> bool:
        running = phase_of(pod) == "Running" and is_ready(pod) and not is_terminating(pod)
        return running and is_available(owner, pod, self.timeline.now())

    def _shrink(self, key: Key, owner: Raw) -> None:
        first = (spec_of(owner).get("ordinals") or {}).get("start") or 0
        wanted = range(first, first + replicas_of(owner))
        pods = {_ordinal(pod): pod for pod in self.store.owned_by(uid_of(owner))}
        for ordinal in sorted((o for o in pods if o not in wanted), reverse=True):
            if not is_terminating(pods[ordinal]):
                self._deletions.ask(pods[ordinal], None, Hand.CONTROLLER)
            if _is_ordered(owner):
                return

    def _write_status(self, key: Key) -> None:
        owner = self.store.get(key)
        if owner is None:
            return
        pods = list(self.store.owned_by(uid_of(owner)))
        status = replica_status(owner, [p for p in pods if not is_terminating(p)], self.timeline.now())
        if any(status_of(owner).get(name) != value for name, value in status.items()):
            self.store.put(revised(owner, status=status))
        wait = available_in(owner, pods, self.timeline.now())
        if wait:
            self.enqueue(key, after=wait)


def _is_ordered(owner: Raw) -> bool:
    return spec_of(owner).get("podManagementPolicy") != "Parallel"


def _ordinal(pod: Raw) -> int:
    number = pod["metadata"]["name"].rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _pod(owner: Raw, name: str, ordinal: int) -> Raw:
    labels = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
    pod = pod_of(owner, spec_of(owner).get("template") or {}, name, labels=labels)
    claims = [c["metadata"]["name"] for c in spec_of(owner).get("volumeClaimTemplates") or ()]
    volumes = [v for v in spec_of(pod).get("volumes") or () if v.get("name") not in claims]
    volumes += [{"name": c, "persistentVolumeClaim": {"claimName": f"{c}-{name}"}} for c in claims]
    return revised(pod, spec={"hostname": name, "volumes": volumes or None})
