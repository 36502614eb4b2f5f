"""JSON patches of a pod: released from its ReplicaSet, given back, tidied up, touched.

Law: exactly what the admission policy of `guard` lets pass, and nothing else. An empty list: nothing is left to do.
"""

from collections.abc import Mapping
from datetime import datetime

from lambdas.adapters.kubernetes.json_patch import Patch, add, entries, escaped, removed, test
from lambdas.contract import (
    ANNOTATION_RELEASED_FROM,
    ANNOTATION_WOKEN_AT,
    LABEL_RELEASED,
    LABEL_TEMPLATE_HASH,
    RELEASED_PREFIX,
)
from lambdas.domain.values.actions import Release
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.releases import (
    DELETION_COST,
    RELEASED,
    RETURNED,
    WRITTEN_ON_RELEASE,
    Released,
    decode_release,
    encode_release,
    is_marked_released,
    released_hash,
)

_ANNOTATIONS = "/metadata/annotations"
_LABELS = "/metadata/labels"
_HASH = f"{_LABELS}/{LABEL_TEMPLATE_HASH}"
_MARK = f"{_LABELS}/{escaped(LABEL_RELEASED)}"
_OWNERS = "/metadata/ownerReferences"
_FORMER = f"{_ANNOTATIONS}/{escaped(ANNOTATION_RELEASED_FROM)}"


def release(pod: Pod, ask: Release) -> Patch:
    """One patch: with the label alone the ReplicaSet's controller would patch each pod itself, twenty a second, and a
    policy against ownerless pods would refuse the controller instead of us."""
    mark = Released(
        replica_set=ask.replica_set.name,
        replica_set_uid=ask.replica_set.uid,
        deployment=ask.deployment.name,
        deployment_uid=ask.deployment.uid,
        hash=ask.hash,
        at=ask.at,
        former=_former(pod),
    )
    written = {**WRITTEN_ON_RELEASE, ANNOTATION_RELEASED_FROM: encode_release(mark)}
    return [
        *_believed(ask),
        add(_HASH, released_hash(ask.hash)),
        add(_MARK, RELEASED),
        {"op": "remove", "path": _OWNERS},
        *entries(_ANNOTATIONS, pod.annotations, written),
    ]


def _believed(ask: Release) -> Patch:
    """What a release takes for granted of the pod."""
    owner = f"{_OWNERS}/0/uid"
    return [test("/metadata/uid", ask.pod.uid), test(_HASH, ask.hash), test(owner, ask.replica_set.uid)]


def still_holds(pod: Pod, ask: Release) -> bool:
    """Whether what a release takes for granted is so."""
    owner = pod.owner.uid if pod.owner else ""
    return (pod.ref.uid, pod.labels.get(LABEL_TEMPLATE_HASH), owner) == (ask.pod.uid, ask.hash, ask.replica_set.uid)


def _former(pod: Pod) -> Mapping[str, str | None]:
    """What our annotations overwrite; of a pod that was given back lately, what the first release overwrote."""
    found = {key: pod.annotations.get(key) for key in WRITTEN_ON_RELEASE}
    earlier = decode_release(pod.annotations.get(ANNOTATION_RELEASED_FROM))
    if earlier is not None and pod.labels.get(LABEL_RELEASED) == RETURNED:
        found[DELETION_COST] = earlier.former.get(DELETION_COST)
    return found


def take_back(pod: Pod) -> Patch:
    """The hash and the others' annotations as they were; the deletion cost stays until the surplus is gone.

    Where our annotation cannot be read nobody knows what was there: what is still as we wrote it goes.
    """
    if not is_marked_released(pod.labels):
        return []
    patch = [test("/metadata/uid", pod.ref.uid), test(_HASH, pod.labels.get(LABEL_TEMPLATE_HASH))]
    if template_hash := _hash_again(pod):
        patch.append(add(_HASH, template_hash))
    patch += [test(_MARK, RELEASED), add(_MARK, RETURNED)]
    former = pod.released.former if pod.released else {}
    for key in WRITTEN_ON_RELEASE:
        if key != DELETION_COST:
            patch += _restored(pod, key, former.get(key))
    return patch


def _hash_again(pod: Pod) -> str:
    """By the label, since the guard lets no other pass; by our annotation where the label is not as we left it."""
    before, prefix, after = pod.labels.get(LABEL_TEMPLATE_HASH, "").partition(RELEASED_PREFIX)
    if prefix and not before and after:
        return after
    return pod.released.hash if pod.released else ""


def tidy_up(pod: Pod) -> Patch:
    """Nothing of ours is left, and the deletion cost is what it was."""
    label = pod.labels.get(LABEL_RELEASED)
    if label is None or label == RELEASED:
        return []
    released = decode_release(pod.annotations.get(ANNOTATION_RELEASED_FROM))
    patch = [test("/metadata/uid", pod.ref.uid), *removed(_MARK, label)]
    patch += _restored(pod, DELETION_COST, released.former.get(DELETION_COST) if released else None)
    if ANNOTATION_RELEASED_FROM in pod.annotations:
        patch += removed(_FORMER, pod.annotations[ANNOTATION_RELEASED_FROM])
    return patch


def _restored(pod: Pod, key: str, former: str | None) -> Patch:
    """As it was, unless somebody has written something else since."""
    path = f"{_ANNOTATIONS}/{escaped(key)}"
    if pod.annotations.get(key) != WRITTEN_ON_RELEASE[key] or former == WRITTEN_ON_RELEASE[key]:
        return []
    if former is None:
        return removed(path, WRITTEN_ON_RELEASE[key])
    return [test(path, WRITTEN_ON_RELEASE[key]), add(path, former)]


def wake(pod: Pod, at: datetime) -> Patch:
    """A touch."""
    text = at.replace(microsecond=0).isoformat().replace("+00:00", "Z")
    return [test("/metadata/uid", pod.ref.uid), *entries(_ANNOTATIONS, pod.annotations, {ANNOTATION_WOKEN_AT: text})]
