"""An HTTP server that answers as an AWS service would on a bad day.

moto has no bad days, and its refusals by IAM are XML whatever the protocol: what boto3 makes of the real answers is
seen here.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NOBODY_LISTENS = "http://127.0.0.1:9"
"""The discard port: connections are refused."""


@dataclass(frozen=True, slots=True)
class Bad:
    """One answer. JSON services read the code from `__type`, EC2 from its XML."""

    status: int
    code: str
    message: str = "said so"
    is_xml: bool = False

    def body(self) -> bytes:
        if self.is_xml:
            error = f"<Error><Code>{self.code}</Code><Message>{self.message}</Message></Error>"
            return f"<Response><Errors>{error}</Errors><RequestID>r</RequestID></Response>".encode()
        return json.dumps({"__type": f"com.amazonaws#{self.code}", "message": self.message}).encode()


@dataclass(frozen=True, slots=True)
class Good:
    """What a JSON service says when all is well."""

    content: dict[str, Any]
    status: int = 200
    is_xml: bool = False

    def body(self) -> bytes:
        return json.dumps(self.content).encode()


@dataclass(slots=True)
class Service:
    """Where it listens, and how many requests came."""

    url: str
    requests: list[str] = field(default_factory=list)


@contextmanager
def answering(answers: Sequence[Good | Bad]) -> Iterator[Service]:
    """A service that gives these answers in turn, the last one for ever."""
    service = Service("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            answer = answers[min(len(service.requests), len(answers) - 1)]
            service.requests.append(self.path)
            self.send_response(answer.status)
            body = answer.body()
            self.send_header("content-length", str(len(body)))
            self.send_header("content-type", "text/xml" if answer.is_xml else "application/x-amz-json-1.0")
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # EKS describes by GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Not on the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
