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

import functools
import math
import re
import secrets
import time
from collections.abc import Sequence
from traceback import walk_tb
from typing import Any

import jinja2

from paceline.engine.model.backend import Vocabulary
from paceline.engine.prompt.sandbox import (
    TEMPLATE_FILE,
    LimitError,
    TemplateRefusedError,
    deadline,
    guarded,
    sandbox,
)
from paceline.engine.prompt.thinking import ThinkingSwitch
from paceline.errors import EngineError
from paceline.messages import ChatMessage

_OTHER = (
    "Take another template: under Models → Chat template… in the window, by --template on the "
    "command line."
)
_LEAST_STOP = 4
"""Characters of a text that ends a reply within a line."""
_QUESTION, _REPLY, _AGAIN = "first question", "the reply", "second question"
Segment = tuple[str, bool]
"""A piece of the prompt, and whether control tokens are read in it."""


class ChatTemplate:
    """A model's chat template, compiled at its first use: raw prompts work without it.

    Args:
        source: In Jinja.
        vocab: The model's.
        think: How much the model is to reason; see `Prompting`.
    """

    def __init__(self, source: str, vocab: Vocabulary, think: str = "") -> None:
        self.vocab = vocab
        self._source = source
        self._think = think
        self._template: jinja2.Template | None = None
        self._takes_parts = False
        self._probing_s = deadline(1)

    @functools.cached_property
    def switch(self) -> ThinkingSwitch:
        """How it is told to let the model reason or not."""
        return ThinkingSwitch(self._source, self._probe)

    @functools.cached_property
    def stops(self) -> tuple[str, ...]:
        """Texts that a reply ends before: what the template writes around turns, if not tokens."""
        asked = ChatMessage("user", _QUESTION), ChatMessage("assistant", _REPLY)
        try:
            messages = self.switch.messages([*asked, ChatMessage("user", _AGAIN)], self._think)
            text = self._probe(messages, self.switch.variables(self._think))
        except (EngineError, TemplateRefusedError):
            return ()
        _, reply, rest = text.rpartition(_REPLY)
        after_reply, again, after_question = rest.partition(_AGAIN)
        if not (reply and again) or self._holds_control_tokens(after_reply):
            return ()
        parts = (
            "\n" * part.startswith("\n") + part.strip() for part in (after_reply, after_question)
        )
        # What any list, rule or sentence may hold ends no reply.
        return tuple(
            part
            for part in parts
            if any(map(str.isalnum, part)) and (part.startswith("\n") or len(part) >= _LEAST_STOP)
        )

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
        return self.render_with_notes(messages)[0]

    def render_with_notes(self, messages: Sequence[ChatMessage]) -> tuple[str, tuple[str, ...]]:
        """Return the prompt's text, and notes for the user; errors as for `encode`."""
        segments, notes = self._split(messages)
        return "".join(text for text, _ in segments), tuple(notes)

    def _split(self, messages: Sequence[ChatMessage]) -> tuple[list[Segment], list[str]]:
        if self._think:
            if self._think not in self.switch.choices:
                raise self._no_such_thinking()
            messages = self.switch.messages(messages, self._think)
        tried: list[tuple[ChatMessage, ...]] = []
        for changes in _CHANGES:
            changed, notes = tuple(messages), []
            for change, note in changes:
                changed = change(changed)
                notes.append(note)
            if changed in tried:
                continue
            tried.append(changed)
            try:
                return self._segments(changed, notes), notes
            except TemplateRefusedError as refusal:
                last = refusal
        raise _refused(last) from last

    def _no_such_thinking(self) -> EngineError:
        choices = self.switch.choices
        if not choices:
            return EngineError(
                "no-thinking-switch",
                "The chat template has no switch for how much the model reasons.",
                "Leave that to the model.",
            )
        return EngineError(
            "no-thinking-switch",
            f"The chat template has no choice “{self._think}” for how much the model reasons.",
            f"It has {', '.join(choices)}.",
        )

    def _segments(self, messages: Sequence[ChatMessage], notes: list[str]) -> list[Segment]:
        variables = self.switch.variables(self._think) if self._think else {}
        plain = self._render(messages, variables)
        # All in one text, since a template may put two contents side by side.
        if not self._holds_control_tokens("".join(m.content for m in messages)):
            return [(plain, True)]  # in one piece, as the model saw it when it was trained
        nonce = secrets.token_hex(8)
        marks = [f"placeholder{nonce}x{i}x" for i in range(len(messages))]
        marked = self._render(
            [ChatMessage(m.role, mark) for m, mark in zip(messages, marks, strict=True)], variables
        )
        contents = dict(zip(marks, (m.content for m in messages), strict=True))
        parts = re.split(f"(placeholder{nonce}x[0-9]+x)", marked)
        for strip in (str, str.strip):
            if "".join(strip(contents[p]) if p in contents else p for p in parts) == plain:
                return [(strip(contents[p]), False) if p in contents else (p, True) for p in parts]
        notes.append(
            "The chat template rewrites messages, so control tokens typed in them were broken up."
        )
        broken = [ChatMessage(m.role, self._break_up(m.content)) for m in messages]
        return [(self._render(broken, variables), True)]

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

    def _probe(self, messages: Sequence[ChatMessage], given: dict[str, Any]) -> str:
        """Render to see what the template does; all that is so tried has one deadline."""
        began = time.monotonic()
        try:
            return self._render(messages, given, self._probing_s)
        finally:
            self._probing_s -= time.monotonic() - began

    def _render(
        self, messages: Sequence[ChatMessage], given: dict[str, Any], most_s: float = math.inf
    ) -> str:
        v = self.vocab
        usual = {
            "add_generation_prompt": True,
            "bos_token": v.text(v.bos).decode("utf-8", "replace") if v.bos >= 0 else "",
            "eos_token": v.text(v.eos).decode("utf-8", "replace") if v.eos >= 0 else "",
        }
        limit = 100_000 + 8 * sum(len(message.content) for message in messages)
        try:
            return guarded(
                lambda: self._render_within(messages, usual | given, limit),
                min(deadline(len(messages)), most_s),
                is_template=True,
            )
        except TemplateRefusedError:
            raise
        except LimitError as error:
            reason = f"it {error}"
        except Exception as error:  # noqa: BLE001  a template can raise anything
            reason = str(error).rstrip(".") or type(error).__name__
            line = _line_of(error)
            reason = f"{reason} (line {line})" if line else reason
        raise EngineError("bad-template", f"The chat template failed: {reason}.", _OTHER)

    def _render_within(
        self, messages: Sequence[ChatMessage], variables: dict[str, Any], limit: int
    ) -> str:
        if self._template is None:
            self._template = sandbox().from_string(self._source)
            self._takes_parts = self._reads_parts(self._template, variables, limit)
        return self._write(self._template, messages, variables, limit)

    def _reads_parts(
        self, template: jinja2.Template, variables: dict[str, Any], limit: int
    ) -> bool:
        """Whether a content has to come in parts, as in templates of models that see pictures."""
        word = "why"
        probe = [ChatMessage("user", word)]
        try:
            if word in self._write(template, probe, variables, limit).lower():
                return False
            self._takes_parts = True
            text = self._write(template, probe, variables, limit)
        except (jinja2.TemplateError, TypeError, TemplateRefusedError):
            return False
        return word in text and f"'{word}'" not in text  # not merely written as a list

    def _write(
        self,
        template: jinja2.Template,
        messages: Sequence[ChatMessage],
        variables: dict[str, Any],
        limit: int,
    ) -> str:
        contents: list[Any] = [message.content for message in messages]
        if self._takes_parts:
            contents = [[{"type": "text", "text": content}] for content in contents]
        each = zip(messages, contents, strict=True)
        dicts = [{"role": message.role, "content": content} for message, content in each]
        pieces: list[str] = []
        n = 0
        for piece in template.generate(messages=dicts, **variables):
            pieces.append(piece)
            n += len(piece)
            if n > limit:
                raise LimitError("wrote too much")
        return "".join(pieces)


