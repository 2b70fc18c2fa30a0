"""Marks of reasoning learned from a chat template by rendering a reply with reasoning.

A model whose marks are not in our lists works like any other: its replies are stored with
``<think>`` and ``</think>`` in their place, so that all readers know them, also without the model.
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
"""First stand-in, half a surrogate pair, which no text decoded from UTF-8 contains."""
_MAX_STAND_INS = 0x80
_MAX_MARK_CHARS = 200


@dataclass(frozen=True, slots=True)
class LearnedMarks:
    """The marks with which a template writes a reply with reasoning.

    Attributes:
        opening: Text of the model before its reasoning, with blanks; empty if not known or in the
            prompt.
        closing: Text between reasoning and answer.
        frame: Text before an answer without reasoning.
        is_opened: Whether the prompt ends where the reasoning begins.
    """

    opening: str = ""
    closing: str = ""
    frame: str = ""
    is_opened: bool = False

    @property
    def are_listed(self) -> bool:
        """Return whether readers of the reply know these marks anyway, or there are none."""
        closing = self.closing.strip()
        listed = any(mark in closing for mark in PAIRS.values())
        return not closing or listed or CHANNEL.search(closing) is not None


def learn(
    source: str, render: Callable[[list[RenderJob]], list[Outcome]], *variables: Mapping[str, Any]
) -> LearnedMarks:
    """Return the marks of a template; empty ones if it has none.

    Args:
        source: The template in Jinja.
        render: Renders conversations with it.
        variables: Variables of prompts, and alternatives to try if it writes no reasoning.
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
    """Return the marks, and the text between question and reasoning.

    Args:
        prompt: The prompt with a question.
        reasoned: The prompt with a reply that has reasoning.
        plain: The prompt with a reply without reasoning.
    """
    _, _, begin = prompt.rpartition(_QUESTION)
    _, question, rest = reasoned.rpartition(_QUESTION)
    before, reasoning, rest = rest.partition(_REASONING)
    closing, answer, _ = rest.partition(_ANSWER)
    if not (question and reasoning and answer) or len(closing) > _MAX_MARK_CHARS:
        return LearnedMarks(), ""
    opening = _after(begin, before)
    if not all(any(map(str.isalpha, mark)) for mark in (closing, opening or closing)):
        return LearnedMarks(), ""  # "---", "***" or ": " may be in any answer
    _, _, rest = plain.rpartition(_QUESTION)
    before_answer, answer, _ = rest.partition(_ANSWER)
    frame = _after(begin, before_answer) if answer else ""
    has_reasoning = closing.strip() in frame  # an empty reasoning
    return LearnedMarks(opening, closing, "" if has_reasoning else frame), before


def _after(begin: str, text: str) -> str:
    """Return the rest of a text after the prompt's end, or empty if that is not certain."""
    ends = (begin, begin.rstrip())
    found = next((text[len(end) :] for end in ends if text.startswith(end)), "")
    return found if found.strip() else ""


@dataclass(frozen=True, slots=True)
class MarkTexts:
    """Learned marks as they appear in a reply's text, where control tokens are not shown.

    Attributes:
        learned: The marks as they are in the template.
        opening: The opening mark, without blanks around it, like the others.
        closing: See `LearnedMarks`.
        frame: See `LearnedMarks`.
        stand_ins: By id, a character that stands for a control token of the marks.
    """

    learned: LearnedMarks
    opening: str
    closing: str
    frame: str
    stand_ins: Mapping[int, str]


def as_texts(marks: LearnedMarks, vocab: Vocabulary) -> MarkTexts | None:
    """Return the marks for the replies of a model, or None if no reader needs them."""
    if marks.are_listed:
        return None
    texts = [text.strip() for text in (marks.opening, marks.closing, marks.frame)]
    stand_ins: dict[int, str] = {}
    for token in dict.fromkeys(
        token for text in texts for token in vocab.tokenize(text, special=True)
    ):
        name = vocab.text(token).decode("utf-8", "replace")
        if name and not vocab.piece(token) and len(stand_ins) < _MAX_STAND_INS:
            stand_ins[token] = chr(_FIRST_STAND_IN + len(stand_ins))
            texts = [text.replace(name, stand_ins[token]) for text in texts]
    opening, closing, frame = texts
    return MarkTexts(marks, opening, closing, frame, stand_ins)
