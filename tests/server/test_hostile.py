"""Random requests that are broken or mean harm: each is refused by a reason, and none is let in."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from paceline.params import ReplySettings, SamplingParams
from paceline.server.application import ROUTES
from paceline.server.served import Defaults
from server.hostile import MARK, VALID, Hostile, make_hostile
from server.rig import running
from server.wire import Answer, ask, connect, read

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from conftest import Trials
    from paceline.messages import LoadPair

KEY = "right-key"
SHORT = Defaults(
    ReplySettings(sampling=SamplingParams(temperature=0), max_tokens=2), has_limit=True
)


def test_every_route_with_a_body_is_attacked() -> None:
    taking = {route.path for route in ROUTES if "POST" in (route.methods or ())}
    assert {path for path, _ in VALID} == taking


def outcome(url: str, hostile: Hostile) -> Answer | None:
    """Return the answer; None: there is none."""
    with connect(url) as connection:
        try:
            connection.sendall(hostile.data)
            if hostile.kind == "framing":  # some of these would wait for more
                connection.shutdown(socket.SHUT_WR)
            return read(connection, hostile.data.partition(b" ")[0].decode("latin-1"))
        except (ConnectionError, http.client.HTTPException):
            return None


def complaint(hostile: Hostile, answer: Answer | None) -> str:
    """Return what is wrong with an answer; empty: nothing."""
    if answer is None:
        return "" if hostile.kind == "framing" else "no answer"
    if answer.status >= 500:
        return f"{answer.status} {answer.body!r}"
    is_refused = answer.status in (401, 403) or b"two headers" in answer.body
    if hostile.kind == "sender" and not is_refused:
        return f"let in: {answer.status}"
    if b"Traceback" in answer.body or b"/work/" in answer.body or b'"code":"bug"' in answer.body:
        return f"{answer.status} {answer.body!r}"
    if answer.status >= 400 and answer.body and not json.loads(answer.body)["error"]["message"]:
        return "no words"
    return ""


def test_hostile_requests(
    demo_load: LoadPair,
    trials: Trials,
    capfd: pytest.CaptureFixture[str],
    paceline_home: Path,
) -> None:
    load = structs.replace(demo_load, target=replace(demo_load.target, n_ctx=512))
    with running(load, key=KEY, defaults=SHORT) as endpoint:
        for path, body in VALID:
            assert valid(endpoint.url, path, body).status in (200, 400), path
        troubles = []
        for i in trials(300, 10_000):
            hostile = make_hostile(Random(i), endpoint.url, KEY)
            trouble = complaint(hostile, outcome(endpoint.url, hostile))
            if trouble:
                troubles.append(f"{i}: {trouble} {hostile.kind}: {hostile.what}")
        assert not troubles, "\n".join(troubles)
        path, body = VALID[0]
        assert valid(endpoint.url, path, body).status == 200
    assert no_words(capfd.readouterr()), "nothing is said on stdout and stderr"
    logs = [file.read_text() for file in paceline_home.rglob("*.log*")]
    assert MARK not in "".join(logs)


def valid(url: str, path: str, body: dict[str, Any]) -> Answer:
    """Send a request as it should be."""
    headers = ("Content-Type: application/json", f"Authorization: Bearer {KEY}")
    return ask(url, f"POST {path}", *headers, body=json.dumps(body).encode())


def no_words(said: Iterable[str]) -> bool:
    return not "".join(said).strip()
