"""Durations as people and Kubernetes write them: "10s", "1m30s", "500ms", or a bare number of seconds."""

import re
from datetime import timedelta

from evac.errors import InputError

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_LONGEST = timedelta(days=7)


def read_duration(text: str) -> timedelta:
    """The duration that `text` says, between 0 and 7 days. Raises `InputError`."""
    word = text.strip()
    if _NUMBER.fullmatch(word):
        return _bounded(float(word), text)
    if not _WHOLE.fullmatch(word):
        raise InputError(f"{text!r} is not a duration", cure='write it like "10s", "1m30s", "500ms" or 10 (seconds)')
    return _bounded(sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(word)), text)


def _bounded(seconds: float, text: str) -> timedelta:
    if seconds > _LONGEST.total_seconds():
        raise InputError(f"{text!r} is longer than 7 days", cure="give a duration that a drain can see")
    return timedelta(seconds=seconds)
