"""The bodies of requests about pods and nodes.

Law: a grace is whole seconds, rounded down and never 0 (0 would leave two pods of one identity possible), and an
eviction carries name, namespace and UID (policy/v1: without the namespace admission webhooks break, without the name it
is refused).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from lambdas.adapters.kubernetes.paths import BadName
from lambdas.contract import SERVICE
from lambdas.domain.values.actions import Announce
from lambdas.domain.values.kubernetes import PodRef

Json = Mapping[str, Any]

_LONGEST_MESSAGE = 1024
_LONGEST_NAME = 253
_OF_NODES = "default"
"""Events about nodes, which have no namespace, are there: the API refuses any other (core/v1 validation)."""


def whole_seconds(grace: timedelta) -> int:
    """`gracePeriodSeconds`: at least 1."""
    return max(1, int(grace.total_seconds()))


def eviction(pod: PodRef, grace: timedelta) -> Json:
    """An Eviction of that incarnation of the pod, whatever has its name by then. Raises BadName without a UID."""
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {
            "preconditions": _this(pod),
            "gracePeriodSeconds": whole_seconds(grace),
        },
    }


def deletion(pod: PodRef, grace: timedelta) -> Json:
    """DeleteOptions for that incarnation of the pod. Raises BadName without a UID."""
    return {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": _this(pod),
        "gracePeriodSeconds": whole_seconds(grace),
        "propagationPolicy": "Background",
    }


def _this(pod: PodRef) -> Json:
    """The precondition. An empty UID is none to the eviction API: whatever has the name would go."""
    if not pod.uid:
        raise BadName(f"{pod} has no UID, so nobody knows which pod is meant")
    return {"uid": pod.uid}


def event(action: Announce, at: datetime) -> Json:
    """A core/v1 Event that `kubectl describe` shows: it looks for the object's kind, name and UID."""
    moment = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    unique = uuid4().hex[:16]
    about = _involved(action)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{about['name'][: _LONGEST_NAME - 17].rstrip('.-')}.{unique}",
            "namespace": about.get("namespace", _OF_NODES),
        },
        "involvedObject": about,
        "reason": action.reason,
        "message": action.message[:_LONGEST_MESSAGE],
        "type": action.kind,
        "source": {"component": SERVICE},
        "reportingComponent": SERVICE,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


def _involved(action: Announce) -> Json:
    pod = action.involved
    if pod is None:
        return {"apiVersion": "v1", "kind": "Node", "name": action.node_name, "uid": action.node_uid}
    return {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
