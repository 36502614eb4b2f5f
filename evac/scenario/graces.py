"""The grace that each pod asks for itself."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

_DEFAULT = 30
"""Seconds; what the API server fills in (core/v1, PodSpec.terminationGracePeriodSeconds)."""


def own_graces(pods: Iterable[dict[str, Any]]) -> dict[tuple[str, str], timedelta]:
    """By namespace and name."""
    graces: dict[tuple[str, str], timedelta] = {}
    for pod in pods:
        seconds = (pod.get("spec") or {}).get("terminationGracePeriodSeconds")
        grace = _DEFAULT if seconds is None else max(0, int(seconds))
        graces[pod["metadata"]["namespace"], pod["metadata"]["name"]] = timedelta(seconds=min(grace, _MOST))
    return graces


_MOST = 10**9
"""Seconds. The API takes any int64, a `timedelta` does not."""
