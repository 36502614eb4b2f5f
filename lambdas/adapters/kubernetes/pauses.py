"""How long to leave the API server alone after something failed."""

import random


class Pause:
    """Grows from `first` to `longest` seconds, each a quarter more or less, so that many do not come back together."""

    def __init__(self, first: float = 0.5, longest: float = 5.0, growth: float = 1.7) -> None:
        self._first = first
        self._longest = longest
        self._growth = growth
        self._next = first

    def next(self) -> float:
        """Seconds to wait now."""
        seconds = self._next * random.uniform(0.75, 1.25)  # noqa: S311 - no secret, only spread
        self._next = min(self._next * self._growth, self._longest)
        return min(seconds, self._longest)

    def reset(self) -> None:
        """It works again."""
        self._next = self._first
