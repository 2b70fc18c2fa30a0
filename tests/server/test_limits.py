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
    (f"{N.MAX_BODY_BYTES >> 20} MB", N.MAX_DEPTH),
    (f"{N.MAX_HEAD_BYTES >> 10} KB", N.MAX_HEADERS),
    (N.MAX_MESSAGES,),
    (N.MAX_TOOLS,),
    (N.MAX_REPLIES,),
    (N.MAX_PROMPTS,),
    (N.MAX_FILES,),
    (N.MAX_STOPS, N.MAX_STOP_CHARS),
    (N.MAX_BIASES,),
    (N.MAX_TOP_LOGPROBS,),
    (N.MAX_CONNECTIONS,),
    (f"{N.HEAD_S:g} s",),
    (f"{N.BODY_S:g} s",),
    (f"{N.REFUSED_BODY_S:g} s",),
    (f"{N.STALLED_S:g} s",),
    (f"{N.IDLE_S:g} s",),
    (f"{N.KEEP_ALIVE_EVERY_S:g} s", f"{N.MAX_WAIT_FOR_START_S:g} s"),
)
"""The numbers of each row of the guide's table."""


@pytest.mark.parametrize(("file", "sign"), [("guide.md", ","), ("guide.de.md", ".")])
def test_the_guide_states_every_limit(file: str, sign: str) -> None:
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
        ("/v1/chat/completions", "messages", N.MAX_MESSAGES),
        ("/v1/messages", "messages", N.MAX_MESSAGES),
        ("/v1/responses", "input", N.MAX_MESSAGES),
        ("/v1/chat/completions", "tools", N.MAX_TOOLS),
        ("/v1/messages", "tools", N.MAX_TOOLS),
        ("/v1/responses", "tools", N.MAX_TOOLS),
        ("/v1/chat/completions", "stop", N.MAX_STOPS),
        ("/v1/chat/completions", "logit_bias", N.MAX_BIASES),
        ("/v1/completions", "prompt", N.MAX_PROMPTS),
        ("/infill", "input_extra", N.MAX_FILES),
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
    for depth in (N.MAX_DEPTH, N.MAX_DEPTH + 1, 100_000):
        nested = b'{"messages": [], "x": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
        answer = ask(
            endpoint.url, "POST /v1/chat/completions", "Content-Type: application/json", body=nested
        )
        assert answer.status == 400
        assert ("levels" in answer.error["message"]) == (depth > N.MAX_DEPTH)
