"""A stretch of network on which every tenth answer of the API server is a 500 or a reset, in turn.

Behind a 500 the server was not reached; behind a reset it was, and did what it was asked: the caller cannot know.
"""

import json
import socket
import ssl
import struct
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection, IncompleteRead
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from controlplane import ControlPlane

EVERY = 10

_HOP_BY_HOP = frozenset({"transfer-encoding", "connection"})
_FAILURE = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 500}
_BODY = json.dumps({**_FAILURE, "reason": "InternalError", "message": "the tenth answer is a fault"}).encode()


@contextmanager
def faulty(plane: ControlPlane) -> Iterator["Proxy"]:
    """A proxy before the plane's API server, under the server's own certificate."""
    proxy = Proxy(plane.url, plane.ca_file)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()


class Proxy(ThreadingHTTPServer):
    """Counts all requests over all connections. HTTP/1.1 only, which every client falls back to."""

    daemon_threads = True

    def __init__(self, url: str, ca_file: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(url).netloc
        self.trust = ssl.create_default_context(cafile=str(ca_file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(ca_file.with_name("server.crt"), ca_file.with_name("server.key"))
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.server_port}"
        self._requests = count(1)
        self.faults = 0

    def next_fault(self) -> str:
        """Of this request: "", "error" or "reset"."""
        number = next(self._requests)
        if number % EVERY:
            return ""
        self.faults += 1
        return "error" if number // EVERY % 2 else "reset"

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections that break are the purpose, and end with the server; else it is a fault of ours, and is said."""
        if not isinstance(sys.exception(), (OSError, IncompleteRead)):
            traceback.print_exc()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def setup(self) -> None:
        """One connection to the server for each of a client's."""
        super().setup()
        self._behind: HTTPConnection = HTTPSConnection(self.server.target, context=self.server.trust)

    def finish(self) -> None:
        """Both end together."""
        self._behind.close()
        super().finish()

    def _pass(self) -> None:
        fault = self.server.next_fault()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if fault == "error":
            self._fail()
            return
        self._behind.request(self.command, self.path, body or None, dict(self.headers.items()))
        answer = self._behind.getresponse()
        if fault == "reset":
            self._reset()
        else:
            self._relay(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass  # noqa: N815 - the names that http.server looks for

    def _fail(self) -> None:
        self.send_response(500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    def _reset(self) -> None:
        """As a firewall does: the client's connection breaks without an end."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_RD)
        self.connection.close()

    def _relay(self, answer: HTTPResponse) -> None:
        """In pieces as they come: a watch has no end."""
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in _HOP_BY_HOP:
                self.send_header(key, value)
        if answer.getheader("Content-Length") is not None:
            self.end_headers()
            self.wfile.write(answer.read())
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Nothing: the audit log has them."""
