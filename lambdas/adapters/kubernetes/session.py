"""Requests with our identity: the token is the source's, minted once more when the API server refuses it.

Law: a request is sent at most twice, and the second time only after a 401, which did nothing.
"""

import threading
from collections import Counter
from collections.abc import Iterator

from urllib3 import BaseHTTPResponse

from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, StreamBroken, Trouble
from lambdas.adapters.kubernetes.endpoint import TokenSource
from lambdas.adapters.kubernetes.transport import ERRORS, Transport, read_lines, read_response
from lambdas.domain.errors import PassingError, PortError


class Session:
    """A `Server` over one transport."""

    def __init__(self, transport: Transport, tokens: TokenSource | None) -> None:
        self._transport = transport
        self._tokens = tokens
        self._renewing = threading.Lock()
        self._counting = threading.Lock()
        self._sent: Counter[tuple[str, str]] = Counter()

    @property
    def sent(self) -> Counter[tuple[str, str]]:
        """How many requests have been sent, by verb and resource."""
        with self._counting:
            return self._sent.copy()

    def ask(self, call: Call) -> Reply:
        """The whole answer, or why there is none."""
        try:
            return read_response(self._send(call))
        except ERRORS as error:
            return self._transport.failure_of(error)
        except PortError as error:
            return _without_token(error)

    def follow(self, call: Call) -> Iterator[bytes] | Response | Failure:
        """The lines of a watch, or the answer where it is refused. The lines raise StreamBroken."""
        try:
            response = self._send(call)
            return self._lines(response) if response.status == 200 else read_response(response)
        except ERRORS as error:
            return self._transport.failure_of(error)
        except PortError as error:
            return _without_token(error)

    def close(self) -> None:
        """Cut all connections; whoever waits for an answer gets a Failure."""
        self._transport.close()

    def _send(self, call: Call) -> BaseHTTPResponse:
        if self._tokens is None:
            return self._counted(call, "")
        token = self._tokens.token()
        response = self._counted(call, token)
        if response.status != 401:
            return response
        response.drain_conn()
        return self._counted(call, self._renewed(self._tokens, token))

    def _renewed(self, tokens: TokenSource, refused: str) -> str:
        """Threads that were refused together renew once."""
        with self._renewing:
            token = tokens.token()
            return token if token != refused else tokens.renew()

    def _counted(self, call: Call, token: str) -> BaseHTTPResponse:
        with self._counting:
            self._sent[call.verb, call.resource] += 1
        return self._transport.send(call, token)

    def _lines(self, response: BaseHTTPResponse) -> Iterator[bytes]:
        try:
            yield from read_lines(response)
        except ERRORS as error:
            raise StreamBroken(self._transport.failure_of(error)) from error


def _without_token(error: PortError) -> Failure:
    trouble = Trouble.BROKEN if isinstance(error, PassingError) else Trouble.NO_TOKEN
    return Failure(trouble, f"no token for the API server: {error}")
