"""ResourceQuota, as far as pods are concerned: what is used, and what would be too much.

Law: a pod counts until it is finished or gone; a terminating one still counts. A quota with scopes counts the pods
that are in all of them (CrossNamespacePodAffinity, and what is yet to come: none).
"""

from collections import Counter

from evac.simulator.labels import expression_holds
from evac.simulator.objects import Raw, key_of, revised, spec_of
from evac.simulator.pods import is_finished
from evac.simulator.quantities import amounts, thousandths
from evac.simulator.store import Store

_POD = 1000


class Quotas:
    """The admission of new pods."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def refusal(self, pod: Raw) -> str:
        """Why the namespace's quotas refuse the pod; empty where they do not."""
        for quota in self._store.of_kind("ResourceQuota"):
            if key_of(quota).namespace != key_of(pod).namespace or not _counts(quota, pod):
                continue
            hard = {name: thousandths(str(q)) for name, q in (spec_of(quota).get("hard") or {}).items()}
            used, asked = self._used(quota), charge_of(pod)
            for name, limit in hard.items():
                if asked.get(name, 0) and used[name] + asked[name] > limit:
                    return f"exceeded quota: {quota['metadata']['name']}, {name} used and requested are over its limit"
        return ""

    def with_usage(self, quota: Raw) -> Raw:
        """The quota as its controller keeps it: with what is hard and what is used in its status."""
        hard = spec_of(quota).get("hard") or {}
        used = self._used(quota)
        status = {"hard": hard, "used": {name: _written(used[name]) for name in hard}}
        return revised(quota, status=status)

    def _used(self, quota: Raw) -> Counter[str]:
        used: Counter[str] = Counter()
        for pod in self._store.pods_in(key_of(quota).namespace):
            if _counts(quota, pod):
                used["count/pods"] += _POD
                if not is_finished(pod):
                    charge = charge_of(pod)
                    charge.pop("count/pods")
                    used.update(charge)
        return used


def _written(amount: int) -> str:
    return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"


def _counts(quota: Raw, pod: Raw) -> bool:
    """Whether the pod is in all of the quota's scopes."""
    spec = spec_of(quota)
    named = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    return all(
        _is_in(term, pod) for term in [*named, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ())]
    )


def _is_in(term: Raw, pod: Raw) -> bool:
    spec, scope = spec_of(pod), term.get("scopeName")
    match scope:
        case "PriorityClass":
            name = spec.get("priorityClassName")
            return expression_holds({**term, "key": scope}, {scope: name} if name else {})
        case "Terminating" | "NotTerminating":
            return (spec.get("activeDeadlineSeconds") is not None) is (scope == "Terminating")
        case "BestEffort" | "NotBestEffort":
            asks = any((c.get("resources") or {}).values() for c in spec.get("containers") or ())
            return asks is (scope == "NotBestEffort")
        case _:
            return False


def charge_of(pod: Raw) -> Counter[str]:
    """What a pod costs a quota, in thousandths."""
    charge: Counter[str] = Counter({"pods": _POD, "count/pods": _POD})
    for container in spec_of(pod).get("containers") or ():
        resources = container.get("resources") or {}
        for name, amount in amounts(resources.get("requests")).items():
            charge[f"requests.{name}"] += amount
            if name in {"cpu", "memory", "ephemeral-storage"}:
                charge[name] += amount
        for name, amount in amounts(resources.get("limits")).items():
            charge[f"limits.{name}"] += amount
    return charge
