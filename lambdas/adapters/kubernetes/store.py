"""The objects of one kind as last seen: from a list, from a watch, or from an answer to a patch of ours.

Law: what is older never overwrites what is newer. Resource versions of one kind of object are compared as integers,
which the API promises (KEP-5504) and etcd has always kept; where one is none, what came last counts. Values are kept,
JSON is not.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from lambdas.domain.values.observation import Freshness, Listing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seen(Generic[T]):
    """One object. `value` is None where it could not be read: `fault` says which and why."""

    key: str
    version: str
    value: T | None
    fault: str = ""


class Store(Generic[T]):
    """`changed` is called, outside the lock, when what a reader sees has changed."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._objects: dict[str, Seen[T]] = {}
        self._listed_version = ""
        self._version = ""
        self._listed_at: datetime | None = None
        self._freshness = Freshness.PENDING
        self._why = ""
        self._snapshot: Listing[T] | None = None

    @property
    def version(self) -> str:
        """Where a watch goes on; empty, a list is needed first."""
        with self._lock:
            return self._version

    @property
    def listed_at(self) -> datetime | None:
        """When the newest list was begun."""
        with self._lock:
            return self._listed_at

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all, not even one that cannot be read."""
        with self._lock:
            return not self._objects

    def listing(self) -> Listing[T]:
        """What is known."""
        with self._lock:
            if self._snapshot is None:
                values = tuple(seen.value for seen in self._objects.values() if seen.value is not None)
                self._snapshot = Listing(values, self._freshness, self._why or self._faults())
            return self._snapshot

    def find(self, key: str) -> T | None:
        """The object of that key."""
        with self._lock:
            seen = self._objects.get(key)
            return seen.value if seen else None

    def replace(self, objects: Iterable[Seen[T]], version: str, begun_at: datetime) -> None:
        """A full list; of no use where a watch has already told what came after it."""
        with self._lock:
            if not _is_older(version, self._version):
                self._objects = {seen.key: seen for seen in objects}
                self._version = self._listed_version = version
            if self._listed_at is None or self._listed_at < begun_at:
                self._listed_at = begun_at
            if self._freshness in (Freshness.PENDING, Freshness.UNREADABLE):
                self._freshness, self._why = Freshness.CURRENT, ""
            self._snapshot = None
        self._changed()

    def put(self, seen: Seen[T]) -> None:
        """An object as it is now, or was added or modified."""
        with self._lock:
            known = self._objects.get(seen.key)
            if _is_older(seen.version, known.version if known else self._listed_version):
                return
            self._objects[seen.key] = seen
            if known and known.value == seen.value and known.fault == seen.fault:
                return
            self._snapshot = None
        self._changed()

    def remove(self, key: str, version: str) -> None:
        """It is gone, as of that version."""
        with self._lock:
            known = self._objects.get(key)
            if known is None or _is_older(version, known.version):
                return
            del self._objects[key]
            self._snapshot = None
        self._changed()

    def seen_up_to(self, version: str) -> None:
        """The watch has told everything up to there."""
        with self._lock:
            if not _is_older(version, self._version):
                self._version = version

    def forget_version(self) -> None:
        """The watch cannot be resumed: list again, and believe that list whatever its version."""
        with self._lock:
            self._version = self._listed_version = ""

    def mark(self, freshness: Freshness, why: str = "") -> None:
        """How far it may be believed from now on."""
        with self._lock:
            if (freshness, why) == (self._freshness, self._why):
                return
            self._freshness, self._why, self._snapshot = freshness, why, None
        self._changed()

    def _faults(self) -> str:
        faults = [seen.fault for seen in self._objects.values() if seen.fault]
        return f"{len(faults)} could not be read, as {faults[0]}" if faults else ""


def _is_older(version: str, than: str) -> bool:
    return version.isdigit() and than.isdigit() and int(version) < int(than)
