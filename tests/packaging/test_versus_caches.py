"""The comparison of what is read again over HTTP, as far as it needs no server of others."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import versus_caches
from paceline.messages import LoadPair, ModelParams
from versus.replay import Asked
from versus.rereading import CHANGES, agent, chats
from versus.sessions import Request
from versus.sides import Answer, ask

LOAD = LoadPair(ModelParams("target.gguf", n_ctx=8192, n_threads=1, n_threads_batch=1), None)
THEIRS = ("llama-server cache-ram", "llama-server cache-reuse")
REQUEST = Request(({"role": "user", "content": "Hi"},), 16, "", "")


def n_threes(text: str) -> int:
    return -(-len(text) // 3)


def test_an_agents_conversation_grows_and_its_first_line_changes() -> None:
    session = agent(n_threes, 5, 200)
    systems = [request.messages[0] for request in session.requests]
    lines = [system["content"].split("\n", 1) for system in systems]
    assert {system["role"] for system in systems} == {"system"}
    assert all(re.fullmatch(CHANGES, first) for first, _ in lines)
    assert len({first for first, _ in lines}) == 5
    assert {n_threes(rest) for _, rest in lines} == {200}
    for before, after in pairwise(session.requests):
        assert after.messages[1 : len(before.messages)] == before.messages[1:]
        assert [each["role"] for each in after.messages[-2:]] == ["assistant", "user"]


def test_chats_take_turns_and_each_continues() -> None:
    session = chats(n_threes, 3, 4, 100)
    assert len(session.requests) == 12
    for first in range(3):
        of_chat = session.requests[first::3]
        assert n_threes(of_chat[0].messages[0]["content"]) == 100
        for before, after in pairwise(of_chat):
            assert after.messages[: len(before.messages)] == before.messages
            assert len(after.messages) == len(before.messages) + 2
    assert len({request.messages[0]["content"] for request in session.requests}) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
def test_sides_are_started_with_their_caches(stand_in: Path, tmp_path: Path) -> None:
    told = {}
    for side in versus_caches.sides(LOAD, stand_in, str(stand_in), tmp_path):
        if side.program != "paceline" or side.setting == "before":
            with side.start() as child:
                told[side.name] = ask(child, REQUEST, side.body(REQUEST)).text
    assert list(told) == ["paceline before", *THEIRS]
    assert told["paceline before"].startswith("-m paceline serve --target target.gguf --ctx 8192")
    assert all("--cache-ram 8192" in told[name] for name in THEIRS)
    assert "--cache-reuse 256" in told[THEIRS[1]]
    assert "--cache-reuse" not in told[THEIRS[0]]


def took(side: str, first_s: float, rest_s: float, n_read: int, turn: int = 0) -> Asked:
    answer = Answer(first_s, rest_s, "text", 3, {"prompt_n": n_read}, {})
    return Asked(turn, "agent", 0, side, answer, None)


def test_a_side_is_told_beside_the_best_setting_of_the_server() -> None:
    asked = [
        took("paceline", 1.0, 1.0, 10),
        took("llama-server cache-ram", 5.0, 1.0, 500),
        took("llama-server cache-reuse", 7.0, 1.0, 500),
    ]
    asked += [took("paceline", 1.0, 1.0, 10, turn=1)]
    text = versus_caches.table(asked).split("\n")
    assert text[1].split() == ["agent", "paceline", "1.00", "2.00", "10", "3.00"]
    assert text[2].split()[-3:] == ["6.00", "500", "1.00"]
    assert text[3].split()[-3:] == ["8.00", "500", "0.75"]
