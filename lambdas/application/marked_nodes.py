"""The other nodes that carry our mark, whoever drains them: their pods count with ours."""

from collections.abc import Collection, Sequence
from datetime import datetime

from lambdas.contract import ANNOTATION_MARK
from lambdas.domain.decisions.deadline import Deadline
from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.values.actions import Mark
from lambdas.domain.values.kubernetes import Node
from lambdas.domain.values.marks import decode_mark
from lambdas.domain.values.notices import NO_DEADLINE, Reason
from lambdas.domain.values.observation import Observation
from lambdas.domain.values.settings import Settings


def pods_elsewhere(
    observation: Observation, own_nodes: Collection[str], settings: Settings, now: datetime
) -> Sequence[Doomed]:
    """The pods (of Deployments, in the namespaces observed) on other marked nodes that are not taken yet."""
    deadlines = {
        node.name: Deadline(mark.reclaim_at or NO_DEADLINE, settings)
        for node in observation.marked.items
        if node.name not in own_nodes and (mark := _mark_of(node)) and not _is_taken(mark, now)
    }
    if not deadlines:
        return ()
    return [
        Doomed(pod, pod.node_name, deadlines[pod.node_name])
        for view in observation.namespaces.values()
        for pod in view.pods.items
        if pod.node_name in deadlines
    ]


def taken_hosts(observation: Observation, own_nodes: Collection[str], now: datetime) -> frozenset[str]:
    """Other marked nodes whose reclaim is past: their pods look Ready for a while longer, and serve nobody."""
    others = (node for node in observation.marked.items if node.name not in own_nodes)
    return frozenset(node.name for node in others if (mark := _mark_of(node)) and _is_taken(mark, now))


def _mark_of(node: Node) -> Mark | None:
    decoded = decode_mark(node.annotations.get(ANNOTATION_MARK))
    return decoded[0] if decoded else None


def _is_taken(mark: Mark, now: datetime) -> bool:
    """A node that a person empties by some moment is not taken then."""
    return mark.reason != Reason.MAINTENANCE.value and mark.reclaim_at is not None and mark.reclaim_at <= now
