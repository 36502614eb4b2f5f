"""What Karpenter has in the cluster: a node pool, its node class, and the claims of the interrupted nodes.

The claims are adopted: the scene's nodes are there first, with the ids of their EC2 instances, and each claim says that
it was launched as one of them. Registering and initializing the node is left to Karpenter.
"""

from typing import Any, Final

Json = dict[str, Any]

POOL: Final = "spot"
CLAIMS: Final = "/apis/karpenter.sh/v1/nodeclaims"
POOLS: Final = "/apis/karpenter.sh/v1/nodepools"
CLASSES: Final = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"

_CLASS_REF: Final = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": POOL}
_LABELS: Final = {
    "karpenter.sh/nodepool": POOL,
    "karpenter.sh/capacity-type": "spot",
    "node.kubernetes.io/instance-type": "m-4x-amd64-linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
}
_REQUIREMENTS: Final = [
    {"key": key, "operator": "In", "values": [_LABELS[key]]}
    for key in ("karpenter.sh/capacity-type", "kubernetes.io/arch", "kubernetes.io/os")
]


def node_class(registers_after: float) -> Json:
    """Nodes of this class join so many seconds after they were launched."""
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": POOL},
        "spec": {"nodeRegistrationDelay": f"{registers_after:g}s"},
    }


def node_pool() -> Json:
    """Spot nodes of any size, which nothing but an interruption disrupts: the scene is to stay as it is."""
    template = {"nodeClassRef": _CLASS_REF, "requirements": _REQUIREMENTS, "expireAfter": "Never"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": POOL},
        "spec": {
            "template": {"spec": template},
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "Never",
                "budgets": [{"nodes": "0"}],
            },
        },
    }


def claim(node: str) -> Json:
    """The claim of a node that is there."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": node, "labels": _LABELS},
        "spec": {"nodeClassRef": _CLASS_REF, "requirements": _REQUIREMENTS, "expireAfter": "Never"},
    }


def launched_as(node: Json) -> Json:
    """The status that Karpenter gives a claim when the cloud has launched its instance."""
    condition = {
        "type": "Launched",
        "status": "True",
        "reason": "Launched",
        "message": "",
        "lastTransitionTime": node["metadata"]["creationTimestamp"],
        "observedGeneration": 1,
    }
    sizes = {name: node["status"][name] for name in ("capacity", "allocatable")}
    return {"status": {"providerID": node["spec"]["providerID"], "conditions": [condition], **sizes}}


def is_initialized(claim: Json) -> bool:
    """Whether Karpenter holds the node for its own, and for ready."""
    conditions = claim.get("status", {}).get("conditions", ())
    return any(it["type"] == "Initialized" and it["status"] == "True" for it in conditions)
