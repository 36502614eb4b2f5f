"""Sessions and a server for them; no proxy of the machine comes between."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lambdas.adapters.kubernetes.endpoint import Endpoint, TokenSource
from lambdas.adapters.kubernetes.session import Session
from lambdas.adapters.kubernetes.transport import Transport, configuration_for
from tests.unit.kubernetes_adapter.over_tls import Connect, Serve, Tokens
from tests.unit.kubernetes_adapter.tls import Answer, HttpsServer, breaks, https_server


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment says of proxies is a test's own."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Sessions that are closed at the end."""
    made: list[Session] = []

    def session(server: HttpsServer, *, tokens: TokenSource | None = None, ca: str | None = None) -> Session:
        endpoint = Endpoint(server.url, server.ca if ca is None else ca)
        carries = tokens if tokens is not None else Tokens()
        made.append(Session(Transport(configuration_for(endpoint), carries_token=True, agent="evac/1"), carries))
        return made[-1]

    yield session
    for session_ in made:
        session_.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """One server for the test."""
    with https_server(tmp_path, breaks) as server:

        def answering(answer: Answer) -> HttpsServer:
            server.answer = answer
            return server

        yield answering
