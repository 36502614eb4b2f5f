"""The annotations by which a pod says how it starts and ends in a replay: a typo in one must not pass for a default."""

from evac.errors import InputError
from evac.scenario.durations import read_duration
from evac.scenario.shapes import Path, ShapeError, refuse, strings
from evac.simulator import durations as simulator

PREFIX = "replay.spot-evac.dev/"
DURATIONS = (simulator.STARTUP, simulator.SHUTDOWN, simulator.COMPLETES)


def replay_annotations(value: object, path: Path) -> None:
    """Annotations, those of a replay among them known and readable."""
    strings(value, path)
    assert isinstance(value, dict)  # noqa: S101 - `strings` has seen to it
    for key, text in value.items():
        if key.startswith(PREFIX):
            _check(key, text, (*path, key))


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
