"""Questions and answers on their way, and everything that is neither."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.made_models import CARD, NATURE
from paceline.catalog.inspect import wire
from paceline.catalog.inspect.wire import (
    Answer,
    Leave,
    LookAt,
    Measure,
    Measured,
    Question,
    Refused,
    Seen,
    Texts,
    TextsOf,
    decode_answer,
    decode_question,
    is_last,
    pack_texts,
    unpack_texts,
)
from paceline.engine.model.model_file import DryRun
from paceline.hosting.wire import MAX_FRAME, Dying, Ready, WireError, encode_message
from paceline.params import ModelParams

SEEN = Seen(CARD, NATURE)
ANSWERS: list[Answer | Dying] = [
    Ready(7),
    Dying("x"),
    SEEN,
    Seen(CARD, None),
    Texts("AAAA", "", is_last=False),
    Measured(DryRun((("CPU", 5),), (("CUDA0", 6),), (1, 2), 3)),
    Refused("not-a-gguf", "No.", "Yes.", is_value=False, smaller_ctx=5),
]
QUESTIONS: list[Question] = [
    LookAt(("/a/ü.gguf", "/b"), card_only=True),
    TextsOf("C:\\x"),
    Measure(ModelParams("/a", n_ctx=5, tensor_split=(0.5, 1.0)), 63),
    Leave(),
]


def test_everything_arrives_as_it_was() -> None:
    assert [decode_answer(encode_message(answer)) for answer in ANSWERS] == ANSWERS
    assert [decode_question(encode_message(question)) for question in QUESTIONS] == QUESTIONS


def test_only_texts_have_answers_behind_them() -> None:
    assert [is_last(a) for a in ANSWERS if not isinstance(a, Dying | Texts)] == [True] * 5
    assert not is_last(Texts("", "", is_last=False))
    assert is_last(Texts("", "", is_last=True))


def test_answers_are_no_questions() -> None:
    for answer in ANSWERS:
        with pytest.raises(WireError):
            decode_question(encode_message(answer))
    for question in QUESTIONS:
        with pytest.raises(WireError):
            decode_answer(encode_message(question))


@pytest.mark.parametrize(
    "change",
    [
        {"n_layers": 33}, {"n_layers": 31}, {"layer_bytes": (1,)}, {"expert_bytes": ()},
        {"kv_elements": ((1, 1),)}, {"vocabulary": "../../x"}, {"vocabulary": "A" * 16},
        {"vocabulary": "0123456789abcde\n"}, {"n_vocab": 399},
    ],
)  # fmt: skip
def test_cards_that_contradict_themselves(change: dict[str, Any]) -> None:
    with pytest.raises(WireError, match="a card"):
        decode_answer(encode_message(Seen(replace(CARD, **change), NATURE)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(st.binary(max_size=50) | JSON.map(lambda data: json.dumps(data).encode()))
def test_garbage(payload: bytes) -> None:
    for decode in (decode_answer, decode_question):
        with pytest.raises(WireError):
            decode(payload)


@given(st.sampled_from(ANSWERS), st.data())
def test_one_wrong_value(answer: Answer, data: st.DataObject) -> None:
    encoded = json.loads(encode_message(answer))
    where = encoded
    while True:
        key = data.draw(st.sampled_from(sorted(where)))
        if not (isinstance(where[key], dict) and where[key]):
            break
        where = where[key]
    where[key] = data.draw(JSON)
    try:
        decoded = decode_answer(json.dumps(encoded).encode())
    except WireError:
        return
    assert decode_answer(encode_message(decoded)) == decoded


# ------------------------------------------------------------------------------------- texts


@given(st.lists(st.binary(max_size=20), max_size=50), st.integers(1, 40))
def test_texts_arrive_in_pieces(texts: list[bytes], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "_PIECE", max(size, 20))
        pieces = list(pack_texts(texts))
    assert [piece.is_last for piece in pieces] == [*[False] * (len(pieces) - 1), True]
    assert unpack_texts(pieces) == tuple(texts)
    for piece in pieces:
        assert len(base64.b64decode(piece.joined)) <= 2 * max(size, 20)


def test_as_much_as_there_may_be_fits_into_frames() -> None:
    texts = [b"x" * (2 << 20)] * 5 + [b""] * ((1 << 20) - 5)
    pieces = list(pack_texts(texts))
    assert max(len(encode_message(piece)) for piece in pieces) < MAX_FRAME
    assert len(unpack_texts(pieces)) == 1 << 20


@pytest.mark.parametrize(
    "texts", [[b"x" * ((2 << 20) + 1)], [b""] * ((1 << 20) + 1), [b"x" * (2 << 20)] * 129]
)
def test_more_than_there_may_be(texts: list[bytes]) -> None:
    with pytest.raises(ValueError, match="more text"):
        next(pack_texts(texts))


def lengths(*numbers: int) -> str:
    return base64.b64encode(np.array(numbers, "<u4").tobytes()).decode()


@pytest.mark.parametrize(
    "piece",
    [
        Texts(lengths(3), "AAAA"[:3] + "!", is_last=True),
        Texts(lengths(2), base64.b64encode(b"abc").decode(), is_last=True),
        Texts(lengths(4), base64.b64encode(b"abc").decode(), is_last=True),
        Texts(lengths(), base64.b64encode(b"abc").decode(), is_last=True),
        Texts(lengths(2**32 - 1, 4), base64.b64encode(b"abc").decode(), is_last=True),
        Texts("AAA=", "", is_last=True),
        Texts("ä", "", is_last=True),
    ],
)
def test_pieces_that_are_none(piece: Texts) -> None:
    with pytest.raises(WireError, match="texts that are none"):
        unpack_texts([piece])
