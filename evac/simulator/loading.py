"""A scenario's manifests as a cluster that has been running: what is missing is filled in, what is there is kept.

Law: no kind is refused; one that is not simulated is kept as it is. An owner that the scenario does not hold is
unknown, and its pods are not replaced. That what is known has the API's shapes is taken for granted: whoever reads
files checks it.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from evac.simulator.objects import (
    API_VERSIONS,
    Key,
    Raw,
    controller_of,
    copied,
    key_of,
    kind_of,
    read_moment,
    revised,
    status_of,
    uid_of,
    written_time,
)
from evac.simulator.pods import node_of
from evac.simulator.store import Store

_TRACKING = "batch.kubernetes.io/job-tracking"


def load(store: Store, manifests: Iterable[Raw], now: datetime) -> list[str]:
    """Put every object into the store, pods last; what is worth knowing about the scenario comes back as notes."""
    notes: list[str] = []
    objects = [_tidied(raw, now) for raw in flattened(manifests, notes)]
    for raw in objects:
        if not uid_of(raw):
            raw["metadata"]["uid"] = store.new_uid()
    by_key = {key_of(raw): raw for raw in objects}
    for raw in sorted(by_key.values(), key=lambda raw: kind_of(raw) == "Pod"):
        store.put(_with_owners(raw, lambda key: by_key.get(key) or store.get(key)))
    return notes


_SERVERS_OWN = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "selfLink")


def as_created(manifest: Raw) -> Raw:
    """The object as an API server takes it from a person: what servers fill in is dropped, a Node's status is kept."""
    metadata = {k: v for k, v in (manifest.get("metadata") or {}).items() if k not in _SERVERS_OWN}
    kept = {k: v for k, v in manifest.items() if k != "status" or manifest.get("kind") == "Node"}
    return {**kept, "metadata": metadata}


def flattened(manifests: Iterable[Raw], notes: list[str]) -> Iterator[Raw]:
    """The objects of all manifests; of a List its items, each with its kind."""
    for manifest in manifests:
        kind = str(manifest.get("kind") or "")
        if kind.endswith("List") and "items" in manifest:
            common = {} if kind == "List" else {"kind": kind[:-4], "apiVersion": manifest.get("apiVersion")}
            yield from flattened([{**common, **item} for item in manifest["items"] or ()], notes)
        elif kind and (manifest.get("metadata") or {}).get("name"):
            yield manifest
        else:
            notes.append(f"left out: an object without kind or name ({kind or 'no kind'})")


def _tidied(manifest: Raw, now: datetime) -> Raw:
    raw: Raw = copied(manifest)
    metadata = {k: v for k, v in (raw["metadata"] or {}).items() if v is not None}
    raw["metadata"] = metadata
    raw["kind"] = kind_of(raw)
    raw.setdefault("apiVersion", API_VERSIONS.get(raw["kind"], "v1"))
    metadata["namespace"] = key_of(raw).namespace or None
    metadata.setdefault("creationTimestamp", written_time(now))
    metadata.pop("managedFields", None)
    if raw["kind"] == "Pod":
        _tidy_pod(raw, metadata, now)
    return revised(raw, metadata={})


def _tidy_pod(pod: Raw, metadata: Raw, now: datetime) -> None:
    """A Job's finalizer is not needed here: its controller sees all. A deletion under way goes on from now.

    A running pod without any conditions, as one writes by hand, is Ready.
    """
    metadata["finalizers"] = [f for f in metadata.get("finalizers") or () if f != _TRACKING] or None
    pod["status"] = {"phase": "Pending", **status_of(pod)}
    if pod["status"]["phase"] == "Running" and not pod["status"].get("conditions"):
        since = {"status": "True", "lastTransitionTime": metadata["creationTimestamp"]}
        pod["status"]["conditions"] = [{"type": kind, **since} for kind in ("PodScheduled", "Ready")]
    ends, grace = read_moment(metadata.get("deletionTimestamp")), metadata.get("deletionGracePeriodSeconds")
    if ends is not None:
        seconds = int(grace or 30)
        if not now <= ends <= now + timedelta(seconds=seconds):
            metadata["deletionTimestamp"] = written_time(now + timedelta(seconds=seconds))
        metadata["deletionGracePeriodSeconds"] = seconds


def _with_owners(raw: Raw, find: Callable[[Key], Raw | None]) -> Raw:
    """Owner references written by hand often lack the uid, or have one of another cluster."""
    references = raw["metadata"].get("ownerReferences")
    if not references:
        return raw
    namespace = raw["metadata"].get("namespace") or ""
    known = []
    for reference in references:
        owner = find(Key(reference.get("kind", ""), namespace, reference.get("name", "")))
        uid = (
            uid_of(owner)
            if owner
            else reference.get("uid") or f"unknown-{reference.get('kind')}-{reference.get('name')}"
        )
        known.append({**reference, "uid": uid})
    return revised(raw, metadata={"ownerReferences": known})


def homeless(store: Store) -> int:
    """How many pods are bound to nodes that the scenario does not hold: they neither start nor stop."""
    return sum(1 for p in store.of_kind("Pod") if node_of(p) and store.get(Key("Node", "", node_of(p))) is None)


def unknown_owners(store: Store) -> dict[Key, int]:
    """Controllers that pods name and the scenario does not hold, with the number of their pods."""
    unknown: dict[Key, int] = {}
    for pod in store.of_kind("Pod"):
        owner = controller_of(pod)
        if owner is None or owner["kind"] == "Node":
            continue
        key = Key(owner["kind"], key_of(pod).namespace, owner["name"])
        if store.get(key) is None:
            unknown[key] = unknown.get(key, 0) + 1
    return unknown
