"""Slow calls to other services on a few threads beside the drain.

Law: whatever a call does, its key comes back once, and the loop is woken for it.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from lambdas.domain.errors import PortError

_log = logging.getLogger(__name__)

Call = Callable[[], object]


class ThreadBackground:
    """`Background` on at most `workers` daemon threads, made when there is something to do.

    The default leaves room beside two calls of each node of a full batch: where the ledger hangs, neither the messages
    nor EC2 stand behind it.

    `wake` is called after each call that ended: the cluster's, so that the loop's wait ends.
    """

    def __init__(self, wake: Callable[[], None], workers: int = 24) -> None:
        self._wake = wake
        self._workers = workers
        self._todo: deque[tuple[Hashable, Call]] = deque()
        self._uncollected: set[Hashable] = set()
        self._finished: list[tuple[Hashable, object]] = []
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._is_closed = False

    def start(self, key: Hashable, call: Call) -> None:
        """Run `call` aside. One of an equal key that has not been collected yet is not started twice."""
        with self._changed:
            if self._is_closed or key in self._uncollected:
                return
            self._uncollected.add(key)
            self._todo.append((key, call))
            if len(self._todo) > self._idle and len(self._threads) < self._workers:
                name = f"evac-background-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._work, name=name, daemon=True))
                self._threads[-1].start()
            self._changed.notify()

    def finished(self) -> Sequence[tuple[Hashable, object]]:
        """Key and returned value (or the `PortError` raised) of the calls that ended since the last time."""
        with self._changed:
            finished, self._finished = self._finished, []
            self._uncollected.difference_update(key for key, _ in finished)
            return finished

    def close(self) -> None:
        """Drop what has not begun. Calls that run are left to their own time-outs; nobody waits for them."""
        with self._changed:
            self._is_closed = True
            self._todo.clear()
            self._changed.notify_all()

    def _work(self) -> None:
        while task := self._next():
            key, call = task
            value = _outcome(call)
            with self._changed:
                self._finished.append((key, value))
            self._wake()

    def _next(self) -> tuple[Hashable, Call] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._todo or self._is_closed)
            self._idle -= 1
            return None if self._is_closed else self._todo.popleft()


def _outcome(call: Call) -> object:
    try:
        return call()
    except PortError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a fault of ours must not leave its key without an answer
        _log.error("a background call failed in a way it should not", exc_info=True)
        return PortError(f"{type(error).__name__}: {error}")
