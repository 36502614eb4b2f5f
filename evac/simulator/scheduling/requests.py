"""What a pod asks of a node's resources.

Rule: the larger of the containers' sum (with restartable init containers) and of any init container, plus overhead;
the pod's own `resources` where it gives them (component-helpers/resource).
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from evac.simulator.objects import Raw, spec_of
from evac.simulator.quantities import amounts

POD = 1000


def requests_of(pod: Raw) -> Mapping[str, int]:
    """The pod's requests in thousandths, itself counted as one of `pods`."""
    spec = spec_of(pod)
    total = _containers(spec)
    total.update(amounts((spec.get("resources") or {}).get("requests")))
    for name, amount in amounts(spec.get("overhead")).items():
        total[name] = total.get(name, 0) + amount
    total["pods"] = POD
    return {name: amount for name, amount in total.items() if amount}


def _containers(spec: Raw) -> dict[str, int]:
    running = _sum(spec.get("containers") or ())
    sidecars: Counter[str] = Counter()
    peak: dict[str, int] = {}
    for init in spec.get("initContainers") or ():
        asked = _requests(init)
        if init.get("restartPolicy") == "Always":
            sidecars.update(asked)
            asked = {}
        for name in asked.keys() | sidecars.keys():
            peak[name] = max(peak.get(name, 0), asked.get(name, 0) + sidecars[name])
    running.update(sidecars)
    return {name: max(running.get(name, 0), peak.get(name, 0)) for name in running.keys() | peak.keys()}


def _sum(containers: Iterable[Raw]) -> Counter[str]:
    total: Counter[str] = Counter()
    for container in containers:
        total.update(_requests(container))
    return total


def _requests(container: Raw) -> dict[str, int]:
    """A limit without a request is the request (API defaulting)."""
    resources = container.get("resources") or {}
    return {**amounts(resources.get("limits")), **amounts(resources.get("requests"))}
