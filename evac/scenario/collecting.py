"""Objects, one after the other, into a scenario: checked, addressed, each once.

Law: an object is taken, or named in a note or an error. A kind of which nothing was read is unknown, not empty.
"""

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any

from evac.scenario.completion import complete
from evac.scenario.kinds import KINDS, Kind, kind_of
from evac.scenario.schema import SCHEMA
from evac.scenario.shapes import ShapeError

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A cluster to replay in. `known`: the kinds that were read; `notes`: what people should know of the reading."""

    objects: tuple[Json, ...]
    known: frozenset[str]
    notes: tuple[str, ...] = ()

    @property
    def unknown(self) -> tuple[Kind, ...]:
        """The kinds of the sample command of which nothing is known."""
        return tuple(kind for kind in KINDS if kind.name not in self.known)

    def of_kind(self, name: str) -> Iterator[Json]:
        """The objects of a kind."""
        return (o for o in self.objects if o["kind"] == name)


@dataclass(slots=True)
class Collection:
    """What was taken so far."""

    notes: list[str] = field(default_factory=list)
    empty: set[str] = field(default_factory=set)
    """Kinds of which an empty list was given."""
    _objects: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    _unused: Counter[str] = field(default_factory=Counter)
    _repeated: list[str] = field(default_factory=list)

    def take(self, value: Json) -> None:
        """Take an object that says its kind. Raises `ShapeError` where a field is not what it must be."""
        kind = kind_of(value.get("apiVersion") or "", value["kind"])
        if kind is None:
            self._unused[value["kind"][:60]] += 1
            return
        try:
            SCHEMA[kind.name](value, ())
        except ShapeError as error:
            raise ShapeError(error.path, f"{kind.name} {_title(value)}: {error.message}") from None
        self._keep(_addressed(value, kind), kind)

    def _keep(self, value: Json, kind: Kind) -> None:
        """The last of several with one name counts, as with `kubectl apply`; that there were several is said."""
        namespace, name = value["metadata"].get("namespace", ""), value["metadata"]["name"]
        if self._objects.pop((kind.name, namespace, name), None) is not None:
            self._repeated.append(f"{kind.name} {namespace}/{name}" if namespace else f"{kind.name} {name}")
        self._objects[kind.name, namespace, name] = value

    def scenario(self, known: Set[str] = frozenset()) -> Scenario:
        """What was taken as a scenario; `known`: kinds that were read whether or not there was any object."""
        objects = tuple(complete(self._objects.values()))
        kinds = frozenset(o["kind"] for o in objects) | known | self.empty
        return Scenario(objects, kinds, (*self.notes, *self._remarks()))

    def _remarks(self) -> Iterator[str]:
        if self._repeated:
            shown = ", ".join(self._repeated[:3]) + (" …" if len(self._repeated) > 3 else "")
            yield f"given more than once, the last counts: {shown}"
        if self._unused:
            named = [f"{kind} ({count})" for kind, count in sorted(self._unused.items())]
            yield "not used: " + ", ".join(named[:6]) + (" …" if len(named) > 6 else "")
        if alone := self._without_replica_sets():
            shown = ", ".join(alone[:3]) + (" …" if len(alone) > 3 else "")
            what = "no ReplicaSet of theirs is in the files, so that their pods are neither released nor replaced"
            yield f"{len(alone)} of the Deployments: {what} (print rs too): {shown}"

    def _without_replica_sets(self) -> list[str]:
        """Deployments whose pods, if there are any, nobody here could replace."""
        owned = {
            (namespace, owner["kind"], owner["name"])
            for (kind, namespace, _), item in self._objects.items()
            if kind == "ReplicaSet"
            for owner in item["metadata"].get("ownerReferences") or ()
        }
        return [
            f"{namespace}/{name}"
            for (kind, namespace, name), item in self._objects.items()
            if kind == "Deployment"
            and (item.get("spec") or {}).get("replicas") != 0
            and (namespace, kind, name) not in owned
        ]


def _title(value: Json) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name[:80] if isinstance(name, str) else "without a name"


def _addressed(value: Json, kind: Kind) -> Json:
    """The object with the version that is current, and in a namespace where its kind has one ("default")."""
    metadata = dict(value["metadata"])
    if kind.is_namespaced:
        metadata["namespace"] = metadata.get("namespace") or "default"
    else:
        metadata.pop("namespace", None)
    return {**value, "apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
