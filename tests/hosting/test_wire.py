"""Frames on the pipe: valid ones arrive unchanged, and all others are refused."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from any_message import any_message
from message_samples import COMMANDS, EVENTS, is_value, sample
from paceline.catalog.card import ModelCard
from paceline.catalog.inspect.wire import Answer
from paceline.codec import Checked
from paceline.hosting import wire
from paceline.hosting.wire import (
    Beat,
    Done,
    LogLine,
    Upward,
    decode_command,
    decode_upward,
    encode_message,
)
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    PairLoaded,
    RawText,
    StartTurn,
    TokenTrace,
    Tune,
    TurnFailed,
)
from paceline.params import LogitBias, SamplingParams, Strategy
from paceline.workers.frames import WireError

REPORTS = get_args(wire.Report)
whole = st.integers(-(2**63), 2**64 - 1)
packed = msgspec.msgpack.encode
unpacked = msgspec.msgpack.decode

ZEROES = "read_bytes", "decode_s", "decode_limit_s"


def logged(level: object, text: object = "x") -> bytes:
    return packed({"type": "LogLine", "level": level, "logger": "x", "text": text})


figure = st.floats(allow_nan=False)
any_report = st.one_of(
    st.just(Done()),
    st.builds(Beat, whole, figure, whole, figure, figure),
    st.builds(LogLine, whole, st.text(max_size=20), st.text(max_size=50)),
)


@given(any_message())
def test_every_message_comes_through(message: Any) -> None:
    if isinstance(message, COMMANDS):
        assert decode_command(encode_message(message)) == message
    else:
        assert decode_upward(encode_message(message)) == message


@given(any_report)
def test_every_report_comes_through(report: wire.Report) -> None:
    back = decode_upward(encode_message(report))
    assert back == report
    assert type(back) is type(report)


@pytest.mark.parametrize("cls", COMMANDS)
def test_a_command_is_no_event(cls: type) -> None:
    with pytest.raises(WireError, match=f"Invalid value '{cls.__name__}' - at `.*type`"):
        decode_upward(encode_message(sample(cls)))


@pytest.mark.parametrize("cls", EVENTS)
def test_an_event_is_no_command(cls: type) -> None:
    with pytest.raises(WireError, match=f"Invalid value '{cls.__name__}' - at `.*type`"):
        decode_command(encode_message(sample(cls)))


@pytest.mark.parametrize("cls", REPORTS)
def test_a_report_is_no_command(cls: type) -> None:
    with pytest.raises(WireError, match=r"Invalid value .* - at `.*type`"):
        decode_command(encode_message(sample(cls)))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(payload: bytes) -> None:
    for decode in (decode_command, decode_upward):
        with pytest.raises(WireError):
            decode(payload)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b'{"type":"Done"}',
        packed(None),
        packed([]),
        packed("Done"),
        packed({}),
        packed(float("nan")),
        packed({"type": "Done"})[:-1],
        packed({"type": "Done"}) + b"\xc0",
        packed({"type": "Nothing"}),
        packed({"type": ["Done"]}),
        packed({"type": {"Done": 1}}),
        packed({"type": b"Done"}),
        packed({"type": "Done", "more": 1}),
        packed({"type": "LogLine"}),
        *map(
            logged,
            ["7", True, 1.0, None, datetime(2026, 1, 1, tzinfo=UTC), msgspec.msgpack.Ext(5, b"x")],
        ),
        logged(7, None),
        logged(7, b"x"),
        packed({"type": "Beat", "n_events": 1, "cpu_s": "1", **dict.fromkeys(ZEROES, 0)}),
        logged(7, "@@@").replace(b"@@@", b"\xed\xa0\x80"),
        b"\x91" * 200_000,
        b"\x81\xa1a" * 100_000,
        b"\xff\xfe{\x00}\x00",
        logged(7, 0)[:-1] + b"\xdd\xff\xff\xff\xff",
    ],
    ids=lambda payload: repr(payload[:40]),
)
def test_what_is_almost_a_message_is_refused(payload: bytes) -> None:
    with pytest.raises(WireError) as caught:
        decode_upward(payload)
    assert 0 < len(str(caught.value)) < 400


@pytest.mark.parametrize("cls", [c for c in (*EVENTS, *REPORTS) if c.__struct_fields__])
def test_every_field_with_a_value_of_another_kind_is_refused(cls: type) -> None:
    data = unpacked(encode_message(sample(cls)))
    for name in cls.__struct_fields__:
        with pytest.raises(WireError, match=name):
            decode_upward(packed({**data, name: {"not": "this"}}))


LONE = ["\ud800", "a\udfffb", "\udc80" * 3]


@pytest.mark.parametrize("text", LONE)
def test_half_a_surrogate_pair_costs_a_character_and_no_message(text: str) -> None:
    down = decode_command(encode_message(StartTurn(Chat((ChatMessage.of_text("user", text),)))))
    assert isinstance(down, StartTurn)
    up = decode_upward(encode_message(TurnFailed("bug", text, "")))
    assert isinstance(up, TurnFailed)
    for back in (down.prompt.messages[0].text, up.message):
        assert len(back) == len(text)
        assert back == "".join("?" if "\ud800" <= c <= "\udfff" else c for c in text)


@pytest.mark.parametrize("text", ["\U0001f600", "é\0\x7f\u2028", "\\ud83d\\ude00", '"\\"\n'])
def test_every_other_text_comes_through_unchanged(text: str) -> None:
    assert decode_upward(encode_message(LogLine(7, "x", text))) == LogLine(7, "x", text)
    assert decode_command(encode_message(Tune(Strategy.of(text)))) == Tune(Strategy.of(text))


@pytest.mark.parametrize("n_messages", [0, 200, 201, 5_000])
def test_a_long_chat_comes_through_unchanged(n_messages: int) -> None:
    texts = ('He said: "no"', "\U0001f600\n", "", "[1, 2]")
    messages = tuple(ChatMessage.of_text("user", texts[i % 4]) for i in range(n_messages))
    command = CountTokens(Chat(messages, cuts=True), 100)
    payload = encode_message(command)
    assert decode_command(payload) == command
    begin = unpacked(payload)["prompt"]["messages"][:4]
    assert [(m["role"], m["content"]) for m in begin] == [
        ("user", [{"type": "Text", "text": text}]) for text in texts[:n_messages]
    ]


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_figure_may_be_a_number_that_is_not_finite_and_a_count_may_not(number: float) -> None:
    back = decode_upward(encode_message(structs.replace(sample(PairLoaded), load_s=number)))
    assert isinstance(back, PairLoaded)
    assert repr(back.load_s) == repr(number)
    beat = unpacked(encode_message(Beat(1, 1.0, 1, 0.0, 0.0)))
    with pytest.raises(WireError, match="n_events"):
        decode_upward(packed({**beat, "n_events": number}))


@pytest.mark.parametrize(
    ("number", "nearest"), [(2**64, 2**64 - 1), (10**400, 2**64 - 1), (-(10**30), -(2**63))]
)
def test_an_integer_of_more_than_64_bits_costs_no_message(number: int, nearest: int) -> None:
    def turn(token: int) -> StartTurn:
        sampling = SamplingParams(logit_bias=(LogitBias(token, -math.inf),))
        return StartTurn(RawText(""), sampling=sampling)

    assert decode_command(encode_message(turn(number))) == turn(nearest)


def test_all_that_a_child_sends_is_made_of_values_that_know_their_fields() -> None:
    """msgspec passes over unknown fields of dataclasses and of structs that do not refuse them."""
    seen: set[Any] = set()

    def look_at(hint: Any) -> None:
        for part in get_args(hint):
            look_at(part)
        if is_value(hint) and hint not in seen:
            seen.add(hint)
            assert issubclass(hint, Checked), hint
            for part in get_type_hints(hint).values():
                look_at(part)

    look_at(Upward | Answer)
    assert {TokenTrace, ModelCard} <= seen
