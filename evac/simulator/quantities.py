"""Kubernetes quantities and percentages, by the simulator's own arithmetic."""

from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import Any

_SUFFIXES = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60,
}  # fmt: skip


@lru_cache(maxsize=4096)
def thousandths(quantity: str) -> int:
    """A quantity ("100m", "2", "1.5Gi", "1e3") in thousandths, rounded up as the API does; 0 where it is none."""
    number = quantity.rstrip("numkKMGTPEi")
    suffix = quantity[len(number) :]
    try:
        return ceil(round(float(number) * _SUFFIXES[suffix] * 1000, 6))
    except (ValueError, KeyError, OverflowError):
        return 0


def amounts(quantities: Mapping[str, Any] | None) -> dict[str, int]:
    """A map of resources (requests, allocatable) in thousandths."""
    return {name: thousandths(str(quantity)) for name, quantity in (quantities or {}).items()}


def share(value: Any, whole: int) -> int:
    """An int-or-percent of `whole`; percentages round up (intstr.GetScaledValueFromIntOrPercent, roundUp)."""
    if isinstance(value, int):
        return value
    text = str(value)
    if text.endswith("%"):
        return -(-int(text[:-1]) * whole // 100)
    return int(text)


def share_down(value: Any, whole: int) -> int:
    """The same, with percentages rounded down."""
    text = str(value)
    return int(text[:-1]) * whole // 100 if text.endswith("%") else int(text)
