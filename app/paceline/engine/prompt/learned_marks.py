"""The marks of reasoning that a chat template writes, found by rendering a reply with reasoning.

A model whose marks are in no list of ours works like any other: its replies are stored with
``<think>`` and ``</think>`` in their place, so that all readers know them, also when the model is
not there any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from paceline.engine.prompt.reasoning_marks import CHANNEL, PAIRS
from paceline.engine.prompt.renderer import Outcome, RenderJob
from paceline.messages import ChatMessage

if TYPE_CHECKING:
    from paceline.engine.model.backend import Vocabulary

OPENING = "<think>"
CLOSING = PAIRS[OPENING]
_MAY_REASON = re.compile(r"reason|think|thought")
_QUESTION, _REASONING, _ANSWER = "Whatfor", "Inwardness", "Therefore"
_FIRST_STAND_IN = 0xDC80
"""Half a surrogate pair, which no text that is decoded from UTF-8 holds."""
_MOST_STAND_INS = 0x80
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class LearnedMarks:
    """How a template writes a reply with reasoning.

    Attributes:
        opening: What the model writes before its reasoning, with the blanks; empty: not known, or
            the prompt has it.
        closing: What it writes between reasoning and answer.
        frame: What it writes before an answer without reasoning.
        is_opened: Whether the prompt ends where the reasoning begins.
    """

    opening: str = ""
    closing: str = ""
    frame: str = ""
    is_opened: bool = False

    @property
    def are_listed(self) -> bool:
        """Whether readers of the reply know these marks anyway, or there are none."""
        closing = self.closing.strip()
        listed = any(mark in closing for mark in PAIRS.values())
        return not closing or listed or CHANNEL.search(closing) is not None


def learn(
    source: str, render: Callable[[list[RenderJob]], list[Outcome]], *variables: Mapping[str, Any]
) -> LearnedMarks:
    """Return the marks of a template; none where it has none.

    Args:
        source: The template.
        render: Puts conversations through it.
        variables: What prompts are made with, and what else to try where it writes no reasoning.
    """
    if not _MAY_REASON.search(source):
        return LearnedMarks()
    question, answer = (
        ChatMessage.of_text("user", _QUESTION),
        ChatMessage.of_text("assistant", _ANSWER),
    )
    jobs = [
        job
        for given in variables
        for job in (
            RenderJob((question,), given),
            RenderJob((question, structs.replace(answer, reasoning=_REASONING)), given),
            RenderJob((question, answer), given),
        )
    ]
    outcomes = render(jobs)
    prompts = [text if kind == "text" else "" for kind, text in outcomes]
    for at in range(0, len(prompts), 3):
        found, before = _compare(*prompts[at : at + 3])
        if found.closing:
            asked = prompts[0].rpartition(_QUESTION)[2]
            return replace(found, is_opened=asked.rstrip() == before.rstrip())
    return LearnedMarks()


def _compare(prompt: str, reasoned: str, plain: str) -> tuple[LearnedMarks, str]:
    """Return the marks, and what stands between question and reasoning.

    Args:
        prompt: With a question.
        reasoned: The same with a reply with reasoning.
        plain: And with one without.
    """
    _, _, begin = prompt.rpartition(_QUESTION)
    _, question, rest = reasoned.rpartition(_QUESTION)
    before, reasoning, rest = rest.partition(_REASONING)
    closing, answer, _ = rest.partition(_ANSWER)
    if not (question and reasoning and answer) or len(closing) > _LONGEST:
        return LearnedMarks(), ""
    opening = _after(begin, before)
    if not all(any(map(str.isalpha, mark)) for mark in (closing, opening or closing)):
        return LearnedMarks(), ""  # "---", "***" or ": " stand in any answer
    _, _, rest = plain.rpartition(_QUESTION)
    before_answer, answer, _ = rest.partition(_ANSWER)
    frame = _after(begin, before_answer) if answer else ""
    has_reasoning = closing.strip() in frame  # an empty one
    return LearnedMarks(opening, closing, "" if has_reasoning else frame), before


def _after(begin: str, text: str) -> str:
    """Return what a text goes on with after the prompt's end; nothing where that is in doubt."""
    ends = (begin, begin.rstrip())
    found = next((text[len(end) :] for end in ends if text.startswith(end)), "")
    return found if found.strip() else ""


@dataclass(frozen=True, slots=True)
class MarkTexts:
    """Learned marks as the text of a reply has them, where control tokens are not shown.

    Attributes:
        learned: The marks as they are in the template.
        opening: The first of them, without blanks around it; so are the others.
        closing: See `LearnedMarks`.
        frame: The same.
        stand_ins: A character for each control token in them, in place of its text.
    """

    learned: LearnedMarks
    opening: str
    closing: str
    frame: str
    stand_ins: Mapping[int, str]


def as_texts(marks: LearnedMarks, vocab: Vocabulary) -> MarkTexts | None:
    """Return the marks for the replies of a model; None: no reader needs them."""
    if marks.are_listed:
        return None
    texts = [text.strip() for text in (marks.opening, marks.closing, marks.frame)]
    stand_ins: dict[int, str] = {}
    for token in dict.fromkeys(
        token for text in texts for token in vocab.tokenize(text, special=True)
    ):
        name = vocab.text(token).decode("utf-8", "replace")
        if name and not vocab.piece(token) and len(stand_ins) < _MOST_STAND_INS:
            stand_ins[token] = chr(_FIRST_STAND_IN + len(stand_ins))
            texts = [text.replace(name, stand_ins[token]) for text in texts]
    opening, closing, frame = texts
    return MarkTexts(marks, opening, closing, frame, stand_ins)