def _refused(refusal: TemplateRefusedError) -> EngineError:
    return EngineError(
        "template-refused",
        f"The chat template refuses this conversation: {str(refusal).rstrip('.')}.",
        f"Let user and assistant alternate. {_OTHER}",
    )


def _line_of(error: Exception) -> int:
    """Return the line of the template that an error stands in; 0: not known."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    return next((line for file, line in reversed(frames) if file == TEMPLATE_FILE), 0)


def fold_system(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages with system texts put before the first user message."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    at = next((i for i, m in enumerate(rest) if m.role == "user"), None)
    if not system or at is None:
        return tuple(messages)
    rest[at] = ChatMessage("user", "\n\n".join([*system, rest[at].content]))
    return tuple(rest)


def in_turns(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages so that questions and replies alternate, from a question on."""
    turns: list[ChatMessage] = []
    has_question = all(message.role != "user" for message in messages)  # then nothing is dropped
    for message in messages:
        has_question = has_question or message.role == "user"
        if message.role == "assistant" and not has_question:
            continue
        if turns and turns[-1].role == message.role:
            content = f"{turns.pop().content}\n\n{message.content}"
            message = ChatMessage(message.role, content)  # noqa: PLW2901
        turns.append(message)
    return tuple(turns)


_FOLDED = fold_system, "This model knows no system role; its text was put before the question."
_IN_TURNS = (
    in_turns,
    "This model wants questions and replies in turns: neighbours of one role were put together, "
    "and replies before the first question left out.",
)
_CHANGES = ((), (_FOLDED,), (_IN_TURNS,), (_FOLDED, _IN_TURNS))
"""What may make a template take a conversation that it refuses, the mildest first."""
