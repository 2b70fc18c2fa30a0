"""Places of files, and parts of them."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

import pytest

from catalog.hub.conftest import DATA
from hub_server import Fault, HubServer, Repository
from paceline.catalog.hub import client
from paceline.catalog.hub.client import Hub, Location
from paceline.catalog.hub.errors import HubError

REPO, FILE = "owner/model-1-GGUF", "model-1-Q4_K_M.gguf"
WHOLE = b"GGUF" + DATA


@pytest.fixture
def location(hub: Hub) -> Location:
    return hub.locate(REPO, FILE)


def content(hub: Hub, location: Location, start: int = 0, end: int | None = None) -> bytes:
    with hub.open(location, start, end) as body:
        return b"".join(body)


def code(hub: Hub, location: Location, start: int = 0, end: int | None = None) -> str:
    with pytest.raises(HubError) as caught:
        content(hub, location, start, end)
    return caught.value.code


def test_where_a_large_file_is(hub: Hub, server: HubServer, location: Location) -> None:
    assert location.n_bytes == len(WHOLE)
    assert location.sha256 == location.etag == hashlib.sha256(WHOLE).hexdigest()
    assert location.url.startswith(server.cdn_endpoint)
    assert len(location.commit) == 40
    assert [request.method for request in server.requests] == ["HEAD"]


def test_where_a_small_file_is(
    hub: Hub, server: HubServer, repositories: dict[str, Repository]
) -> None:
    repositories["a/b"] = Repository("a/b", {"notes.txt": b"hello"})
    location = hub.locate("a/b", "notes.txt")
    assert location.url == location.hub_url
    assert location.sha256 == ""
    assert location.commit in location.url, "a branch may move on, a commit does not"
    assert content(hub, location) == b"hello"


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, None), (0, 4), (100, 200), (1 << 20, None), (3_072_003, None), (7, 3_072_004)],
)
def test_parts(hub: Hub, location: Location, start: int, end: int | None) -> None:
    with hub.open(location, start, end) as body:
        assert body.start == start
        assert body.n_bytes == len(WHOLE)
        assert b"".join(body) == WHOLE[start:end]


def test_chunks_are_of_a_mebibyte(hub: Hub, location: Location) -> None:
    with hub.open(location) as body:
        sizes = [len(chunk) for chunk in body]
    assert max(sizes) < (1 << 20) + (1 << 17)


def test_a_part_after_the_end(hub: Hub, location: Location) -> None:
    assert code(hub, location, len(WHOLE)) == "range-refused"


def test_a_server_that_knows_no_ranges(hub: Hub, server: HubServer, location: Location) -> None:
    server.add(Fault("*.gguf", ignores_range=True))
    with hub.open(location, 1000, 2000) as body:
        assert body.start == 0
        assert b"".join(body) == WHOLE[:2000]


def test_a_file_of_another_size(hub: Hub, location: Location) -> None:
    assert code(hub, replace(location, n_bytes=5)) == "file-changed"


def test_an_address_that_works_no_more(hub: Hub, server: HubServer) -> None:
    server.signed_for_s = -1
    location = hub.locate(REPO, FILE)
    assert code(hub, location) == "location-expired"
    server.signed_for_s = 60
    server.requests.clear()
    assert content(hub, location, 0, 4) == b"GGUF"
    assert [request.host for request in server.requests] == ["cdn", "hub", "cdn"]


def test_what_came_before_a_break_is_not_lost(
    hub: Hub, server: HubServer, location: Location
) -> None:
    server.add(Fault("*.gguf", drop_after=1_500_000))
    taken = b""
    with pytest.raises(HubError) as caught, hub.open(location) as body:  # noqa: PT012
        for chunk in body:
            taken += chunk
    assert caught.value.code == "no-network"
    assert taken == WHOLE[:1_500_000]


def test_a_slow_server_is_heard_in_small_pieces(
    hub: Hub, server: HubServer, location: Location
) -> None:
    server.add(Fault("*.gguf", bytes_per_s=400_000))
    began = time.monotonic()
    with hub.open(location) as body:
        first = next(iter(body))
    assert len(first) < 600_000
    assert time.monotonic() - began < 10


def test_a_stop_while_nothing_comes(hub: Hub, server: HubServer, location: Location) -> None:
    server.add(Fault("*.gguf", bytes_per_s=1))
    until = time.monotonic() + 0.3
    with (
        pytest.raises(HubError) as caught,
        hub.open(location, is_stopped=lambda: time.monotonic() > until) as body,
    ):
        for _ in body:
            pass
    assert caught.value.code == "stopped"
    assert time.monotonic() - until < 10


def test_a_server_that_stalls(
    hub: Hub, server: HubServer, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CALL_LIMIT_S", 0.3)
    server.add(Fault("*.gguf", silent=True))
    assert code(hub, location) == "timed-out"


def test_a_web_page_instead_of_a_file(hub: Hub, server: HubServer, location: Location) -> None:
    server.add(Fault("*.gguf", html=True))
    assert code(hub, location) == "bad-answer"


def test_a_wrong_part_is_refused(
    hub: Hub, server: HubServer, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hub_server import content as sending

    monkeypatch.setattr(sending, "_part", lambda text, n_bytes: (50, 60))
    assert code(hub, location, 100, 110) == "bad-answer"
    assert code(hub, location, 50, 55) == "bad-answer"


def test_a_file_without_an_etag_is_not_to_be_trusted(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add(Fault(method="HEAD", html=True))
    with pytest.raises(HubError) as caught:
        hub.locate(REPO, FILE)
    assert caught.value.code == "bad-answer"
