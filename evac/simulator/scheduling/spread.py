"""topologySpreadConstraints that say DoNotSchedule.

Rules: kube-scheduler's PodTopologySpread. Law: terminating pods do not count; a domain is what the nodes that the pod
may use by its affinity span, tainted ones too unless nodeTaintsPolicy says Honor.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from evac.simulator.labels import has_all, selects
from evac.simulator.objects import Raw, key_of, labels_of, spec_of
from evac.simulator.pods import is_active
from evac.simulator.scheduling.affinity import selector_with_keys
from evac.simulator.scheduling.nodes import is_wanted, tolerates
from evac.simulator.store import Store

Constraint = dict[str, Any]


def spread_filter(store: Store, pod: Raw) -> Callable[[Raw], bool]:
    """Whether a node may take the pod without a skew beyond what its constraints allow."""
    given = spec_of(pod).get("topologySpreadConstraints") or ()
    constraints = [c for c in given if c.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule"]
    if not constraints:
        return lambda _: True
    limits = [_limit(store, pod, constraint, constraints) for constraint in constraints]
    return lambda node: all(limit(node) for limit in limits)


def _limit(store: Store, pod: Raw, constraint: Constraint, all_of_them: list[Constraint]) -> Callable[[Raw], bool]:
    key, selector = constraint["topologyKey"], selector_with_keys(constraint, labels_of(pod))
    counts: Counter[str] = Counter()
    for node in store.of_kind("Node"):
        if _counts(node, pod, constraint, all_of_them):
            counts[labels_of(node)[key]] += _alike(store, pod, node, selector)
    least = min(counts.values(), default=0)
    if len(counts) < (constraint.get("minDomains") or 1):
        least = 0
    own = int(selects(selector, labels_of(pod)))
    allowed = constraint.get("maxSkew", 1) + least - own
    return lambda node: key in labels_of(node) and counts[labels_of(node)[key]] <= allowed


def _counts(node: Raw, pod: Raw, constraint: Constraint, all_of_them: list[Constraint]) -> bool:
    if not all(c["topologyKey"] in labels_of(node) for c in all_of_them):
        return False
    if constraint.get("nodeTaintsPolicy") == "Honor" and not tolerates(node, pod):
        return False
    if constraint.get("nodeAffinityPolicy") == "Ignore":
        return True
    return is_wanted(node, pod) and has_all(spec_of(pod).get("nodeSelector") or {}, labels_of(node))


def _alike(store: Store, pod: Raw, node: Raw, selector: Constraint | None) -> int:
    namespace = key_of(pod).namespace
    return sum(
        1
        for other in store.pods_on(node["metadata"]["name"])
        if is_active(other) and key_of(other).namespace == namespace and selects(selector, labels_of(other))
    )
