"""What one client has listed and keeps current by a watch.

Law: a client knows what was listed or told, a moment late; never the store itself. Where a watch cannot be had it lists
now and then, and says so.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Generic, TypeVar

from evac.simulator.faults import Faults
from evac.simulator.objects import Key, Raw
from evac.simulator.options import SimulatorOptions
from evac.simulator.requests import Requests
from evac.simulator.store import Change, Store
from lambdas.domain.values.answers import Done, Forbidden, Result
from lambdas.domain.values.observation import Freshness, Listing

T = TypeVar("T")
Accepts = Callable[[Raw], bool]


class Watch(Generic[T]):
    """One list and watch of `resource`: the objects of a kind that `accepts`, read into values; or one list only."""

    def __init__(
        self,
        kind: str,
        resource: str,
        accepts: Accepts,
        read: Callable[[Raw], T],
        tell: Callable[[], None],
        *,
        is_listed_once: bool = False,
    ) -> None:
        self.is_listed_once = is_listed_once
        self.kind = kind
        self.resource = resource
        self.accepts = accepts
        self._read = read
        self._tell = tell
        self.items: dict[Key, T] = {}
        self.freshness = Freshness.PENDING
        self.why = ""
        self.listed_at: datetime | None = None
        self.is_listing = False
        self._epoch = 0
        self._earliest: datetime | None = None
        self._cached: Listing[T] | None = None

    def listing(self) -> Listing[T]:
        """The newest state, and how far to believe it."""
        if self._cached is None:
            self._cached = Listing(tuple(self.items.values()), self.freshness, self.why)
        return self._cached

    def set_freshness(self, freshness: Freshness, why: str = "") -> None:
        """Say how far the items may be believed; the client is told where that changed."""
        if (freshness, why) != (self.freshness, self.why):
            self.freshness, self.why = freshness, why
            self._changed()

    def _changed(self) -> None:
        self._cached = None
        self._tell()

    def snapshot(self, store: Store, heard_from: datetime) -> Callable[[datetime], None]:
        """What a list sees now, to be taken in when its answer arrives; events before it are forgotten."""
        items = {key: self._read(raw) for key, raw in self._selected(store)}
        self._epoch += 1
        self._earliest = heard_from

        def take(begun_at: datetime) -> None:
            self.items = items
            self.listed_at = begun_at
            self._changed()

        return take

    def _selected(self, store: Store) -> Iterator[tuple[Key, Raw]]:
        for raw in store.of_kind(self.kind):
            if self.accepts(raw):
                yield Key(self.kind, raw["metadata"].get("namespace") or "", raw["metadata"]["name"]), raw

    def hear(self, change: Change, due: datetime, store: Store) -> None:
        """An event that concerns the watch reaches the client at `due`, never before the list it follows."""
        kept = change.new if change.new is not None and self.accepts(change.new) else None
        epoch = self._epoch
        due = max(due, self._earliest or due)
        self._earliest = due
        store.timeline.at(due, lambda: self._take_in(change.key, kept, epoch))

    def concerns(self, change: Change) -> bool:
        """Whether the server would send the change."""
        return (
            not self.is_listed_once
            and change.key.kind == self.kind
            and any(raw is not None and self.accepts(raw) for raw in (change.old, change.new))
        )

    def _take_in(self, key: Key, raw: Raw | None, epoch: int) -> None:
        if epoch != self._epoch:
            return
        if raw is None:
            self.items.pop(Key(self.kind, key.namespace, key.name), None)
        else:
            self.items[Key(self.kind, key.namespace, key.name)] = self._read(raw)
        self._changed()


class Watches:
    """All of a client's watches: listing them, hearing changes, and what happens when they break."""

    def __init__(self, store: Store, faults: Faults, requests: Requests, options: SimulatorOptions) -> None:
        self._store = store
        self._faults = faults
        self._requests = requests
        self._options = options
        self._watches: list[Watch[object]] = []
        self._ends = [store.subscribe(self._on_change), faults.on_watch_change(self._look_again)]

    def close(self) -> None:
        """Hear nothing any more."""
        for end in self._ends:
            end()
        self._ends.clear()
        self._watches.clear()

    def list(self, watch: Watch[T], done: Callable[[Result], None] = lambda _: None) -> None:
        """List, and watch from there. Called again for the same watch, it lists afresh."""
        if watch not in self._watches:
            self._watches.append(watch)  # type: ignore[arg-type]  # watches of every kind
        timeline, latency = self._store.timeline, self._options.latencies.list
        begun_at = timeline.now()
        take: list[Callable[[datetime], None]] = []

        def effect(reply: Callable[[Result], None]) -> None:
            take.append(watch.snapshot(self._store, timeline.now() + latency / 2))
            reply(Done())

        def answered(result: Result) -> None:
            if isinstance(result, Done):
                take[-1](begun_at)
            self._judge(watch, result)
            done(result)

        self._requests.send("list", watch.resource, latency, effect, answered)

    def _judge(self, watch: Watch[T], result: Result) -> None:
        """What a list's answer says of the watch; one that works is not hurt by a list that failed."""
        works = watch.is_listed_once or self._faults.watch_works(watch.resource)
        match result:
            case Forbidden(message):
                watch.set_freshness(Freshness.UNREADABLE, message)
            case Done() if works:
                watch.set_freshness(Freshness.CURRENT)
            case Done():
                watch.set_freshness(Freshness.STALE, "the watch is broken")
            case _ if watch.listed_at is not None and not works:
                watch.set_freshness(Freshness.STALE, "the watch is broken")
            case _:
                pass
        self._poll(watch)

    def _poll(self, watch: Watch[T]) -> None:
        """List what is not current now and then; what may not be read is asked for again seldom."""
        if watch.freshness is Freshness.CURRENT or watch.is_listing:
            return
        watch.is_listing = True
        is_denied = watch.freshness is Freshness.UNREADABLE
        pause = self._options.ask_again_every if is_denied else self._options.poll_every
        self._store.timeline.after(pause, lambda: self._list_again(watch))

    def _list_again(self, watch: Watch[T]) -> None:
        watch.is_listing = False
        if watch in self._watches and watch.freshness is not Freshness.CURRENT:
            self.list(watch)

    def _on_change(self, change: Change) -> None:
        for watch in self._watches:
            if watch.kind == change.key.kind and watch.concerns(change) and self._faults.watch_works(watch.resource):
                late = self._faults.watch_delay(watch.resource)
                watch.hear(change, self._store.timeline.now() + self._options.latencies.watch + late, self._store)

    def _look_again(self) -> None:
        """Watches broke, or can be had again: what was missed meanwhile is listed."""
        for watch in self._watches:
            if watch.is_listed_once:
                continue
            works = self._faults.watch_works(watch.resource)
            if watch.freshness is Freshness.CURRENT and not works:
                watch.set_freshness(Freshness.STALE, "the watch is broken")
                self._poll(watch)
            elif watch.freshness is Freshness.STALE and works:
                self.list(watch)
