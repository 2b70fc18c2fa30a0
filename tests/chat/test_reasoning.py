"""Reasoning is separated from the answer, however the text comes, and no character is lost."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from paceline.chat.reasoning import (
    Known,
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
    ("<think:opensource>", "</think:opensource>"),
    ("◁think▷", "◁/think▷"),
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
    "Kimi K3 without a thought": ("Yes<|close|>response<|sep|><|close|>message<|sep|>", "", "Yes"),
    "Kimi K3 that stops in its thought": ("<|open|>think<|sep|>Hm<|close|>th", "Hm<|close|>th", ""),
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
    "in backticks": ("Write `</think>` then.", "", "Write `</think>` then."),
    "in backticks first": ("`<think>` opens it", "", "`<think>` opens it"),
    "another one closes": ("<think>a</thinking>b</think>c", "a</thinking>b", "c"),
    "an end without a channel": ("a<|end|>b", "", "a<|end|>b"),
    "a channel that is none": ("<|channel|>analysis", "", "<|channel|>analysis"),
    "closed twice": ("<think>a</think>b</think>c", "a", "b</think>c"),
    "Granite": ("<think>hm</think><response>So.</response>", "hm", "So."),
    "ERNIE": ("<think>\nhm\n</think>\n\n\n<response>\nSo.\n</response>\n", "hm", "So."),
    "Hunyuan": ("<think>\nhm\n</think>\n<answer>\nSo.\n</answer>", "hm", "So."),
    "Hunyuan, cut off": ("<think>\nhm\n</think>\n<answer>\nSo", "hm", "So"),
    "GLM": ("<think>hm</think>\n<|begin_of_box|>So.<|end_of_box|>", "hm", "So."),
    "Apriel": ("So.\n[END FINAL RESPONSE]", "", "So."),
    "Apriel with a thought": (
        "[BEGIN REASONING]\nhm\n[BEGIN FINAL RESPONSE]\nSo.[END FINAL RESPONSE]\n",
        "hm",
        "So.",
    ),
    "Apriel's last words in the middle": (
        "So.\n[END FINAL RESPONSE]\nNo.",
        "",
        "So.\n[END FINAL RESPONSE]\nNo.",
    ),
    "a frame that was asked for": ("<answer>42</answer>", "", "<answer>42</answer>"),
    "a frame that is named": (
        "<think>hm</think>Write <answer> and </answer>.",
        "hm",
        "Write <answer> and </answer>.",
    ),
    "a frame in a fence": (
        "<think>hm</think><answer>\n```\n</answer>\n```\n</answer>",
        "hm",
        "```\n</answer>\n```",
    ),
    "another frame": ("<think>hm</think><answer>a</response>", "hm", "a</response>"),
    "a sentence that begins with a mark": ("<think> is a tag.", "", "<think> is a tag."),
    "marks in lines of their own": (
        "Here are three:\n\n<think>\n\n<reasoning>\n\n<scratchpad>\n\nAll open it.",
        "",
        "Here are three:\n\n<think>\n\n<reasoning>\n\n<scratchpad>\n\nAll open it.",
    ),
    "marks in indented code": (
        "Here are two:\n\n    <think>\n    </think>\n\nAll of them.",
        "",
        "Here are two:\n\n    <think>\n    </think>\n\nAll of them.",
    ),
    "an indented end of a thought": ("<think>\n- a\n\n    b</think>c", "- a\n\n    b", "c"),
    "one pair that is closed, one that is not": (
        "<think>a</think>One:\n\n<reasoning>\n\nTwo.",
        "a",
        "One:\n\n<reasoning>\n\nTwo.",
    ),
    "an end that is named": ("The tag </think> ends it.", "", "The tag </think> ends it."),
    "an end in a list": ("- </think>\n- more", "", "- </think>\n- more"),
    "an end in a numbered list": ("1. </think>\n2. more", "", "1. </think>\n2. more"),
    "an end that is announced": ("It is:\n</think>\nA tag.", "", "It is:\n</think>\nA tag."),
    "an end within a sentence": ("Write\n</think>\nand go.", "", "Write\n</think>\nand go."),
    "an end in quotes": ("Write “</think>” then.", "", "Write “</think>” then."),
    "an end at the end": ("Write\n</think>", "", "Write\n</think>"),
    "an end after a list": ("1. a\n2. and b\n</think>\n\nYes.", "1. a\n2. and b", "Yes."),
    "an end between words": ("hm</think>So.", "hm", "So."),
    "an end behind a fence's end": (
        "<think>\n```python\na\n```</think>\n\nSo:\n```python\nb\n```\n",
        "```python\na\n```",
        "So:\n```python\nb\n```",
    ),
    "an end behind what is no fence": (
        "<think>\n- ```\n  a\n  ``` </think>\nSo.",
        "- ```\n  a\n  ```",
        "So.",
    ),
    "an answer that begins with indented code": (
        "<think>hm</think>\n \n    a\n      b\n\nc\n",
        "hm",
        "    a\n      b\n\nc",
    ),
    "an answer behind blanks": ("<think>hm</think>    a", "hm", "a"),
    "nothing but blanks": ("<think>hm</think>\n    \n", "hm", ""),
    "a fence that stays open before one in the answer": (
        "<think>\n```\na\n</think>\n\nSo:\n```py\nb\n```\nc",
        "```\na",
        "So:\n```py\nb\n```\nc",
    ),
    "a fence that begins within a line": (
        "<think>\nx: ```py\na\n```\n</think>\n\nSo:\n```py\nb\n```\nc\n```\nd\n```",
        "x: ```py\na\n```",
        "So:\n```py\nb\n```\nc\n```\nd\n```",
    ),
    "a pair in a fence of a thought that was cut": (
        "<think>\n```\n<think>\n</think>\n```\nHm",
        "```\n<think>\n</think>\n```\nHm",
        "",
    ),
    "a fence in a list": (
        "- ```\n  <think>\n  a\n  </think>\n  ```\nb",
        "",
        "- ```\n  <think>\n  a\n  </think>\n  ```\nb",
    ),
    "a fence in a list of a thought": (
        "<think>\n1. ```py\n   a\n   ```\n</think>\nSo:\n```py\nb\n```",
        "1. ```py\n   a\n   ```",
        "So:\n```py\nb\n```",
    ),
    "channels that are named": (
        "It writes <|channel|>analysis<|message|> and <|channel|>final<|message|> there.",
        "",
        "It writes <|channel|>analysis<|message|> and <|channel|>final<|message|> there.",
    ),
    "the end of an answer that is named": (
        "It ends with <|close|>response<|sep|><|close|>message<|sep|> there.",
        "",
        "It ends with <|close|>response<|sep|><|close|>message<|sep|> there.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_reasoning_and_what_is_not(name: str) -> None:
    text, reasoning, answer = CASES[name]
    assert (reasoning_of(text), answer_of(text)) == (reasoning, answer)


def told(*, finished: bool | None = None, marks: bool | None = None) -> Known:
    return Known(finished, marks)


@pytest.mark.parametrize(
    ("text", "known", "reasoning", "answer"),
    [
        ("<think>Hm", told(finished=True), "", "<think>Hm"),
        ("<think>Hm", told(finished=False), "Hm", ""),
        ("<think>\nThe tag opens it.", told(finished=True), "", "<think>\nThe tag opens it."),
        ("<think> is a tag", told(finished=False), "is a tag", ""),
        ("<think> is a tag", told(finished=False, marks=False), "", "<think> is a tag"),
        ("<think>Hm", told(finished=False, marks=False), "Hm", ""),
        ("<think>a</think>b", told(finished=True), "a", "b"),
        ("<think>a</think><think>b", told(finished=True), "a", "<think>b"),
        ("One\n\n<think>\n\nTwo", told(finished=False), "", "One\n\n<think>\n\nTwo"),
        ("I see.\n</think>\n\nYes.", told(marks=True), "I see.", "Yes."),
        ("I see.\n</think>\n\nYes.", told(marks=False), "", "I see.\n</think>\n\nYes."),
        ("It ends with </think>\n", told(finished=True, marks=True), "", "It ends with </think>\n"),
        ("I see.\n</think>\n", told(finished=False, marks=True), "I see.", ""),
        ("I see.\n</think>\nYes", told(finished=True, marks=True), "I see.", "Yes"),
        ("I see </think> yes", told(marks=True), "I see", "yes"),
        ("I see `</think>` yes", told(marks=True), "", "I see `</think>` yes"),
        ("<think>a</think>b", told(marks=False), "a", "b"),
        ("One:\n<think>\na\n</think>\nb", told(marks=True), "a", "One:\n\nb"),
        ("One:\n<think>\na\n</think>\nb", told(marks=False), "", "One:\n<think>\na\n</think>\nb"),
    ],
)
def test_what_is_known_of_a_reply_decides(
    text: str, known: Known, reasoning: str, answer: str
) -> None:
    assert (reasoning_of(text, known), answer_of(text, known)) == (reasoning, answer)


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


WRITTEN = (
    *(mark for pair in PAIRS for mark in pair),
    *("<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"),
    *("<|end|>", "<answer>", "</answer>", "<response>", "</response>", "[END FINAL RESPONSE]"),
    *("<|close|>response<|sep|>", "<|close|>message<|sep|>"),
)
MARKS = (
    "(?:"
    + "|".join(map(re.escape, (*WRITTEN, "<|content|>", "<|open|>response<|sep|>")))
    + "|<\\|channel\\|>[^\\n]*<\\|message\\|>|<\\|start\\|>[^\\n]*)+"
)
OTHERS = ("<|start|>", "    ", "- ", ":", ".", "<", "<th", "[", "`", "```", "```python", "~~~")
WORDS = st.sampled_from((*WRITTEN, *OTHERS, "\n", "\n", "\n", " ", "word", "🎉"))
TEXTS = st.lists(WORDS, max_size=24).map("".join)
KNOWN = st.builds(Known, *[st.sampled_from([None, True, False])] * 2)


@given(text=TEXTS, cuts=st.lists(st.integers(0, 300), max_size=12), known=KNOWN)
@example(text="<think>\n```\n</think>\n```\nb</think>c", cuts=[9, 14, 20], known=Known())
def test_the_split_does_not_depend_on_the_pieces(text: str, cuts: list[int], known: Known) -> None:
    splitter = ReasoningSplitter()
    for cut in sorted(cut % (len(text) + 1) for cut in cuts):
        parts = splitter.split(text[:cut], is_final=False, known=known)
        assert "".join(text[p.start : p.end] for p in parts) == text[:cut]
    parts = splitter.split(text, is_final=True, known=known)
    assert parts == split_reasoning(text, known)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(one.end == other.start for one, other in pairwise(parts))
    assert all(part.kind != "held" for part in parts)


@given(text=TEXTS)
def test_of_an_answer_without_a_closing_mark_nothing_is_lost(text: str) -> None:
    closing = (*(pair[1] for pair in PAIRS), "<|", "[END FINAL RESPONSE]")
    assume(not any(mark in text for mark in closing))
    known = Known(is_finished=True, has_marks=False)
    assert answer_of(text, known) == text


@given(text=TEXTS, known=KNOWN)
def test_all_but_marks_is_reasoning_or_answer(text: str, known: Known) -> None:
    parts = split_reasoning(text, known)
    marks = [text[part.start : part.end] for part in parts if part.kind == "mark"]
    assert all(re.fullmatch(MARKS, mark) for mark in marks)
    if not any(part.kind == "reasoning" for part in parts) and not marks:
        assert answer_of(text, known) == text


@given(text=TEXTS)
def test_what_is_shown_stays(text: str) -> None:
    """While a text grows, a part that has begun is only taken back by a closing mark."""
    # A line that begins like a fence is no fence if it contains another backtick.
    assume(not re.search(r"```[^\n]*`", text))
    # In Solar's closing mark is one of gpt-oss, and no model writes both.
    assume("<|end|><|begin|>" not in text)
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
