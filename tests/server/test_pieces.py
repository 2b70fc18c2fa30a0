"""Pieces of a reply, with reasoning and calls: the same however the text comes."""

from __future__ import annotations

import json
import string
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.calls.tools import TOOLS, Called, written
from paceline.engine.calls.forms import BY_ID, FORMS
from paceline.engine.calls.pieces import Answer, CallArguments, CallBegan, CallEnded
from paceline.server.pieces import Piece, Pieces, ReasoningPiece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.engine.calls.form import CallForm

FRAMED = "harmony"
PLAIN = [form for form in FORMS if not form.is_framed]
WORDS = st.text(string.ascii_letters + " .,é😀", min_size=1, max_size=30).filter(str.strip)
HARD = "a</think>\n<think>\nb\n</think>\n```\n<tool_call>\n[THINK]x"
"""Texts that arguments may hold: marks, in lines of their own, and a fence that stays open."""


def told(
    form: str,
    texts: Sequence[str],
    *,
    begun: str = "",
    is_cut: bool = False,
    is_call: bool = False,
) -> list[Piece]:
    """All pieces, neighbours of a kind as one."""
    pieces = Pieces(begun, form=form, tools=TOOLS, is_call=is_call)
    found = [piece for text in texts for piece in pieces.add(text)]
    found += pieces.finish(is_cut=is_cut)
    merged: list[Piece] = []
    for piece in found:
        last = merged[-1] if merged else None
        match last, piece:
            case (Answer(a), Answer(b)) | (ReasoningPiece(a), ReasoningPiece(b)):
                merged[-1] = type(last)(a + b)
            case CallArguments(i, a), CallArguments(j, b) if i == j:
                merged[-1] = CallArguments(i, a + b)
            case _:
                merged.append(piece)
    return [CallBegan(p.index, p.name, "") if isinstance(p, CallBegan) else p for p in merged]


def expected(reasoning: str, answer: str, calls: Sequence[Called], form: CallForm) -> list[Piece]:
    """Return the pieces that a reply of these texts is split into."""
    pieces: list[Piece] = [ReasoningPiece(reasoning)] if reasoning else []
    pieces += [Answer(answer)] if answer else []
    separators = (",", ":") if form.is_compact else (", ", ": ")
    for i, call in enumerate(calls):
        text = json.dumps(call.arguments, ensure_ascii=False, separators=separators)
        pieces += [CallBegan(i, call.name, ""), CallArguments(i, text), CallEnded(i, is_whole=True)]
    return pieces


def cut(text: str, places: Sequence[int]) -> list[str]:
    ends = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize("form", PLAIN, ids=lambda form: form.id)
@settings(max_examples=settings.default.max_examples // 3)  # of each form
@given(data=st.data())
def test_reasoning_answer_and_calls_come_apart(form: CallForm, data: st.DataObject) -> None:
    reasoning = data.draw(WORDS).strip() + form.marks[0] + " is text here"
    answer = "" if form.is_first else data.draw(WORDS).strip()
    calls = [Called("write", {"path": "a", "text": HARD}), Called("now", {})]
    calls = calls if form.between else calls[:1]
    text = f"<think>\n{reasoning}\n</think>\n\n{answer}\n\n{written(form, calls)}"
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
    wanted = expected(reasoning, answer, calls, form)
    for texts in ([text], list(text), cut(text, places)):
        assert told(form.id, texts) == wanted


def test_a_reasoning_that_the_prompt_has_opened() -> None:
    form = BY_ID["hermes"]
    text = f"So <tool_call>\n</think>\n\n{written(form, [Called('now', {})])}"
    wanted = expected("So <tool_call>", "", [Called("now", {})], form)
    for texts in ([text], list(text)):
        assert told(form.id, texts, begun="<think>\n") == wanted


@pytest.mark.parametrize("head", [0, 1, 2])
@pytest.mark.parametrize("reasons", [True, False])
def test_channels_of_gpt_oss(head: int, reasons: bool) -> None:
    form = BY_ID[FRAMED]
    call = Called("write", {"path": "a", "text": HARD.replace("<", "<|end|><|channel|>")})
    body = written(form, [call]).removeprefix(form.marks[0])
    before = "<|channel|>analysis<|message|>Call functions.write, then.<|end|>" if reasons else ""
    text = before + ("<|start|>assistant" if reasons and not head else "") + form.marks[head] + body
    wanted = expected("Call functions.write, then." if reasons else "", "", [call], form)
    for texts in ([text], list(text)):
        assert told(FRAMED, texts) == wanted


def test_what_gpt_oss_says_before_a_call_is_answer() -> None:
    form = BY_ID[FRAMED]
    said = "<|channel|>commentary<|message|>I look it up.<|end|><|start|>assistant"
    text = said + written(form, [Called("now", {})])
    for texts in ([text], list(text)):
        assert told(FRAMED, texts) == expected("", "I look it up.", [Called("now", {})], form)
    plain = (
        "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>Hi"
    )
    for texts in ([plain], list(plain)):
        assert told(FRAMED, texts) == [ReasoningPiece("So."), Answer("Hi")]


def test_a_call_that_is_cut_off_is_reported_as_incomplete() -> None:
    form = BY_ID["hermes"]
    text = written(form, [Called("now", {}), Called("write", {"path": "a", "text": "b"})])
    for end in range(len(form.marks[0]), len(text)):
        pieces = told(form.id, list(text[:end]), is_cut=True)
        assert not any(isinstance(piece, Answer) for piece in pieces)
        n_begun = sum(isinstance(piece, CallBegan) for piece in pieces)
        ends = [piece.is_whole for piece in pieces if isinstance(piece, CallEnded)]
        assert len(ends) == n_begun
        assert all(ends[:-1])


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
def test_half_a_mark_is_no_answer_where_a_call_must_come(form: CallForm) -> None:
    text = written(form, [Called("now", {})])
    for end in range(len(form.marks[0])):
        assert not told(form.id, list(text[:end]), is_cut=True, is_call=True)
    if not form.is_framed:
        said = told(form.id, list(text[: len(form.marks[0]) - 1]), is_cut=True)
        assert said == [Answer(text[: len(form.marks[0]) - 1])]


def test_without_a_form_everything_is_text() -> None:
    text = written(BY_ID["hermes"], [Called("now", {})])
    assert told("", [text]) == [Answer(text)]
