"""What etcd and the API server's storage do: objects by key, versions, and who is told of a change.

Law: whoever is told of a change only takes note and asks for time; it never writes there and then.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from evac.simulator.objects import Key, Raw, controller_of, key_of, revised, spec_of, uid_of, written_time
from evac.simulator.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Change:
    """One write: `old` is None for a new object, `new` for one that is gone."""

    key: Key
    old: Raw | None
    new: Raw | None


Subscriber = Callable[[Change], None]


class Store:
    """Every object of the cluster as it is at this moment."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._objects: dict[str, dict[Key, Raw]] = defaultdict(dict)
        self._pods_on: dict[str, dict[Key, None]] = defaultdict(dict)
        self._owned_by: dict[str, dict[Key, None]] = defaultdict(dict)
        self._pods_in: dict[str, dict[Key, None]] = defaultdict(dict)
        self._subscribers: list[Subscriber] = []
        self._versions = count(1001)
        self._uids = count(1)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell `subscriber` of every change, in the order of subscription; the returned call ends it."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def get(self, key: Key) -> Raw | None:
        """The object, not to be altered."""
        return self._objects[key.kind].get(key)

    def of_kind(self, kind: str) -> Iterable[Raw]:
        """All objects of a kind, oldest first."""
        return self._objects[kind].values()

    def kinds(self) -> Iterable[str]:
        """The kinds there are objects of."""
        return [kind for kind, objects in self._objects.items() if objects]

    def pods_on(self, node_name: str) -> Iterator[Raw]:
        """The pods bound to a node."""
        return self._known(self._pods_on.get(node_name, ()))

    def pods_in(self, namespace: str) -> Iterator[Raw]:
        """The pods of a namespace."""
        return self._known(self._pods_in.get(namespace, ()))

    def owned_by(self, uid: str, kind: str = "Pod") -> Iterator[Raw]:
        """The objects of a kind whose controller has this uid."""
        return (raw for raw in self._known(self._owned_by.get(uid, ())) if raw["kind"] == kind)

    def _known(self, keys: Iterable[Key]) -> Iterator[Raw]:
        for key in list(keys):
            raw = self.get(key)
            if raw is not None:
                yield raw

    def new_uid(self) -> str:
        """A uid that no other object has had; the same in every run."""
        number = next(self._uids)
        return f"{number:08x}-5107-4e7a-8000-{number:012x}"

    def put(self, raw: Raw) -> Raw:
        """Store a new object, or a changed one in its place: version always, generation where the spec changed."""
        key = key_of(raw)
        old = self.get(key)
        stored = self._versioned(raw, old)
        self._objects[key.kind][key] = stored
        self._index(key, old, stored)
        return stored

    def _versioned(self, raw: Raw, old: Raw | None) -> Raw:
        metadata = raw["metadata"]
        generation = metadata.get("generation") or 1
        if old is not None and old.get("spec") is not raw.get("spec") and old.get("spec") != raw.get("spec"):
            generation = (old["metadata"].get("generation") or 1) + 1
        return revised(
            raw,
            metadata={
                "resourceVersion": str(next(self._versions)),
                "generation": generation,
                "uid": uid_of(raw) or self.new_uid(),
                "creationTimestamp": metadata.get("creationTimestamp") or written_time(self.timeline.now()),
            },
        )

    def remove(self, key: Key) -> None:
        """The object is gone."""
        old = self._objects[key.kind].pop(key, None)
        if old is not None:
            self._index(key, old, None)

    def _index(self, key: Key, old: Raw | None, new: Raw | None) -> None:
        if old is not None:
            for index, place in self._places(key, old):
                index[place].pop(key, None)
        if new is not None:
            for index, place in self._places(key, new):
                index[place][key] = None
        change = Change(key, old, new)
        for subscriber in tuple(self._subscribers):
            subscriber(change)

    def _places(self, key: Key, raw: Raw) -> Iterator[tuple[dict[str, dict[Key, None]], str]]:
        owner = controller_of(raw)
        if owner is not None and owner.get("uid"):
            yield self._owned_by, owner["uid"]
        if key.kind != "Pod":
            return
        yield self._pods_in, key.namespace
        if node := spec_of(raw).get("nodeName"):
            yield self._pods_on, node
