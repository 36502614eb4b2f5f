"""The kinds of object that a scenario is made of: what the sample kubectl command asks for."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of the API: its group ("" for the core), its path segment in URLs, and kubectl's short word for it."""

    group: str
    version: str
    name: str
    plural: str
    word: str
    is_namespaced: bool = True

    @property
    def api_version(self) -> str:
        """As `apiVersion` has it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def list_path(self) -> str:
        """Where the API server lists all of them."""
        root = f"/apis/{self.group}" if self.group else "/api"
        return f"{root}/{self.version}/{self.plural}"


KINDS: Final = (
    Kind("", "v1", "Node", "nodes", "nodes", is_namespaced=False),
    Kind("", "v1", "Pod", "pods", "pods"),
    Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb"),
    Kind("apps", "v1", "Deployment", "deployments", "deploy"),
    Kind("apps", "v1", "ReplicaSet", "replicasets", "rs"),
    Kind("apps", "v1", "StatefulSet", "statefulsets", "sts"),
    Kind("apps", "v1", "DaemonSet", "daemonsets", "ds"),
    Kind("batch", "v1", "Job", "jobs", "jobs"),
    Kind("", "v1", "ReplicationController", "replicationcontrollers", "rc"),
    Kind("", "v1", "Service", "services", "svc"),
    Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc"),
    Kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa"),
    Kind("", "v1", "ResourceQuota", "resourcequotas", "quota"),
    Kind("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "netpol"),
)

COMMAND: Final = f"kubectl get {','.join(kind.word for kind in KINDS)} -A -o yaml"
"""What prints a scenario from anybody's cluster."""

ALSO_USED: Final = (
    Kind("", "v1", "Namespace", "namespaces", "ns", is_namespaced=False),
    Kind("", "v1", "PersistentVolume", "persistentvolumes", "pv", is_namespaced=False),
    Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "pc", is_namespaced=False),
    Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", "sc", is_namespaced=False),
)
"""Kinds that make a replay truer where they are there; their absence is not worth a word."""

_BY_NAME: Final = {kind.name: kind for kind in (*KINDS, *ALSO_USED)}


def kind_of(api_version: str, name: str) -> Kind | None:
    """The kind, whatever its version; None for others, also for namesakes (Knative's Service, Volcano's Job)."""
    kind = _BY_NAME.get(name)
    group = api_version.rpartition("/")[0]
    return kind if kind is not None and (not api_version or group == kind.group) else None
