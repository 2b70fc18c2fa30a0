"""A conversation to the token ids that the model's chat template gives.

The template comes out of a file from the internet and runs in `sandbox.py`'s sandbox.

What a user typed must stay text: if it contains ``<|im_end|>``, the model shall see these ten
characters, not its control token. When a message holds such a text, the template is rendered
twice: once as it is, once with placeholders in place of the contents. The parts between
placeholders are tokenized with control tokens, the contents without. A template that alters the
contents themselves cannot be split this way; then the texts of control tokens in the contents are
broken up and a note says so.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any

import jinja2

from paceline.engine.model.backend import Vocabulary
from paceline.engine.prompt.sandbox import (
    LimitError,
    TemplateRefusedError,
    deadline,
    guarded,
    sandbox,
)
from paceline.errors import EngineError
from paceline.messages import ChatMessage

FALLBACK = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML, for files without a template; most models have met it."""

Segment = tuple[str, bool]
"""A piece of the prompt, and whether control tokens are read in it."""


class ChatTemplate:
    """A model's chat template, compiled at its first use: raw prompts work without it."""

    def __init__(self, source: str, vocab: Vocabulary) -> None:
        self.vocab = vocab
        self._source = source or FALLBACK
        self._template: jinja2.Template | None = None

    def encode(self, messages: Sequence[ChatMessage]) -> tuple[list[int], tuple[str, ...]]:
        """Return the prompt's token ids, ready for the assistant's reply, and notes for the user.

        Raises:
            EngineError: The template fails, runs too long, or refuses the conversation.
        """
        segments, notes = self._split(messages)
        tokens: list[int] = []
        for text, special in segments:
            if text:
                tokens += self.vocab.tokenize(text, special=special)
        v = self.vocab
        if v.add_bos and v.bos >= 0 and tokens[:1] != [v.bos]:
            tokens.insert(0, v.bos)
        return tokens, tuple(notes)

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """Return the prompt's text; errors as for `encode`."""
        return "".join(text for text, _ in self._split(messages)[0])

    def _split(self, messages: Sequence[ChatMessage]) -> tuple[list[Segment], list[str]]:
        notes: list[str] = []
        try:
            segments = self._segments(messages, notes)
        except TemplateRefusedError as refusal:
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
            except TemplateRefusedError as second:
                raise EngineError(
                    "template-refused",
                    f"The model's chat template refuses this conversation: {second}.",
                    "Let user and assistant alternate, or use a raw prompt.",
                ) from second
        return segments, notes

    def _segments(self, messages: Sequence[ChatMessage], notes: list[str]) -> list[Segment]:
        plain = self._render([(m.role, m.content) for m in messages])
        # All in one text, since a template may put two contents side by side.
        if not self._holds_control_tokens("".join(m.content for m in messages)):
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
        return self.vocab.tokenize(text, special=True) != self.vocab.tokenize(text, special=False)

    def _break_up(self, text: str) -> str:
        """Put a zero-width space after the first character of what would be a control token.

        Raises:
            EngineError: That does not help with this tokenizer.
        """
        for _ in range(4):  # breaking up one may leave another
            if not self._holds_control_tokens(text):
                return text
            special = self.vocab.tokenize(text, special=True)
            plain = set(self.vocab.tokenize(text, special=False))
            names = {self.vocab.text(t).decode("utf-8", "replace") for t in set(special) - plain}
            for name in filter(None, names):
                text = text.replace(name, f"{name[0]}\u200b{name[1:]}")
        text = re.sub(
            r"([^\w\s\u200b])(?=\S)",
            "\\1\u200b",
            text,
            # Some tokenizers read other texts as a control token than its own.
        )
        if self._holds_control_tokens(text):
            raise EngineError(
                "control-token",
                "A message holds the text of a control token, and this model's chat template "
                "leaves no way to keep it plain text.",
                "Take it out of the message.",
            )
        return text

    def _render(self, messages: list[tuple[str, str]]) -> str:
        v = self.vocab
        variables = {
            "messages": [{"role": role, "content": content} for role, content in messages],
            "add_generation_prompt": True,
            "bos_token": v.text(v.bos).decode("utf-8", "replace") if v.bos >= 0 else "",
            "eos_token": v.text(v.eos).decode("utf-8", "replace") if v.eos >= 0 else "",
        }
        limit = 100_000 + 8 * sum(len(content) for _, content in messages)
        try:
            return guarded(
                lambda: self._render_within(variables, limit),
                deadline(len(messages)),
                is_template=True,
            )
        except TemplateRefusedError:
            raise
        except LimitError as error:
            reason = f"it {error}"
        except Exception as error:  # noqa: BLE001  a template can raise anything
            reason = str(error).rstrip(".") or type(error).__name__
        raise EngineError(
            "bad-template",
            f"The model's chat template failed: {reason}.",
            "Use raw prompts with this model, or another file of it.",
        )

    def _render_within(self, variables: dict[str, Any], limit: int) -> str:
        if self._template is None:
            self._template = sandbox().from_string(self._source)
        pieces: list[str] = []
        n = 0
        for piece in self._template.generate(**variables):
            pieces.append(piece)
            n += len(piece)
            if n > limit:
                raise LimitError("wrote too much")
        return "".join(pieces)


def fold_system(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages with system texts put before the first user message."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    at = next((i for i, m in enumerate(rest) if m.role == "user"), None)
    if not system or at is None:
        return tuple(messages)
    rest[at] = ChatMessage("user", "\n\n".join([*system, rest[at].content]))
    return tuple(rest)
