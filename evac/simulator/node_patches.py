"""The node as our patches leave it.

Law: what was there before us is remembered in our mark, and only what is ours is taken away again.
"""

from evac.simulator.objects import Raw, annotations_of, labels_of, revised, spec_of
from lambdas.contract import (
    ANNOTATION_MARK,
    LABEL_DRAINING,
    LABEL_EXCLUDE_FROM_LOAD_BALANCERS,
    TAINT_INTERRUPTED,
)
from lambdas.domain.values.actions import Mark
from lambdas.domain.values.marks import Former, decode_mark, encode_mark, supersedes


def cordoned(node: Raw, mark: Mark) -> Raw:
    """Unschedulable, with our label, mark and taint.

    A mark of ours that is there stays, unless another end is coming; what it remembers stays anyway.
    """
    text = annotations_of(node).get(ANNOTATION_MARK, "")
    earlier = decode_mark(text)
    if earlier is None:
        text = encode_mark(mark, Former(bool(spec_of(node).get("unschedulable")), _is_excluded(node)))
    elif supersedes(mark, earlier[0]):
        text = encode_mark(mark, earlier[1])
    taints = spec_of(node).get("taints") or []
    if not any(taint.get("key") == TAINT_INTERRUPTED for taint in taints):
        taints = [*taints, {"key": TAINT_INTERRUPTED, "value": mark.reason, "effect": "NoSchedule"}]
    return revised(
        node,
        metadata={
            "labels": {**labels_of(node), LABEL_DRAINING: "true"},
            "annotations": {**annotations_of(node), ANNOTATION_MARK: text},
        },
        spec={"unschedulable": True, "taints": taints},
    )


def excluded(node: Raw) -> Raw:
    """With the label that load balancers heed, whatever its value."""
    if _is_excluded(node):
        return node
    return revised(node, metadata={"labels": {**labels_of(node), LABEL_EXCLUDE_FROM_LOAD_BALANCERS: "true"}})


def restored(node: Raw) -> Raw:
    """Without what is ours; a node without a mark of ours keeps its cordon and its exclusion."""
    mark = decode_mark(annotations_of(node).get(ANNOTATION_MARK))
    gone = {LABEL_DRAINING} | ({LABEL_EXCLUDE_FROM_LOAD_BALANCERS} if mark and not mark[1].excluded else set())
    taints = [t for t in spec_of(node).get("taints") or () if t.get("key") != TAINT_INTERRUPTED]
    spec = {"taints": taints or None}
    if mark and not mark[1].unschedulable:
        spec["unschedulable"] = None
    return revised(
        node,
        metadata={
            "labels": {k: v for k, v in labels_of(node).items() if k not in gone},
            "annotations": {k: v for k, v in annotations_of(node).items() if k != ANNOTATION_MARK},
        },
        spec=spec,
    )


def _is_excluded(node: Raw) -> bool:
    return LABEL_EXCLUDE_FROM_LOAD_BALANCERS in labels_of(node)
