"""Marks of reasoning in a growing reply: the begin of the answer, and the writing of learned marks.

The text is scanned incrementally, so that a token costs the same at the end of a long reply.
"""

from __future__ import annotations

from paceline.engine.prompt.learned_marks import CLOSING, OPENING, MarkTexts
from paceline.engine.prompt.reasoning_marks import ANALYSIS, CHANNEL, FRAMES, PAIRS

_CHANNEL_BEGINS = ("<|start|>", "<|channel|>")
_CHANNEL_END = "<|end|>"
_MAX_CHANNEL_CHARS = 160


class AnswerFinder:
    """Finds where the answer begins in a growing reply.

    Attributes:
        begin: Index of its first character, after the blanks and the frame that follow a reasoning;
            None while not known.
        read: Number of characters that certainly come before it, while that is not known.
        is_reasoning: Whether the text ends within a reasoning.
    """

    def __init__(self) -> None:
        self.begin: int | None = None
        self.read = 0
        self._closing = ""
        self._has_reasoned = False

    @property
    def is_reasoning(self) -> bool:
        """Return whether the text that was read ends within a reasoning."""
        return bool(self._closing)

    def scan(self, text: str, *, is_whole: bool = False) -> None:
        """Continue the scan.

        Args:
            text: The reply so far; it begins with the text of the last call.
            is_whole: Whether nothing follows, so that half a mark is ordinary text.
        """
        while self.begin is None:
            if self._closing:
                at = text.find(self._closing, self.read)
                if at < 0:
                    self.read = max(self.read, len(text) - len(self._closing) + 1)
                    return
                self.read, self._closing = at + len(self._closing), ""
            at = len(text) - len(text[self.read :].lstrip())
            if not self._open(text, at):
                if not is_whole and self._may_open(text[at : at + _MAX_CHANNEL_CHARS]):
                    return
                self.begin = at if self._has_reasoned else 0

    def _open(self, text: str, at: int) -> bool:
        """Parse a mark here that begins a reasoning or another part of the reply."""
        if channel := CHANNEL.match(text, at):
            self._has_reasoned, self.read = True, channel.end()
            if channel[1].strip().startswith(ANALYSIS):
                self._closing = _CHANNEL_END
            else:
                self.begin = channel.end()
            return True
        opening = max((mark for mark in PAIRS if text.startswith(mark, at)), key=len, default="")
        if opening:
            self._has_reasoned, self.read = True, at + len(opening)
            self._closing = PAIRS[opening]
            return True
        frame = next((mark for mark in FRAMES if text.startswith(mark, at)), "")
        if not (frame and self._has_reasoned):
            return False
        self.read = at + len(frame)
        return True

    def _may_open(self, rest: str) -> bool:
        """Return whether this may become a mark; blanks always may."""
        marks = (*PAIRS, *_CHANNEL_BEGINS, *(FRAMES if self._has_reasoned else ()))
        if any(mark.startswith(rest) for mark in marks):
            return True
        is_short = len(rest) < _MAX_CHANNEL_CHARS and "\n" not in rest
        return is_short and rest.startswith(_CHANNEL_BEGINS)


class MarkWriter:
    """Replaces a template's learned marks by those that every reader knows.

    Args:
        marks: Marks of the model's template.
        is_opened: Whether the prompt ends where the reasoning begins.
    """

    def __init__(self, marks: MarkTexts, *, is_opened: bool) -> None:
        self._marks = marks
        self._waiting = ""
        self._is_start, self._is_reasoning = not is_opened, is_opened
        self._dropped = dict.fromkeys(map(ord, marks.stand_ins.values()))

    def go_on(self, *, in_reasoning: bool, in_answer: bool) -> None:
        """Continue after text that was not written here."""
        self._waiting = ""
        self._is_start, self._is_reasoning = not (in_reasoning or in_answer), in_reasoning

    def write(self, text: str, *, final: bool = False) -> str:
        """Return what the text adds to the reply; an incomplete mark is held back.

        Args:
            text: The next text, with stand-ins for control tokens.
            final: Whether nothing follows.
        """
        rest, out = self._waiting + text, ""
        self._waiting = ""
        while rest:
            if self._is_start:
                done, rest, waits = self._begin(rest, final=final)
            elif self._is_reasoning:
                done, rest, waits = self._go_on(rest, final=final)
            else:
                done, rest, waits = rest, "", False
            out += done
            if waits:
                self._waiting = rest
                break
        return out.translate(self._dropped)

    def _begin(self, rest: str, *, final: bool) -> tuple[str, str, bool]:
        marks, begins = self._marks, rest.lstrip()
        if marks.opening and begins.startswith(marks.opening):
            self._is_start, self._is_reasoning = False, True
            blanks = rest[: len(rest) - len(begins)]
            return blanks + OPENING, begins[len(marks.opening) :], False
        if marks.frame and begins.startswith(marks.frame):
            self._is_start = False
            return "", begins[len(marks.frame) :], False
        if not final and any(mark.startswith(begins) for mark in (marks.opening, marks.frame)):
            return "", rest, True
        self._is_start = False
        return "", rest, False

    def _go_on(self, rest: str, *, final: bool) -> tuple[str, str, bool]:
        closing = self._marks.closing
        at = rest.find(closing)
        if at >= 0:
            self._is_start, self._is_reasoning = True, False
            return rest[:at] + CLOSING, rest[at + len(closing) :], False
        at = len(rest) if final else _begins_in(rest, closing)
        return rest[:at], rest[at:], True


def _begins_in(text: str, mark: str) -> int:
    """Return the index from which the text's end begins a mark, or its length if there is none."""
    for at in range(max(len(text) - len(mark) + 1, 0), len(text)):
        if mark.startswith(text[at:]):
            return at
    return len(text)
