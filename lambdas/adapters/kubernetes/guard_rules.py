"""What our identity may change of a pod, in CEL: a release, its undo, the tidying up after that, and the wake.

Law: it names what may change; all that it does not name may not. Which of the four a request is decides what is free in
it: labels (freeLabels), annotations (freeAnnotations), and in a release the owners.
"""

import json
from typing import Final

from lambdas.contract import (
    ANNOTATION_RELEASED_FROM,
    ANNOTATION_WOKEN_AT,
    LABEL_RELEASED,
    LABEL_TEMPLATE_HASH,
    RELEASED_PREFIX,
)
from lambdas.domain.values.releases import DELETION_COST, RELEASED, RETURNED, WRITTEN_ON_RELEASE


def cel(value: object) -> str:
    """A text, or a list of texts, as CEL writes it: JSON's escapes are among CEL's."""
    return json.dumps(value)


_HASH, _LABEL, _PREFIX = cel(LABEL_TEMPLATE_HASH), cel(LABEL_RELEASED), cel(RELEASED_PREFIX)
_FROM, _WOKEN = cel(ANNOTATION_RELEASED_FROM), cel(ANNOTATION_WOKEN_AT)
_OURS_AND_OTHERS = cel([ANNOTATION_RELEASED_FROM, *WRITTEN_ON_RELEASE])

VARIABLES: Final[tuple[tuple[str, str], ...]] = (
    ("labels", "has(object.metadata.labels) ? object.metadata.labels : {}"),
    ("oldLabels", "has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}"),
    ("annotations", "has(object.metadata.annotations) ? object.metadata.annotations : {}"),
    ("oldAnnotations", "has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}"),
    ("owners", "has(object.metadata.ownerReferences) ? object.metadata.ownerReferences : []"),
    ("oldOwners", "has(oldObject.metadata.ownerReferences) ? oldObject.metadata.ownerReferences : []"),
    ("hash", f"{_HASH} in variables.labels ? variables.labels[{_HASH}] : ''"),
    ("oldHash", f"{_HASH} in variables.oldLabels ? variables.oldLabels[{_HASH}] : ''"),
    ("mark", f"{_LABEL} in variables.labels ? variables.labels[{_LABEL}] : ''"),
    ("oldMark", f"{_LABEL} in variables.oldLabels ? variables.oldLabels[{_LABEL}] : ''"),
    (
        "isOfReplicaSet",
        "variables.oldOwners.exists(o, has(o.controller) && o.controller && o.kind == 'ReplicaSet'"
        " && o.apiVersion == 'apps/v1')",
    ),
    (
        "isRelease",
        f"variables.mark == '{RELEASED}' && variables.hash == {_PREFIX} + variables.oldHash"
        " && variables.owners.size() == 0 && variables.oldOwners.size() == 1 && variables.isOfReplicaSet"
        " && variables.oldOwners[0].name.endsWith('-' + variables.oldHash)",
    ),
    (
        "isTakeBack",
        f"variables.oldMark == '{RELEASED}' && variables.mark == '{RETURNED}'"
        f" && variables.oldHash == {_PREFIX} + variables.hash && variables.owners.size() == 0",
    ),
    ("isTidyUp", f"variables.oldMark == '{RETURNED}' && !({_LABEL} in variables.labels)"),
    ("isWake", f"variables.isOfReplicaSet && {_WOKEN} in variables.annotations"),
    (
        "freeLabels",
        f"variables.isRelease || variables.isTakeBack ? [{_HASH}, {_LABEL}] : variables.isTidyUp ? [{_LABEL}] : []",
    ),
    (
        "freeAnnotations",
        f"variables.isRelease || variables.isTakeBack ? {_OURS_AND_OTHERS}"
        f" : variables.isTidyUp ? {cel([ANNOTATION_RELEASED_FROM, DELETION_COST])} : [{_WOKEN}]",
    ),
)

_WRITTEN = " && ".join(
    f"{key} in variables.annotations && variables.annotations[{key}] == {value}"
    for key, value in ((cel(key), cel(value)) for key, value in WRITTEN_ON_RELEASE.items())
)

VALIDATIONS: Final[tuple[tuple[str, str], ...]] = (
    (
        "request.operation == 'UPDATE' && (!has(request.subResource) || request.subResource == '')",
        "it may patch pods, not create them, and no subresource",
    ),
    ("object.spec == oldObject.spec", "the spec must not change"),
    (
        "(has(object.metadata.finalizers) ? object.metadata.finalizers : [])"
        " == (has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : [])",
        "finalizers must not change",
    ),
    (
        "(has(object.metadata.generateName) ? object.metadata.generateName : '')"
        " == (has(oldObject.metadata.generateName) ? oldObject.metadata.generateName : '')",
        "generateName must not change",
    ),
    (
        "variables.isRelease || variables.isTakeBack || variables.isTidyUp || variables.isWake",
        "it may release a pod of a ReplicaSet, take it back, tidy up after that, or wake its ReplicaSet",
    ),
    ("variables.isRelease || variables.owners == variables.oldOwners", "owners go in a release only"),
    (
        "variables.labels.all(k, k in variables.freeLabels"
        " || (k in variables.oldLabels && variables.oldLabels[k] == variables.labels[k]))"
        " && variables.oldLabels.all(k, k in variables.freeLabels || k in variables.labels)",
        "no other label may change",
    ),
    (
        "variables.annotations.all(k, k in variables.freeAnnotations"
        " || (k in variables.oldAnnotations && variables.oldAnnotations[k] == variables.annotations[k]))"
        " && variables.oldAnnotations.all(k, k in variables.freeAnnotations || k in variables.annotations)",
        "no other annotation may change",
    ),
    (
        f"!variables.isRelease || ({_FROM} in variables.annotations && {_WRITTEN})",
        "a release writes its own annotations, and these values of others",
    ),
    (f"!variables.isTidyUp || !({_FROM} in variables.annotations)", "tidying up takes our annotation off"),
)
