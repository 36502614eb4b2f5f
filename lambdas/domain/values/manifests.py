"""Reading Kubernetes JSON, as the API prints it, into values.

Law: an optional field that is absent or null is the API's default, never an error.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lambdas.contract import ANNOTATION_RELEASED_FROM
from lambdas.domain.values.kubernetes import (
    Budget,
    BudgetRef,
    Deletion,
    Node,
    Owner,
    Pod,
    PodRef,
    Service,
    Taint,
)
from lambdas.domain.values.quantities import charge_of
from lambdas.domain.values.releases import decode_release, is_marked_released
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.topology import kept_apart_by, spread_by

Json = Mapping[str, Any]

_DEFAULT_GRACE = 30
_LONGEST_GRACE = 10 * 365 * 86_400
_MIRROR = "kubernetes.io/config.mirror"


def read_time(text: str | None) -> datetime | None:
    """An RFC 3339 moment of the API (`…Z`, whole or split seconds), aware; None where there is none.

    One beyond the year 9999 (a deletion with an absurd grace has it) is the last that can be told.
    """
    year = text.partition("-")[0] if text else ""
    if year.isdecimal() and len(year) > len("9999"):
        return datetime.max.replace(tzinfo=UTC)
    return datetime.fromisoformat(text) if text else None


def _mapping(parent: Json, key: str) -> Json:
    value: Json = parent.get(key) or {}
    return value


def _sequence(parent: Json, key: str) -> Sequence[Json]:
    value: Sequence[Json] = parent.get(key) or ()
    return value


def read_condition(conditions: Sequence[Json], kind: str) -> tuple[bool, datetime | None]:
    """Whether the condition is True, and since when."""
    for condition in conditions:
        if condition.get("type") == kind:
            return condition.get("status") == "True", read_time(condition.get("lastTransitionTime"))
    return False, None


def read_owner(metadata: Json) -> Owner | None:
    """The owner with `controller: true`; the others do not act on the pod."""
    for owner in _sequence(metadata, "ownerReferences"):
        if owner.get("controller"):
            return Owner(owner["kind"], owner["name"], owner.get("uid", ""), owner.get("apiVersion", ""))
    return None


def _read_grace(seconds: int) -> timedelta:
    """The API takes any int64, which no timedelta holds: ten years stand for all that is longer."""
    return timedelta(seconds=min(max(0, seconds), _LONGEST_GRACE))


def _read_deletion(metadata: Json) -> Deletion | None:
    """`deletionTimestamp` is when the grace ends, not when SIGTERM was sent (API conventions, metadata)."""
    ends = read_time(metadata.get("deletionTimestamp"))
    if ends is None:
        return None
    grace = _read_grace(metadata.get("deletionGracePeriodSeconds") or 0)
    return Deletion(ends - grace, grace)


def read_pod(item: Json) -> Pod:
    """A Pod object."""
    metadata, spec, status = _mapping(item, "metadata"), _mapping(item, "spec"), _mapping(item, "status")
    conditions = _sequence(status, "conditions")
    ready, ready_at = read_condition(conditions, "Ready")
    is_scheduled, scheduled_at = read_condition(conditions, "PodScheduled")
    annotations = dict(_mapping(metadata, "annotations"))
    labels = dict(_mapping(metadata, "labels"))
    grace = spec.get("terminationGracePeriodSeconds")
    return Pod(
        ref=PodRef(metadata.get("namespace") or "default", metadata["name"], metadata.get("uid") or ""),
        node_name=spec.get("nodeName") or "",
        labels=labels,
        annotations=annotations,
        owner=read_owner(metadata),
        phase=status.get("phase") or "Pending",
        ready=ready,
        grace=_read_grace(_DEFAULT_GRACE if grace is None else grace),
        deletion=_read_deletion(metadata),
        priority_class=spec.get("priorityClassName") or "",
        is_mirror=_MIRROR in annotations,
        claims=tuple(
            v["persistentVolumeClaim"]["claimName"]
            for v in _sequence(spec, "volumes")
            if v.get("persistentVolumeClaim")
        ),
        created_at=read_time(metadata.get("creationTimestamp")),
        scheduled_at=scheduled_at if is_scheduled else None,
        is_unschedulable=any(c.get("type") == "PodScheduled" and c.get("status") == "False" for c in conditions),
        ready_at=ready_at if ready else None,
        restarts=sum(c.get("restartCount") or 0 for c in _sequence(status, "containerStatuses")),
        released=decode_release(annotations.get(ANNOTATION_RELEASED_FROM)) if is_marked_released(labels) else None,
        is_owned_by_several=len(_sequence(metadata, "ownerReferences")) > 1,
        cost=charge_of(spec),
        apart_by=kept_apart_by(spec, labels),
        spread_by=spread_by(spec, labels),
    )


def read_budget(item: Json) -> Budget:
    """A PodDisruptionBudget (policy/v1); one whose status lags its spec is not observed."""
    metadata, spec, status = _mapping(item, "metadata"), _mapping(item, "spec"), _mapping(item, "status")
    observed = status.get("observedGeneration") or 0
    return Budget(
        ref=BudgetRef(metadata.get("namespace") or "default", metadata["name"]),
        selector=Selector.from_json(spec.get("selector")),
        version=metadata.get("resourceVersion") or "",
        min_available=_text(spec.get("minAvailable")),
        max_unavailable=_text(spec.get("maxUnavailable")),
        always_allows_unhealthy=spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow",
        is_observed=observed >= (metadata.get("generation") or 0),
        allowed=status.get("disruptionsAllowed") or 0,
        healthy=status.get("currentHealthy") or 0,
        desired=status.get("desiredHealthy") or 0,
        expected=status.get("expectedPods") or 0,
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def read_service(item: Json) -> Service:
    """A Service."""
    metadata, spec = _mapping(item, "metadata"), _mapping(item, "spec")
    return Service(
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        selector=Selector.from_labels(spec.get("selector")),
        is_local=spec.get("externalTrafficPolicy") == "Local",
    )


def read_node(item: Json) -> Node:
    """A Node object."""
    metadata, spec = _mapping(item, "metadata"), _mapping(item, "spec")
    return Node(
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        provider_id=spec.get("providerID") or "",
        unschedulable=bool(spec.get("unschedulable")),
        taints=tuple(Taint(t["key"], t.get("value") or "", t["effect"]) for t in _sequence(spec, "taints")),
        labels=dict(_mapping(metadata, "labels")),
        annotations=dict(_mapping(metadata, "annotations")),
    )
