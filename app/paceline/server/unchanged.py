"""Lines of system prompts whose changes are ignored: the model gets the first version of each.

Some programs put a number into the system prompt that differs in each request, so that everything
after it is read again. A regular expression marks such a line as irrelevant to the model.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import structs

from paceline.content import BETWEEN, Chat
from paceline.engine.prompt.difference import shortened
from paceline.errors import ValueOutOfRangeError
from paceline.sentence import joined, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.content import ChatMessage, Prompt
    from paceline.sentence import Sentence

MAX_MATCH_S = 0.1
"""Upper bound of the seconds for one expression in one request."""
MAX_PATTERN_CHARS = 1_000
"""Upper bound of the characters of an expression."""
_MAX_LINES = 1_000
_HINT = "Give a regular expression that finds the changing line alone, such as ^x-billing-header: ."


def check_expression(text: str) -> None:
    """Refuse an invalid expression.

    Raises:
        ValueOutOfRangeError: It cannot be compiled, is too long, or matches an empty line.
    """
    _compiled(text)


@lru_cache(64)
def _compiled(text: str) -> Any:
    import regex  # noqa: PLC0415  it takes time, and most servers have no expression

    if len(text) > MAX_PATTERN_CHARS:
        raise ValueOutOfRangeError(
            "bad-expression",
            "An expression has {n:,} characters, but {most:,} are the most.",
            _HINT,
            n=len(text),
            most=MAX_PATTERN_CHARS,
        )
    try:
        found = regex.compile(text, regex.VERSION0)
        finds_all = found.search("", timeout=MAX_MATCH_S) is not None
    except (regex.error, TimeoutError, OverflowError, RecursionError) as error:
        raise ValueOutOfRangeError(
            "bad-expression",
            "“{text}” is no regular expression: {problem}.",
            _HINT,
            text=shortened(text),
            problem=str(error) or type(error).__name__,
        ) from None
    if finds_all:
        raise ValueOutOfRangeError(
            "bad-expression",
            "“{text}” finds every line, also an empty one.",
            _HINT,
            text=shortened(text),
        )
    return found


class UnchangedLines:
    """Holds the first lines that each expression has matched, for each program. On one thread."""

    def __init__(self) -> None:
        self._first: OrderedDict[tuple[str, str, int], str] = OrderedDict()

    def put(
        self, prompt: Prompt, expressions: Sequence[str], program: str
    ) -> tuple[Prompt, tuple[Sentence, ...]]:
        """Return a prompt with matching lines replaced by the first ones, and remarks.

        The first match of an expression in a prompt is replaced by its first match in this
        program's first prompt, the second by the second, and so on.

        Args:
            prompt: The prompt of a request; one that is no conversation is returned unchanged.
            expressions: Match lines of system prompts; the first that matches a line counts.
            program: The requesting program; lines of others are not used.
        """
        if not (expressions and isinstance(prompt, Chat)):
            return prompt, ()
        search = _Search(self, expressions, program)
        messages = tuple(
            search.message(each) if each.role == "system" else each for each in prompt.messages
        )
        if messages == prompt.messages:
            return prompt, tuple(search.remarks)
        return structs.replace(prompt, messages=messages), tuple(search.remarks)

    def first(self, key: tuple[str, str, int], line: str) -> str:
        """Return the first line under a key; store this one if there is none."""
        first = self._first.setdefault(key, line)
        self._first.move_to_end(key)
        if len(self._first) > _MAX_LINES:
            self._first.popitem(last=False)
        return first


class _Search:
    """Replacement in the system prompt of one request.

    Attributes:
        remarks: Sentences about replaced lines.
    """

    def __init__(self, lines: UnchangedLines, expressions: Sequence[str], program: str) -> None:
        self.remarks: list[Sentence] = []
        self._lines, self._program = lines, program
        self._left = dict.fromkeys(expressions, MAX_MATCH_S)
        self._n_found = dict.fromkeys(expressions, 0)

    def message(self, message: ChatMessage) -> ChatMessage:
        """Return a message with its lines replaced."""
        content, number = [], 1
        for part in message.content:
            lines = part.text.split("\n")
            text = "\n".join(self._line(line, number + i) for i, line in enumerate(lines))
            content.append(structs.replace(part, text=text))
            number += len(lines) - 1 + BETWEEN.count("\n") if part.text else 0
        return structs.replace(message, content=tuple(content))

    def _line(self, line: str, number: int) -> str:
        expression = next((each for each in list(self._left) if self._finds(each, line)), None)
        if expression is None:
            return line
        key = self._program, expression, self._n_found[expression]
        self._n_found[expression] += 1
        first = self._lines.first(key, line)
        if first != line:
            self.remarks.append(
                sentence(
                    "Line {line} of the system prompt was taken as unchanged: the model was given "
                    "“{first}”.",
                    line=number,
                    first=shortened(first, 200),
                )
            )
        return first

    def _finds(self, expression: str, line: str) -> bool:
        """Return whether an expression matches a line; an unusable one gives one remark."""
        try:
            compiled = _compiled(expression)  # at first it takes time that is no line's
            began = time.monotonic()
            found = compiled.search(line, timeout=self._left[expression], concurrent=True)
            self._left[expression] -= time.monotonic() - began
            if self._left[expression] <= 0:  # all lines together count
                raise TimeoutError
        except ValueOutOfRangeError as error:
            del self._left[expression]
            self.remarks.append(joined([error.message, error.hint]))
            return False
        except TimeoutError:
            del self._left[expression]
            self.remarks.append(
                sentence(
                    "The expression “{text}” took too long, so no further change was ignored by it "
                    "in this request.",
                    text=shortened(expression),
                )
            )
            return False
        return found is not None
