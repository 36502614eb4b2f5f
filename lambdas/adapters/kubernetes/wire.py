"""The connections themselves: no request leaves without its identity, and all can be cut at once.

Law: what is checked here is what is written to the socket. A release of the official client once sent requests
without their Authorization header (kubernetes-client/python 2585); here that is an error before the first byte.
(Imports urllib3: loaded by transport.py only.)
"""

import contextlib
import socket
import threading
import weakref
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection


class IdentityNotSent(Exception):
    """A request was about to be sent without a bearer token."""


class Wire:
    """The open connections of one client."""

    def __init__(self, *, carries_token: bool) -> None:
        self.carries_token = carries_token
        self._connections: weakref.WeakSet[HTTPConnection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._is_cut = False
        self._of_thread = threading.local()

    def begins(self) -> None:
        """This thread is about to send a request."""
        self._of_thread.has_written = False

    def wrote(self) -> None:
        """This thread's request is on its way."""
        self._of_thread.has_written = True

    @property
    def has_written(self) -> bool:
        """Whether anything of this thread's request was sent: if not, nothing can have been done."""
        return bool(getattr(self._of_thread, "has_written", False))

    def opened(self, connection: HTTPConnection) -> None:
        """A connection was made."""
        with self._lock:
            self._connections.add(connection)
            is_cut = self._is_cut
        if is_cut:
            _cut(connection)

    def cut(self) -> None:
        """End every connection, whoever reads from it; those made later are ended at once."""
        with self._lock:
            self._is_cut = True
            connections = list(self._connections)
        for connection in connections:
            _cut(connection)

    def pools(self) -> dict[str, type[HTTPConnectionPool]]:
        """Pool classes by URL scheme, for a PoolManager."""
        wire = self

        class Connection(_Checked, HTTPConnection):
            on = wire

        class SecureConnection(_Checked, HTTPSConnection):
            on = wire

        class Pool(HTTPConnectionPool):
            ConnectionCls = Connection

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = SecureConnection

        return {"http": Pool, "https": SecurePool}


class _Checked(HTTPConnection):
    """Looks at the headers as they are written: `putheader`, `endheaders` are the last steps to the socket."""

    on: Wire
    _has_identity = False

    def connect(self) -> None:
        super().connect()
        self.on.opened(self)

    def putheader(self, header: Any, *values: Any) -> None:
        if _text(header).lower() == "authorization":
            self._has_identity = any(_text(value).startswith("Bearer ") for value in values)
        super().putheader(header, *values)

    def endheaders(self, *args: Any, **kwargs: Any) -> None:
        has_identity, self._has_identity = self._has_identity, False
        if self.on.carries_token and not has_identity:
            raise IdentityNotSent("a request was about to leave without its Authorization header; it was not sent")
        if self.sock is None:
            self.connect()
        self.on.wrote()
        super().endheaders(*args, **kwargs)


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _cut(connection: HTTPConnection) -> None:
    """Of the socket below TLS, so that a thread that is reading ends in order."""
    sock = connection.sock
    if isinstance(sock, socket.socket):
        with contextlib.suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)
