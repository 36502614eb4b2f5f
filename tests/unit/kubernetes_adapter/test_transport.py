"""Requests as they leave and answers as they come, over real connections on loopback."""

import socket
import threading
from http.server import BaseHTTPRequestHandler

import pytest

from lambdas.adapters.kubernetes.calls import Call, Failure, Response, Trouble
from lambdas.domain.errors import PassingError, PermissionDenied
from tests.unit.kubernetes_adapter.over_tls import GET, NODE, PATCH, SECRET, WATCH, Connect, Serve, Tokens, trouble
from tests.unit.kubernetes_adapter.tls import breaks, replies


def test_an_answer_is_read_whole_and_its_connection_used_again(serve: Serve, connect: Connect) -> None:
    server = serve(replies(200, NODE))
    session = connect(server)
    assert [session.ask(GET) for _ in range(3)] == [Response(200, {"kind": "Node", "metadata": {"name": "spot-a"}})] * 3
    assert server.connections == 1
    assert session.sent == {("get", "nodes"): 3}


def test_a_request_carries_its_identity_its_agent_and_no_more(serve: Serve, connect: Connect) -> None:
    server = serve(replies(200, NODE))
    connect(server).ask(PATCH)
    [(method, path, headers)] = server.asked
    assert (method, path) == ("PATCH", "/api/v1/nodes/spot-a")
    assert headers["Authorization"] == f"Bearer {SECRET}-0"
    assert headers["User-Agent"] == "evac/1"
    assert headers["Content-Type"] == "application/json-patch+json"
    assert "Cookie" not in headers


def test_a_request_without_its_identity_is_not_sent(serve: Serve, connect: Connect) -> None:
    class Nobody(Tokens):
        def token(self) -> str:
            return ""

    server = serve(replies(200, NODE))
    assert trouble(connect(server, tokens=Nobody()).ask(GET)) is Trouble.NO_TOKEN
    assert server.asked == []


