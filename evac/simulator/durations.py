"""Durations in pod annotations, written as Go writes them ("10s", "1m30s", "250ms")."""

import re
from datetime import timedelta
from functools import lru_cache

from evac.simulator.objects import Raw, annotations_of

STARTUP = "replay.spot-evac.dev/startup"
SHUTDOWN = "replay.spot-evac.dev/shutdown"
READY = "replay.spot-evac.dev/ready"
COMPLETES = "replay.spot-evac.dev/completes"
LOAD = "replay.spot-evac.dev/load"
"""Of an HPA, no duration: how many pods at their target its load is worth."""

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@lru_cache(maxsize=1024)
def read_duration(text: str) -> timedelta | None:
    """The duration, or None where it is not one."""
    if not text or _PART.sub("", text):
        return None
    return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))


def annotated(pod: Raw, name: str, default: timedelta) -> timedelta:
    """What the pod's annotation says, or the default where it says nothing that can be read."""
    duration = read_duration(str(annotations_of(pod).get(name, "")))
    return default if duration is None else duration
