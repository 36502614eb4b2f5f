"""By what a pod keeps its replacement away, once it is released.

Law: both ways count: the replacement's own terms, and those of the old pod, which the scheduler honours too.
"""

from collections.abc import Mapping
from typing import Any

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.values.releases import labels_once_released
from lambdas.domain.values.selectors import Selector

Json = Mapping[str, Any]

_HOSTNAME = "kubernetes.io/hostname"


def kept_apart_by(spec: Json, labels: Mapping[str, str]) -> str:
    """The key of a required anti-affinity to its own labels, released or not (core/v1 PodAffinityTerm).

    Empty where there is none; the hostname keeps nobody away from other nodes.
    """
    anti_affinity: Json = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    then = labels_once_released(labels)
    for term in anti_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        key = term.get("topologyKey") or ""
        selector = Selector.from_json(term.get("labelSelector"))
        if key != _HOSTNAME and (selector.matches(labels) or selector.matches(then)):
            return str(key)
    return ""


def spread_by(spec: Json, labels: Mapping[str, str]) -> str:
    """The key of a DoNotSchedule spread over more than hosts that counts the released pod.

    (core/v1 TopologySpreadConstraint.) Empty where there is none.
    """
    then = labels_once_released(labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        key = constraint.get("topologyKey") or ""
        is_strict = constraint.get("whenUnsatisfiable") == "DoNotSchedule"
        by_hash = LABEL_TEMPLATE_HASH in (constraint.get("matchLabelKeys") or ())
        counts = Selector.from_json(constraint.get("labelSelector")).matches(then)
        if key != _HOSTNAME and is_strict and counts and not by_hash:
            return str(key)
    return ""
