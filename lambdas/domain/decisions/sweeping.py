"""What a sweep does with a mark of ours that it meets: leave it, finish what it stands for, or undo it.

Law: whoever works on a node is left alone; a node that lives on gets back what was ours, and nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from lambdas.contract import ANNOTATION_MARK, LABEL_RELEASED
from lambdas.domain.decisions.ownership import is_going
from lambdas.domain.values.actions import Delete, Mark, OfPod, TakeBack, TidyUp
from lambdas.domain.values.kubernetes import Node, Pod
from lambdas.domain.values.marks import decode_mark
from lambdas.domain.values.notices import Instance, Notice, Reason
from lambdas.domain.values.observation import NamespaceView
from lambdas.domain.values.releases import RETURNED

_BEGINNING = timedelta(seconds=30)
"""A drain that has just begun is somebody's; a dead one's message is seen again before that."""

_DYING = timedelta(seconds=60)
"""After its reclaim a host takes its time to go, and EC2 to say so."""


_LONGEST_BASE = 58
"""The API server cuts the base of a generated name there (apiserver, names/generate.go)."""


class Sweep(Enum):
    """What is done with a marked node; the value is what the log shows."""

    LEAVE = "left alone"
    FINISH = "drained to its end"
    UNDO = "given back"


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """What is done, and why."""

    sweep: Sweep
    reason: str
    mark: Mark | None = None


def judge_node(node: Node, instance: Instance | None, now: datetime, *, was_asked: bool) -> NodeVerdict:
    """What to do with a node that carries our label.

    `was_asked`: EC2's word was had; an instance of None is then one that it does not know.
    """
    decoded = decode_mark(node.annotations.get(ANNOTATION_MARK))
    if decoded is None:
        return NodeVerdict(Sweep.UNDO, "its mark cannot be read, so nobody can go on with it")
    mark = decoded[0]
    if node.instance_id not in ("", mark.instance_id):
        return NodeVerdict(Sweep.LEAVE, "its mark names another instance: no drain of ours wrote it there", mark)
    if mark.reclaim_at is None or mark.reason == Reason.MAINTENANCE.value:
        return NodeVerdict(Sweep.LEAVE, "a person drained it: `evac undo` gives it back", mark)
    if now < mark.since + _BEGINNING:
        return NodeVerdict(Sweep.LEAVE, "its drain has just begun", mark)
    if now < mark.reclaim_at:
        return NodeVerdict(Sweep.FINISH, "its host is still to be taken", mark)
    if now < mark.reclaim_at + _DYING:
        return NodeVerdict(Sweep.LEAVE, "its host is being taken", mark)
    return _past_its_reclaim(mark, instance, now, was_asked=was_asked)


def _past_its_reclaim(mark: Mark, instance: Instance | None, now: datetime, *, was_asked: bool) -> NodeVerdict:
    if not was_asked:
        if now < mark.expires_at:
            return NodeVerdict(Sweep.LEAVE, "EC2 did not say whether its host lives", mark)
        return NodeVerdict(Sweep.UNDO, "its mark has expired and its node is still there", mark)
    if instance is None or is_going(instance) or instance.state != "running":
        return NodeVerdict(Sweep.LEAVE, "its host is gone or going", mark)
    return NodeVerdict(Sweep.UNDO, "its host was not taken and runs on", mark)


def notice_of(mark: Mark) -> Notice | None:
    """The notice that the mark stands for; None where its reason is none of ours or it has no deadline."""
    reason = next((r for r in Reason if r.value == mark.reason), None)
    if reason is None or mark.reclaim_at is None:
        return None
    noticed_at = min(mark.since, mark.reclaim_at)
    return Notice(mark.instance_id, reason, noticed_at, mark.reclaim_at)


def judge_pod(
    pod: Pod, nodes: Mapping[str, NodeVerdict], namespace: NamespaceView | None, now: datetime
) -> OfPod | None:
    """What to do with a pod that carries our label; None: nothing, for now. `nodes`: the verdicts on marked ones.

    On a marked node its node's verdict is the pod's. One whose ReplicaSet is no more would serve an old version for
    ever, and no controller would ever take it: it is deleted, with all of its own grace.
    """
    if pod.deletion or not _is_ours(pod):
        return None
    verdict = nodes.get(pod.node_name)
    if pod.labels.get(LABEL_RELEASED) == RETURNED:
        return TidyUp(pod.ref) if _has_no_surplus(pod, namespace) else None
    if verdict is not None and verdict.sweep is not Sweep.UNDO and not _is_forgotten(verdict, now):
        return None
    if pod.released is None or namespace is None or not namespace.replica_sets.freshness.is_read:
        return TakeBack(pod.ref)  # also where its annotation cannot be read: the hash label says enough
    if any(r.uid == pod.released.replica_set_uid for r in namespace.replica_sets.items):
        return TakeBack(pod.ref)
    return Delete(pod.ref, pod.grace)


def _is_ours(pod: Pod) -> bool:
    """Whether a drain released this very pod: a copy of its manifest has another name, or an owner of its own."""
    if pod.released is None:
        return True
    return pod.owner is None and pod.ref.name.startswith(f"{pod.released.replica_set}-"[:_LONGEST_BASE])


def _is_forgotten(verdict: NodeVerdict, now: datetime) -> bool:
    """A person's drain that nobody went on with for a day."""
    mark = verdict.mark
    return mark is not None and mark.reclaim_at is None and mark.expires_at <= now


def _has_no_surplus(pod: Pod, namespace: NamespaceView | None) -> bool:
    """Its ReplicaSet has chosen already which of its pods to keep; or none has adopted it, and none will."""
    if namespace is None or not namespace.pods.freshness.is_read:
        return False
    if pod.owner is None:
        return namespace.replica_sets.freshness.is_read
    uid = pod.owner.uid
    wanted = next((r.replicas for r in namespace.replica_sets.items if r.uid == uid), None)
    owned = sum(1 for p in namespace.pods.items if p.owner and p.owner.uid == uid and not p.deletion)
    return wanted is not None and owned <= wanted
