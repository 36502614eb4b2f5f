"""What is listed now and then in turn, by one thread, where a watch for each would be too many.

Law: it asks for one list at a time, and what it keeps says that it may be behind.
"""

import logging
import threading
from typing import Any

from lambdas.adapters.kubernetes.reflector import Reflector
from lambdas.domain.values.observation import Freshness

_log = logging.getLogger(__name__)

_PAUSE = 5.0
"""Seconds between one round and the next."""

WHY = "too many namespaces to watch each; listed in turn"


class Rounds:
    """The reflectors that have no thread of their own; any thread may add one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reflectors: list[Reflector[Any]] = []
        self._over = threading.Event()
        self.thread: threading.Thread | None = None

    def add(self, reflector: Reflector[Any]) -> None:
        """Listed again with every round from now on."""
        _say(reflector)
        with self._lock:
            if reflector not in self._reflectors:
                self._reflectors.append(reflector)
            if self.thread is None and not self._over.is_set():
                self.thread = threading.Thread(target=self._run, name="evac-rounds", daemon=True)
                self.thread.start()

    def close(self) -> None:
        """End soon; a read that hangs ends when its connection is cut."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(_PAUSE):
            with self._lock:
                reflectors = list(self._reflectors)
            for reflector in reflectors:
                if self._over.is_set():
                    return
                self._refresh(reflector)

    @staticmethod
    def _refresh(reflector: Reflector[Any]) -> None:
        """One that cannot be listed now stays as it was until the next round."""
        try:
            reflector.refresh()
            _say(reflector)
        except Exception:  # noqa: BLE001 - a fault of ours must not end what the drain sees by
            _log.error("listing %s failed in a way it should not", reflector.thread.name, exc_info=True)


def _say(reflector: Reflector[Any]) -> None:
    """What was never listed is none the better for it."""
    if reflector.store.listed_at is not None:
        reflector.store.mark(Freshness.STALE, WHY)
