"""What a controller's status says of its pods: how many there are, are Ready, and have been Ready long enough."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from evac.simulator.objects import Raw, read_moment, spec_of
from evac.simulator.pods import condition_of, is_ready

_AT_ONCE = timedelta(0)


def _min_ready(owner: Raw) -> timedelta:
    seconds = spec_of(owner).get("minReadySeconds")
    return timedelta(seconds=seconds) if seconds else _AT_ONCE


def _ready_since(pod: Raw) -> datetime | None:
    return read_moment((condition_of(pod, "Ready") or {}).get("lastTransitionTime"))


def is_available(owner: Raw, pod: Raw, now: datetime) -> bool:
    """Ready for at least the owner's minReadySeconds."""
    if not is_ready(pod):
        return False
    wanted = _min_ready(owner)
    since = _ready_since(pod) if wanted else None
    return not wanted or (since is not None and since + wanted <= now)


def available_in(owner: Raw, pods: Sequence[Raw], now: datetime) -> timedelta | None:
    """How long until the next of the Ready pods is available; None where none is awaited."""
    wanted = _min_ready(owner)
    if not wanted:
        return None
    waits = [since + wanted - now for p in pods if is_ready(p) and (since := _ready_since(p)) is not None]
    return min((wait for wait in waits if wait > timedelta(0)), default=None)


def replica_status(owner: Raw, pods: Sequence[Raw], now: datetime) -> dict[str, Any]:
    """The counts of a ReplicaSet's, ReplicationController's or StatefulSet's status."""
    return {
        "replicas": len(pods),
        "readyReplicas": sum(map(is_ready, pods)),
        "availableReplicas": sum(is_available(owner, pod, now) for pod in pods),
        "observedGeneration": owner["metadata"].get("generation"),
    }


def replicas_of(owner: Raw) -> int:
    """spec.replicas, 1 where unset."""
    replicas = spec_of(owner).get("replicas")
    return 1 if replicas is None else int(replicas)
