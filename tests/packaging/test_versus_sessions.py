"""The comparison by sessions over HTTP: what is asked, in which turns, and what it says."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paceline.engine.api import generate, load_pair
from paceline.messages import ChatMessage, LoadPair, ModelParams, SamplingParams
from versus import replay
from versus.child import Child, free_port
from versus.replay import Asked, summarise, table
from versus.sessions import Request, Session, read_sessions, record
from versus.sides import (
    CURRENT,
    OURS,
    SAME_SOURCES,
    Answer,
    Side,
    ask,
    flat,
    options_of_ours,
    ours,
    read_stream,
    sides,
)

TARGET = ModelParams("target.gguf", n_ctx=8192, n_threads=1, n_threads_batch=2)
LOAD = LoadPair(TARGET, None, kernels="auto")


# ------------------------------------------------------------------------------------- sessions


def test_replies_are_recorded_as_the_model_writes_them(
    tmp_path: Path, demo_pair: tuple[Path, Path]
) -> None:
    path = tmp_path / "sessions.jsonl"
    said = ["What is a list?", "Given.", "And a set?", "old", "And a tuple?", "old"]
    roles = ["user", "assistant"] * 3
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    path.write_text(json.dumps({"name": "a", "messages": messages, "max_tokens": [0, 0]}) + "\n")
    with load_pair(ModelParams(str(demo_pair[0]), n_ctx=2048)) as pair:
        record(path, pair)
        (session,) = read_sessions(path)
        for request in session.requests:
            reply = generate(
                pair,
                [ChatMessage.of_text(each["role"], each["content"]) for each in request.messages],
                strategy="off",
                sampling=SamplingParams(temperature=0.0),
                max_tokens=request.max_tokens,
            ).finish()
            assert reply.text == request.recorded != "old"
            assert len(reply.tokens) == request.max_tokens
    assert [message["content"] for message in session.requests[0].messages] == said[:3]
    assert session.requests[1].messages[3]["content"] == session.requests[0].recorded


# ---------------------------------------------------------------------------------------- sides


def event(**fields: Any) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n"


def piece(text: str | None) -> bytes:
    return event(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])


USAGE = event(choices=[], usage={"completion_tokens": 3}, timings={"draft_n": 2})


def test_a_stream_is_told_by_its_first_text_and_its_end() -> None:
    lines = [(1.0, piece(None)), (1.5, piece("")), (2.0, piece("Hel")), (2.0, b"\n")]
    lines += [(3.0, b": still here\n"), (4.0, piece("lo")), (4.5, USAGE), (5.0, b"data: [DONE]\n")]
    answer = read_stream(0.5, lines)
    assert answer == Answer(1.5, 3.0, "Hello", 3, {"draft_n": 2}, {})


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "0 lines without text"),
        ([piece("Hello")], "without text or usage"),
        ([USAGE], "without text or usage"),
        ([piece("Hel"), event(error={"message": "gone"})], "gone"),
    ],
)
def test_a_stream_that_says_too_little_is_refused(lines: list[bytes], told: str) -> None:
    with pytest.raises(ConnectionError, match=told):
        read_stream(0.0, [(float(i), line) for i, line in enumerate(lines)])


def test_every_program_loads_the_model_alike() -> None:
    assert flat(options_of_ours(LOAD)) == [
        *("--target", "target.gguf", "--ctx", "8192", "--threads", "1", "--threads-batch", "2"),
        *("--gpu-layers", "0"),
    ]
    assert options_of_ours(LoadPair(TARGET, None, kernels="stock"))["--kernels"] == "stock"


REQUEST = Request(({"role": "user", "content": "Hi"},), 20, "file", "")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
@pytest.mark.parametrize("program", [SAME_SOURCES, CURRENT])
def test_their_servers_are_started_with_each_setting(
    program: str, stand_in: Path, tmp_path: Path
) -> None:
    compared = sides(LOAD, stand_in, str(stand_in), tmp_path)
    of_program = [side for side in compared if side.program == program]
    assert [side.setting for side in of_program] == ["off", "ngram-simple", "ngram-mod"]
    side = of_program[1]
    with side.start() as child:
        text = ask(child, REQUEST, side.body(REQUEST)).text
        with pytest.raises(ConnectionError, match="answered 400"):
            ask(child, replace(REQUEST, max_tokens=100), {})
    for part in ("--model target.gguf", "--ctx-size 8192", "--spec-type ngram-simple"):
        assert part in text
    assert "current.py" in text or program == SAME_SOURCES


def test_without_an_interpreter_the_current_server_takes_no_part(tmp_path: Path) -> None:
    compared = sides(LOAD, tmp_path, None, tmp_path)
    assert Counter(side.program for side in compared) == {OURS: 2, SAME_SOURCES: 3}
    bodies = {side.name: side.body(REQUEST) for side in compared}
    assert bodies["paceline auto"] == {}
    assert bodies["paceline prediction"] == {"prediction": {"type": "content", "content": "file"}}


def test_our_own_server_answers(demo_pair: tuple[Path, Path], tmp_path: Path) -> None:
    target = ModelParams(str(demo_pair[0]), n_ctx=1024, n_threads=1, n_threads_batch=1)
    with ours(LoadPair(target, None), tmp_path, "earlier") as child:
        plain = ask(child, REQUEST, {})
        predicted = ask(child, REQUEST, {"prediction": {"type": "content", "content": plain.text}})
    assert predicted.text == plain.text
    assert predicted.n_tokens == plain.n_tokens <= REQUEST.max_tokens
    assert predicted.timings["draft_n_accepted"] > 0
    assert predicted.paceline["n_reused"] > 0


# --------------------------------------------------------------------------------------- replay


class Stub(Child):
    """A server that never runs, and says of itself when it begins and ends."""

    def __init__(self, name: str, seconds: float, told: list[str]) -> None:
        super().__init__(name, [], free_port())
        self._told = told
        self._seconds = seconds
        self._title = name

    def __enter__(self) -> Stub:
        self._told.append(f"start {self._title}")
        return self

    def stop(self) -> None:
        self._told.append(f"stop {self._title}")
        super().stop()

    def stream(self, path: str, body: object) -> tuple[float, list[tuple[float, bytes]]]:
        self._told.append(f"ask {self._title}")
        return 0.0, [(1.0, piece("text")), (1.0 + self._seconds, USAGE)]


def test_sides_take_turns_and_are_started_anew() -> None:
    told: list[str] = []

    def side(program: str, setting: str, seconds: float = 1.0) -> Side:
        return Side(program, setting, lambda: Stub(setting, seconds, told), lambda _: {})

    compared = [side("server", "off", 1.3), side("server", "mod"), side(OURS, "prediction", 9.0)]
    requests = (replace(REQUEST, recorded="text"), replace(REQUEST, recorded="other"))
    sessions = [Session("a", requests), Session("b", (replace(REQUEST, prediction=""),))]
    asked = list(replay.replay(sessions, compared, 2))
    assert told == [
        *("start off", "start mod", "start prediction"),
        *("ask off", "ask mod", "ask prediction"),
        *("ask prediction", "ask mod", "ask off"),
        *("stop prediction", "stop mod", "stop off"),
        *("start off", "start mod", "ask off", "ask mod", "stop mod", "stop off"),  # no prediction
        *("start mod", "start prediction"),  # the other setting took too long
        *("ask prediction", "ask mod", "ask mod", "ask prediction"),
        *("stop prediction", "stop mod", "start mod", "ask mod", "stop mod"),
    ]
    of_mod = [each for each in asked if each.side == "server mod"]
    assert [each.is_recorded for each in of_mod] == [True, False, None] * 2
    places = [(each.turn, each.session, each.request) for each in of_mod]
    assert places == [(turn, *at) for turn in (0, 1) for at in (("a", 0), ("a", 1), ("b", 0))]


@pytest.mark.parametrize(("seconds", "is_asked"), [(1.19, True), (1.21, False)])
def test_a_setting_that_may_be_the_best_is_asked_again(seconds: float, is_asked: bool) -> None:
    def side(program: str, setting: str) -> Side:
        return Side(program, setting, lambda: Stub("", 0.0, []), lambda _: {})

    mod, simple = side(SAME_SOURCES, "ngram-mod"), side(SAME_SOURCES, "ngram-simple")
    current = side(CURRENT, "ngram-simple")  # the best of its program, if slower than both
    ours_too = side(OURS, "auto")
    taken = {mod: 1.0, simple: seconds, current: 5.0, ours_too: 9.0}
    asked = [took(0, session, each.name, s) for each, s in taken.items() for session in "ab"]
    expected = [mod, *([simple] if is_asked else []), current, ours_too]
    assert replay.in_question(list(taken), asked) == expected


def took(turn: int, session: str, side: str, rest_s: float) -> Asked:
    return Asked(turn, session, 0, side, Answer(rest_s / 10, rest_s, "text", 3, {}, {}), True)


def test_the_best_setting_is_that_of_all_sessions_together() -> None:
    seconds = {
        "paceline auto": ((2.0, 9.0, 2.0), (4.0, 4.0, 4.0)),
        "llama-server off": ((7.0,), (7.0,)),
        "llama-server ngram-mod": ((3.0, 3.0, 3.0), (9.0, 9.0, 9.0)),
        "llama-server ngram-simple": ((5.0, 5.0, 5.0), (6.0, 6.0, 6.0)),
        "current ngram-mod": ((3.0, 3.0, 3.0), (3.0, 3.0, 3.0)),
    }
    asked = [
        took(turn, session, side, value)
        for side, of_sessions in seconds.items()
        for session, values in zip("ab", of_sessions, strict=True)
        for turn, value in enumerate(values)
    ]
    summary = summarise(asked)
    by_name = summary["sessions"]
    assert by_name["a"]["best"]["llama-server"] == "llama-server ngram-mod"
    assert by_name["b"]["best"]["llama-server"] == "llama-server ngram-simple"
    assert by_name["all"]["best"] == {
        "llama-server": "llama-server ngram-simple",
        "current": "current ngram-mod",
    }
    auto = by_name["all"]["sides"]["paceline auto"]
    assert auto["rest_s"] == 6.0  # medians of the rounds, summed up
    assert auto["first_s"] == pytest.approx(0.6)
    ratios = {program: parts["rest_s"]["median"] for program, parts in auto["ratio"].items()}
    assert ratios == pytest.approx({"llama-server": 11 / 6, "current": 1.0})
    assert auto["ratio"]["current"]["rest_s"]["low"] < 1.0  # one round took longer
    assert summary["other_text"]["paceline auto"] == "0/6"
    json.dumps(summary)
    text = table(summary)
    assert "llama-server ngram-simple*" in text
    assert "1.833 [" in text
    assert "paceline auto 0/6" in text
