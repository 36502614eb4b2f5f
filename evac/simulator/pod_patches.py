"""The pod as our patches leave it: released, taken back, tidied up, woken.

Law: a release says by its tests what it believes; where somebody changed that in between, nothing is done (Conflict).
The others read the pod first, and leave one alone that is not in the state that they end.
"""

from datetime import datetime

from evac.simulator.objects import Raw, annotations_of, controller_of, labels_of, revised, written_time
from lambdas.contract import (
    ANNOTATION_RELEASED_FROM,
    ANNOTATION_WOKEN_AT,
    LABEL_RELEASED,
    LABEL_TEMPLATE_HASH,
    RELEASED_PREFIX,
)
from lambdas.domain.values.actions import Release
from lambdas.domain.values.answers import Conflict, Refused
from lambdas.domain.values.releases import (
    DELETION_COST,
    RELEASED,
    RETURNED,
    WRITTEN_ON_RELEASE,
    Released,
    decode_release,
    encode_release,
    released_hash,
)


def released(pod: Raw, action: Release) -> Raw | Conflict | Refused:
    """Out of its ReplicaSet: the hash prefixed, the owner gone, our label and annotations there."""
    hashed = released_hash(action.hash)
    if not hashed:
        return Refused(f"{action.hash!r} makes no label of a released pod")
    if labels_of(pod).get(LABEL_TEMPLATE_HASH) != action.hash:
        return Conflict(f"the {LABEL_TEMPLATE_HASH} is not {action.hash} any more")
    owner = controller_of(pod)
    if owner is None or owner.get("uid") != action.replica_set.uid:
        return Conflict(f"{action.replica_set.name} is not its owner any more")
    if len(pod["metadata"]["ownerReferences"]) > 1:
        return Refused(f"{action.pod} has several owners")
    annotations = {**annotations_of(pod), **WRITTEN_ON_RELEASE, ANNOTATION_RELEASED_FROM: _memory(pod, action)}
    labels = {**labels_of(pod), LABEL_TEMPLATE_HASH: hashed, LABEL_RELEASED: RELEASED}
    return revised(pod, metadata={"labels": labels, "annotations": annotations, "ownerReferences": None})


def _memory(pod: Raw, action: Release) -> str:
    return encode_release(
        Released(
            replica_set=action.replica_set.name,
            replica_set_uid=action.replica_set.uid,
            deployment=action.deployment.name,
            deployment_uid=action.deployment.uid,
            hash=action.hash,
            at=action.at,
            former=_overwritten(pod),
        )
    )


def _overwritten(pod: Raw) -> dict[str, str | None]:
    """What is there now; of a pod that was given back lately, what the first release overwrote."""
    former = {key: annotations_of(pod).get(key) for key in WRITTEN_ON_RELEASE}
    earlier = _memory_of(pod)
    if labels_of(pod).get(LABEL_RELEASED) == RETURNED and earlier is not None:
        former[DELETION_COST] = earlier.former.get(DELETION_COST)
    return former


def _memory_of(pod: Raw) -> Released | None:
    return decode_release(annotations_of(pod).get(ANNOTATION_RELEASED_FROM))


def taken_back(pod: Raw) -> Raw:
    """Its hash again, and what the release overwrote, save the deletion cost."""
    if labels_of(pod).get(LABEL_RELEASED) != RELEASED:
        return pod
    memory = _memory_of(pod)
    now = labels_of(pod).get(LABEL_TEMPLATE_HASH, "")
    was_changed = memory is not None and not now.startswith(RELEASED_PREFIX)
    hashed = memory.hash if memory and was_changed else now.removeprefix(RELEASED_PREFIX)
    labels = {**labels_of(pod), LABEL_TEMPLATE_HASH: hashed, LABEL_RELEASED: RETURNED}
    former = {key: memory.former.get(key) if memory else None for key in WRITTEN_ON_RELEASE if key != DELETION_COST}
    return revised(pod, metadata={"labels": labels, "annotations": _with_former(pod, former)})


def tidied(pod: Raw) -> Raw:
    """Without our label and annotation, with its former deletion cost."""
    if labels_of(pod).get(LABEL_RELEASED) in (None, RELEASED):
        return pod
    memory = _memory_of(pod)
    annotations = _with_former(pod, {DELETION_COST: memory.former.get(DELETION_COST) if memory else None})
    annotations.pop(ANNOTATION_RELEASED_FROM, None)
    labels = {key: value for key, value in labels_of(pod).items() if key != LABEL_RELEASED}
    return revised(pod, metadata={"labels": labels, "annotations": annotations})


def woken(pod: Raw, at: datetime) -> Raw:
    """With a new moment, in whole seconds, in an annotation of ours: an event about an owned pod."""
    return revised(pod, metadata={"annotations": {**annotations_of(pod), ANNOTATION_WOKEN_AT: written_time(at)}})


def _with_former(pod: Raw, former: dict[str, str | None]) -> dict[str, str]:
    """Only what is still as the release wrote it is put back."""
    annotations = dict(annotations_of(pod))
    for key, value in former.items():
        if annotations.get(key) == WRITTEN_ON_RELEASE[key]:
            annotations.pop(key)
            if value is not None:
                annotations[key] = value
    return annotations
