"""Random requests that are broken or mean harm: each is refused by a reason, and none is let in."""

from __future__ import annotations

import http.client
import json
import logging
import socket
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from paceline import paths
from paceline.params import ReplySettings, SamplingParams
from paceline.server.application import ROUTES
from paceline.server.served import Defaults
from server.hostile import MARK, VALID, Hostile, make_hostile, make_stranger
from server.rig import running
from server.wire import Answer, ask, connect, read

if TYPE_CHECKING:
    from paceline.messages import LoadPair
    from trials import Trials

KEY = "right-key"
SHORT = Defaults(
    ReplySettings(sampling=SamplingParams(temperature=0), max_tokens=2), has_limit=True
)


def test_every_route_with_a_body_is_attacked() -> None:
    taking = {route.path for route in ROUTES if "POST" in (route.methods or ())}
    assert {path for path, _ in VALID} == taking


def outcome(url: str, hostile: Hostile) -> Answer | None:
    """Return the answer, or None if there is none."""
    with connect(url) as connection:
        try:
            connection.sendall(hostile.data)
            if hostile.kind == "framing":  # some of these would wait for more
                connection.shutdown(socket.SHUT_WR)
            return read(connection, hostile.data.partition(b" ")[0].decode("latin-1"))
        except (ConnectionError, http.client.HTTPException):
            return None


def complaint(hostile: Hostile, answer: Answer | None) -> str:
    """Return the fault of an answer, or empty if it has none."""
    if answer is None:
        return "" if hostile.kind == "framing" else "no answer"
    if answer.status >= 500:
        return f"{answer.status} {answer.body!r}"
    is_refused = answer.status in (401, 403) or b"two headers" in answer.body
    if hostile.kind == "sender" and not is_refused:
        return f"let in: {answer.status}"
    folder = paths.resources().as_posix().encode()
    if any(words in answer.body for words in (b"Traceback", folder, b'"code":"bug"')):
        return f"{answer.status} {answer.body!r}"
    if answer.status >= 400 and answer.body and not json.loads(answer.body)["error"]["message"]:
        return "no words"
    return ""


def test_hostile_requests(
    demo_load: LoadPair,
    trials: Trials,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    load = structs.replace(demo_load, target=replace(demo_load.target, n_ctx=512))
    with running(load, key=KEY, defaults=SHORT) as endpoint, running(load) as keyless:
        for path, body in VALID:
            needs_marks = path == "/infill" or "suffix" in body
            assert valid(endpoint.url, path, body).status == (400 if needs_marks else 200), path
        troubles = []
        for i in trials(150, 10_000):
            random = Random(i)
            is_strange = random.random() < 0.1
            url = keyless.url if is_strange else endpoint.url
            hostile = make_stranger(random, url) if is_strange else make_hostile(random, url, KEY)
            trouble = complaint(hostile, outcome(url, hostile))
            if trouble:
                troubles.append(f"{i}: {trouble} {hostile.kind}: {hostile.what}")
        assert not troubles, "\n".join(troubles)
        path, body = VALID[0]
        assert valid(endpoint.url, path, body).status == 200
    assert caplog.records, "something is logged, on the lowest level"
    assert MARK not in caplog.text
    assert not "".join(capfd.readouterr()).strip(), "nothing is said on stdout and stderr"


def valid(url: str, path: str, body: dict[str, Any]) -> Answer:
    """Send a request as it should be."""
    headers = ("Content-Type: application/json", f"Authorization: Bearer {KEY}")
    return ask(url, f"POST {path}", *headers, body=json.dumps(body).encode())
