"""What a Deployment says of its ReplicaSets: their template, their names, how many more or fewer a rollout may have."""

from evac.simulator.controllers.availability import replicas_of
from evac.simulator.controllers.creation import short_hash
from evac.simulator.objects import Raw, annotations_of, controller_reference, spec_of
from evac.simulator.quantities import share, share_down

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"


def template_of(owner: Raw) -> Raw:
    """The pod template without the hash that the Deployment controller adds to it."""
    template: Raw = spec_of(owner).get("template") or {}
    metadata = {k: v for k, v in (template.get("metadata") or {}).items() if v is not None}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def revision_of(replica_set: Raw) -> int:
    """The revision it was made for, 0 where it does not say."""
    text = annotations_of(replica_set).get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def replica_set_of(deployment: Raw, revision: str) -> Raw:
    """A new ReplicaSet of the Deployment's template, as yet without replicas."""
    spec, metadata, template = spec_of(deployment), deployment["metadata"], template_of(deployment)
    name_hash = short_hash(template)
    hashed = {**template["metadata"]["labels"], HASH: name_hash}
    made = {
        "name": f"{metadata['name']}-{name_hash}",
        "namespace": metadata.get("namespace") or "default",
        "labels": hashed,
        "annotations": {REVISION: revision},
        "ownerReferences": [controller_reference(deployment)],
    }
    asked = {
        "replicas": 0,
        "minReadySeconds": spec.get("minReadySeconds") or 0,
        "selector": _with_label(spec.get("selector") or {}, HASH, name_hash),
        "template": {**template, "metadata": {**template["metadata"], "labels": hashed}},
    }
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": made, "spec": asked, "status": {"replicas": 0}}


def _with_label(selector: Raw, key: str, value: str) -> Raw:
    return {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), key: value}}


def fenceposts(deployment: Raw) -> tuple[int, int]:
    """maxSurge (rounds up) and maxUnavailable (rounds down), 25 % where unset; never both 0 (ResolveFenceposts)."""
    wanted = replicas_of(deployment)
    rolling = (spec_of(deployment).get("strategy") or {}).get("rollingUpdate") or {}
    surge = share(_given(rolling.get("maxSurge")), wanted)
    unavailable = min(share_down(_given(rolling.get("maxUnavailable")), wanted), wanted)
    return (0, 1) if surge == 0 and unavailable == 0 else (surge, unavailable)


def _given(value: int | str | None) -> int | str:
    return "25%" if value is None else value
