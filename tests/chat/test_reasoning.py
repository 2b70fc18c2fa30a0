"""Reasoning is told from the answer, however the text comes, and no character is lost."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from paceline.chat.reasoning import (
    ReasoningSplitter,
    answer_of,
    reasoning_of,
    split_reasoning,
)

PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<mm:think>", "</mm:think>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("[BEGIN REASONING]", "[BEGIN FINAL RESPONSE]"),
    ("<|channel>thought", "<channel|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
)


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_the_marks_of_many_models(opening: str, closing: str) -> None:
    text = f"\n{opening}\nI see.\n{closing}\n\nYes."
    assert reasoning_of(text) == "I see."
    assert answer_of(text) == "Yes."
    # The template opened it in the prompt.
    assert reasoning_of(f"I see.\n{closing}\n\nYes.") == "I see."
    assert answer_of(f"I see.\n{closing}\n\nYes.") == "Yes."


CASES = {
    "no reasoning": ("Just *text*.\n", "", "Just *text*.\n"),
    "only reasoning": ("<think>Hm", "Hm", ""),
    "empty": ("<think>\n\n</think>\n\nYes", "", "Yes"),
    "nothing": ("", "", ""),
    "channels": (
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>Yes",
        "Hm",
        "Yes",
    ),
    "Kimi K3": (
        "<|open|>think<|sep|>Hm<|close|>think<|sep|><|open|>response<|sep|>Yes"
        "<|close|>response<|sep|><|close|>message<|sep|>",
        "Hm",
        "Yes",
    ),
    "Kimi K3 without a thought": (
        "Yes<|close|>response<|sep|><|close|>message<|sep|>",
        "",
        "Yes",
    ),
    "Kimi K3 that stops in its thought": ("<|open|>think<|sep|>Hm<|close|>th", "Hm<|close|>th", ""),
    "Solar": ("<|think|>Hm<|end|><|begin|>assistant<|content|>Yes", "Hm", "Yes"),
    "Solar without a thought": (
        "<|content|>Yes, `<|content|>` begins it",
        "",
        "Yes, `<|content|>` begins it",
    ),
    "a mark of Solar that is named": ("It is <|content|> there", "", "It is <|content|> there"),
    "commentary": (
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary"
        "<|message|>First<|end|><|start|>assistant<|channel|>final<|message|>Yes<|return|>",
        "Hm",
        "First\n\nYes",
    ),
    "a tool's channel": (
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary "
        "to=functions.x <|constrain|>json<|message|>{}<|call|>",
        "Hm",
        "{}",
    ),
    "in the middle": ("One.\n<think>\nHm\n</think>\nTwo.", "Hm", "One.\n\nTwo."),
    "twice": ("<think>a</think>\n<think>b</think>c", "a\n\nb", "c"),
    "in a fence": ("```\n<think>\n```\n</p>", "", "```\n<think>\n```\n</p>"),
    "closed in a fence of the answer": ("```\n</think>\n```\n", "", "```\n</think>\n```\n"),
    "a fence in the reasoning": (
        "<think>\n```\n</think>\n```\nb</think>c",
        "```\n</think>\n```\nb",
        "c",
    ),
    "a fence that stays open": ("<think>\n```\na\n</think>\nb", "```\na", "b"),
    "two that stay open": (
        "<think>\n```\na\n</think>\nb\n<think>\n~~~\nc\n</think>\nd",
        "```\na\n\n~~~\nc",
        "b\n\nd",
    ),
    "in a sentence": ("Write <think> and </think> then.", "", "Write <think> and </think> then."),
    "in backticks": ("Write `</think>` then.", "", "Write `</think>` then."),
    "in backticks first": ("`<think>` opens it", "", "`<think>` opens it"),
    "another one closes": ("<think>a</thinking>b</think>c", "a</thinking>b", "c"),
    "an end without a channel": ("a<|end|>b", "", "a<|end|>b"),
    "a channel that is none": ("<|channel|>analysis", "", "<|channel|>analysis"),
    "closed twice": ("<think>a</think>b</think>c", "a", "b</think>c"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_reasoning_and_what_is_not(name: str) -> None:
    text, reasoning, answer = CASES[name]
    assert (reasoning_of(text), answer_of(text)) == (reasoning, answer)


def test_while_it_grows_marks_are_held_back() -> None:
    splitter = ReasoningSplitter()
    seen = []
    text = "<think>\nHm </th"
    for end in range(1, len(text) + 1):
        parts = splitter.split(text[:end], is_final=False)
        seen.append({part.kind for part in parts})
    assert not any("answer" in kinds for kinds in seen)
    assert splitter.split(text, is_final=False)[-1].kind == "held"
    assert splitter.split(text, is_final=True)[-1].kind == "reasoning"
    parts = splitter.split("<think>\nHm </think>\n\nYes", is_final=False)
    assert [part.kind for part in parts] == ["mark", "reasoning", "mark", "answer"]


def test_a_mark_at_the_end_of_a_line_waits_for_the_line() -> None:
    splitter = ReasoningSplitter()
    assert splitter.split("A\n<think>", is_final=False)[-1].kind == "held"
    assert [p.kind for p in splitter.split("A\n<think> is a mark", is_final=False)] == ["answer"]
    splitter = ReasoningSplitter()
    splitter.split("A\n<think>", is_final=False)
    assert splitter.split("A\n<think>\nHm", is_final=False)[-1].kind == "reasoning"


def test_another_text_begins_anew() -> None:
    splitter = ReasoningSplitter()
    splitter.split("<think>\na\nb\n", is_final=False)
    assert [p.kind for p in splitter.split("a\nb\n", is_final=True)] == ["answer"]


WORDS = st.sampled_from(
    (
        *(mark for pair in PAIRS for mark in pair),
        "<|channel|>analysis<|message|>",
        "<|start|>assistant<|channel|>final<|message|>",
        "<|end|>",
        "<|start|>",
        "<",
        "<th",
        "[",
        "`",
        "```",
        "```python",
        "~~~",
        "\n",
        "\n",
        "\n",
        " ",
        "word",
        "🎉",
    )
)
TEXTS = st.lists(WORDS, max_size=24).map("".join)


@given(text=TEXTS, cuts=st.lists(st.integers(0, 300), max_size=12))
@example(text="<think>\n```\n</think>\n```\nb</think>c", cuts=[9, 14, 20])
def test_the_split_does_not_depend_on_the_pieces(text: str, cuts: list[int]) -> None:
    splitter = ReasoningSplitter()
    for cut in sorted(cut % (len(text) + 1) for cut in cuts):
        parts = splitter.split(text[:cut], is_final=False)
        assert "".join(text[p.start : p.end] for p in parts) == text[:cut]
    parts = splitter.split(text, is_final=True)
    assert parts == split_reasoning(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(one.end == other.start for one, other in pairwise(parts))
    assert all(part.kind != "held" for part in parts)


@given(text=TEXTS)
def test_what_is_shown_stays(text: str) -> None:
    """While a text grows, a part that has begun is only taken back by a closing mark."""
    # What looks like a fence is none when a backtick follows in its line.
    assume(not re.search(r"```[^\n]*`", text))
    splitter = ReasoningSplitter()
    before = splitter.split("", is_final=False)
    for end in range(1, len(text) + 1):
        parts = splitter.split(text[:end], is_final=False)
        shown = [part for part in before if part.kind in ("answer", "reasoning")]
        now = [part for part in parts if part.kind in ("answer", "reasoning")]
        is_closed = parts and parts[0].kind == "reasoning" and parts[0].start == 0
        assert len(now) >= len(shown) or is_closed
        for one, other in zip(shown, now, strict=False):
            same = (one.kind, one.start) == (other.kind, other.start) and one.end <= other.end
            assert same or is_closed
        before = parts


def test_a_long_text_is_split_at_once() -> None:
    text = "<think>\n" + "a < b and [c] ```x``` \n" * 5_000 + "</think>\nYes"
    splitter = ReasoningSplitter()
    for end in range(0, len(text), 97):
        splitter.split(text[:end], is_final=False)
    assert answer_of(text) == "Yes"
