"""Answers for what was asked of the API server, and by whom, from its audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the audit log tells it."""

    at: datetime
    user: str
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    user_agent: str
    uri: str


def read(log: Path, user: str | None = None, since: datetime | None = None) -> Iterator[Request]:
    """The requests in the log, oldest first, each once: a watch is counted when it begins."""
    if not log.exists():
        return
    seen: set[str] = set()
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                return  # being written
            event = json.loads(line)
            if event["auditID"] in seen:
                continue
            seen.add(event["auditID"])
            request = _request(event)
            if user in (None, request.user) and (since is None or request.at >= since):
                yield request


def _request(event: dict[str, Any]) -> Request:
    what = event.get("objectRef", {})
    return Request(
        at=datetime.fromisoformat(event["requestReceivedTimestamp"]),
        user=event["user"].get("username", ""),  # nobody, where the token is wrong
        verb=event["verb"],
        resource=what.get("resource", ""),
        subresource=what.get("subresource", ""),
        namespace=what.get("namespace", ""),
        name=what.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        user_agent=event.get("userAgent", ""),
        uri=event["requestURI"],
    )
