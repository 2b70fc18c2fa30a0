"""A conversation to the token ids that the model's chat template gives.

The template comes out of a file from the internet, so it runs in Jinja's immutable sandbox with a
deadline, a cap on its output and without the operators that can make gigabytes in one step.

What a user typed must stay text: if it contains ``<|im_end|>``, the model shall see these ten
characters, not its control token. When a message holds such a text, the template is rendered
twice: once as it is, once with placeholders in place of the contents. The parts between
placeholders are tokenized with control tokens, the contents without. A template that alters the
contents themselves cannot be split this way; then the texts of control tokens in the contents are
broken up and a note says so.
"""

from __future__ import annotations

import datetime
import re
import secrets
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import jinja2
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from paceline.engine.backend import Vocabulary
from paceline.errors import EngineError
from paceline.messages import ChatMessage

DEADLINE_S = 2.0
_MAX_WIDTH = 10_000

FALLBACK = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML, for files without a template; most models have met it."""

Segment = tuple[str, bool]
"""A piece of the prompt, and whether control tokens are read in it."""


class _TemplateRefusedError(Exception):
    """The template called `raise_exception`: it does not take such a conversation."""


class _DeadlineError(Exception):
    """The template ran longer than it may."""


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(["%", "*", "**"])

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        if operator == "%" and isinstance(left, str):
            _refuse_wide(left)
        elif operator == "*" and not (_is_number(left) and _is_number(right)):
            text, n = (left, right) if _is_number(right) else (right, left)
            if len(text) * int(n) > _MAX_WIDTH:
                raise SecurityError("the template repeats a text too often")
        elif operator == "**":
            raise SecurityError("the template uses **")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        # Methods that pad to any width; no chat template needs them.
        if isinstance(obj, str) and attr in {"center", "ljust", "rjust", "zfill", "expandtabs"}:
            return False
        return super().is_safe_attribute(obj, attr, value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _refuse_wide(text: str) -> None:
    if any(int(width) > _MAX_WIDTH for width in re.findall(r"\d{1,20}", text)) or "*" in text:
        raise SecurityError("the template formats a text too wide")


def _raise_exception(message: str) -> NoReturn:
    raise _TemplateRefusedError(message)


def _format(text: str, *args: Any, **kwargs: Any) -> str:
    _refuse_wide(text)
    return text % (kwargs or args)


def _environment() -> ImmutableSandboxedEnvironment:
    env = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    env.globals["raise_exception"] = _raise_exception
    env.globals["strftime_now"] = _strftime_now
    env.globals.pop("lipsum", None)
    for name in ("center", "indent", "wordwrap", "xmlattr", "urlize"):
        env.filters.pop(name, None)
    env.filters["format"] = _format
    return env


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now(tz=datetime.UTC).astimezone().strftime(pattern[:100])


class ChatTemplate:
    """A model's chat template, compiled once.

    Raises:
        EngineError: The source is not a Jinja template.
    """

    def __init__(self, source: str, vocab: Vocabulary) -> None:
        self._vocab = vocab
        self._env = _environment()
        try:
            self._template = self._env.from_string(source or FALLBACK)
        except jinja2.TemplateError as error:
            raise EngineError(
                "bad-template",
                f"The model's chat template is broken: {error}.",
                "Use raw prompts with this model, or another file of it.",
            ) from error

    def encode(self, messages: Sequence[ChatMessage]) -> tuple[list[int], tuple[str, ...]]:
        """Return the prompt's token ids, ready for the assistant's reply, and notes for the user.

        Raises:
            EngineError: The template fails, runs too long, or refuses the conversation.
        """
        notes: list[str] = []
        try:
            segments = self._segments(messages, notes)
        except _TemplateRefusedError as refusal:
            folded = fold_system(messages)
            if folded == tuple(messages):
                raise EngineError(
                    "template-refused",
                    f"The model's chat template refuses this conversation: {refusal}.",
                    "Let user and assistant alternate, or use a raw prompt.",
                ) from refusal
            notes.append("This model knows no system role; its text was put before the question.")
            try:
                segments = self._segments(folded, notes)
            except _TemplateRefusedError as second:
                raise EngineError(
                    "template-refused",
                    f"The model's chat template refuses this conversation: {second}.",
                    "Let user and assistant alternate, or use a raw prompt.",
                ) from second
        tokens: list[int] = []
        for text, special in segments:
            if text:
                tokens += self._vocab.tokenize(text, special=special)
        v = self._vocab
        if v.add_bos and v.bos >= 0 and tokens[:1] != [v.bos]:
            tokens.insert(0, v.bos)
        return tokens, tuple(notes)

    def _segments(self, messages: Sequence[ChatMessage], notes: list[str]) -> list[Segment]:
        plain = self._render([(m.role, m.content) for m in messages])
        if not any(self._holds_control_tokens(m.content) for m in messages):
            return [(plain, True)]  # in one piece, as the model saw it when it was trained
        nonce = secrets.token_hex(8)
        marks = [f"placeholder{nonce}x{i}x" for i in range(len(messages))]
        marked = self._render([(m.role, mark) for m, mark in zip(messages, marks, strict=True)])
        contents = dict(zip(marks, (m.content for m in messages), strict=True))
        parts = re.split(f"(placeholder{nonce}x[0-9]+x)", marked)
        for strip in (str, str.strip):
            if "".join(strip(contents[p]) if p in contents else p for p in parts) == plain:
                return [(strip(contents[p]), False) if p in contents else (p, True) for p in parts]
        notes.append(
            "The chat template rewrites messages, so control tokens typed in them were broken up."
        )
        broken = [(m.role, self._break_up(m.content)) for m in messages]
        return [(self._render(broken), True)]

    def _holds_control_tokens(self, text: str) -> bool:
        return self._vocab.tokenize(text, special=True) != self._vocab.tokenize(text, special=False)

    def _break_up(self, text: str) -> str:
        """Put a zero-width space into every text that would become a control token."""
        if not self._holds_control_tokens(text):
            return text
        return re.sub(r"[<\[]([|/]?)(?=\S)", lambda m: m[0] + "\u200b", text)

    def _render(self, messages: list[tuple[str, str]]) -> str:
        v = self._vocab
        variables = {
            "messages": [{"role": role, "content": content} for role, content in messages],
            "add_generation_prompt": True,
            "bos_token": v.text(v.bos).decode("utf-8", "replace") if v.bos >= 0 else "",
            "eos_token": v.text(v.eos).decode("utf-8", "replace") if v.eos >= 0 else "",
        }
        limit = 100_000 + 8 * sum(len(content) for _, content in messages)
        try:
            return _within_deadline(self._template, variables, limit)
        except _TemplateRefusedError:
            raise
        except _DeadlineError:
            reason = f"it ran longer than {DEADLINE_S:g} seconds or wrote too much"
        except (
            jinja2.TemplateError, TypeError, ValueError, KeyError, AttributeError, LookupError,
            OverflowError, MemoryError, RecursionError, ZeroDivisionError,
        ) as error:  # fmt: skip
            reason = f"{error}".rstrip(".")
        raise EngineError(
            "bad-template",
            f"The model's chat template failed: {reason}.",
            "Use raw prompts with this model, or another file of it.",
        )


def _within_deadline(template: jinja2.Template, variables: dict[str, Any], limit: int) -> str:
    """Render with a trace function that looks at the clock at every line of the template.

    A template's loops run as Python lines, so this stops them all; what a single line could blow
    up is taken out of the sandbox. Costs nothing outside the rendering.
    """
    end = time.monotonic() + DEADLINE_S

    def trace(_frame: FrameType, _event: str, _arg: object) -> Any:
        if time.monotonic() > end:
            raise _DeadlineError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        pieces: list[str] = []
        n = 0
        for piece in template.generate(**variables):
            pieces.append(piece)
            n += len(piece)
            if n > limit:
                raise _DeadlineError
        return "".join(pieces)
    finally:
        sys.settrace(before)


def fold_system(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages with system texts put before the first user message."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    if not system or not rest:
        return tuple(messages)
    first = ChatMessage(rest[0].role, "\n\n".join([*system, rest[0].content]))
    return (first, *rest[1:])
