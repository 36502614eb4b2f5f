"""The node lifecycle controller's one habit that others must live with: a cordoned node gets its taint, late.

Law: it rewrites the list of taints milliseconds after the cordon, so whoever writes the whole list loses.
"""

from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.objects import Key, revised, spec_of
from evac.simulator.scheduling.nodes import UNSCHEDULABLE
from evac.simulator.store import Change


class NodeLifecycle(Reconciler):
    """node.kubernetes.io/unschedulable:NoSchedule follows spec.unschedulable."""

    def on_change(self, change: Change) -> None:
        """A node that was cordoned or uncordoned."""
        if change.key.kind == "Node" and change.new is not None:
            self.enqueue(change.key)

    def reconcile(self, key: Key) -> None:
        """Add the taint, or take it off."""
        node = self.store.get(key)
        if node is None:
            return
        taints = spec_of(node).get("taints") or []
        others = [t for t in taints if t.get("key") != UNSCHEDULABLE]
        is_tainted = len(others) < len(taints)
        if bool(spec_of(node).get("unschedulable")) == is_tainted:
            return
        wanted = others if is_tainted else [*taints, {"key": UNSCHEDULABLE, "effect": "NoSchedule"}]
        self.store.put(revised(node, spec={"taints": wanted or None}))
