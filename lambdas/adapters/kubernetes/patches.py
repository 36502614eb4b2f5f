"""JSON patches of a node: cordoned, taken out of load balancers, restored.

Law: a patch says by `test` what it believes of everything that it takes away or remembers as former, so that a change
by somebody else in between refuses it whole (422) and never is overwritten. An empty list: nothing is left to do.
(A `test` of a path against null holds where there is nothing; seen on 1.34 and 1.37.)
"""

from lambdas.adapters.kubernetes.json_patch import Patch, entries, escaped, removed, test
from lambdas.contract import (
    ANNOTATION_MARK,
    LABEL_DRAINING,
    LABEL_EXCLUDE_FROM_LOAD_BALANCERS,
    TAINT_INTERRUPTED,
)
from lambdas.domain.values.actions import Mark
from lambdas.domain.values.kubernetes import Node
from lambdas.domain.values.marks import Former, decode_mark, encode_mark, supersedes

_UNSCHEDULABLE = "/spec/unschedulable"
_TAINTS = "/spec/taints"


def cordon(node: Node, mark: Mark) -> Patch:
    """Unschedulable, our label, mark and taint. A mark of ours that is there already stays, with what it remembers."""
    patch: Patch = []
    earlier = decode_mark(node.annotations.get(ANNOTATION_MARK))
    if earlier is None or supersedes(mark, earlier[0]):
        here = Former(node.unschedulable, LABEL_EXCLUDE_FROM_LOAD_BALANCERS in node.labels)
        former = earlier[1] if earlier else here
        patch += _set(node, "annotations", {ANNOTATION_MARK: encode_mark(mark, former)})
    if node.labels.get(LABEL_DRAINING) != "true":
        patch += _set(node, "labels", {LABEL_DRAINING: "true"})
    if all(taint.key != TAINT_INTERRUPTED for taint in node.taints):
        patch += _append_taint(node, mark.reason)
    if not patch and node.unschedulable:
        return []
    patch.insert(0, test(_UNSCHEDULABLE, True if node.unschedulable else None))
    if not node.unschedulable:
        patch.append({"op": "add", "path": _UNSCHEDULABLE, "value": True})
    return _of_this_node(node, patch)


def exclude_from_load_balancers(node: Node) -> Patch:
    """The label, where it is not there yet. It is ours if the mark does not remember it as former."""
    if LABEL_EXCLUDE_FROM_LOAD_BALANCERS in node.labels:
        return []
    return _of_this_node(node, _set(node, "labels", {LABEL_EXCLUDE_FROM_LOAD_BALANCERS: "true"}))


def restore(node: Node) -> Patch:
    """Take off what carries our mark. Where that cannot be read nobody knows what was before: only label and taint."""
    text = node.annotations.get(ANNOTATION_MARK)
    marked = decode_mark(text)
    patch = _remove_taint(node)
    if LABEL_DRAINING in node.labels:
        patch += removed(f"/metadata/labels/{escaped(LABEL_DRAINING)}", node.labels[LABEL_DRAINING])
    if text is not None:
        patch += removed(f"/metadata/annotations/{escaped(ANNOTATION_MARK)}", text)
    if marked is not None:
        patch += _restore_former(node, marked[1])
    return _of_this_node(node, patch)


def _restore_former(node: Node, former: Former) -> Patch:
    patch: Patch = []
    label = LABEL_EXCLUDE_FROM_LOAD_BALANCERS
    if label in node.labels and not former.excluded:
        patch += removed(f"/metadata/labels/{escaped(label)}", node.labels[label])
    if node.unschedulable and not former.unschedulable:
        patch += removed(_UNSCHEDULABLE, True)
    return patch


def _of_this_node(node: Node, patch: Patch) -> Patch:
    """Not of another that has come under its name."""
    return [test("/metadata/uid", node.uid), *patch] if patch and node.uid else patch


def _set(node: Node, field: str, values: dict[str, str]) -> Patch:
    return entries(f"/metadata/{field}", node.labels if field == "labels" else node.annotations, values)


def _append_taint(node: Node, reason: str) -> Patch:
    """`taints` is an atomic list, and the node lifecycle controller adds its own within milliseconds: append."""
    taint = {"key": TAINT_INTERRUPTED, "value": reason, "effect": "NoSchedule"}
    if node.taints:
        return [{"op": "add", "path": f"{_TAINTS}/-", "value": taint}]
    return [test(_TAINTS, None), {"op": "add", "path": _TAINTS, "value": [taint]}]


def _remove_taint(node: Node) -> Patch:
    """From the last to the first, so that the places of the others hold."""
    patch: Patch = []
    for place, taint in reversed(list(enumerate(node.taints))):
        if taint.key == TAINT_INTERRUPTED:
            path = f"{_TAINTS}/{place}"
            patch += [test(f"{path}/key", TAINT_INTERRUPTED), {"op": "remove", "path": path}]
    return patch
