"""What a manifest that was written by hand leaves out, filled in as the cluster would have it.

Law: what is there is never changed, and the same manifests are completed in the same way every time.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from evac.simulator.durations import READY

Json = dict[str, Any]

_STAMPS = ("lastTransitionTime", "lastHeartbeatTime", "lastUpdateTime", "lastProbeTime")


def complete(objects: Iterable[Json]) -> Iterator[Json]:
    """The objects, pods on a node with a status; uids and owners are the simulator's to complete."""
    return (_running(item) if item["kind"] == "Pod" else item for item in objects)


def _running(pod: Json) -> Json:
    """A pod on a node that says nothing of its state runs, and is Ready unless it is annotated not to be."""
    if pod.get("status") or not (pod.get("spec") or {}).get("nodeName"):
        return pod
    annotations = pod["metadata"].get("annotations") or {}
    ready = "False" if annotations.get(READY) == "false" else "True"
    conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": ready}]
    return {**pod, "status": {"phase": "Running", "conditions": conditions}}


def snapshot_moment(objects: Iterable[Json]) -> datetime | None:
    """When the cluster looked like this: the newest moment at which a node or pod of it says something happened."""
    told = (item for item in objects if item["kind"] in {"Node", "Pod"})
    stamps = (datetime.fromisoformat(stamp) for item in told for stamp in _stamps(item))
    return max(stamps, default=None)


def _stamps(item: Json) -> Iterator[str]:
    status = item.get("status") or {}
    yield from filter(None, (item["metadata"].get("creationTimestamp"), status.get("startTime")))
    for condition in status.get("conditions") or ():
        yield from filter(None, (condition.get(name) for name in _STAMPS))
