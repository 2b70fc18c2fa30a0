"""The guard: keys, names of the server, pages in browsers, and what a request looks like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from paceline.server.limits import MAX_HEAD_BYTES, MAX_HEADERS
from server.rig import running
from server.wire import Answer, answered, ask, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.messages import LoadPair
    from paceline.server.endpoint import Endpoint

KEY = "right-key"
PAGE = "http://localhost:3000"
JSON = "Content-Type: application/json"
BODY = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}).encode()
CHAT = "POST /v1/chat/completions"


@pytest.fixture(scope="module")
def keyed(demo_load: LoadPair) -> Iterator[Endpoint]:
    """An endpoint with a key, which one page may ask."""
    with running(demo_load, key=KEY, origins=(PAGE,)) as endpoint:
        yield endpoint


def code(answer: Answer) -> tuple[int, str]:
    """Return status and code of what must be a refusal."""
    assert "access-control-allow-origin" not in answer.headers or answer.status == 401
    return answer.status, answer.error["code"]


@pytest.mark.parametrize(
    ("headers", "is_let_in"),
    [
        ((f"Authorization: Bearer {KEY}",), True),
        ((f"authorization: bearer  {KEY} ",), True),
        ((f"X-Api-Key: {KEY}",), True),
        ((f"x-api-key: {KEY}", f"Authorization: Bearer {KEY}"), True),
        ((f"x-api-key: {KEY}", "Authorization: Basic dTpw"), True),
        ((f"x-api-key: {KEY}", "Authorization: Bearer other"), False),
        (("x-api-key: other", f"Authorization: Bearer {KEY}"), False),
        ((), False),
        (("x-api-key:",), False),
        (("Authorization: Bearer",), False),
        (("Authorization: Bearer ",), False),
        ((f"Authorization: {KEY}",), False),
        ((f"Authorization: Basic {KEY}",), False),
        ((f"Authorization: Bearer {KEY}x",), False),
        ((f"Authorization: Bearer {KEY[:-1]}",), False),
        ((f"Authorization: Bearer {KEY.upper()}",), False),
        (("Authorization: Bearer \xff\xfe",), False),
        ((f"api-key: {KEY}",), False),
        ((f"Cookie: x-api-key={KEY}",), False),
    ],
)
def test_the_key(keyed: Endpoint, headers: tuple[str, ...], *, is_let_in: bool) -> None:
    for line in ("GET /v1/models", CHAT):
        answer = ask(keyed.url, line, JSON, *headers, body=BODY)
        if is_let_in:
            assert answer.status == 200, answer.body
        else:
            assert code(answer) == (401, "invalid_api_key")
            assert answer.headers["www-authenticate"] == "Bearer"
            assert KEY.encode() not in answer.body


def test_a_key_twice_is_refused(keyed: Endpoint) -> None:
    for name in ("x-api-key: ", "authorization: Bearer "):
        answer = ask(keyed.url, "GET /v1/models", name + KEY, name + KEY)
        assert code(answer) == (400, "bad_header")


@pytest.mark.parametrize("path", ["/health", "/%68ealth"])
def test_health_alone_needs_no_key(keyed: Endpoint, path: str) -> None:
    assert ask(keyed.url, f"GET {path}").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/health/", "//health", "/health/../v1/models", "/HEALTH", "/v1/nothing",
             "/health%00", "/health;x", "/%2fhealth"],
)  # fmt: skip
def test_no_other_path_is_answered_without_a_key(keyed: Endpoint, path: str) -> None:
    assert code(ask(keyed.url, f"GET {path}")) == (401, "invalid_api_key")


@pytest.mark.parametrize("host", ["my-computer", "example.com:1", "[::1", "a/b?c", "[", "@", ""])
def test_with_a_key_the_server_has_any_name(keyed: Endpoint, host: str) -> None:
    answer = ask(keyed.url, CHAT, JSON, f"x-api-key: {KEY}", host=host, body=BODY)
    # Without a Host it is no HTTP/1.1.
    assert answer.status == (200 if host else 400)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:PORT", "localhost:PORT", "LocalHost:PORT", "127.0.0.2:PORT", "[::1]:PORT",
     "[0:0:0:0:0:0:0:1]:PORT"],
)  # fmt: skip
def test_the_servers_own_names(endpoint: Endpoint, host: str) -> None:
    port = str(urlsplit(endpoint.url).port)
    assert ask(endpoint.url, "GET /v1/models", host=host.replace("PORT", port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "[::1]", "127.0.0.1:80", "127.0.0.1:PORT1", "127.0.0.1:1PORT",
        "evil.example:PORT", "localhost.evil.example:PORT", "evil-localhost:PORT",
        "localhost.:PORT",
        "127.0.0.1.:PORT", "127.0.0.1.nip.io:PORT", "user@127.0.0.1:PORT", "127.0.0.1:PORT@evil",
        "evil:80@localhost:PORT", "localhost:PORT:PORT", "::1:PORT", "[localhost]:PORT",
        "[127.0.0.1]:PORT", "[::1:PORT", "]::1[:PORT", "[::2]:PORT", "[fe80::1]:PORT",
        "0.0.0.0:PORT", "[::]:PORT", "2130706433:PORT", "0x7f.1:PORT", "127.1:PORT",
        "0177.0.0.1:PORT", "192.168.0.1:PORT", "localhost PORT", "http://localhost:PORT",
        "localhost:PORT/", "localhost:PORT#", "localhost:PORT, evil", ":PORT", "localhost:",
        "localhost:\xb2", "null", "*",
    ],
)  # fmt: skip
def test_other_names_are_refused(endpoint: Endpoint, host: str) -> None:
    port = str(urlsplit(endpoint.url).port)
    host = host.replace("PORT", port)
    for line in ("GET /health", "GET /v1/models", CHAT, "OPTIONS /v1/models", "GET /nothing"):
        assert code(ask(endpoint.url, line, JSON, host=host, body=BODY)) == (403, "host_refused")


def test_a_host_is_needed(endpoint: Endpoint) -> None:
    assert code(answered(endpoint.url, b"GET /v1/models HTTP/1.0\r\n\r\n")) == (403, "host_refused")
    for hosts in ((), ("localhost", "localhost"), ("127.0.0.1", "evil")):
        port = urlsplit(endpoint.url).port
        lines = [f"Host: {host}:{port}" for host in hosts]
        answer = ask(endpoint.url, "GET /v1/models", *lines, host="")
        assert code(answer) == (400, "bad_http")


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE")
ORIGINS = ("null", "http://evil.example", "", "http://localhost", f"{PAGE}/", f"{PAGE}.evil",
           f"{PAGE}0", "https://localhost:3000", "HTTP://localhost:3000", "*", "file://",
           f"{PAGE} {PAGE}", f"{PAGE}, http://evil.example")  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_pages_are_refused(keyed: Endpoint, endpoint: Endpoint, origin: str) -> None:
    ways = [(endpoint, ()), (keyed, (f"x-api-key: {KEY}",))]
    for server, key in ways:
        for method in METHODS:
            answer = ask(
                server.url, f"{method} /v1/chat/completions", f"Origin: {origin}", JSON, *key,
                "Access-Control-Request-Method: POST", body=BODY,
            )  # fmt: skip
            assert answer.status == 403
            assert method == "HEAD" or answer.error["code"] == "origin_refused"
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_its_own_address_is_no_page_that_may_ask(endpoint: Endpoint) -> None:
    answer = ask(endpoint.url, "GET /v1/models", f"Origin: {endpoint.url}")
    assert code(answer) == (403, "origin_refused")


def test_two_origins_are_refused(keyed: Endpoint) -> None:
    lines = (f"Origin: {PAGE}", "Origin: http://evil.example", f"x-api-key: {KEY}")
    assert code(ask(keyed.url, "GET /v1/models", *lines)) == (400, "bad_header")


def test_a_page_that_may_ask(keyed: Endpoint) -> None:
    asked = ask(
        keyed.url, "OPTIONS /v1/chat/completions", f"Origin: {PAGE}",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization, content-type, x-stainless-os",
    )  # fmt: skip
    assert (asked.status, asked.body) == (204, b"")
    assert asked.headers["access-control-allow-origin"] == PAGE
    assert asked.headers["access-control-allow-methods"] == "GET, POST"
    assert "authorization" in asked.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in asked.headers
    for key, status in ((KEY, 200), ("wrong", 401)):
        answer = ask(
            keyed.url, CHAT, f"Origin: {PAGE}", JSON, f"Authorization: Bearer {key}", body=BODY
        )
        assert answer.status == status
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["vary"] == "origin"


def test_programs_hear_nothing_of_pages(keyed: Endpoint) -> None:
    answer = ask(keyed.url, "GET /v1/models", f"x-api-key: {KEY}")
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "application/jsonx", "text/json", "text/plain; application/json", "application/xml"],
)  # fmt: skip
def test_bodies_are_json(endpoint: Endpoint, kind: str | None) -> None:
    lines = () if kind is None else (f"Content-Type: {kind}",)
    answer = ask(endpoint.url, CHAT, *lines, body=BODY)
    assert code(answer) == (415, "unsupported_media_type")


def test_a_charset_may_be_given(endpoint: Endpoint) -> None:
    kind = "Content-Type: Application/JSON ; charset=utf-8"
    assert ask(endpoint.url, CHAT, kind, body=BODY).status == 200


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /v1/%6dodels", 200),
        ("HEAD /v1/models", 200),
        ("OPTIONS /v1/models", 405),
        ("TRACE /v1/models", 405),
        ("GET /v1/chat/completions", 405),
        ("GET //v1/models", 404),
        ("GET /v1//models", 404),
        ("GET /v1/models/", 404),
        ("GET /v1/models?x=%00", 200),
        ("GET /v1/models/..%2f..%2fetc", 404),
        ("GET /%ff%00", 404),
        ("GET http://evil.example/v1/models", 400),
        ("GET http://127.0.0.1/v1/models", 400),
        ("GET evil", 400),
        ("OPTIONS *", 400),
        ("CONNECT evil.example:443", 400),
        ("GET \\v1", 400),
    ],
)
def test_paths_and_methods(endpoint: Endpoint, line: str, status: int) -> None:
    answer = ask(endpoint.url, line)
    assert answer.status == status
    if status != 200:
        assert answer.error["message"]
    if line.startswith("HEAD"):
        assert answer.body == b""


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip",),
        ("Transfer-Encoding: chunked, identity",),
        ("Content-Length: -1",),
        ("Content-Length: 0x10",),
        ("Content-Length: 1e3",),
        ("Content-Length: 99999999999999999999999",),
        ("Content-Length : 5",),
        ("no colon",),
        ("a\x00b: c",),
        ("a: b\x00c",),
        ("a: b\rc",),
    ],
)
def test_framing_that_can_be_read_in_two_ways_is_refused(
    endpoint: Endpoint, lines: tuple[str, ...]
) -> None:
    smuggled = b"0\r\n\r\n" + request(endpoint.url, "GET /v1/models")
    data = request(endpoint.url, CHAT, JSON, *lines, body=smuggled, has_length=False)
    answer = answered(endpoint.url, data)
    assert answer.status in (400, 501)
    assert answer.error["code"] in ("bad_http", "bad_header")
    assert answer.headers["connection"] == "close"


def test_headers_have_a_size_and_a_number(endpoint: Endpoint) -> None:
    many = [f"x-{i}: 1" for i in range(MAX_HEADERS + 1)]
    large = [f"x-{i}: {'x' * 4000}" for i in range(MAX_HEAD_BYTES // 4000 + 1)]
    for lines in (many, large):
        assert ask(endpoint.url, "GET /v1/models", *lines[:-2]).status == 200
        assert code(ask(endpoint.url, "GET /v1/models", *lines)) == (431, "headers_too_large")
    path = "GET /v1/models?" + "x" * MAX_HEAD_BYTES
    assert code(ask(endpoint.url, path)) == (431, "headers_too_large")


def test_headers_that_do_not_end_are_refused(endpoint: Endpoint) -> None:
    data = request(endpoint.url, "GET /v1/models")[:-2] + b"x: " + b"x" * 500_000
    assert code(answered(endpoint.url, data)) == (400, "bad_http")
