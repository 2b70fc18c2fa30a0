"""Limits, stops, failures, and where the access token goes."""

from __future__ import annotations

import logging
import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import format_datetime

import httpx2
import pytest

from hub_server import Fault, HubServer
from paceline import __version__
from paceline.catalog.hub import client, errors
from paceline.catalog.hub.client import Hub, TokenSource, is_offline
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import SearchQuery
from paceline.errors import ValueOutOfRangeError

REPO, FILE = "owner/model-1-GGUF", "model-1-Q4_K_M.gguf"


def look(hub: Hub) -> object:
    return hub.repository(REPO)


def find(hub: Hub) -> object:
    return list(hub.search(SearchQuery()))


def locate(hub: Hub) -> object:
    return hub.locate(REPO, FILE)


CALLS = pytest.mark.parametrize("call", [look, find, locate])
Call = Callable[[Hub], object]


def failure(hub: Hub, call: Call = look) -> HubError:
    with pytest.raises(HubError) as caught:
        call(hub)
    error = caught.value
    assert error.message.endswith(".")
    assert error.hint.endswith(".")
    return error


@pytest.mark.grid(short=12)
@CALLS
@pytest.mark.parametrize(
    ("status", "code"),
    [(500, "server-error"), (503, "server-error"), (504, "timed-out"), (429, "rate-limited"),
     (418, "bad-answer"), (404, "not-found"), (401, "unauthorized"), (403, "unauthorized")],
)  # fmt: skip
def test_a_status_is_reported_at_once_and_once(
    hub: Hub, server: HubServer, call: Call, status: int, code: str
) -> None:
    server.add(Fault(status=status))
    began = time.monotonic()
    assert failure(hub, call).code == code
    assert time.monotonic() - began < 10
    assert len(server.requests) == 1


