"""What the function may do inside a cluster: one ClusterRole, bound to the group that its access entry names.

Law: verbs are listed one by one, each is one that the adapter uses, and a test takes each away and sees it missed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lambdas.contract import CLUSTER_ROLE, KUBERNETES_GROUP

_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource of one API group ("" is the core), and what it is for."""

    group: str
    resource: str
    verb: str
    why: str


_ALWAYS = (
    Right("", "nodes", "get", "find the node by its name; read it again where somebody changed it meanwhile"),
    Right("", "nodes", "list", "find the node by its provider id where no name is known"),
    Right("", "nodes", "watch", "see the node go, or be changed by somebody else"),
    Right("", "nodes", "patch", "cordon it, mark it, take it out of load balancers; take that off again"),
    Right("", "pods", "list", "which pods are on the node"),
    Right("", "pods", "watch", "see each pod go"),
    Right("", "pods/eviction", "create", "ask a pod to leave, its disruption budget being asked"),
    Right("policy", "poddisruptionbudgets", "list", "which pods may leave now"),
    Right("policy", "poddisruptionbudgets", "watch", "see a budget open"),
    Right("", "services", "list", "does one with externalTrafficPolicy Local need the node in its load balancer"),
    Right("", "services", "watch", "see one become Local in mid-drain"),
    Right("", "events", "create", "write what became of the drain onto the node"),
)
_DELETE = Right("", "pods", "delete", "at a pod's last safe moment, and where several budgets cover it")


def rights(*, deletes: bool = True) -> tuple[Right, ...]:
    """Every right. Without `deletes` a pod that its budget holds, or that has several, is left to die with the host."""
    return (*_ALWAYS, _DELETE) if deletes else _ALWAYS


def manifests(*, deletes: bool = True) -> list[dict[str, Any]]:
    """The ClusterRole and the ClusterRoleBinding, as the API takes them."""
    role = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": CLUSTER_ROLE},
        "rules": _rules(rights(deletes=deletes)),
    }
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": CLUSTER_ROLE},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": CLUSTER_ROLE},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": KUBERNETES_GROUP}],
    }
    return [role, binding]


def render(*, deletes: bool = True) -> str:
    """The same as YAML, for `kubectl apply -f -`."""
    import yaml  # noqa: PLC0415 - who only wants the manifests need not have it

    documents = manifests(deletes=deletes)
    return str(yaml.safe_dump_all(documents, sort_keys=False, default_flow_style=False, explicit_start=True))


def _rules(wanted: tuple[Right, ...]) -> list[Mapping[str, list[str]]]:
    """One rule a resource, its verbs in the order in which they are listed above."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for right in wanted:
        verbs.setdefault((right.group, right.resource), []).append(right.verb)
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": names} for (group, resource), names in verbs.items()
    ]
