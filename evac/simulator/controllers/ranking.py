"""Which of its pods a ReplicaSet gives up first when it has too many.

Rule: ActivePodsWithRanks in pkg/controller/controller_utils.go, step by step.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cmp_to_key
from math import log2

from evac.simulator.objects import Raw, annotations_of, read_moment, status_of, uid_of
from evac.simulator.pods import condition_of, is_ready, node_of, phase_of

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def first_to_go(pods: Iterable[Raw], related: Iterable[Raw], now: datetime) -> list[Raw]:
    """The pods in the order in which they would be deleted; `related`: all active pods of the same Deployment."""
    crowd = Counter(node_of(pod) for pod in related)

    def before(one: Raw, other: Raw) -> int:
        mine, others = _standing(one, crowd), _standing(other, crowd)
        if mine != others:
            return -1 if mine < others else 1
        return _by_age(one, other, now)

    return sorted(pods, key=cmp_to_key(before))


def _standing(pod: Raw, crowd: Counter[str]) -> tuple[bool, int, bool, int, int]:
    node = node_of(pod)
    return bool(node), _PHASES.get(phase_of(pod), 2), is_ready(pod), _deletion_cost(pod), -crowd[node]


def _deletion_cost(pod: Raw) -> int:
    try:
        return int(annotations_of(pod).get("controller.kubernetes.io/pod-deletion-cost", "0"))
    except ValueError:
        return 0


def _by_age(one: Raw, other: Raw, now: datetime) -> int:
    """Ready for a shorter time first, more restarts first, newer first; times compared by their order of magnitude."""
    if is_ready(one) and is_ready(other) and (decided := _compare(_ready_at(one), _ready_at(other), one, other, now)):
        return decided
    restarts = _restarts(other) - _restarts(one)
    return restarts or _compare(_created_at(one), _created_at(other), one, other, now)


def _compare(moment: datetime | None, other: datetime | None, pod: Raw, other_pod: Raw, now: datetime) -> int:
    if moment == other:
        return 0
    if moment is None or other is None:
        return -1 if moment is None else 1
    magnitudes = _magnitude(now - moment), _magnitude(now - other)
    if magnitudes[0] != magnitudes[1]:
        return magnitudes[0] - magnitudes[1]
    return -1 if uid_of(pod) < uid_of(other_pod) else 1


def _magnitude(age: timedelta) -> int:
    nanoseconds = age.total_seconds() * 1e9
    return int(log2(nanoseconds)) if nanoseconds > 0 else -1


def _ready_at(pod: Raw) -> datetime | None:
    return read_moment((condition_of(pod, "Ready") or {}).get("lastTransitionTime"))


def _created_at(pod: Raw) -> datetime | None:
    return read_moment(pod["metadata"].get("creationTimestamp"))


def _restarts(pod: Raw) -> int:
    return max((c.get("restartCount") or 0 for c in status_of(pod).get("containerStatuses") or ()), default=0)
