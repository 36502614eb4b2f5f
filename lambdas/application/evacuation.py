"""All nodes of one invocation, drained side by side in one loop."""

from collections.abc import Sequence
from datetime import datetime

from lambdas.application.requests import Fate, Ports, Request
from lambdas.domain.values.settings import Settings


def evacuate(
    requests: Sequence[Request],
    ports: Ports,
    settings: Settings = Settings(),
    *,
    owner: str = "evac",
    until: datetime | None = None,
) -> list[Fate]:
    """Work on every request until each has its fate; at `until` (the invocation's end) what is unfinished is given back.

    Never raises for one request's sake. Several requests for one instance become one drain: the earliest reclaim wins.
    """
    raise NotImplementedError
