"""Questions and answers on their way, and everything that is neither."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from catalog.made_models import CARD, NATURE
from paceline.catalog.inspect.wire import (
    MAX_TEXT_BYTES,
    Answer,
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
    join_texts,
    split_texts,
)
from paceline.engine.model.model_file import DryRun
from paceline.hosting.wire import encode_message
from paceline.params import ModelParams
from paceline.workers.frames import WireError, frame

SEEN = Seen(CARD, NATURE)
ANSWERS: list[Answer] = [
    SEEN,
    Seen(CARD, None),
    Texts("AAAA"),
    Measured(DryRun((("CPU", 5),), (("CUDA0", 6),), (1, 2), 3)),
    Refused("not-a-gguf", "No.", "Yes.", is_value=False, smaller_ctx=5),
]
QUESTIONS: list[Question] = [
    LookAt(("/a/ü.gguf", "/b"), card_only=True),
    TextsOf("C:\\x"),
    Measure(ModelParams("/a", n_ctx=5, tensor_split=(0.5, 1.0)), 63),
]


def test_everything_arrives_as_it_was() -> None:
    assert [decode_answer(encode_message(answer)) for answer in ANSWERS] == ANSWERS
    assert [decode_question(encode_message(question)) for question in QUESTIONS] == QUESTIONS


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
        decode_answer(encode_message(Seen(structs.replace(CARD, **change), NATURE)))


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(st.binary(max_size=50) | DATA.map(msgspec.msgpack.encode))
def test_garbage(payload: bytes) -> None:
    for decode in (decode_answer, decode_question):
        with pytest.raises(WireError):
            decode(payload)


@given(st.sampled_from(ANSWERS), st.data())
def test_one_wrong_value(answer: Answer, data: st.DataObject) -> None:
    encoded = msgspec.msgpack.decode(encode_message(answer))
    where = encoded
    while True:
        key = data.draw(st.sampled_from(sorted(where)))
        if not (isinstance(where[key], dict) and where[key]):
            break
        where = where[key]
    where[key] = data.draw(DATA)
    try:
        decoded = decode_answer(msgspec.msgpack.encode(encoded))
    except WireError:
        return
    assert decode_answer(encode_message(decoded)) == decoded


# ------------------------------------------------------------------------------------- texts


@given(st.lists(st.binary(min_size=1, max_size=20).filter(lambda text: 0 not in text)))
def test_texts_arrive_as_they_were(texts: list[bytes]) -> None:
    assert split_texts(join_texts(texts)) == tuple(texts)


def test_as_much_as_there_may_be_fits_into_a_frame() -> None:
    joined = base64.b64encode(bytes(MAX_TEXT_BYTES - 1)).decode()
    assert frame(encode_message(Texts(joined)))