def test_a_client_that_loses_the_header_is_stopped_before_the_first_byte(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As 36.0 of the official client did (kubernetes-client/python 2585).
    from kubernetes.client import ApiClient

    send = ApiClient.call_api

    def losing(self: ApiClient, method: str, url: str, headers: dict[str, str], *rest: object) -> object:
        return send(self, method, url, {k: v for k, v in headers.items() if k != "Authorization"}, *rest)

    monkeypatch.setattr(ApiClient, "call_api", losing)
    server = serve(replies(200, NODE))
    assert trouble(connect(server).ask(GET)) is Trouble.NO_TOKEN
    assert server.asked == []


def test_a_401_is_answered_with_one_new_token(serve: Serve, connect: Connect) -> None:
    def answer(to: BaseHTTPRequestHandler) -> None:
        is_new = to.headers["Authorization"].endswith("-1")
        replies(200 if is_new else 401, NODE)(to)

    tokens = Tokens()
    server = serve(answer)
    session = connect(server, tokens=tokens)
    reply = session.ask(GET)
    assert isinstance(reply, Response)
    assert (reply.status, tokens.renewals, len(server.asked)) == (200, 1, 2)
    assert server.connections == 1
    session.ask(GET)
    assert (tokens.renewals, len(server.asked)) == (1, 3)


def test_a_second_401_is_the_answer(serve: Serve, connect: Connect) -> None:
    tokens = Tokens()
    server = serve(replies(401, "{}"))
    reply = connect(server, tokens=tokens).ask(GET)
    assert isinstance(reply, Response)
    assert (reply.status, tokens.renewals, len(server.asked)) == (401, 1, 2)


def test_threads_that_are_refused_together_renew_once(serve: Serve, connect: Connect) -> None:
    together = threading.Barrier(4)

    def answer(to: BaseHTTPRequestHandler) -> None:
        if to.headers["Authorization"].endswith("-0"):
            together.wait(5)
            replies(401, "{}")(to)
        else:
            replies(200, NODE)(to)

    tokens = Tokens()
    session = connect(serve(answer), tokens=tokens)
    threads = [threading.Thread(target=session.ask, args=(GET,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert tokens.renewals == 1


@pytest.mark.parametrize(
    ("error", "expected"), [(PassingError("STS is away"), Trouble.BROKEN), (PermissionDenied("no"), Trouble.NO_TOKEN)]
)
def test_a_token_that_cannot_be_had_is_told_apart(
    error: Exception, expected: Trouble, serve: Serve, connect: Connect
) -> None:
    class Failing(Tokens):
        def token(self) -> str:
            raise error

    server = serve(replies(200, NODE))
    session = connect(server, tokens=Failing())
    assert trouble(session.ask(GET)) is expected
    assert isinstance(session.follow(WATCH), Failure)
    assert server.asked == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_nothing_is_tried_again_by_itself(status: int, serve: Serve, connect: Connect) -> None:
    server = serve(replies(status, "{}", Retry_After="1"))
    reply = connect(server).ask(GET)
    assert isinstance(reply, Response)
    assert (reply.status, reply.retry_after, len(server.asked)) == (status, 1.0, 1)


def test_a_redirect_is_not_followed_with_our_token(serve: Serve, connect: Connect) -> None:
    server = serve(replies(302, "", Location="/elsewhere"))
    reply = connect(server).ask(GET)
    assert isinstance(reply, Response)
    assert reply.status == 302
    assert [path for _, path, _ in server.asked] == ["/api/v1/nodes/spot-a"]


def test_what_is_no_json_is_kept_as_text(serve: Serve, connect: Connect) -> None:
    reply = connect(serve(replies(502, "<html>" + "x" * 5000))).ask(GET)
    assert isinstance(reply, Response)
    assert (reply.status, reply.body) == (502, {})
    assert reply.text.startswith("<html>")
    assert len(reply.text) == 300


@pytest.mark.parametrize("text", ["[1]", "7", "null", "\udcff".encode("utf-8", "surrogatepass").decode("latin-1"), ""])
def test_json_that_is_no_object_is_no_object(text: str, serve: Serve, connect: Connect) -> None:
    reply = connect(serve(replies(200, text))).ask(GET)
    assert isinstance(reply, Response)
    assert reply.body == {}


def test_a_connection_that_ends_without_an_answer_is_broken(serve: Serve, connect: Connect) -> None:
    assert trouble(connect(serve(breaks)).ask(GET)) is Trouble.BROKEN


def test_an_answer_that_ends_half_way_is_broken(serve: Serve, connect: Connect) -> None:
    def answer(to: BaseHTTPRequestHandler) -> None:
        replies(200, NODE, Content_Length="9999")(to)
        to.close_connection = True

    assert trouble(connect(serve(answer)).ask(GET)) is Trouble.BROKEN


def test_a_port_where_nobody_listens_is_unreachable(serve: Serve, connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = serve(replies(200, NODE))
    server.url = f"https://127.0.0.1:{port}"
    reply = connect(server).ask(GET)
    assert trouble(reply) is Trouble.UNREACHABLE
    assert reply == Failure(Trouble.UNREACHABLE, f"no connection to 127.0.0.1:{port}: Connection refused")


def test_a_name_that_nobody_knows_is_unreachable(serve: Serve, connect: Connect) -> None:
    server = serve(replies(200, NODE))
    server.url = "https://api.invalid"
    assert trouble(connect(server).ask(GET)) is Trouble.UNREACHABLE


def test_an_answer_that_does_not_come_is_waited_for_no_longer_than_told(serve: Serve, connect: Connect) -> None:
    done = threading.Event()

    def answer(to: BaseHTTPRequestHandler) -> None:
        done.wait(5)
        breaks(to)

    server = serve(answer)
    hurried = Call("get", "nodes", "/api/v1/nodes/spot-a", read_timeout=0.05)
    assert trouble(connect(server).ask(hurried)) is Trouble.SILENT
    done.set()


def test_a_handshake_that_does_not_come_about_did_nothing(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdas.adapters.kubernetes.transport._CONNECT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = serve(replies(200, NODE))
        server.url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        reply = connect(server).ask(PATCH)
    assert trouble(reply) is Trouble.UNREACHABLE
    assert "security groups" in str(reply)
