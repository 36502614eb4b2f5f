"""A cluster from Kubernetes manifests: whatever `kubectl get … -o yaml|json` prints, or people write by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evac.errors import InputError
from evac.scenario.collecting import Collection, Scenario
from evac.scenario.documents import Document, read_documents
from evac.scenario.files import STANDARD_INPUT, read_texts
from evac.scenario.kinds import COMMAND
from evac.scenario.shapes import Path, ShapeError

Json = dict[str, Any]

_SUFFIXES = (".yaml", ".yml", ".json")
_DEEPEST_LIST = 4


@dataclass(frozen=True, slots=True)
class _Found:
    """A value as it stands in a document, before it is known to be an object."""

    document: Document
    path: Path
    value: object

    def complaint(self, message: str, cure: str, path: Path = ()) -> InputError:
        return InputError(message, cure=cure, place=self.document.place((*self.path, *path)))


def read_scenario(paths: Sequence[str]) -> Scenario:
    """All objects of the files, folders and standard input ("-"). Raises `InputError`."""
    if paths.count(STANDARD_INPUT) > 1:
        raise InputError("standard input can be read once", cure="give --cluster - once")
    collection = Collection()
    for path in paths:
        for text in read_texts(path, _SUFFIXES, "manifests"):
            for document in read_documents(text):
                collection.empty |= _said_to_be_empty(document.value)
                for found in _flattened(_Found(document, (), document.value), 0):
                    _take(found, collection)
    scenario = collection.scenario()
    if not scenario.objects:
        used = f" ({'; '.join(scenario.notes)})" if scenario.notes else ""
        raise InputError(
            f"holds no Kubernetes object that a replay uses{used}",
            cure=f"print a cluster with: {COMMAND}",
            place=", ".join(paths),
        )
    return scenario


def _said_to_be_empty(value: object) -> set[str]:
    """The kind of an empty list. One without a kind is what `kubectl get pods` prints where there are none."""
    match value:
        case {"kind": str() as kind, "items": None | []} if kind.endswith("List"):
            return {kind.removesuffix("List") or "Pod"}
        case _:
            return set()


def _flattened(found: _Found, depth: int) -> Iterator[_Found]:
    """The objects of a List (or PodList, NodeList, …), which may hold lists; an empty document is none."""
    value = found.value
    if value is None:
        return
    if not isinstance(value, dict):
        raise found.complaint("a Kubernetes object is a mapping; this is not one", f"give what this prints: {COMMAND}")
    kind, items = value.get("kind"), value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list | None)):
        yield found
        return
    if depth >= _DEEPEST_LIST:
        raise found.complaint("lists within lists within lists", "give one list of objects")
    for i, item in enumerate(items or ()):
        inner = _named(item, kind.removesuffix("List"), value.get("apiVersion"))
        yield from _flattened(_Found(found.document, (*found.path, "items", i), inner), depth + 1)


def _named(item: object, kind: str, api_version: object) -> object:
    """An item of a typed list need not say its kind (the API server leaves it out)."""
    if isinstance(item, dict) and kind and "kind" not in item:
        return {"apiVersion": api_version, "kind": kind, **item}
    return item


def _take(found: _Found, collection: Collection) -> None:
    value = found.value
    assert isinstance(value, dict)  # noqa: S101 - _flattened yields nothing else
    if not isinstance(value.get("kind"), str) or not isinstance(value.get("apiVersion") or "", str):
        if found.document.text.is_from_folder and _is_event(value):
            return
        raise _without_kind(found, value)
    try:
        collection.take(value)
    except ShapeError as error:
        raise found.complaint(error.message, "mend it there, or print it anew with kubectl", error.path) from None


def _without_kind(found: _Found, value: Json) -> InputError:
    if _is_event(value):
        return found.complaint(
            "this is an EventBridge event, not a Kubernetes object",
            "give events as EVENTS, and manifests with --cluster",
        )
    return found.complaint(
        "an object without kind and apiVersion is no Kubernetes object", f"give what this prints: {COMMAND}"
    )


def _is_event(value: Json) -> bool:
    """An EventBridge event: in a folder that holds a whole case it stands beside the manifests."""
    return "detail-type" in value
