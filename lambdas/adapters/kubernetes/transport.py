"""Requests over the official client's ApiClient, with its errors told apart.

Law: `_preload_content` is off everywhere: what comes is bytes, read here or by whoever watches. Nothing is retried
here, no redirect is followed (the token would go with it), and no message holds a header.
(Imports kubernetes and urllib3, 0.6 s and 47 MB: loaded by connecting.py when a cluster is really asked.)
"""

import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3.exceptions as http_errors
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.utils.keepalive import tcp_keepalive_socket_options
from urllib3 import BaseHTTPResponse

from lambdas.adapters.kubernetes.calls import Call, Failure, Response, Trouble
from lambdas.adapters.kubernetes.endpoint import Endpoint
from lambdas.adapters.kubernetes.trust import trust
from lambdas.adapters.kubernetes.wire import IdentityNotSent, Wire

_CONNECT = 3.0
_CONNECTIONS = 128
_TEXT = 300

ERRORS = (ApiException, http_errors.HTTPError, OSError, IdentityNotSent)
"""What sending and reading may raise; `failure_of` says what it means."""


def configuration_for(endpoint: Endpoint) -> Configuration:
    """The official configuration of an endpoint; proxies are the environment's, as it reads them."""
    configuration = Configuration(host=endpoint.server)
    configuration.ca_cert_data = endpoint.ca or None
    return configuration


class Transport:
    """One client and one connection pool for all threads."""

    def __init__(self, configuration: Configuration, *, carries_token: bool, agent: str) -> None:
        context = _context(configuration)
        configuration.retries = False  # urllib3: raise at once, follow nothing
        configuration.connection_pool_maxsize = _CONNECTIONS
        configuration.socket_options = tcp_keepalive_socket_options(idle=5, interval=3, count=3)
        self._server = configuration.host.rstrip("/")
        self._host = urlsplit(self._server).netloc
        self._wire = Wire(carries_token=carries_token)
        self._client = ApiClient(configuration)
        self._client.user_agent = agent
        pools = self._client.rest_client.pool_manager
        pools.connection_pool_kw["ssl_context"] = context
        pools.pool_classes_by_scheme = self._wire.pools()

    def send(self, call: Call, token: str) -> BaseHTTPResponse:
        """Send, and return as soon as the headers are there. Raises ERRORS."""
        headers = {"Accept": "application/json", "User-Agent": self._client.user_agent}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        url = self._server + call.path + (f"?{urlencode(call.query)}" if call.query else "")
        timeout = (_CONNECT, call.read_timeout)
        self._wire.begins()
        try:
            response: BaseHTTPResponse = self._client.call_api(
                call.method, url, headers, call.body, None, timeout
            ).response
        except http_errors.ReadTimeoutError as error:
            if self._wire.has_written:
                raise
            raise http_errors.ConnectTimeoutError(f"no handshake with {self._host}") from error
        return response

    def failure_of(self, error: BaseException) -> Failure:
        """One of ERRORS, in words."""
        match error:
            case IdentityNotSent():
                return Failure(Trouble.NO_TOKEN, str(error))
            case http_errors.ProxyError():
                return Failure(
                    Trouble.UNREACHABLE, f"no connection to {self._host} through the proxy of the environment"
                )
            case http_errors.NameResolutionError():
                return Failure(Trouble.UNREACHABLE, f"the name {self._host} is not known: check the endpoint and DNS")
            case http_errors.NewConnectionError():
                why = getattr(error.__cause__, "strerror", None) or "it cannot be reached"
                return Failure(Trouble.UNREACHABLE, f"no connection to {self._host}: {why}")
            case http_errors.ConnectTimeoutError():
                cure = "check subnets, security groups (443) and the endpoint's public and private access"
                return Failure(Trouble.UNREACHABLE, f"no connection to {self._host} within {_CONNECT:g} s: {cure}")
            case http_errors.ReadTimeoutError() | TimeoutError():
                return Failure(Trouble.SILENT, f"no answer from {self._host} in time")
            case ApiException() if "CERTIFICATE_VERIFY_FAILED" in str(error.reason):
                return Failure(Trouble.UNREACHABLE, f"{self._host} is not who it should be: check the cluster's CA")
            case _:
                return Failure(Trouble.BROKEN, f"the connection to {self._host} broke ({type(error).__name__})")

    def close(self) -> None:
        """Cut every connection, also those that are in use."""
        self._wire.cut()
        self._client.rest_client.close()


def _context(configuration: Configuration) -> ssl.SSLContext | None:
    """Take TLS into our own hands: made once, and not strict about old authorities (see trust.py)."""
    if not configuration.verify_ssl:
        return None  # a kubeconfig's insecure-skip-tls-verify, which urllib3 then carries out
    context = trust(str(configuration.ca_cert_data or ""), configuration.ssl_ca_cert or "")
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    configuration.ca_cert_data = configuration.ssl_ca_cert = None
    configuration.cert_file = configuration.key_file = None
    return context


def read_response(response: BaseHTTPResponse) -> Response:
    """The whole of an answer; its connection is free for the next. Raises ERRORS."""
    data = response.read(decode_content=True)
    response.release_conn()
    body = _object(data)
    text = "" if body else data[:_TEXT].decode(errors="replace")
    return Response(response.status, body, text, _seconds(response.headers.get("Retry-After")))


def read_lines(response: BaseHTTPResponse) -> Iterator[bytes]:
    """The lines of an answer that goes on and on, each as soon as it is there. Raises ERRORS."""
    pending = b""
    try:
        for chunk in response.stream(amt=None, decode_content=True):
            *lines, pending = (pending + chunk).split(b"\n")
            yield from lines
    except BaseException:  # given up in the middle: the connection is of no use to anybody else
        response.close()
        raise
    response.release_conn()


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.strip().isdigit() else None
