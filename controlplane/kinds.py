"""Answers for where the API keeps objects of each kind that tests make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """The API group and version, the plural, and whether objects live in namespaces."""

    group_version: str
    plural: str
    namespaced: bool = True

    def collection(self, namespace: str | None = None) -> str:
        """The path of all such objects, of one namespace or of the cluster."""
        root = "apis" if "/" in self.group_version else "api"
        within = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"/{root}/{self.group_version}{within}/{self.plural}"


KINDS: Mapping[str, Kind] = {
    "Node": Kind("v1", "nodes", namespaced=False),
    "Namespace": Kind("v1", "namespaces", namespaced=False),
    "PersistentVolume": Kind("v1", "persistentvolumes", namespaced=False),
    "Pod": Kind("v1", "pods"),
    "Service": Kind("v1", "services"),
    "ServiceAccount": Kind("v1", "serviceaccounts"),
    "ConfigMap": Kind("v1", "configmaps"),
    "Event": Kind("v1", "events"),
    "PersistentVolumeClaim": Kind("v1", "persistentvolumeclaims"),
    "ReplicationController": Kind("v1", "replicationcontrollers"),
    "ResourceQuota": Kind("v1", "resourcequotas"),
    "Deployment": Kind("apps/v1", "deployments"),
    "ReplicaSet": Kind("apps/v1", "replicasets"),
    "StatefulSet": Kind("apps/v1", "statefulsets"),
    "DaemonSet": Kind("apps/v1", "daemonsets"),
    "Job": Kind("batch/v1", "jobs"),
    "CronJob": Kind("batch/v1", "cronjobs"),
    "PodDisruptionBudget": Kind("policy/v1", "poddisruptionbudgets"),
    "HorizontalPodAutoscaler": Kind("autoscaling/v2", "horizontalpodautoscalers"),
    "NetworkPolicy": Kind("networking.k8s.io/v1", "networkpolicies"),
    "Role": Kind("rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": Kind("rbac.authorization.k8s.io/v1", "rolebindings"),
    "ClusterRole": Kind("rbac.authorization.k8s.io/v1", "clusterroles", namespaced=False),
    "ClusterRoleBinding": Kind("rbac.authorization.k8s.io/v1", "clusterrolebindings", namespaced=False),
    "PriorityClass": Kind("scheduling.k8s.io/v1", "priorityclasses", namespaced=False),
    "ValidatingAdmissionPolicy": Kind(
        "admissionregistration.k8s.io/v1", "validatingadmissionpolicies", namespaced=False
    ),
    "ValidatingAdmissionPolicyBinding": Kind(
        "admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", namespaced=False
    ),
}


def collection_of(manifest: Object) -> str:
    """The path where such an object is created; namespace `default` where it names none."""
    return KINDS[manifest["kind"]].collection(manifest["metadata"].get("namespace", "default"))


def path_of(manifest: Object) -> str:
    """The path of the object itself."""
    return f"{collection_of(manifest)}/{manifest['metadata']['name']}"
