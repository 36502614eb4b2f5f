"""The annotations by which a pod says how it starts and ends in a replay, and an autoscaler what it is to carry.

Law: a typo in one must not pass for a default.
"""

import re
from collections.abc import Iterator

from evac.errors import InputError
from evac.scenario.durations import read_duration
from evac.scenario.shapes import Path, ShapeError, refuse, strings
from evac.simulator import durations as simulator

PREFIX = "replay.spot-evac.dev/"
DURATIONS = (simulator.STARTUP, simulator.SHUTDOWN, simulator.COMPLETES)
LOAD = simulator.LOAD

_PODS = re.compile(r"\d{1,6}(?:\.\d{1,3})?", re.ASCII)


def replay_annotations(value: object, path: Path) -> None:
    """A pod's annotations, and anybody's but an autoscaler's: those of a replay among them known and readable."""
    for key, text in _of_a_replay(value, path):
        _check(key, text, (*path, key))


def autoscaler_annotations(value: object, path: Path) -> None:
    """A HorizontalPodAutoscaler's."""
    for key, text in _of_a_replay(value, path):
        if key != LOAD:
            raise ShapeError((*path, key), f"no such annotation: {key[:80]!a}; of an autoscaler a replay knows {LOAD}")
        if not _PODS.fullmatch(text):
            raise refuse(text, (*path, key), 'a number of pods ("12", "7.5")')


def _of_a_replay(value: object, path: Path) -> Iterator[tuple[str, str]]:
    strings(value, path)
    assert isinstance(value, dict)  # noqa: S101 - `strings` has seen to it
    return ((key, text) for key, text in value.items() if key.startswith(PREFIX))


def _check(key: str, text: str, path: Path) -> None:
    if key == simulator.READY:
        if text not in {"true", "false"}:
            raise refuse(text, path, '"true" or "false"')
    elif key in DURATIONS:
        if not _is_duration(text):
            raise refuse(text, path, 'a duration ("10s", "1m30s", "500ms")')
    else:
        known = ", ".join(name.removeprefix(PREFIX) for name in (*DURATIONS, simulator.READY))
        raise ShapeError(path, f"no such annotation: {key[:80]!a}; a replay knows {PREFIX}… {known}")


def _is_duration(text: str) -> bool:
    """Units are asked for here: the same annotations are read by the real control plane's stages."""
    try:
        read_duration(text)
    except InputError:
        return False
    return simulator.read_duration(text) is not None
