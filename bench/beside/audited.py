"""What a tool asked of the API server, by the server's own audit log."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from controlplane import Request


def requests_of(asked: Sequence[Request], nodes: int) -> dict[str, Any]:
    """All of them, those a node, evictions that were refused, and each kind with its status."""
    kinds = Counter(_kind(request) for request in asked)
    refused = sum(1 for it in asked if it.subresource == "eviction" and it.code >= 400)
    return {
        "requests": len(asked),
        "requests_a_node": round(len(asked) / nodes, 1),
        "evictions_refused": refused,
        "requests_by_kind": dict(sorted(kinds.items())),
    }


def _kind(request: Request) -> str:
    what = f"{request.resource}/{request.subresource}" if request.subresource else request.resource
    return f"{request.verb} {what or request.uri.partition('?')[0]} {request.code}"
