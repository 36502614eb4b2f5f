"""A work queue of keys, each looked at afresh a moment after something about it changed."""

from abc import ABC, abstractmethod
from datetime import datetime, timedelta

from evac.simulator.objects import Key
from evac.simulator.store import Change, Store


class Reconciler(ABC):
    """Law: level-based. However many changes there were, a key is looked at once, as it is then."""

    def __init__(self, store: Store, delay: timedelta) -> None:
        self.store = store
        self.timeline = store.timeline
        self._delay = delay
        self._queued: dict[Key, datetime] = {}

    @abstractmethod
    def on_change(self, change: Change) -> None:
        """Enqueue what the change concerns."""

    @abstractmethod
    def reconcile(self, key: Key) -> None:
        """Bring what the key names towards what it should be."""

    def enqueue(self, key: Key, after: timedelta | None = None) -> None:
        """Look at the key in a moment, or `after`; an earlier look that is queued already stands."""
        due = self.timeline.now() + (self._delay if after is None else after)
        queued = self._queued.get(key)
        if queued is None or due < queued:
            self._queued[key] = due
            self.timeline.at(due, lambda: self._look(key, due))

    def _look(self, key: Key, due: datetime) -> None:
        if self._queued.get(key) == due:
            del self._queued[key]
            self.reconcile(key)
