"""DaemonSets: one pod on every node that the template may use, cordoned ones included.

Rules: pkg/controller/daemon. Law: a pod that was evicted from a living node is put straight back there, and a
stranger that it adopts goes at once where it has an older one. Not simulated:
updates of the template.
"""

from evac.simulator.controllers.adoption import Adoption
from evac.simulator.controllers.creation import generated_name, pod_of
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.deletions import Deletions
from evac.simulator.journal import Hand
from evac.simulator.labels import has_all
from evac.simulator.objects import Key, Raw, controller_of, key_of, labels_of, revised, spec_of, status_of, uid_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import is_active, is_finished, is_ready, is_terminating, node_of
from evac.simulator.scheduling.nodes import UNSCHEDULABLE, is_wanted, tolerates
from evac.simulator.selections import Selections
from evac.simulator.store import Change, Store

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    (UNSCHEDULABLE, "NoSchedule"),
)


class DaemonSets(Reconciler):
    """One pod a node."""

    def __init__(self, store: Store, selections: Selections, deletions: Deletions, options: SimulatorOptions) -> None:
        super().__init__(store, options.latencies.controllers)
        self._adoption = Adoption(store, selections)
        self._deletions = deletions

    def on_change(self, change: Change) -> None:
        """Itself, the owner of a changed pod, and all of them where a node changed."""
        if change.key.kind == "DaemonSet" and change.new is not None:
            self.enqueue(change.key)
        elif change.key.kind == "Node":
            for owner in self.store.of_kind("DaemonSet"):
                self.enqueue(key_of(owner))
        elif change.key.kind == "Pod":
            self._follow(change.new or change.old or {"metadata": {}}, change.key.namespace)

    def _follow(self, pod: Raw, namespace: str) -> None:
        owner = controller_of(pod)
        if owner and owner["kind"] == "DaemonSet":
            self.enqueue(Key("DaemonSet", namespace, owner["name"]))
        elif owner is None:
            for key in self._adoption.adopters(pod):
                if key.kind == "DaemonSet":
                    self.enqueue(key)

    def reconcile(self, key: Key) -> None:
        """Adopt; then for each node: a pod where one should be, none where none may run."""
        owner = self.store.get(key)
        if owner is None or owner["metadata"].get("deletionTimestamp"):
            return
        self._adoption.adopt_all(owner, key)
        by_node: dict[str, list[Raw]] = {}
        for pod in self.store.owned_by(uid_of(owner)):
            by_node.setdefault(_target(pod), []).append(pod)
        for node in list(self.store.of_kind("Node")):
            self._settle(owner, node, by_node.get(node["metadata"]["name"], []))
        self._write_status(key)

    def _settle(self, owner: Raw, node: Raw, pods: list[Raw]) -> None:
        """A new pod only where there is none at all, not even one on its way out; of several, the oldest stays."""
        model = _model(owner, node)
        fits = is_wanted(node, model) and has_all(spec_of(model).get("nodeSelector") or {}, labels_of(node))
        if fits and not pods and tolerates(node, model):
            name = generated_name(self.store, owner, f"{owner['metadata']['name']}-")
            self.store.put(revised(model, metadata={"name": name}))
        stays = fits and tolerates(_with_evicting_taints_only(node), model)
        running = sorted((p for p in pods if is_active(p)), key=_standing)
        for pod in pods:
            if not is_terminating(pod) and (is_finished(pod) or not stays or pod in running[1:]):
                self._deletions.ask(pod, None, Hand.CONTROLLER)

    def _write_status(self, key: Key) -> None:
        owner = self.store.get(key)
        if owner is None:
            return
        pods = [p for p in self.store.owned_by(uid_of(owner)) if is_active(p)]
        status = {
            "currentNumberScheduled": len({node_of(p) for p in pods if node_of(p)}),
            "numberReady": sum(map(is_ready, pods)),
            "observedGeneration": owner["metadata"]["generation"],
        }
        if any(status_of(owner).get(name) != value for name, value in status.items()):
            self.store.put(revised(owner, status=status))


def _standing(pod: Raw) -> tuple[bool, str, str]:
    """Placed first, then oldest, then by name (podByCreationTimestampAndPhase)."""
    return not node_of(pod), pod["metadata"].get("creationTimestamp") or "", pod["metadata"]["name"]


def _model(owner: Raw, node: Raw) -> Raw:
    """The pod for a node, yet without a name: bound to it by affinity, tolerating what every DaemonSet pod does."""
    pod = pod_of(owner, spec_of(owner).get("template") or {}, "")
    tolerations = [
        *(spec_of(pod).get("tolerations") or ()),
        *({"key": key, "operator": "Exists", "effect": effect} for key, effect in _TOLERATED),
    ]
    affinity = spec_of(pod).get("affinity") or {}
    return revised(pod, spec={"tolerations": tolerations, "affinity": _bound_to(node["metadata"]["name"], affinity)})


def _bound_to(node_name: str, affinity: Raw) -> Raw:
    field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    given = ((affinity.get("nodeAffinity") or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    terms = [{**term, "matchFields": [field]} for term in given]
    return {**affinity, "nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": terms}}}


def _target(pod: Raw) -> str:
    """The node a pod runs on or is meant for."""
    if node_of(pod):
        return node_of(pod)
    required = ((spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            return str(field["values"][0])
    return ""


def _with_evicting_taints_only(node: Raw) -> Raw:
    """A pod that runs is only driven away by NoExecute."""
    taints = [taint for taint in spec_of(node).get("taints") or () if taint.get("effect") == "NoExecute"]
    return revised(node, spec={"taints": taints, "unschedulable": None})
