"""Connections that are in no hurry, too many, too large, or not HTTP. No engine is needed."""

from __future__ import annotations

import logging
from contextlib import contextmanager, nullcontext, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from starlette.requests import Request

from paceline.server import context, listener
from paceline.server.application import make_application
from paceline.server.context import Context
from paceline.server.http import connection
from paceline.server.http.guard import Access
from paceline.server.http.hang_ups import HangUps
from paceline.server.limits import MAX_BODY_BYTES
from paceline.server.listener import Listener
from paceline.server.streams import json_response
from server.wire import answered, ask, connect, is_ended, read, request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send


@contextmanager
def listening(application: ASGIApp) -> Iterator[str]:
    """Serve an application; give its address. It ends at once, and not by an error."""
    serving = Listener("127.0.0.1", 0)
    serving.start(application)
    try:
        yield serving.url
    finally:
        serving.stop(at_once=True)
        assert serving.wait(20)


async def echo_length(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the length of the body."""
    found = Request(scope, receive)
    try:
        body = await Context.body(found)
    except Exception as error:  # noqa: BLE001 - its words are what is tested
        status = getattr(error, "status", 500)
        await json_response(str(error), status)(scope, receive, send)
        return
    await json_response(len(body))(scope, receive, send)


async def greet(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer without reading the body."""
    await json_response("hello")(scope, receive, send)


def post(url: str, length: int | str, body: bytes = b"") -> bytes:
    """Return a POST request with a declared length, or in chunks, and any part of its body."""
    head = f"Content-Length: {length}" if length != "chunked" else "Transfer-Encoding: chunked"
    return request(url, "POST /", head, body=body, has_length=False)


# ------------------------------------------------------------------------------------------ in time


@pytest.mark.parametrize("drip", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nx: "])
def test_headers_have_to_come(monkeypatch: pytest.MonkeyPatch, drip: bytes) -> None:
    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    with listening(greet) as url, connect(url) as slow:
        slow.sendall(drip)
        assert is_ended(slow, [b"x"] * 1000)


def test_headers_of_a_later_request_have_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    with listening(greet) as url, connect(url) as slow:
        for _ in range(2):
            slow.sendall(request(url, "GET /"))
            assert read(slow).status == 200
        slow.sendall(b"GET / HT")
        assert is_ended(slow, [b"x"] * 1000)


def test_an_idle_connection_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "IDLE_S", 1)
    with listening(greet) as url, connect(url) as idle:
        idle.sendall(request(url, "GET /"))
        assert read(idle).status == 200
        assert is_ended(idle)


def test_a_body_has_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "BODY_S", 0.2)
    with listening(HangUps(echo_length)) as url:
        for length, body in ((100, b"{"), ("chunked", b"1\r\n{\r\n"), ("chunked", b"5")):
            with connect(url) as slow:
                slow.sendall(post(url, length, body))
                assert read(slow).status == 408


def test_the_rest_of_a_refused_body_has_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REFUSED_BODY_S", 0.2)
    with listening(greet) as url, connect(url) as slow:
        slow.sendall(post(url, 10_000))
        assert read(slow).status == 200
        assert is_ended(slow, [b"x"] * 9_000)


def test_a_refused_body_that_comes_leaves_the_connection_as_it_was() -> None:
    with listening(greet) as url, connect(url) as quick:
        for _ in range(3):
            quick.sendall(post(url, 100_000))
            assert read(quick).status == 200
            quick.sendall(b"x" * 100_000)


