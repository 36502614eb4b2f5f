"""Several handlers in one simulation, as several invocations in one cluster.

Law: one of them runs at a time, always in the same order, and time passes only while all of them wait: runs repeat.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Semaphore, Thread, current_thread
from typing import Generic, TypeVar

from evac.simulator.timeline import Timeline

T = TypeVar("T")
HasNews = Callable[[], bool]


class Killed(BaseException):
    """The process that waits here has died. Not an `Exception`: nothing of the dead process may catch it."""


@dataclass(slots=True)
class _Turn(Generic[T]):
    """One handler's thread, and what it waits for."""

    call: Callable[[], T]
    until: datetime | None = None
    has_news: HasNews = bool
    is_done: bool = False
    is_abandoned: bool = False
    result: T | None = None
    error: BaseException | None = None
    may_run: Semaphore = field(default_factory=lambda: Semaphore(0))

    def is_due(self, now: datetime) -> bool:
        return not self.is_done and (self.until is None or self.until <= now or self.has_news())


class Turns:
    """Who may run now."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._by_thread: dict[Thread, _Turn[object]] = {}
        self._all_wait = Semaphore(0)

    def wait(self, until: datetime, has_news: HasNews) -> None:
        """Let time pass for the handler that calls: alone it drives the clock, else the others have their turn."""
        turn = self._by_thread.get(current_thread())
        if turn is None:
            self._timeline.run_until(until, has_news)
            return
        turn.until, turn.has_news = until, has_news
        self._all_wait.release()
        turn.may_run.acquire()
        if turn.is_abandoned:
            raise Killed

    def run(self, calls: Sequence[Callable[[], T]]) -> list[T | None]:
        """Run all of them to their ends; None for one that was killed. An error is raised once all have ended."""
        turns = [_Turn(call) for call in calls]
        threads = [Thread(target=self._live, args=(turn,), daemon=True) for turn in turns]
        for thread, turn in zip(threads, turns, strict=True):
            self._by_thread[thread] = turn  # type: ignore[assignment]  # turns of one run share a T, runs do not
            thread.start()
        try:
            self._take_turns(turns)
        finally:
            self._abandon(turns)
            for thread in threads:
                thread.join()
                del self._by_thread[thread]
        for turn in turns:
            if turn.error is not None and not isinstance(turn.error, Killed):
                raise turn.error
        return [turn.result for turn in turns]

    def _take_turns(self, turns: Sequence[_Turn[T]]) -> None:
        while waiting := [turn for turn in turns if not turn.is_done]:
            now = self._timeline.now()
            due = next((turn for turn in waiting if turn.is_due(now)), None)
            if due is None:
                until = min(turn.until for turn in waiting if turn.until is not None)
                self._timeline.run_until(until, lambda: any(turn.has_news() for turn in waiting))
            else:
                self._resume(due)

    def _resume(self, turn: _Turn[T]) -> None:
        turn.may_run.release()
        self._all_wait.acquire()

    def _abandon(self, turns: Sequence[_Turn[T]]) -> None:
        for turn in turns:
            turn.is_abandoned = not turn.is_done
            while not turn.is_done:
                self._resume(turn)

    def _live(self, turn: _Turn[T]) -> None:
        turn.may_run.acquire()
        try:
            if not turn.is_abandoned:
                turn.result = turn.call()
        except BaseException as error:  # noqa: BLE001 (raised again by `run`, in the thread that asked)
            turn.error = error
        turn.is_done = True
        self._all_wait.release()
