"""The guide's numbers are those of the server, in both languages; and they are kept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from paceline import paths
from paceline.server import limits
from server.wire import ask

if TYPE_CHECKING:
    from paceline.server.endpoint import Endpoint

HELLO = {"role": "user", "content": "Hi"}

N = limits
ROWS = (
    (f"{N.LARGEST_BODY >> 20} MB", N.DEEPEST),
    (f"{N.LARGEST_HEAD >> 10} KB", N.MOST_HEADERS),
    (N.MOST_MESSAGES,),
    (N.MOST_TOOLS,),
    (N.MOST_REPLIES,),
    (N.MOST_PROMPTS,),
    (N.MOST_FILES,),
    (N.MOST_STOPS, N.LONGEST_STOP),
    (N.MOST_BIASES,),
    (N.MOST_LIKELY,),
    (N.MOST_CONNECTIONS,),
    (f"{N.HEAD_S:g} s",),
    (f"{N.BODY_S:g} s",),
    (f"{N.REST_S:g} s",),
    (f"{N.STALLED_S:g} s",),
    (f"{N.IDLE_S:g} s",),
    (f"{N.ALIVE_S:g} s", f"{N.PATIENCE_S:g} s"),
)
"""The numbers of each row of the guide's table."""


@pytest.mark.parametrize(("file", "sign"), [("guide.md", ","), ("guide.de.md", ".")])
def test_the_guide_tells_every_limit(file: str, sign: str) -> None:
    text = (paths.resources() / "guide" / file).read_text(encoding="utf-8")
    table = next(each for each in text.split("\n\n") if each.startswith("|") and " MB, " in each)
    for row, numbers in zip(table.splitlines()[2:], ROWS, strict=True):
        told = row.split("|")[2]
        expected = [
            f"{number:,}".replace(",", sign) if isinstance(number, int) else number
            for number in numbers
        ]
        assert re.findall(r"[\d.,]*\d(?: (?:MB|KB|s)\b)?", told) == expected, row


def test_no_limit_is_left_out() -> None:
    names = [name for name in vars(limits) if name.isupper()]
    assert sum(map(len, ROWS)) == len(names), names


def _tool(path: str, name: str) -> dict[str, Any]:
    if path == "/v1/chat/completions":
        return {"type": "function", "function": {"name": name}}
    if path == "/v1/responses":
        return {"type": "function", "name": name}
    return {"name": name, "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("path", "field", "count"),
    [
        ("/v1/chat/completions", "messages", N.MOST_MESSAGES),
        ("/v1/messages", "messages", N.MOST_MESSAGES),
        ("/v1/responses", "input", N.MOST_MESSAGES),
        ("/v1/chat/completions", "tools", N.MOST_TOOLS),
        ("/v1/messages", "tools", N.MOST_TOOLS),
        ("/v1/responses", "tools", N.MOST_TOOLS),
        ("/v1/chat/completions", "stop", N.MOST_STOPS),
        ("/v1/chat/completions", "logit_bias", N.MOST_BIASES),
        ("/v1/completions", "prompt", N.MOST_PROMPTS),
        ("/infill", "input_extra", N.MOST_FILES),
    ],
)
def test_one_more_than_allowed_is_refused(
    endpoint: Endpoint, path: str, field: str, count: int
) -> None:
    values = {
        "messages": HELLO, "input": HELLO, "stop": "x", "prompt": "x", "input_extra": {"text": "x"},
    }  # fmt: skip
    needed = {"/v1/responses": {"input": [HELLO]}, "/v1/completions": {"prompt": "x"}}
    body: dict[str, Any] = needed.get(path, {"messages": [HELLO], "max_tokens": 1})
    for n in (count, count + 1):
        body[field] = [values.get(field)] * n
        if field == "logit_bias":
            body[field] = {str(i): 0 for i in range(n)}
        if field == "tools":
            body[field] = [_tool(path, f"look_{i}") for i in range(n)]
        kind = "Content-Type: application/json"
        if n <= count and field in ("prompt", "messages", "input"):
            continue  # would be read, and be too long or take a while
        answer = ask(endpoint.url, f"POST {path}", kind, body=json.dumps(body).encode())
        is_refused = answer.status == 400 and f"{count:,}" in answer.error["message"]
        assert is_refused == (n > count), answer.body


def test_a_body_has_a_depth(endpoint: Endpoint) -> None:
    for depth in (N.DEEPEST, N.DEEPEST + 1, 100_000):
        nested = b'{"messages": [], "x": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
        answer = ask(
            endpoint.url, "POST /v1/chat/completions", "Content-Type: application/json", body=nested
        )
        assert answer.status == 400
        assert ("levels" in answer.error["message"]) == (depth > N.DEEPEST)