@pytest.mark.parametrize("is_answered", [True, False])
def test_who_does_not_read_is_dropped(
    monkeypatch: pytest.MonkeyPatch, *, is_answered: bool
) -> None:
    monkeypatch.setattr(connection, "STALLED_S", 0.2)
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 1)
    ended: list[str] = []

    async def pour(scope: Scope, receive: Receive, send: Send) -> None:
        """Write without end, or more than any buffer holds."""
        if scope["method"] == "GET":
            await greet(scope, receive, send)
            return
        assert await Context.body(Request(scope, receive)) == b"{}"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while not is_answered:
                await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            await send({"type": "http.response.body", "body": b"x" * MAX_BODY_BYTES})
        finally:
            ended.append("pour")

    with listening(HangUps(pour)) as url, connect(url) as deaf:
        deaf.sendall(post(url, 2, b"{}"))
        while ask(url, "GET /").status == 503:  # for as long as there are two connections
            assert deaf.fileno() > 0
        assert ended == ["pour"]
        received = 0
        with suppress(ConnectionError):
            while data := deaf.recv(1 << 16):
                received += len(data)
        assert received < MAX_BODY_BYTES, "only what the system's buffers hold"


# ---------------------------------------------------------------------------------------- so much


def test_a_body_has_a_size() -> None:
    with listening(HangUps(echo_length)) as url:
        whole = b" " * MAX_BODY_BYTES
        assert answered(url, post(url, len(whole), whole)).body == str(MAX_BODY_BYTES).encode()
        assert answered(url, post(url, MAX_BODY_BYTES + 1)).status == 413, "before it is sent"
        chunk = b"%x\r\n" % (1 << 20) + b" " * (1 << 20) + b"\r\n"
        assert answered(url, post(url, "chunked", chunk * 32 + b"0\r\n\r\n")).status == 200
        assert answered(url, post(url, "chunked", chunk * 33 + b"0\r\n\r\n")).status == 413


def test_connections_have_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 3)
    with listening(greet) as url:
        opened = [connect(url) for _ in range(3)]
        for each in opened:
            each.sendall(request(url, "GET /"))
            assert read(each).status == 200
        refused = ask(url, "GET /")
        assert (refused.status, refused.error["code"]) == (503, "too_many_connections")
        opened += [connect(url) for _ in range(3)]
        with connect(url) as beyond:
            assert is_ended(beyond)
        for each in opened:
            each.close()
        with connect(url) as later:
            # They have gone by the time that one which came after them is answered.
            for _ in range(100):
                later.sendall(request(url, "GET /"))
                if read(later).status == 200:
                    break
        assert ask(url, "GET /").status in (200, 503)


# ---------------------------------------------------------------------------------------- no HTTP


@pytest.mark.parametrize(
    "data",
    [b"\r\n\r\n\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n",
     b"GET / HTTP/9\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n",
     b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x\r\n\r\n"],
)  # fmt: skip
def test_a_request_that_is_no_http_is_refused_with_that_reason(data: bytes) -> None:
    with listening(HangUps(greet)) as url:
        answer = answered(url, data)
        assert (answer.status, answer.error["code"]) == (400, "bad_http")
        assert ask(url, "GET /").status == 200


def test_a_malformed_chunk_ends_the_connection() -> None:
    for application in (greet, HangUps(echo_length)):
        with listening(application) as url, connect(url) as broken:
            broken.sendall(post(url, "chunked", b"1\r\nx\r\n"))
            broken.sendall(b"zz\r\n\r\n")
            assert is_ended(broken)


# ------------------------------------------------------------------------------------------ faults


def test_a_fault_is_answered_and_logged_without_words(
    allow_warnings: Callable[[str], None],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    allow_warnings("failed: ValueError")

    words = "said in a prompt"

    class Faulty:
        request = staticmethod(nullcontext)

        async def names(self) -> tuple[str, ...]:
            raise ValueError(words)

    work = cast("Context", SimpleNamespace(models=Faulty()))
    application = make_application(work, Access("127.0.0.1", 0, "key"))
    with caplog.at_level(logging.DEBUG), listening(application) as url:
        answer = ask(url, "GET /v1/models", "x-api-key: key")
    assert (answer.status, answer.error["code"]) == (500, "bug")
    records = [each for each in caplog.records if each.levelno >= logging.WARNING]
    ours = [each for each in records if each.name.startswith("paceline")]
    assert len(ours) == 1
    assert "test_connection.py" in ours[0].getMessage(), "it says where"
    said = "".join(each.getMessage() + str(each.exc_info or "") for each in ours)
    assert words not in said + answer.body.decode() + "".join(capfd.readouterr())
