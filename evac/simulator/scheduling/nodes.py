"""Whether a node lets a pod in: taints, selectors, affinity to nodes."""

from collections.abc import Mapping
from typing import Any

from evac.simulator.labels import expression_holds, has_all
from evac.simulator.objects import Raw, labels_of, spec_of

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def admits(node: Raw, pod: Raw) -> bool:
    """Everything about the node alone: cordon, taints, nodeSelector, required node affinity."""
    spec = spec_of(pod)
    return tolerates(node, pod) and has_all(spec.get("nodeSelector") or {}, labels_of(node)) and is_wanted(node, pod)


def tolerates(node: Raw, pod: Raw) -> bool:
    """Whether the pod tolerates the cordon and every NoSchedule or NoExecute taint."""
    taints = [t for t in spec_of(node).get("taints") or () if t.get("effect") in {"NoSchedule", "NoExecute"}]
    if spec_of(node).get("unschedulable"):
        taints = [*taints, {"key": UNSCHEDULABLE, "effect": "NoSchedule"}]
    tolerations = spec_of(pod).get("tolerations") or ()
    return all(any(_covers(toleration, taint) for toleration in tolerations) for taint in taints)


def _covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in {None, "", taint.get("effect")}:
        return False
    key = toleration.get("key") or ""
    if toleration.get("operator") == "Exists":
        return key in {"", taint["key"]}
    return bool(key == taint["key"] and (toleration.get("value") or "") == (taint.get("value") or ""))


def is_wanted(node: Raw, pod: Raw) -> bool:
    """Whether one of the required node affinity's terms holds."""
    affinity = (spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(term_holds(term, node) for term in required.get("nodeSelectorTerms") or ())


def term_holds(term: Mapping[str, Any], node: Raw) -> bool:
    """All expressions of a node selector term; one without any selects nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    names = {"metadata.name": node["metadata"]["name"]}
    labels = labels_of(node)
    return all(expression_holds(e, labels) for e in expressions) and all(expression_holds(f, names) for f in fields)
