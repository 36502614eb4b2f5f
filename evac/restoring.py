"""Taking our marks off nodes, and saying what that means for each.

Law: only undo what is ours. What the mark says was there before us stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lambdas.application.asking import ask
from lambdas.application.ports import Clock, Cluster
from lambdas.contract import (
    ANNOTATION_MARK,
    LABEL_DRAINING,
    LABEL_EXCLUDE_FROM_LOAD_BALANCERS,
    TAINT_INTERRUPTED,
)
from lambdas.domain.values.actions import Restore
from lambdas.domain.values.answers import Result
from lambdas.domain.values.kubernetes import Node
from lambdas.domain.values.marks import decode_mark


@dataclass(frozen=True, slots=True)
class Ours:
    """What of a node is ours. `stays`: what was there before; `reclaim_at`: when its mark says the host is taken."""

    node_name: str
    items: tuple[str, ...]
    stays: tuple[str, ...] = ()
    reclaim_at: datetime | None = None

    def is_being_drained(self, now: datetime) -> bool:
        """Whether its host is yet to be taken: an undo would let pods in again."""
        return self.reclaim_at is not None and now <= self.reclaim_at


def what_is_ours(node: Node) -> Ours:
    """What an undo takes off the node, and what it leaves."""
    marked = decode_mark(node.annotations.get(ANNOTATION_MARK))
    items, stays = list(_marks(node)), list[str]()
    states = (("cordon", node.unschedulable), ("load balancer exclusion", _is_excluded(node)))
    former = (False, False) if marked is None else (marked[1].unschedulable, marked[1].excluded)
    for (what, is_there), was_there in zip(states, former, strict=True):
        if is_there:
            (items if marked is not None and not was_there else stays).append(what)
    return Ours(node.name, tuple(items), tuple(stays), marked[0].reclaim_at if marked else None)


def _marks(node: Node) -> Iterator[str]:
    if LABEL_DRAINING in node.labels:
        yield "label"
    if ANNOTATION_MARK in node.annotations:
        yield "mark"
    if any(taint.key == TAINT_INTERRUPTED for taint in node.taints):
        yield "taint"


def _is_excluded(node: Node) -> bool:
    return LABEL_EXCLUDE_FROM_LOAD_BALANCERS in node.labels


def restore(cluster: Cluster, clock: Clock, names: Sequence[str]) -> Mapping[str, Result | None]:
    """Restore the nodes side by side; each one's answer, None where none came in time."""
    return dict(zip(names, ask(cluster, clock, [Restore(name) for name in names]), strict=True))
