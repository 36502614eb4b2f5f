"""A full list of one kind, in pages where it may be long."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, Server, Trouble, list_page
from lambdas.adapters.kubernetes.kinds import Kind
from lambdas.adapters.kubernetes.store import Seen

T = TypeVar("T")

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """Everything, as of `version`."""

    objects: tuple[Seen[T], ...]
    version: str


@dataclass(frozen=True, slots=True)
class Unlisted:
    """What was answered to `call` instead."""

    call: Call
    reply: Reply


def list_all(server: Server, kind: Kind[T]) -> Listed[T] | Unlisted:
    """List it, consistently. Where the pages' token expires half-way, from the start again."""
    for _ in range(_TRIES):
        objects: list[Seen[T]] = []
        version = ""
        for page in pages(server, kind):
            if isinstance(page, Unlisted):
                failed = page
                break
            objects += (kind.seen(item) for item in _items(page))
            version = str(_metadata(page).get("resourceVersion") or "")
        else:
            return Listed(tuple(objects), version)
        if not is_expired(failed.reply):
            break
    return failed


def pages(server: Server, kind: Kind[T]) -> Iterator[Mapping[str, Any] | Unlisted]:
    """One page after the other, each as the API prints it; the first that fails is the last."""
    token = ""
    while True:
        call = list_page(kind.collection, kind.page, token)
        reply = server.ask(call)
        match reply:
            case Response(status=200, body=body) if isinstance(body.get("items", ()), list | tuple | None):
                yield body
                token = str(_metadata(body).get("continue") or "")
                if not token:
                    return
            case Response(status=200):
                yield Unlisted(call, Failure(Trouble.BROKEN, f"what came is no list of {kind.resource}"))
                return
            case _:
                yield Unlisted(call, reply)
                return


def is_expired(reply: Reply) -> bool:
    """410: the version or the page's token is too old."""
    return isinstance(reply, Response) and reply.status == 410


def _items(page: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (item for item in page.get("items") or () if isinstance(item, Mapping))


def _metadata(page: Mapping[str, Any]) -> Mapping[str, Any]:
    return page.get("metadata") or {}
