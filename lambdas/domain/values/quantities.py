"""Kubernetes quantities ("100m", "1.5Gi", "1e3") in thousandths of their unit, and what a pod is charged."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

Json = Mapping[str, Any]

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(1 << 10),
    "Mi": Decimal(1 << 20),
    "Gi": Decimal(1 << 30),
    "Ti": Decimal(1 << 40),
    "Pi": Decimal(1 << 50),
    "Ei": Decimal(1 << 60),
}
_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40}))(?:[eE](?P<power>[+-]?\d{1,2})|(?P<suffix>[numkMGTPE]|[KMGTPE]i|))",
    re.ASCII,
)
"""(apimachinery resource.Quantity); no longer than anything that is meant."""
_EXACT = Context(prec=220)

_BARE = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE = "hugepages-"
"""Requests of these count under their plain names too (ResourceQuota, compute resources)."""


def thousandths(text: object) -> int:
    """A quantity, rounded up. Raises ValueError for what is none."""
    found = _QUANTITY.fullmatch(str(text).strip())
    if found is None:
        raise ValueError(f"not a quantity: {str(text)[:40]!r}")
    power = found["power"]
    unit = Decimal(10) ** int(power) if power else _SUFFIXES[found["suffix"]]
    amount = _EXACT.multiply(Decimal(found["number"]), unit * 1000)
    return int(amount.to_integral_value(ROUND_CEILING, _EXACT))


def charge_of(spec: Json) -> dict[str, int]:
    """What ResourceQuotas charge for a pod of this spec, by their names, in thousandths.

    Requests and limits are the larger of all containers together and the largest init container; a sidecar (an init
    container that restarts always) counts with the former and with the init containers after it (KEP-753). What is
    asked for the whole pod stands in their place (KEP-2837); the overhead comes on top.
    """
    charge: Counter[str] = Counter({"pods": 1000, "count/pods": 1000})
    for field in ("requests", "limits"):
        for name, amount in _amounts(spec, field).items():
            charge[f"{field}.{name}"] += amount
            if field == "requests" and (name in _BARE or name.startswith(_HUGE)):
                charge[name] += amount
    return dict(charge)


def _amounts(spec: Json, field: str) -> Counter[str]:
    total: Counter[str] = Counter()
    sidecars: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for container in _containers(spec, "containers"):
        total.update(_of(container, field))
    for container in _containers(spec, "initContainers"):
        if container.get("restartPolicy") == "Always":
            sidecars.update(_of(container, field))
        else:
            most |= _of(container, field) + sidecars
    total = (total + sidecars) | most
    whole: Json = spec.get("resources") or {}
    for name, amount in (whole.get(field) or {}).items():
        total[name] = _told(amount)
    for name, amount in (spec.get("overhead") or {}).items():
        total[name] += _told(amount)
    return total


def _containers(spec: Json, field: str) -> Sequence[Json]:
    found: Sequence[Json] = spec.get(field) or ()
    return found


def _of(container: Json, field: str) -> Counter[str]:
    """A limit stands for a request that is not there (API defaulting)."""
    resources = container.get("resources") or {}
    amounts = dict(resources.get(field) or {})
    if field == "requests":
        amounts = {**(resources.get("limits") or {}), **amounts}
    return Counter({name: _told(amount) for name, amount in amounts.items()})


def _told(amount: object) -> int:
    """0 for what cannot be read: one odd container must not hide its pod."""
    try:
        return thousandths(amount)
    except ValueError:
        return 0
