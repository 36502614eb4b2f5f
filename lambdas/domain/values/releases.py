"""A pod released from its ReplicaSet: what its annotation remembers, so that anybody can go on or undo it.

Law: whoever reads it may meet anybody's text; what is not a whole mark of ours is None, never an error.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from lambdas.contract import LABEL_RELEASED, LABEL_TEMPLATE_HASH, RELEASED_PREFIX

RELEASED: Final = "true"
RETURNED: Final = "returned"

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"

WRITTEN_ON_RELEASE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "argocd.argoproj.io/sync-options": "Prune=false",
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        DELETION_COST: "-2147483647",
        DO_NOT_DISRUPT: "true",
    }
)
"""Annotations of others that a release writes: Argo CD prunes ownerless pods, after an undo the old pod is to go first,
and Karpenter counts a released pod on a node that it deletes and its replacement twice."""

_LONGEST_LABEL: Final = 63


@dataclass(frozen=True, slots=True)
class Released:
    """Where a released pod came from, and when. `former`: what WRITTEN_ON_RELEASE overwrote, None where nothing."""

    replica_set: str
    replica_set_uid: str
    deployment: str
    deployment_uid: str
    hash: str
    at: datetime
    former: Mapping[str, str | None] = field(default_factory=dict)


def released_hash(template_hash: str) -> str:
    """The template hash of a released pod; empty where none can be made (a label's value has at most 63 characters)."""
    made = RELEASED_PREFIX + template_hash
    if not template_hash or template_hash.startswith(RELEASED_PREFIX) or len(made) > _LONGEST_LABEL:
        return ""
    return made


def labels_once_released(labels: Mapping[str, str]) -> Mapping[str, str]:
    """The labels of a pod after a release; unchanged but for our own where no hash can be made."""
    template_hash = labels.get(LABEL_TEMPLATE_HASH, "")
    return {**labels, LABEL_TEMPLATE_HASH: released_hash(template_hash) or template_hash, LABEL_RELEASED: RELEASED}


def is_marked_released(labels: Mapping[str, str]) -> bool:
    """Whether the labels say that the pod is released now."""
    return labels.get(LABEL_RELEASED) == RELEASED


def encode_release(released: Released) -> str:
    """The annotation's text: one line of JSON, keys in a fixed order, the moment in RFC 3339."""
    fields = {
        "replicaSet": released.replica_set,
        "replicaSetUid": released.replica_set_uid,
        "deployment": released.deployment,
        "deploymentUid": released.deployment_uid,
        "hash": released.hash,
        "at": released.at.isoformat(),
        "former": dict(released.former),
    }
    return json.dumps(fields, separators=(",", ":"))


def decode_release(text: str | None) -> Released | None:
    """What `encode_release` wrote; None where there is no annotation or it is not one of ours."""
    try:
        return _read(json.loads(text or ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _read(fields: dict[str, Any]) -> Released:
    at = datetime.fromisoformat(_text(fields["at"]))
    if at.tzinfo is None:
        raise ValueError("a moment without a zone")
    former = {key: fields["former"].get(key) for key in WRITTEN_ON_RELEASE}
    kept = {key: None if value is None else _text(value) for key, value in former.items()}
    return Released(
        replica_set=_text(fields["replicaSet"]),
        replica_set_uid=_text(fields["replicaSetUid"]),
        deployment=_text(fields["deployment"]),
        deployment_uid=_text(fields["deploymentUid"]),
        hash=_text(fields["hash"]),
        at=at,
        former=kept,
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"not a text: {value!r}")
