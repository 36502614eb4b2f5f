"""Which instance is which node, from manifests; and the complaint where none is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from uuid import UUID, uuid5

from evac.errors import InputError
from evac.replay.hearing import Heard
from lambdas.domain.values.messages import Malformed

Json = dict[str, Any]

_OURS = UUID("5b0a3a5e-37c1-4b0e-9f0c-6d1f0a9f1c55")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A node and the instance that it runs on."""

    node_name: str
    instance_id: str

    def __str__(self) -> str:
        return f"{self.node_name} ({self.instance_id or 'no providerID'})"


def place_of(node: Json) -> Place:
    """The instance id is the last part of `spec.providerID`."""
    provider_id = (node.get("spec") or {}).get("providerID") or ""
    return Place(node["metadata"]["name"], provider_id.rpartition("/")[2])


def with_instances(nodes: Iterable[Json]) -> dict[str, Json]:
    """The nodes by name, those without a providerID with one that is made up: --node needs none to be written."""
    return {node["metadata"]["name"]: node if place_of(node).instance_id else _made_up(node) for node in nodes}


def _made_up(node: Json) -> Json:
    instance_id = f"i-{uuid5(_OURS, node['metadata']['name']).hex[:17]}"
    return {**node, "spec": {**(node.get("spec") or {}), "providerID": f"aws:///replay/{instance_id}"}}


def no_such_node(name: str, places: Sequence[Place], *, option: str = "--node ") -> InputError:
    """None of them is called so."""
    names = [place.node_name for place in places]
    close = [n for n in names if n.startswith(name)][:2] or get_close_matches(name, names, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"nodes here: {_some(places)}"
    return InputError(f"{option}{name}: no such node in this cluster", cure=hint)


def nothing_matched(heard: Sequence[Heard], places: Sequence[Place]) -> InputError:
    """No event led to a node."""
    ids = list(dict.fromkeys(notice.instance_id for h in heard for notice in h.notices))
    if not ids:
        return InputError(
            f"no event is an interruption: {_what_they_are(heard)}", cure="make a notice with --node NAME"
        )
    named = ", ".join(ids[:_SHOWN]) + (" …" if len(ids) > _SHOWN else "")
    return InputError(
        f"no node of this cluster is the instance of any event ({named})",
        cure=f"nodes here: {_some(places)}; --node NAME makes the notice itself",
    )


def _what_they_are(heard: Sequence[Heard]) -> str:
    malformed = [h for h in heard if isinstance(h.message, Malformed)]
    counts = f"{len(malformed)} malformed, {len(heard) - len(malformed)} of other kinds"
    if not malformed or not isinstance(malformed[0].message, Malformed):
        return counts
    return f"{counts}; {malformed[0].place}: {malformed[0].message.reason}"


def _some(places: Sequence[Place]) -> str:
    if not places:
        return "none"
    return ", ".join(str(place) for place in places[:_SHOWN]) + (
        f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    )
