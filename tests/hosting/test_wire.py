"""What goes over the pipe: everything sound comes through unchanged, everything else is refused."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_message import any_message
from message_samples import COMMANDS, EVENTS, sample
from paceline.hosting import wire
from paceline.hosting.wire import (
    Beat,
    Done,
    LogLine,
    decode_command,
    decode_upward,
    encode_message,
)
from paceline.messages import ChatMessage, CountTokens, PairLoaded, StartTurn, Tune, TurnFailed
from paceline.params import Strategy
from paceline.workers.frames import WireError

REPORTS = get_args(wire.Report)

any_report = st.one_of(
    st.just(Done()),
    st.builds(
        Beat,
        st.integers(),
        st.floats(allow_nan=False),
        st.integers(),
        st.floats(allow_nan=False),
        st.floats(allow_nan=False),
    ),
    st.builds(LogLine, st.integers(), st.text(max_size=20), st.text(max_size=50)),
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


def test_the_strategies_above_know_every_report() -> None:
    assert {Done, Beat, LogLine} == set(REPORTS)


@pytest.mark.parametrize("cls", COMMANDS)
def test_a_command_is_no_event(cls: type) -> None:
    with pytest.raises(WireError, match=f"unknown type '{cls.__name__}'"):
        decode_upward(encode_message(sample(cls)))


@pytest.mark.parametrize("cls", EVENTS)
def test_an_event_is_no_command(cls: type) -> None:
    with pytest.raises(WireError, match=f"unknown type '{cls.__name__}'"):
        decode_command(encode_message(sample(cls)))


@pytest.mark.parametrize("cls", REPORTS)
def test_a_report_is_no_command(cls: type) -> None:
    with pytest.raises(WireError, match="unknown type"):
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
        b"null",
        b"[]",
        b'"Done"',
        b"{}",
        b"NaN",
        b'{"type":"Done"',
        b'{"type":"Nothing"}',
        b'{"type":["Done"]}',
        b'{"type":{"Done":1}}',
        b'{"type":"Done","more":1}',
        b'{"type":"LogLine"}',
        b'{"type":"LogLine","level":"7","logger":"x","text":"x"}',
        b'{"type":"LogLine","level":true,"logger":"x","text":"x"}',
        b'{"type":"LogLine","level":7,"logger":"x","text":null}',
        b'{"type":"Beat","n_events":1,"cpu_s":"1","read_bytes":0,"decode_s":0,"decode_limit_s":0}',
        b'{"type":"LogLine","level":7,"logger":"x","text":"\\ud800"}',
        b'{"type":"LogLine","level":7,"logger":"x","text":"\xed\xa0\x80"}',
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b"\xff\xfe{\x00}\x00",
        b'{"type":"LogLine","logger":"x","text":"x","level":1' + b"0" * 10_000 + b"}",
    ],
    ids=lambda payload: repr(payload[:40]),
)
def test_what_is_almost_a_message_is_refused(payload: bytes) -> None:
    with pytest.raises(WireError) as caught:
        decode_upward(payload)
    assert 0 < len(str(caught.value)) < 400


@pytest.mark.parametrize("cls", [c for c in (*EVENTS, *REPORTS) if fields(c)])
def test_every_field_with_a_value_of_another_kind_is_refused(cls: type) -> None:
    data = json.loads(encode_message(sample(cls)))
    for field in fields(cls):
        broken = {**data, field.name: {"not": "this"}}
        with pytest.raises(WireError, match=field.name):
            decode_upward(json.dumps(broken).encode())


LONE = ["\ud800", "a\udfffb", "\udc80" * 3]


@pytest.mark.parametrize("text", LONE)
def test_half_a_surrogate_pair_costs_a_character_and_no_message(text: str) -> None:
    down = decode_command(
        encode_message(StartTurn("t", messages=(ChatMessage.of_text("user", text),)))
    )
    assert isinstance(down, StartTurn)
    up = decode_upward(encode_message(TurnFailed("t", "bug", text, "")))
    assert isinstance(up, TurnFailed)
    for back in (down.messages[0].text, up.message):
        assert len(back) == len(text)
        assert back == "".join("?" if "\ud800" <= c <= "\udfff" else c for c in text)


@pytest.mark.parametrize("text", ["\U0001f600", "é\0\x7f\u2028", "\\ud83d\\ude00", '"\\"\n'])
def test_every_other_text_comes_through_unchanged(text: str) -> None:
    assert decode_upward(encode_message(LogLine(7, "x", text))) == LogLine(7, "x", text)
    assert decode_command(encode_message(Tune(text, Strategy.of(text)))) == Tune(
        text, Strategy.of(text)
    )


@pytest.mark.parametrize("n_messages", [0, 200, 201, 5_000])
def test_a_long_chat_comes_through_unchanged(n_messages: int) -> None:
    """Above 200 items a list is encoded one by one."""
    texts = ('He said: "no"', "\U0001f600\n", "", "[1, 2]")
    messages = tuple(ChatMessage.of_text("user", texts[i % 4]) for i in range(n_messages))
    command = CountTokens("q", messages, 100, cuts=True)
    payload = encode_message(command)
    assert decode_command(payload) == command
    assert json.loads(payload)["messages"][:4] == [
        {"role": "user", "content": [{"type": "Text", "text": text}]} for text in texts[:n_messages]
    ]


def test_numbers_that_json_does_not_know_do_no_harm() -> None:
    """Python writes and reads them all the same; a figure may be one, a count may not."""
    event = sample(PairLoaded)
    data = json.loads(encode_message(event))
    data["load_s"] = float("inf")
    back = decode_upward(json.dumps(data).encode())
    assert isinstance(back, PairLoaded)
    assert back.load_s == float("inf")
    beat = json.loads(encode_message(Beat(1, 1.0, 1, 0.0, 0.0)))
    with pytest.raises(WireError, match="n_events"):
        decode_upward(json.dumps({**beat, "n_events": float("nan")}).encode())
