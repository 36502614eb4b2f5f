"""A stretch of network between the adapter and the API server, with the faults that the server itself cannot make."""

import contextlib
import socket
import struct
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Between:
    """Passes bytes on to `url`, both ways, on a port of its own. TLS goes through: the certificate is the host's."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._target = (address.hostname or "", address.port or 443)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._refuses = False
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="between", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.reset()

    def reset(self) -> None:
        """Break every connection that is open, as a firewall or a dying load balancer does."""
        with self._lock:
            doomed, self._open = self._open, []
        for end in doomed:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RD)
            end.close()

    def refuse(self) -> None:
        """From now on every connection breaks, also those to come."""
        self._refuses = True
        self.reset()

    def restore(self) -> None:
        """New connections work again."""
        self._refuses = False

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._refuses:
                near.close()
                continue
            try:
                far = socket.create_connection(self._target)
            except OSError:  # the server is away
                near.close()
                continue
            with self._lock:
                self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=(source, sink), name="between", daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
