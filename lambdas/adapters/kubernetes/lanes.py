"""Actions carried out side by side, in lanes that do not wait for one another.

Law: evictions can hang for ten seconds inside the server; neither a cordon nor a delete at the last safe moment stands
behind them. Each action is worked on once or, if the lane is closed before, never.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Lane(Generic[T]):
    """Up to `size` daemon threads, made as they are needed; first come, first served. `work` must not raise."""

    def __init__(self, name: str, size: int, work: Callable[[T], None]) -> None:
        self._name = name
        self._size = size
        self._work = work
        self._queue: deque[T] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._is_closed = False

    @property
    def idle(self) -> int:
        """How many threads wait for work."""
        with self._changed:
            return self._idle

    def submit(self, action: T) -> bool:
        """Hand an action over; False if nobody will work on it (closed, or the system has no threads left)."""
        with self._changed:
            if self._is_closed:
                return False
            self._queue.append(action)
            if len(self._queue) > self._idle and len(self._threads) < self._size and not self._hire():
                self._queue.pop()
                return False
            self._changed.notify()
            return True

    def close(self) -> None:
        """Drop what has not begun; the threads end with what they are at."""
        with self._changed:
            self._is_closed = True
            self._queue.clear()
            self._changed.notify_all()

    @property
    def threads(self) -> Sequence[threading.Thread]:
        """Those that have been made."""
        return tuple(self._threads)

    def _hire(self) -> bool:
        """Whether there is anybody in this lane."""
        thread = threading.Thread(target=self._run, name=f"evac-{self._name}-{len(self._threads)}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads: those that are here will come to it
            return bool(self._threads)
        self._threads.append(thread)
        return True

    def _run(self) -> None:
        while (action := self._next()) is not None:
            self._work(action)

    def _next(self) -> T | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            self._idle -= 1
            return self._queue.popleft() if self._queue else None
