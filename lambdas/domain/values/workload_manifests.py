"""Reading the JSON of Deployments, ReplicaSets and all that may forbid a release.

Law: an optional field that is absent or null is the API's default, never an error.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from lambdas.domain.values.manifests import read_owner
from lambdas.domain.values.quantities import thousandths
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.workloads import Autoscaler, Claim, Deployment, Quota, ReplicaSet, Selecting

Json = Mapping[str, Any]

_REVISION = "deployment.kubernetes.io/revision"
_DEFAULT_SURGE = "25%"
_DEFAULT_WINDOW = 300
_SHARED_MODES = frozenset({"ReadWriteMany", "ReadOnlyMany"})


def _part(item: Json, name: str) -> Json:
    part: Json = item.get(name) or {}
    return part


def _names(metadata: Json) -> tuple[str, str]:
    return metadata.get("namespace") or "default", metadata["name"]


def read_deployment(item: Json) -> Deployment:
    """An apps/v1 Deployment."""
    metadata, spec = _part(item, "metadata"), _part(item, "spec")
    namespace, name = _names(metadata)
    replicas = 1 if spec.get("replicas") is None else int(spec["replicas"])
    strategy = _part(spec, "strategy")
    rolls = (strategy.get("type") or "RollingUpdate") == "RollingUpdate"
    surge = _part(strategy, "rollingUpdate").get("maxSurge")
    annotations = dict(_part(metadata, "annotations"))
    return Deployment(
        namespace=namespace,
        name=name,
        uid=metadata.get("uid") or "",
        replicas=replicas,
        is_rolling_update=rolls,
        max_surge=_surge(_DEFAULT_SURGE if surge is None else surge, replicas) if rolls else 0,
        revision=annotations.get(_REVISION, ""),
        min_ready=timedelta(seconds=min(int(spec.get("minReadySeconds") or 0), 86_400)),
        annotations=annotations,
        is_being_deleted=bool(metadata.get("deletionTimestamp")),
    )


def _surge(surge: int | str, replicas: int) -> int:
    """Pods: a percentage is of the replicas, and rounds up (apps/v1 RollingUpdateDeployment)."""
    text = str(surge)
    if text.endswith("%"):
        return -(-replicas * int(text[:-1]) // 100)
    return int(text)


def read_replica_set(item: Json) -> ReplicaSet:
    """An apps/v1 ReplicaSet."""
    metadata, spec = _part(item, "metadata"), _part(item, "spec")
    namespace, name = _names(metadata)
    conditions = _part(item, "status").get("conditions") or ()
    failures = [c for c in conditions if c.get("type") == "ReplicaFailure" and c.get("status") == "True"]
    return ReplicaSet(
        namespace=namespace,
        name=name,
        uid=metadata.get("uid") or "",
        selector=Selector.from_json(spec.get("selector")),
        owner=read_owner(metadata),
        replicas=1 if spec.get("replicas") is None else int(spec["replicas"]),
        revision=_part(metadata, "annotations").get(_REVISION, ""),
        failure=str(failures[0].get("message") or failures[0].get("reason") or "ReplicaFailure") if failures else "",
        is_being_deleted=bool(metadata.get("deletionTimestamp")),
    )


def read_daemon_set(item: Json) -> Selecting:
    """A DaemonSet: adopts what it selects."""
    return _selecting("DaemonSet", item, Selector.from_json(_part(item, "spec").get("selector")), adopts=True)


def read_job(item: Json) -> Selecting:
    """A Job: adopts what it selects (usually by its own uid alone)."""
    return _selecting("Job", item, Selector.from_json(_part(item, "spec").get("selector")), adopts=True)


def read_replication_controller(item: Json) -> Selecting:
    """A ReplicationController; without a selector its template's labels are one."""
    spec = _part(item, "spec")
    template = _part(_part(_part(spec, "template"), "metadata"), "labels")
    return _selecting(
        "ReplicationController", item, Selector.from_labels(spec.get("selector") or template), adopts=True
    )


def read_network_policy(item: Json) -> Selecting:
    """A NetworkPolicy: the pods that it is about, and those that its rules name as peers."""
    spec = _part(item, "spec")
    peers = [
        Selector.from_json(peer["podSelector"])
        for direction, side in (("ingress", "from"), ("egress", "to"))
        for rule in spec.get(direction) or ()
        for peer in rule.get(side) or ()
        if peer.get("podSelector") is not None
    ]
    return _selecting("NetworkPolicy", item, Selector.from_json(_part(spec, "podSelector")), others=peers)


def _selecting(
    kind: str, item: Json, selector: Selector, *, adopts: bool = False, others: Iterable[Selector] = ()
) -> Selecting:
    metadata = _part(item, "metadata")
    return Selecting(kind, *_names(metadata), metadata.get("uid") or "", selector, adopts, tuple(others))


def read_quota(item: Json) -> Quota:
    """A ResourceQuota: what its status says is hard, less what is used."""
    metadata, spec, status = _part(item, "metadata"), _part(item, "spec"), _part(item, "status")
    hard = _part(status, "hard") or _part(spec, "hard")
    used = _part(status, "used")
    left = {name: thousandths(limit) - thousandths(used.get(name, 0)) for name, limit in hard.items()}
    return Quota(*_names(metadata), left, _priority_classes(spec))


def _priority_classes(spec: Json) -> frozenset[str] | None:
    """Those whose pods it counts. Pods that end by themselves are no Deployment's: a quota of theirs counts none."""
    terms = _part(spec, "scopeSelector").get("matchExpressions") or ()
    if "Terminating" in (*(spec.get("scopes") or ()), *(term.get("scopeName") for term in terms)):
        return frozenset()
    for term in terms:
        if term.get("scopeName") == "PriorityClass" and term.get("operator") == "In":
            return frozenset(term.get("values") or ())
    return None


def read_autoscaler(item: Json) -> Autoscaler:
    """A HorizontalPodAutoscaler (autoscaling/v2; its default scale-down window is 300 s)."""
    metadata, spec = _part(item, "metadata"), _part(item, "spec")
    target = _part(spec, "scaleTargetRef")
    window = _part(_part(spec, "behavior"), "scaleDown").get("stabilizationWindowSeconds")
    seconds = _DEFAULT_WINDOW if window is None else int(window)
    return Autoscaler(*_names(metadata), target.get("kind") or "", target.get("name") or "", timedelta(seconds=seconds))


def read_claim(item: Json) -> Claim:
    """A PersistentVolumeClaim."""
    spec = _part(item, "spec")
    return Claim(*_names(_part(item, "metadata")), bool(_SHARED_MODES & set(spec.get("accessModes") or ())))
