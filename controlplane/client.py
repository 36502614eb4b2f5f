"""Answers for talking HTTP to the API server: JSON in, JSON out, one kept connection for each thread."""

from __future__ import annotations

import json
import ssl
import threading
import urllib.request
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Answer = tuple[int, Any]

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"

# What a kept connection does when the server has gone away since its last use.
_GONE = (ConnectionError, ssl.SSLError)


def answers(url: str, ca_file: Path, token: str) -> bool:
    """Whether a GET of that address is answered 200. Raises OSError where there is no such answer."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - loopback
    trust = ssl.create_default_context(cafile=str(ca_file)) if url.startswith("https") else None
    with urllib.request.urlopen(request, timeout=2, context=trust) as answer:  # noqa: S310
        return bool(answer.status == 200)


class Client:
    """Requests of one identity. Threads may share it."""

    def __init__(self, url: str, ca_file: Path, token: str, timeout: float = 30.0) -> None:
        self._address = urlsplit(url).netloc
        self._trust = ssl.create_default_context(cafile=str(ca_file))
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": "control-plane-client"}
        self._timeout = timeout
        self._kept = threading.local()
        self._all: list[HTTPSConnection] = []

    def get(self, path: str) -> Answer:
        """GET: the status and the object."""
        return self.request("GET", path)

    def post(self, path: str, body: object) -> Answer:
        """POST: the status and the object."""
        return self.request("POST", path, body)

    def put(self, path: str, body: object) -> Answer:
        """PUT: the status and the object."""
        return self.request("PUT", path, body)

    def patch(self, path: str, body: object) -> Answer:
        """PATCH: a list is a JSON patch, anything else a merge patch. The status and the object."""
        return self.request("PATCH", path, body, JSON_PATCH if isinstance(body, list) else MERGE_PATCH)

    def delete(self, path: str, body: object = None) -> Answer:
        """DELETE, with DeleteOptions as body if any: the status and the object."""
        return self.request("DELETE", path, body)

    def request(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Answer:
        """One request: the status and the object, or the text where the answer is no JSON. Raises OSError.

        A request on a kept connection that the server has closed is sent once more on a new one.
        """
        kept: HTTPSConnection | None = getattr(self._kept, "connection", None)
        if kept is not None:
            try:
                return self._send(kept, method, path, body, kind)
            except _GONE:
                pass
        return self._send(self._connect(), method, path, body, kind)

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._all:
            self._all.pop().close()
        self._kept = threading.local()

    def _connect(self) -> HTTPSConnection:
        connection = HTTPSConnection(self._address, context=self._trust, timeout=self._timeout)
        self._kept.connection = connection
        self._all.append(connection)
        return connection

    def _send(self, connection: HTTPSConnection, method: str, path: str, body: object, kind: str) -> Answer:
        data = None if body is None else json.dumps(body)
        try:
            connection.request(method, path, data, {**self._headers, "Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException) as error:
            self._drop(connection)
            if isinstance(error, OSError):
                raise
            raise ConnectionError(f"{method} {path}: {error!r}") from error
        return answer.status, json.loads(text) if text[:1] in (b"{", b"[") else text.decode()

    def _drop(self, connection: HTTPSConnection) -> None:
        connection.close()
        self._kept.connection = None
        if connection in self._all:
            self._all.remove(connection)
