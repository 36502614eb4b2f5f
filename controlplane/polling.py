"""Answers for waiting on a cluster: as long as it takes, and never longer than said."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

T = TypeVar("T")

_POLL = 0.03


def until(holds: Callable[[], T], within: timedelta = timedelta(seconds=30), what: str = "") -> T:
    """Poll until `holds()` is true, and return its value. An OSError means not yet: the server may be away.

    Raises TimeoutError, which names `what` was waited for and what was seen last.
    """
    deadline = time.monotonic() + within.total_seconds()
    while True:
        try:
            seen: object = (value := holds())
            if value:
                return value
        except OSError as error:
            seen = error
        if time.monotonic() > deadline:
            name = what or getattr(holds, "__qualname__", repr(holds))
            raise TimeoutError(f"not within {within.total_seconds():g} s: {name}; seen last: {seen!r}")
        time.sleep(_POLL)
