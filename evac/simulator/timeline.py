"""Virtual time: what is due next, in order of time, then of asking.

Law: nothing here reads a real clock; the same simulation run twice does the same things in the same order.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count

Happening = Callable[[], object]


class Timeline:
    """The virtual clock and everything that is still to happen."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError("the simulation's beginning needs a time zone, e.g. datetime(…, tzinfo=UTC)")
        self._now = now
        self._due: list[tuple[datetime, int, Happening]] = []
        self._order = count()

    def now(self) -> datetime:
        """This virtual moment."""
        return self._now

    def at(self, moment: datetime, happening: Happening) -> None:
        """Let it happen at `moment`, or next where that is past."""
        heappush(self._due, (max(moment, self._now), next(self._order), happening))

    def after(self, delay: timedelta, happening: Happening) -> None:
        """Let it happen `delay` from now."""
        heappush(self._due, (self._now + delay, next(self._order), happening))

    def step(self) -> None:
        """Go to the next moment at which something is due, and let one thing happen. What it raises comes out here."""
        moment, _, happening = heappop(self._due)
        self._now = moment
        happening()

    def run_until(self, moment: datetime, stop: Callable[[], bool] = lambda: False) -> None:
        """Let everything due until `moment` happen, and go there; `stop` is asked when a moment's things have happened.

        Where it stops, time stands at that moment.
        """
        while self._due and self._due[0][0] <= moment:
            self.step()
            if (not self._due or self._due[0][0] > self._now) and stop():
                return
        self._now = max(self._now, moment)
