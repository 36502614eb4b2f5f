"""A watch on the wire: its lines, its end, and who else uses its connection."""

import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from lambdas.adapters.kubernetes.calls import Failure, Response, StreamBroken, Trouble
from tests.unit.kubernetes_adapter.over_tls import GET, NODE, PATCH, SECRET, WATCH, Connect, Serve
from tests.unit.kubernetes_adapter.tls import Answer, breaks, replies


def chunks(*data: bytes, ends: bool = True) -> Answer:
    """An answer that comes in these pieces."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()
        for piece in data:
            to.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if ends:
            to.wfile.write(b"0\r\n\r\n")
        else:
            to.close_connection = True

    return answer


def test_lines_come_whole_whatever_the_pieces(serve: Serve, connect: Connect) -> None:
    server = serve(chunks(b'{"a":', b' 1}\n{"b": 2}\n{"c"', b": 3}", b"\n", b"\n"))
    session = connect(server)
    lines = session.follow(WATCH)
    assert isinstance(lines, Iterator)
    assert list(lines) == [b'{"a": 1}', b'{"b": 2}', b'{"c": 3}', b""]
    session.ask(GET)
    assert server.connections == 1


def test_a_watch_that_breaks_says_so(serve: Serve, connect: Connect) -> None:
    lines = connect(serve(chunks(b'{"a": 1}\n', ends=False))).follow(WATCH)
    assert isinstance(lines, Iterator)
    assert next(lines) == b'{"a": 1}'
    with pytest.raises(StreamBroken) as broken:
        next(lines)
    assert broken.value.failure.trouble is Trouble.BROKEN


def test_a_watch_that_is_given_up_leaves_no_half_read_connection_to_others(serve: Serve, connect: Connect) -> None:
    server = serve(chunks(b'{"a": 1}\n', b'{"b": 2}\n'))
    session = connect(server)
    lines = session.follow(WATCH)
    assert isinstance(lines, Iterator)
    next(lines)
    del lines
    server.answer = replies(200, NODE)
    assert session.ask(GET) == Response(200, {"kind": "Node", "metadata": {"name": "spot-a"}})


def test_a_watch_that_is_refused_is_an_answer(serve: Serve, connect: Connect) -> None:
    reply = connect(serve(replies(410, '{"kind": "Status"}'))).follow(WATCH)
    assert isinstance(reply, Response)
    assert reply.status == 410


def test_closing_ends_a_watch_that_another_thread_reads(serve: Serve, connect: Connect) -> None:
    done = threading.Event()

    def answer(to: BaseHTTPRequestHandler) -> None:
        chunks(b'{"a": 1}\n', ends=False)(to)
        done.wait(5)

    session = connect(serve(answer))
    lines = session.follow(WATCH)
    assert isinstance(lines, Iterator)
    next(lines)
    broken: list[Failure] = []

    def read() -> None:
        try:
            next(lines)
        except StreamBroken as error:
            broken.append(error.failure)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    session.close()
    reader.join(5)
    done.set()
    assert [failure.trouble for failure in broken] == [Trouble.BROKEN]


def test_what_is_asked_after_closing_fails(serve: Serve, connect: Connect) -> None:
    session = connect(serve(replies(200, NODE)))
    session.close()
    assert isinstance(session.ask(GET), Failure)


def test_no_secret_is_logged(serve: Serve, connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    session = connect(serve(replies(401, "{}")))
    session.ask(GET)
    session.follow(WATCH)
    connect(serve(breaks)).ask(PATCH)
    assert SECRET not in caplog.text
