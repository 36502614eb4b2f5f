"""Kubernetes objects as raw JSON: what they are called, what they say, and how to write a changed one.

Law: an object once stored is never altered in place; a change is a new object that shares what did not change.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

Raw = dict[str, Any]


class Key(NamedTuple):
    """What names an object. Cluster-wide kinds have an empty namespace."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


API_VERSIONS: Final = {
    "Node": "v1",
    "Pod": "v1",
    "Namespace": "v1",
    "Service": "v1",
    "Event": "v1",
    "PersistentVolume": "v1",
    "PersistentVolumeClaim": "v1",
    "ResourceQuota": "v1",
    "ReplicationController": "v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "PodDisruptionBudget": "policy/v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
}
_CLUSTER_WIDE: Final = {"Node", "Namespace", "PersistentVolume", "PriorityClass", "StorageClass"}


def kind_of(raw: Raw) -> str:
    """The kind; one of a foreign group that shares a known name carries its group ("Service.serving.knative.dev")."""
    kind, api_version = str(raw.get("kind") or ""), raw.get("apiVersion")
    known = API_VERSIONS.get(kind)
    if known is None or not api_version or known == api_version:
        return kind
    group = _group(api_version)
    return kind if group in {_group(known), "extensions", ""} else f"{kind}.{group}"


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def key_of(raw: Raw) -> Key:
    """The key of an object that says its kind."""
    kind, metadata = kind_of(raw), raw["metadata"]
    if kind in _CLUSTER_WIDE:
        return Key(kind, "", metadata["name"])
    fallback = "default" if kind in API_VERSIONS else ""
    return Key(kind, metadata.get("namespace") or fallback, metadata["name"])


def uid_of(raw: Raw) -> str:
    """The object's uid."""
    uid: str = raw["metadata"].get("uid") or ""
    return uid


def spec_of(raw: Raw) -> Raw:
    """The spec, empty where there is none."""
    spec: Raw = raw.get("spec") or {}
    return spec


def status_of(raw: Raw) -> Raw:
    """The status, empty where there is none."""
    status: Raw = raw.get("status") or {}
    return status


def labels_of(raw: Raw) -> dict[str, str]:
    """The labels, empty where there are none."""
    labels: dict[str, str] = raw["metadata"].get("labels") or {}
    return labels


def annotations_of(raw: Raw) -> dict[str, str]:
    """The annotations, empty where there are none."""
    annotations: dict[str, str] = raw["metadata"].get("annotations") or {}
    return annotations


def controller_of(raw: Raw) -> Raw | None:
    """The owner reference with `controller: true`."""
    for reference in raw["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            found: Raw = reference
            return found
    return None


def controller_reference(owner: Raw) -> Raw:
    """The owner reference that `owner` writes on what it makes."""
    return {
        "apiVersion": owner.get("apiVersion") or API_VERSIONS.get(owner["kind"], "v1"),
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def revised(raw: Raw, **parts: Mapping[str, Any]) -> Raw:
    """A new object with the given fields of `metadata`, `spec`, `status` replaced; a field given as None is gone."""
    new = dict(raw)
    for part, fields in parts.items():
        merged = {**(raw.get(part) or {}), **fields}
        new[part] = {name: value for name, value in merged.items() if value is not None}
    return new


def merged(target: Any, patch: Any) -> Any:
    """What a JSON merge patch (RFC 7386) makes of `target`; neither is altered."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def copied(value: Any) -> Any:
    """A deep copy of JSON."""
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value


def written_time(moment: datetime) -> str:
    """A moment as the API writes it: UTC, whole seconds, cut off rather than rounded (metav1.Time)."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_moment(text: str | None) -> datetime | None:
    """A moment of the API; None where there is none."""
    return datetime.fromisoformat(text) if text else None


def seconds(duration: timedelta) -> int:
    """Whole seconds, as grace periods are sent: rounded down, and never 0."""
    return max(1, duration // timedelta(seconds=1))
