"""What the function may do inside a cluster: one ClusterRole, bound to the group that its access entry names, and the
admission policy that holds it to its few patches of pods.

Law: verbs are listed one by one, each is one that the adapter uses, and a test takes each away and sees it missed. No
right to patch pods without the policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lambdas.adapters.kubernetes.guard import BINDING, POLICY
from lambdas.contract import CLUSTER_ROLE, KUBERNETES_GROUP, RELEASE_GUARD

_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource of one API group ("" is the core), and what it is for. `name`: of this object only."""

    group: str
    resource: str
    verb: str
    why: str
    name: str = ""


_ALWAYS = (
    Right("", "nodes", "get", "find the node by its name; read it again where somebody changed it meanwhile"),
    Right("", "nodes", "list", "find the node by its provider id where no name is known; which nodes carry our mark"),
    Right("", "nodes", "watch", "see the node go, or be changed by somebody else"),
    Right("", "nodes", "patch", "cordon it, mark it, take it out of load balancers; take that off again"),
    Right("", "pods", "list", "which pods are on the node; which are released"),
    Right("", "pods", "watch", "see each pod go"),
    Right("", "pods/eviction", "create", "ask a pod to leave, its disruption budget being asked"),
    Right("policy", "poddisruptionbudgets", "list", "which pods may leave now"),
    Right("policy", "poddisruptionbudgets", "watch", "see a budget open"),
    Right("", "services", "list", "does one with externalTrafficPolicy Local need the node in its load balancer"),
    Right("", "services", "watch", "see one become Local in mid-drain"),
    Right("", "events", "create", "write what became of the drain onto the node and its lost pods"),
)
_DELETE = Right("", "pods", "delete", "at a pod's last safe moment, and where several budgets cover it")
_RELEASE = (
    Right(
        "",
        "pods",
        "get",
        "is a pod still as it was, where its patch was refused; read it before it is given back or touched",
    ),
    Right("", "pods", "patch", "release it from its ReplicaSet, give it back, take our marks off, wake its ReplicaSet"),
    Right("apps", "deployments", "list", "how many pods more than its replicas does it consent to"),
    Right("apps", "deployments", "watch", "see it scaled, rolled on or deleted"),
    Right("apps", "replicasets", "list", "whose is the pod, and would another one adopt it"),
    Right("apps", "replicasets", "watch", "see it back off, or followed by the next revision"),
    Right("apps", "daemonsets", "list", "would one adopt the released pod"),
    Right("batch", "jobs", "list", "would one adopt the released pod"),
    Right("", "replicationcontrollers", "list", "would one adopt the released pod"),
    Right("networking.k8s.io", "networkpolicies", "list", "would the released pod drop out of one"),
    Right("", "resourcequotas", "list", "is there room in them for the replacement"),
    Right("", "persistentvolumeclaims", "list", "may the replacement use the volumes while the pod still does"),
    Right("autoscaling", "horizontalpodautoscalers", "list", "would one act on the surplus"),
    Right(_ADMISSION, "validatingadmissionpolicies", "get", "does the guard of these patches stand", RELEASE_GUARD),
    Right(_ADMISSION, "validatingadmissionpolicybindings", "get", "and is it in force", RELEASE_GUARD),
)


def rights(*, deletes: bool = True, releases: bool = True) -> tuple[Right, ...]:
    """Every right. Without `deletes` a pod that its budget holds, or that has several, is left to die with the host;
    without `releases` pods are evicted first and replaced after."""
    return (*_ALWAYS, *([_DELETE] if deletes else []), *(_RELEASE if releases else []))


def manifests(*, deletes: bool = True, releases: bool = True) -> list[dict[str, Any]]:
    """The ClusterRole and the ClusterRoleBinding, as the API takes them; with `releases` the guard's policy and binding
    before them, so that the right to patch pods never stands alone."""
    guard = [dict(POLICY), dict(BINDING)] if releases else []
    return [*guard, _role(rights(deletes=deletes, releases=releases)), _binding()]


def _role(wanted: tuple[Right, ...]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": CLUSTER_ROLE},
        "rules": _rules(wanted),
    }


def _binding() -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": CLUSTER_ROLE},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": CLUSTER_ROLE},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": KUBERNETES_GROUP}],
    }


def render(*, deletes: bool = True, releases: bool = True) -> str:
    """The same as YAML, for `kubectl apply -f -`."""
    import yaml  # noqa: PLC0415 - who only wants the manifests need not have it

    documents = manifests(deletes=deletes, releases=releases)
    return str(yaml.safe_dump_all(documents, sort_keys=False, default_flow_style=False, explicit_start=True))


def _rules(wanted: tuple[Right, ...]) -> list[Mapping[str, list[str]]]:
    """One rule a resource, its verbs in the order in which they are listed above."""
    verbs: dict[tuple[str, str, str], list[str]] = {}
    for right in wanted:
        verbs.setdefault((right.group, right.resource, right.name), []).append(right.verb)
    return [
        {
            "apiGroups": [group],
            "resources": [resource],
            **({"resourceNames": [name]} if name else {}),
            "verbs": names,
        }
        for (group, resource, name), names in verbs.items()
    ]
