"""Required affinity and anti-affinity between pods, in both directions.

Rules: kube-scheduler's InterPodAffinity. Law: every bound pod that is not finished counts, terminating ones too; a pod
that repels keeps others away as they would keep it.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator
from typing import Any

from evac.simulator.labels import selects
from evac.simulator.objects import Key, Raw, key_of, labels_of, spec_of, uid_of
from evac.simulator.pods import is_finished, node_of
from evac.simulator.store import Change, Store

Term = dict[str, Any]
Domains = Counter[tuple[str, str]]


def terms_of(pod: Raw, kind: str) -> list[Term]:
    """The required terms of "podAffinity" or "podAntiAffinity"."""
    affinity = (spec_of(pod).get("affinity") or {}).get(kind) or {}
    return affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []


def selector_with_keys(term: Term, labels: dict[str, str]) -> Term | None:
    """The term's label selector, narrowed by matchLabelKeys and mismatchLabelKeys to the pod's own values."""
    selector: Term | None = term.get("labelSelector")
    if selector is None:
        return None
    narrowed = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for keys, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(keys) or ()
        if key in labels
    ]
    return (
        {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *narrowed]}
        if narrowed
        else selector
    )


class PodAffinity:
    """What pods ask of, and forbid, each other's places."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._repelling: dict[Key, None] = {}

    def on_change(self, change: Change) -> None:
        """Remember the bound pods with required anti-affinity: they are few."""
        if change.key.kind != "Pod":
            return
        pod = change.new
        if pod is not None and node_of(pod) and not is_finished(pod) and terms_of(pod, "podAntiAffinity"):
            self._repelling[change.key] = None
        else:
            self._repelling.pop(change.key, None)

    def filter_for(self, pod: Raw) -> Callable[[Raw], bool]:
        """Whether a node may take the pod."""
        wants, repels = terms_of(pod, "podAffinity"), terms_of(pod, "podAntiAffinity")
        forbidden = self._forbidden_to(pod)
        if not (wants or repels or forbidden):
            return lambda _: True
        near = self._domains(pod, wants, every=True)
        far = self._domains(pod, repels, every=False)
        starts_alone = bool(wants) and not near and all(self._term_selects(pod, term, pod) for term in wants)
        return lambda node: (
            all((starts_alone and _has_key(node, t)) or near[_domain(node, t["topologyKey"])] > 0 for t in wants)
            and not any(far[_domain(node, t["topologyKey"])] > 0 for t in repels)
            and not any(_domain(node, key) == (key, value) for key, value in forbidden)
        )

    def _domains(self, pod: Raw, terms: list[Term], *, every: bool) -> Domains:
        """How many bound pods the terms select in each domain: each term by itself, or only pods that all select."""
        domains: Domains = Counter()
        for other, node in self._bound() if terms else ():
            selected = [t for t in terms if self._term_selects(pod, t, other)]
            if every and len(selected) < len(terms):
                continue
            domains.update(_domain(node, t["topologyKey"]) for t in selected if _has_key(node, t))
        return domains

    def _bound(self) -> Iterator[tuple[Raw, Raw]]:
        for node in self._store.of_kind("Node"):
            for other in self._store.pods_on(node["metadata"]["name"]):
                if not is_finished(other):
                    yield other, node

    def _forbidden_to(self, pod: Raw) -> set[tuple[str, str]]:
        forbidden = set()
        for key in self._repelling:
            other = self._store.get(key)
            node = self._store.get(Key("Node", "", node_of(other))) if other else None
            if other is None or node is None or uid_of(other) == uid_of(pod):
                continue
            for term in terms_of(other, "podAntiAffinity"):
                if _has_key(node, term) and self._term_selects(other, term, pod):
                    forbidden.add(_domain(node, term["topologyKey"]))
        return forbidden

    def _term_selects(self, owner: Raw, term: Term, other: Raw) -> bool:
        """Whether the term of `owner` selects `other`."""
        if not selects(selector_with_keys(term, labels_of(owner)), labels_of(other)):
            return False
        return key_of(other).namespace in self._namespaces(owner, term)

    def _namespaces(self, owner: Raw, term: Term) -> Container[str]:
        named, selector = term.get("namespaces") or [], term.get("namespaceSelector")
        if selector is None:
            return named or [key_of(owner).namespace]
        if not any(selector.values()):
            return _Everywhere()
        found = [n["metadata"]["name"] for n in self._store.of_kind("Namespace") if selects(selector, labels_of(n))]
        return [*named, *found]


class _Everywhere(Container[str]):
    """All namespaces, also those of which the scenario holds no object."""

    def __contains__(self, _: object) -> bool:
        return True


def _domain(node: Raw, topology_key: str) -> tuple[str, str]:
    return topology_key, labels_of(node).get(topology_key, "")


def _has_key(node: Raw, term: Term) -> bool:
    return term["topologyKey"] in labels_of(node)
