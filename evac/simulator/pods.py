"""What a raw pod says about itself, and the changed pods that others write.

Law: a pod is Ready by its condition, active while neither finished nor on its way out (pkg/controller).
"""

from datetime import datetime
from typing import Any

from evac.simulator.objects import Raw, revised, spec_of, status_of, written_time

DEFAULT_GRACE_SECONDS = 30


def phase_of(pod: Raw) -> str:
    """The phase; a pod that says none is Pending."""
    return status_of(pod).get("phase") or "Pending"


def is_finished(pod: Raw) -> bool:
    """Succeeded or Failed."""
    return phase_of(pod) in {"Succeeded", "Failed"}


def is_terminating(pod: Raw) -> bool:
    """Its deletion was asked for."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def is_active(pod: Raw) -> bool:
    """Neither finished nor on its way out: what controllers count."""
    return not is_terminating(pod) and not is_finished(pod)


def node_of(pod: Raw) -> str:
    """The node it is bound to; empty where it is not."""
    return spec_of(pod).get("nodeName") or ""


def condition_of(raw: Raw, kind: str) -> Raw | None:
    """The condition of a type."""
    for condition in status_of(raw).get("conditions") or ():
        if condition.get("type") == kind:
            found: Raw = condition
            return found
    return None


def is_ready(pod: Raw) -> bool:
    """Its Ready condition is True."""
    condition = condition_of(pod, "Ready")
    return condition is not None and condition.get("status") == "True"


def grace_of(pod: Raw) -> int:
    """terminationGracePeriodSeconds, 30 where unset."""
    grace = spec_of(pod).get("terminationGracePeriodSeconds")
    return DEFAULT_GRACE_SECONDS if grace is None else int(grace)


def with_condition(raw: Raw, kind: str, status: str, now: datetime, **fields: Any) -> Raw:
    """The object with a condition set; its transition time moves only where the status changes."""
    old = condition_of(raw, kind)
    moved = old is None or old.get("status") != status or not old.get("lastTransitionTime")
    time = written_time(now) if moved or old is None else old["lastTransitionTime"]
    condition = {"type": kind, "status": status, "lastTransitionTime": time, **fields}
    conditions = status_of(raw).get("conditions") or ()
    kept = [c for c in conditions if c.get("type") != kind]
    return revised(raw, status={"conditions": [*kept, condition]})


def bound(pod: Raw, node_name: str, now: datetime) -> Raw:
    """The pod as the scheduler binds it."""
    placed = revised(pod, spec={"nodeName": node_name})
    return with_condition(placed, "PodScheduled", "True", now)


def started(pod: Raw, now: datetime, *, ready: bool) -> Raw:
    """The pod as its kubelet reports it once its containers run."""
    running = revised(
        pod,
        status={
            "phase": "Running",
            "startTime": written_time(now),
            "containerStatuses": _containers(pod, ready=ready, state={"running": {"startedAt": written_time(now)}}),
        },
    )
    status = "True" if ready else "False"
    for kind in ("Initialized", "ContainersReady", "Ready"):
        running = with_condition(running, kind, "True" if kind == "Initialized" else status, now)
    for gate in spec_of(pod).get("readinessGates") or ():
        running = with_condition(running, gate["conditionType"], status, now)
    return running


def ended(pod: Raw, phase: str, now: datetime) -> Raw:
    """The pod as its kubelet reports it once its containers have stopped."""
    code = 0 if phase == "Succeeded" else 143
    state = {"terminated": {"exitCode": code, "finishedAt": written_time(now)}}
    over = revised(pod, status={"phase": phase, "containerStatuses": _containers(pod, ready=False, state=state)})
    reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    for kind in ("ContainersReady", "Ready"):
        over = with_condition(over, kind, "False", now, reason=reason)
    return over


def _containers(pod: Raw, *, ready: bool, state: Raw) -> list[Raw]:
    former = {c.get("name"): c for c in status_of(pod).get("containerStatuses") or ()}
    return [
        {
            "name": container.get("name", ""),
            "ready": ready,
            "restartCount": former.get(container.get("name"), {}).get("restartCount") or 0,
            "state": state,
        }
        for container in spec_of(pod).get("containers") or ()
    ]
