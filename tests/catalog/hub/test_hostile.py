"""Answers that no honest Hub gives: each ends as one clear error, and costs little memory."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator

import pytest

from paceline.catalog.hub import errors, session
from paceline.catalog.hub.client import Hub, TokenSource
from paceline.catalog.hub.errand import Errand, ErrandCaller
from paceline.catalog.hub.errors import HubError, host_of, origin
from paceline.catalog.hub.stream import Location
from paceline.catalog.hub.values import SearchQuery
from paceline.errors import UserError, ValueOutOfRangeError


def look(hub: Hub) -> object:
    return hub.repository("owner/model")


def find(hub: Hub) -> object:
    return list(hub.search(SearchQuery()))


def locate(hub: Hub) -> object:
    return hub.locate("owner/model", "a.gguf")


def read(hub: Hub) -> object:
    with hub.open(Location(f"{hub.endpoint}/x", 100, "e", "", ""), 10) as body:
        return list(body)


CALLS = pytest.mark.parametrize("call", [look, find, locate, read])
Call = Callable[[Hub], object]


@contextlib.contextmanager
def answering(answer: Iterable[bytes]) -> Iterator[Hub]:
    """Return a Hub whose server gives everybody the same bytes, head included."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    if not connection.recv(1 << 16):
                        return
                    for piece in answer:
                        connection.sendall(piece)

        thread = threading.Thread(target=serve)
        thread.start()
        address = listener.getsockname()
        try:
            yield Hub(endpoint=f"http://127.0.0.1:{address[1]}", tokens=TokenSource({}))
        finally:
            socket.create_connection(address).close()
            thread.join()
            from huggingface_hub.utils import close_session

            close_session()


def answer(status: int, body: bytes = b"", *headers: bytes) -> list[bytes]:
    """Return an answer as it goes over the wire."""
    length = b"Content-Length: %d" % len(body)
    lines = [b"HTTP/1.1 %d X" % status, *headers, length, b"Connection: close", b"", body]
    return [b"\r\n".join(lines)]


def packed(n_mebibytes: int) -> bytes:
    """Return very much nothing in very few bytes."""
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(n_mebibytes)) + packer.flush()


@pytest.mark.parametrize("seconds", [b"\xb2", b"9" * 5000, b"Mon, 01 Jan 0001 00:00:00 -0000"])
@CALLS
def test_a_time_to_wait_that_is_none(call: Call, seconds: bytes) -> None:
    text = answer(429, b"", b"Retry-After: " + seconds)
    with answering(text) as hub, pytest.raises(HubError) as caught:
        call(hub)
    assert caught.value.code == "rate-limited"
    assert 0 <= caught.value.retry_after <= 86400


@pytest.mark.parametrize("text", [b"[" * 200_000, b'[{"id":"a/b","likes":%s}]' % (b"9" * 5000)])
@pytest.mark.parametrize("call", [look, find])
def test_json_that_breaks_its_reader(call: Call, text: bytes) -> None:
    with answering(answer(200, text)) as hub, pytest.raises(HubError) as caught:
        call(hub)
    assert caught.value.code == "bad-answer"