@CALLS
def test_a_server_that_says_nothing(
    hub: Hub, server: HubServer, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CALL_LIMIT_S", 0.3)
    server.add(Fault(silent=True))
    began = time.monotonic()
    assert failure(hub, call).code == "timed-out"
    assert time.monotonic() - began < 5


def test_every_request_of_the_library_has_limits(hub: Hub, server: HubServer) -> None:
    from paceline.catalog.hub.session import hub_session

    asked: list[dict[str, float]] = []
    session = hub_session()
    session.event_hooks["request"].append(lambda r: asked.append(r.extensions["timeout"]))
    find(hub)
    look(hub)
    locate(hub)
    session.get(f"{server.endpoint}/api/models", timeout=None)
    assert len(asked) == len(server.requests) > 4
    assert all(limits["connect"] == 10 and limits["read"] == 20 for limits in asked)


def test_a_stop_is_obeyed_within_a_second(hub: Hub, server: HubServer) -> None:
    server.add(Fault(silent=True))
    stopped_at: list[float] = []

    def is_stopped() -> bool:
        if server.requests and not stopped_at:
            stopped_at.append(time.monotonic())
        return bool(stopped_at)

    for stoppable in (
        lambda: hub.repository(REPO, is_stopped=is_stopped),
        lambda: list(hub.search(SearchQuery(), is_stopped)),
        lambda: hub.locate(REPO, FILE, is_stopped=is_stopped),
    ):
        server.requests.clear()
        stopped_at.clear()
        with pytest.raises(HubError) as caught:
            stoppable()
        assert caught.value.code == "stopped"
        assert time.monotonic() - stopped_at[0] < 10


def test_an_answer_without_end_is_left(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    from paceline.catalog.hub import session

    monkeypatch.setattr(session, "_MAX_JSON_BYTES", 100)
    error = failure(hub, find)
    assert error.code == "bad-answer"
    assert "too long" in error.message


def test_a_port_without_a_server(hub: Hub) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    hub.endpoint = f"http://127.0.0.1:{port}"
    assert failure(hub).code == "no-network"


def test_a_name_that_does_not_exist(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    hub.endpoint = "https://hub.invalid"
    error = failure(hub)
    assert error.code == "no-network"
    assert "hub.invalid cannot be found" in error.message


def test_plain_http_at_an_address_with_https(hub: Hub, server: HubServer) -> None:
    hub.endpoint = server.endpoint.replace("http://", "https://")
    error = failure(hub)
    assert error.code == "tls-failed"


def test_a_certificate_that_is_not_trusted() -> None:
    cause = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error = httpx2.ConnectError("certificate verify failed")
    error.__cause__ = cause
    assert errors.from_exception(error, "x").code == "tls-failed"


def test_offline_no_server_is_asked(hub: Hub, server: HubServer) -> None:
    hub.offline = True
    for call in (look, find, locate):
        assert failure(hub, call).code == "offline"
    assert not server.requests
    hub.offline = False
    look(hub)


def test_offline_by_the_environment() -> None:
    assert is_offline({"HF_HUB_OFFLINE": "1"})
    assert is_offline({"HF_HUB_OFFLINE": "true"})
    assert not is_offline({"HF_HUB_OFFLINE": "0"})
    assert not is_offline({})


@pytest.mark.parametrize("endpoint", ["huggingface.co", "ftp://x.org", "https://", "file:///etc"])
def test_an_address_of_no_hub(endpoint: str, tokens: TokenSource) -> None:
    with pytest.raises(ValueOutOfRangeError) as caught:
        Hub(endpoint=endpoint, tokens=tokens).repository(REPO)
    assert caught.value.code == "bad-endpoint"


def test_the_address_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tokens: TokenSource
) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert Hub(tokens=tokens).endpoint == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert Hub(tokens=tokens).endpoint == "https://mirror.example"
    assert Hub(endpoint="http://a", tokens=tokens).endpoint == "http://a"


def test_nothing_is_revealed_about_this_machine(hub: Hub, server: HubServer) -> None:
    find(hub)
    look(hub)
    locate(hub)
    for request in server.requests:
        assert request.headers["user-agent"] == f"paceline/{__version__}"
        assert "cookie" not in request.headers
        assert "authorization" not in request.headers


def test_no_other_server_is_asked(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library would ask huggingface.co which further facts of this machine to send."""
    from huggingface_hub import constants
    from huggingface_hub.utils import _detect_agent

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    asked: list[str] = []
    monkeypatch.setattr(_detect_agent, "_get_registry", lambda: asked.append("who") or {})
    hub.repository("other/gated")  # by two requests
    locate(hub)
    assert len(server.requests) == 3
    assert not asked


# ------------------------------------------------------------------------------------ the token


def test_the_token_goes_to_the_hub_and_nowhere_else(hub_with_token: Hub, server: HubServer) -> None:
    page = hub_with_token.repository("other/gated")
    location = hub_with_token.locate("other/gated", page.choices[0].path)
    assert location.url != location.hub_url
    with hub_with_token.open(location, 0, 10) as body:
        assert b"".join(body).startswith(b"GGUF")
    unseen = client.Location(
        f"{server.endpoint}/other/gated/resolve/main/{page.choices[0].path}", 0, "", "", "", False
    )
    with hub_with_token.open(unseen, 0, 10) as body:  # the library follows the redirect by itself
        assert b"".join(body).startswith(b"GGUF")
    by_host = {
        host: [r.headers.get("authorization") for r in server.requests if r.host == host]
        for host in ("hub", "cdn")
    }
    assert set(by_host["hub"]) == {"Bearer hf_secret"}
    assert by_host["cdn"] == [None, None]


def test_no_log_holds_the_token(
    hub_with_token: Hub, server: HubServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = hub_with_token.repository("other/gated")
    with hub_with_token.open(hub_with_token.locate("other/gated", page.choices[0].path)) as body:
        assert sum(map(len, body))
    server.add(Fault(status=401))
    error = failure(hub_with_token)
    chain: BaseException | None = error
    while chain is not None:
        assert "hf_secret" not in f"{chain!r} {chain}"
        chain = chain.__cause__ or chain.__context__
    assert caplog.text, "the HTTP library does log"
    assert "hf_secret" not in caplog.text


def test_many_callers_at_once(hub: Hub, server: HubServer) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: hub.locate(REPO, FILE).n_bytes, range(64)))
    assert len(set(found)) == 1
    assert len(server.requests) == 64


def test_two_hubs_keep_their_tokens_apart(hub: Hub, hub_with_token: Hub, server: HubServer) -> None:
    look(hub_with_token)
    look(hub)
    look(hub_with_token)
    sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == ["Bearer hf_secret", None, "Bearer hf_secret"]


def test_a_gated_file_names_the_page_where_it_is_asked_for(
    hub: Hub, hub_with_token: Hub, server: HubServer
) -> None:
    error = failure(hub, lambda h: h.locate("other/gated", "gated-Q8_0.gguf"))
    assert error.code == "gated"
    assert f"{server.endpoint}/other/gated" in error.hint
    server.tokens["hf_secret"] = set()
    error = failure(hub_with_token, lambda h: h.locate("other/gated", "gated-Q8_0.gguf"))
    assert error.code == "gated"
    assert f"{server.endpoint}/other/gated" in error.hint


def test_an_unknown_token_is_distinguished_from_one_without_access(
    hub: Hub, server: HubServer
) -> None:
    hub.tokens = TokenSource({"HF_TOKEN": "hf_wrong"})
    error = failure(hub, lambda h: h.locate("other/gated", "gated-Q8_0.gguf"))
    assert error.code == "unauthorized"
    assert "does not accept" in error.message
    assert "hf_wrong" not in str(error)


# ---------------------------------------------------------------------------------- rate limits


def test_how_long_to_wait(hub: Hub, server: HubServer) -> None:
    server.add(Fault(status=429, retry_after=90))
    error = failure(hub)
    assert error.retry_after == 90
    assert "2 min" in error.hint


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "999999999"}, 86400, 86400),
        ({"retry-after": "soon"}, 0, 0),
        ({"ratelimit": '"api";r=0;t=55'}, 55, 55),
        ({"ratelimit": "garbage"}, 0, 0),
        ({"ratelimit": f"r=0;t={'9' * 5000}"}, 0, 0),
        ({}, 0, 0),
    ],
)
def test_what_the_headers_say(headers: dict[str, str], low: int, high: int) -> None:
    error = errors.from_status(429, headers, "https://x/api/models")
    assert low <= error.retry_after <= high
    assert "ait" in error.hint


def test_a_date_to_wait_for() -> None:
    import datetime

    then = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=300)
    error = errors.from_status(
        429, {"retry-after": format_datetime(then, usegmt=True)}, "https://x/"
    )
    assert 200 < error.retry_after <= 300


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
