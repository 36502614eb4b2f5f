"""What the command line asks of a real API server beside the `Cluster` port: lists as they are, and one node.

Law: only reads. What may not be read, or is not served, is told apart from what is not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evac.errors import InputError
from evac.scenario.kinds import KINDS, Kind
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Call, Response, Server, get_node
from lambdas.adapters.kubernetes.paths import BadName
from lambdas.domain.values.answers import Forbidden, Unauthenticated

Json = dict[str, Any]

NODES = KINDS[0]
_PAGE = "500"


@dataclass(frozen=True, slots=True)
class NotReadable:
    """A kind that we may not list, or that this server does not serve."""

    why: str


def list_raw(server: Server, kind: Kind, labels: str = "") -> list[Json] | NotReadable:
    """All objects of a kind, or those that a label selector finds. Raises `InputError` where nothing can be had."""
    items: list[Json] = []
    token = ""
    while True:
        query = {"limit": _PAGE, "labelSelector": labels, "continue": token}
        call = Call("list", kind.plural, kind.list_path, query={k: v for k, v in query.items() if v})
        body = _body(server, call)
        if isinstance(body, NotReadable):
            return body
        found = body.get("items")
        items += (_with_kind(item, kind) for item in found or () if isinstance(item, Mapping))
        token = str((body.get("metadata") or {}).get("continue") or "")
        if not token:
            return items


def read_node_raw(server: Server, name: str) -> Json | None:
    """The node, None where there is none. Raises `InputError`."""
    try:
        body = _body(server, get_node(name))
    except BadName:
        raise InputError(f"{name!r} is no name of a node", cure="kubectl get nodes prints them") from None
    if isinstance(body, NotReadable):
        raise InputError(body.why, cure="ask for that right, or use another context")
    return body if body else None


def _body(server: Server, call: Call) -> Json | NotReadable:
    """The JSON of a reply; empty for a 404."""
    reply = server.ask(call)
    if isinstance(reply, Response) and reply.status == 200:
        return dict(reply.body)
    if isinstance(reply, Response) and reply.status == 404:
        return NotReadable(f"this server has no {call.resource}") if call.verb == "list" else {}
    match result_of(call, reply):
        case Forbidden(message):
            return NotReadable(message)
        case Unauthenticated(message):
            raise InputError(
                f"the API server does not know who you are (401: {message})",
                cure="log in anew, or check the user of this context",
            )
        case other:
            words = getattr(other, "message", "") or type(other).__name__
            raise InputError(f"{call.verb} {call.resource}: {words}", cure="is the server of this context up?")


def _with_kind(item: Mapping[str, Any], kind: Kind) -> Json:
    """Items of a list do not say their kind; who last wrote which field is of no use here."""
    metadata = item.get("metadata")
    trimmed = {k: v for k, v in metadata.items() if k != "managedFields"} if isinstance(metadata, Mapping) else metadata
    return {**item, "apiVersion": kind.api_version, "kind": kind.name, "metadata": trimmed}
