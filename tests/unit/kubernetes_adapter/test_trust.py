"""Who is spoken to, and through what."""

import socket
import ssl
import threading
from pathlib import Path

import pytest
from kubernetes.client import Configuration

from lambdas.adapters.kubernetes.calls import Response, Trouble
from lambdas.adapters.kubernetes.session import Session
from lambdas.adapters.kubernetes.transport import Transport
from lambdas.adapters.kubernetes.trust import trust
from tests.unit.kubernetes_adapter.over_tls import GET, NODE, SECRET, Connect, Serve, trouble
from tests.unit.kubernetes_adapter.tls import breaks, https_server, replies


def test_an_authority_without_key_identifiers_is_trusted_as_eks_has_them(serve: Serve, connect: Connect) -> None:
    server = serve(replies(200, NODE))
    assert isinstance(connect(server).ask(GET), Response)
    strict = trust(server.ca)
    strict.verify_flags |= ssl.VERIFY_X509_STRICT
    host, port = server.url.removeprefix("https://").split(":")
    with (
        socket.create_connection((host, int(port))) as plain,
        pytest.raises(ssl.SSLCertVerificationError, match="Missing Authority Key Identifier"),
    ):
        strict.wrap_socket(plain, server_hostname=host)


def test_a_server_of_another_authority_is_not_spoken_to(serve: Serve, connect: Connect, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    server = serve(replies(200, NODE))
    with https_server(other, breaks) as stranger:
        reply = connect(server, ca=stranger.ca).ask(GET)
    assert trouble(reply) is Trouble.UNREACHABLE
    assert "check the cluster's CA" in str(reply)
    assert server.asked == []


def test_a_server_of_another_name_is_not_spoken_to(connect: Connect, tmp_path: Path) -> None:
    with https_server(tmp_path, replies(200, NODE), host="127.0.0.2") as server:
        assert trouble(connect(server).ask(GET)) is Trouble.UNREACHABLE
        assert server.asked == []


def test_without_an_authority_the_systems_are_asked(serve: Serve, connect: Connect) -> None:
    server = serve(replies(200, NODE))
    assert trouble(connect(server, ca="").ask(GET)) is Trouble.UNREACHABLE
    assert server.asked == []


def test_trust_verifies_chain_and_name() -> None:
    context = trust()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_the_proxy_of_the_environment_is_gone_through(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(replies(200, NODE))
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        asked: list[bytes] = []

        def refuse() -> None:
            near, _ = proxy.accept()
            with near:
                asked.append(near.recv(1000))
                near.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        reply = connect(server).ask(GET)
        thread.join(5)
    assert asked[0].startswith(f"CONNECT {server.url.removeprefix('https://')} ".encode())
    assert SECRET.encode() not in asked[0]
    assert trouble(reply) is Trouble.UNREACHABLE
    assert server.asked == []


def test_a_kubeconfig_may_say_that_nobody_is_verified(serve: Serve) -> None:
    server = serve(replies(200, NODE))
    configuration = Configuration(host=server.url)
    configuration.verify_ssl = False
    session = Session(Transport(configuration, carries_token=False, agent="evac/1"), None)
    with pytest.warns(match="Unverified HTTPS request"):
        reply = session.ask(GET)
    session.close()
    assert isinstance(reply, Response)
    assert "Authorization" not in server.asked[0][2]