def test_a_connection_that_breaks_in_an_answer() -> None:
    with (
        answering([b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"id"']) as hub,
        pytest.raises(HubError) as caught,
    ):
        look(hub)
    assert caught.value.code == "no-network"


def test_an_answer_that_trickles_in_is_left() -> None:
    """A byte now and then satisfies a limit per read, and would never come to an end."""
    is_over = threading.Event()

    def trickle() -> Generator[bytes, None, None]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        while not is_over.wait(0.02):
            yield b" "

    until = time.monotonic() + 0.4
    with answering(trickle()) as hub:
        try:
            with pytest.raises(HubError) as caught:
                hub.repository("owner/model", is_stopped=lambda: time.monotonic() > until)
        finally:
            is_over.set()
    assert caught.value.code == "stopped"


def test_numbers_beyond_all_numbers() -> None:
    text = b'[{"id":"a/b","gguf":{"total":%s},"likes":-1,"downloads":true}]' % (b"9" * 400)
    with answering(answer(200, text)) as hub:
        [model] = hub.search(SearchQuery())
    assert float(model.n_params) < 1e19
    assert (model.likes, model.downloads) == (0, 0)


def test_sizes_beyond_all_sizes() -> None:
    text = b'{"id":"a/b","siblings":[{"rfilename":"a.gguf","size":%s}]}' % (b"9" * 400)
    with answering(answer(200, text)) as hub:
        [choice] = hub.repository("a/b").choices
    assert float(choice.n_bytes) < 1e19


@pytest.mark.parametrize(
    "link", [b"http://[", b"http://h:99999999/", b"file:///etc/passwd", b"//h"]
)
def test_a_next_page_that_is_none(link: bytes) -> None:
    text = answer(200, b'[{"id":"a/b"}]', b'Link: <%s>; rel="next"' % link)
    with answering(text) as hub, pytest.raises(HubError, match="another host"):
        find(hub)


@pytest.mark.grid(short=8)
@pytest.mark.parametrize(
    "place", [b"/loop", b"http://[", b"http://h:999999/", b"file:///etc/passwd", b"http://a b/"]
)
@CALLS
def test_a_redirect_that_leads_nowhere(call: Call, place: bytes) -> None:
    with answering(answer(302, b"", b"Location: " + place)) as hub, pytest.raises(HubError):
        call(hub)


def test_a_redirect_whose_body_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_MAX_JSON_BYTES", 1 << 20)
    n_sent = 0

    def endless() -> Generator[bytes, None, None]:
        nonlocal n_sent
        yield b"HTTP/1.1 302 X\r\nLocation: /x\r\n\r\n"
        for _ in range(100):  # an end for this test, should nothing else end it
            yield bytes(1 << 20)
            n_sent += 1

    with answering(endless()) as hub, pytest.raises(HubError, match="too long"):
        look(hub)
    assert n_sent < 100


@pytest.mark.parametrize("call", [look, find])
def test_a_small_answer_that_unpacks_to_a_large_one(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_MAX_JSON_BYTES", 1 << 20)
    text = answer(200, packed(4), b"Content-Encoding: gzip")
    with answering(text) as hub, pytest.raises(HubError, match="too long"):
        call(hub)


@pytest.mark.parametrize("packing", [b"gzip, gzip", b"deflate", b"br", b"zstd"])
def test_a_packing_that_was_not_asked_for(packing: bytes) -> None:
    text = answer(200, b"[]", b"Content-Encoding: " + packing)
    with answering(text) as hub, pytest.raises(HubError, match="packed"):
        find(hub)


def test_a_packed_answer_is_read() -> None:
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    text = packer.compress(b'[{"id":"a/b"}]') + packer.flush()
    with answering(answer(200, text, b"Content-Encoding: gzip")) as hub:
        assert [model.repo for model in hub.search(SearchQuery())] == ["a/b"]


def test_a_packed_answer_that_is_broken() -> None:
    text = answer(200, b"nonsense", b"Content-Encoding: gzip")
    with answering(text) as hub, pytest.raises(HubError) as caught:
        find(hub)
    assert caught.value.code == "bad-answer"


def test_what_was_encrypted_stays_so() -> None:
    def work() -> Generator[object, None, None]:
        client = session.hub_session()
        yield client.send(client.build_request("GET", "http://127.0.0.1:9/file"), stream=True)

    errand = Errand(ErrandCaller("https://hub.example", "hf_secret"), work)
    with pytest.raises(HubError, match="without encryption"):
        next(errand.results(lambda: False, 5.0, "hub.example"))


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("ALL_PROXY", "socks5://user:hidden@127.0.0.1:9", "SOCKS"),
        ("HTTP_PROXY", "foo:bar", "HTTP_PROXY"),
        ("SSL_CERT_FILE", "/nowhere/at/all", "SSL_CERT_FILE"),
    ],
)
def test_an_environment_that_is_unusable(
    name: str, value: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.utils import close_session

    close_session()  # the next one reads the environment again
    monkeypatch.setenv(name, value)
    with pytest.raises(HubError) as caught:
        look(Hub(endpoint="http://127.0.0.1:9", tokens=TokenSource({})))
    assert caught.value.code == "bad-environment"
    assert word in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("endpoint", ["http://[::1", "http://", "http://\udcff"])
@CALLS
def test_an_address_that_cannot_be_read(call: Call, endpoint: str) -> None:
    with pytest.raises(UserError):
        call(Hub(endpoint=endpoint, tokens=TokenSource({})))


@pytest.mark.parametrize(
    "call",
    [
        lambda hub: list(hub.search(SearchQuery("\udcff"))),
        lambda hub: hub.repository("owner/model", "\udcff"),
        lambda hub: hub.locate("owner/model", "a.gguf", "\udcff"),
    ],
)
def test_text_that_cannot_be_sent(call: Call) -> None:
    with pytest.raises(ValueOutOfRangeError):
        call(Hub(endpoint="http://127.0.0.1:9", tokens=TokenSource({})))


def test_a_password_in_the_address_is_not_shown() -> None:
    assert host_of("http://me:hidden@h:80/x") == "h:80"
    assert host_of("http://[") == "http://["
    error = errors.from_status(500, {}, "http://me:hidden@h/api/models")
    assert "hidden" not in str(error)


def test_what_is_no_address_is_no_place() -> None:
    assert origin("http://[") == origin("http://h:99999999/") == ("", "", 0)
    assert origin("HTTPS://H/x") == ("https", "h", 443)


def test_errors_name_the_repository_on_a_mirror_with_a_path() -> None:
    error = errors.from_status(
        404, {}, "http://h/hub/api/models/owner/none/revision/main", page="http://h/hub"
    )
    assert "“owner/none”" in error.message


def test_an_address_without_a_hub_is_reported() -> None:
    error = errors.from_status(404, {}, "http://h/pre/api/models?x=1", page="http://h/pre")
    assert "HF_ENDPOINT" in error.hint
