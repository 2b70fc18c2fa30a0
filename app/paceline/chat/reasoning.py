"""Separates a reply's reasoning from its answer, while it streams and in whole.

Models that reason write the reasoning before the answer, between marks of their templates:
`<think>…</think>` and the like, `[THINK]…[/THINK]`, or the channels of gpt-oss
(`<|channel|>analysis<|message|>…`, OpenAI's harmony format). Many templates write the opening mark
into the prompt, so that only the closing one is seen. Nothing of a text is lost: its parts, marks
included, are the whole text again, and they do not depend on how it came in pieces.

A mark counts at the beginning of a reply (or of what follows a closed reasoning), or alone in its
line; never within a code fence or after a backtick. A fence that is still open at the end of a
reply whose reasoning did not end is the model's slip: then a closing mark in it counts.

No I/O, no Qt; any thread, one at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from paceline.engine.prompt.reasoning_marks import ANSWER_BEGINS, ANSWER_ENDS, PAIRS

PartKind = Literal["answer", "reasoning", "mark", "held"]
"""A mark is shown nowhere. Held: may still become a mark; only while a text is growing."""

_MAX_CHANNEL_CHARS = 160
_MAX_SLIPS = 8

_OPEN = re.compile("|".join(map(re.escape, PAIRS)))
_CLOSE = re.compile("|".join(map(re.escape, PAIRS.values())))
_CHANNEL = re.compile(
    r"(?:<\|start\|>\w{0,40})?<\|channel\|>((?:[^<\n]|<\|constrain\|>){0,80})<\|message\|>"
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>")
_FRAME = re.compile("|".join(map(re.escape, ANSWER_BEGINS + ANSWER_ENDS)))
_ANY = re.compile("|".join(p.pattern for p in (_OPEN, _CLOSE, _FRAME, _CHANNEL, _CHANNEL_END)))
_MARKS = (
    *PAIRS, *PAIRS.values(), *ANSWER_BEGINS, *ANSWER_ENDS,
    "<|start|>", "<|channel|>", "<|end|>", "<|return|>",
)  # fmt: skip
_LONGEST_MARK = max(map(len, _MARKS))
_BY_FIRST = {first: [m for m in _MARKS if m[0] == first] for first in {m[0] for m in _MARKS}}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")


class Part(NamedTuple):
    """Characters [start, end) of a text, and their kind."""

    kind: PartKind
    start: int
    end: int


@dataclass(slots=True)
class _State:
    """The splitter's state at one place of the text."""

    mode: Literal["start", "answer", "reasoning"] = "start"
    closing: str = ""  # what ends the reasoning; empty: a channel
    fence: str = ""
    has_reasoned: bool = False
    has_named: bool = False  # an opening mark stood in the answer as text
    slip: int = -1  # where a closing mark stood in a fence that is still open
    parts: list[Part] = field(default_factory=list)

    def copy(self) -> _State:
        return replace(self, parts=list(self.parts))

    def add(self, kind: PartKind, start: int, end: int) -> None:
        if start < end:
            last = self.parts[-1] if self.parts else None
            if last is not None and last.kind == kind:
                self.parts[-1] = Part(kind, last.start, end)
            else:
                self.parts.append(Part(kind, start, end))


class ReasoningSplitter:
    """Splits a growing text; what comes before the last line is never read again."""

    def __init__(self) -> None:
        self._text = ""
        self._done = 0
        self._state = _State()

    def split(self, text: str, *, is_final: bool) -> tuple[Part, ...]:
        """Return the parts of a text, in order and without gaps.

        Args:
            text: Begins with the text of the last call, or is another one altogether.
            is_final: Whether nothing follows.
        """
        if not text.startswith(self._text[: self._done]):
            self._done, self._state = 0, _State()
        self._text = text
        while (end := text.find("\n", self._done)) >= 0:
            _line(self._state, text, self._done, end + 1, is_open=False)
            self._done = end + 1
        state = self._state.copy()
        _line(state, text, self._done, len(text), is_open=not is_final)
        for _ in range(_MAX_SLIPS if is_final else 0):
            if state.mode != "reasoning" or state.slip < 0:
                break
            state = _after_slip(state, text)
        return tuple(state.parts)


def split_reasoning(text: str) -> tuple[Part, ...]:
    """Return the parts of a complete text, in order and without gaps."""
    return ReasoningSplitter().split(text, is_final=True)


def answer_of(text: str) -> str:
    """Return a reply without its reasoning; the whole reply where it has none."""
    return join_parts(text, split_reasoning(text), "answer") if _has_marks(text) else text


def _has_marks(text: str) -> bool:
    # A long chat has thousands of texts, and few of them have even the first character of a mark.
    return any(
        first in text and any(mark in text for mark in marks) for first, marks in _BY_FIRST.items()
    )


def reasoning_of(text: str) -> str:
    """Return a reply's reasoning; empty where it has none."""
    return join_parts(text, split_reasoning(text), "reasoning")


def join_parts(text: str, parts: tuple[Part, ...], kind: PartKind) -> str:
    """Return the text of the parts of one kind; the unchanged text if there is no other kind."""
    if all(part.kind == kind for part in parts):
        return text
    texts = (text[part.start : part.end].strip() for part in parts if part.kind == kind)
    return "\n\n".join(filter(None, texts))


def _after_slip(state: _State, text: str) -> _State:
    """Close the reasoning at the mark that seemed to be in a fence, and go on after it."""
    at = state.slip
    found = _CLOSE.match(text, at)
    assert found is not None
    again = _State("start", has_reasoned=True)
    for part in state.parts:
        again.add(part.kind, part.start, min(part.end, at))
    again.add("mark", at, found.end())
    start = found.end()
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end + 1
        _line(again, text, start, end, is_open=False)
        start = end
    return again


def _line(state: _State, text: str, start: int, end: int, *, is_open: bool) -> None:
    """Take one line, or what there is of the last one (`is_open`: it may go on)."""
    at = start
    while at < end:
        if _is_fence_line(state, text, at, end):
            _plain(state, text, at, end)
            return
        found = _next_mark(state, text, start, at, end, is_open=is_open)
        if found is None:
            stop = _held_from(text, at, end) if is_open else end
            _plain(state, text, at, stop)
            state.add("held", stop, end)
            return
        _plain(state, text, at, found.start())
        if is_open and _may_be_alone(state, text, start, found):
            state.add("held", found.start(), end)
            return
        _mark(state, found)
        at = found.end()


def _plain(state: _State, text: str, start: int, end: int) -> None:
    state.add("reasoning" if state.mode == "reasoning" else "answer", start, end)
    if state.mode == "start" and text[start:end].strip():
        state.mode = "answer"


def _is_fence_line(state: _State, text: str, at: int, end: int) -> bool:
    """Whether the line from here on opens, closes or is within a code fence; notes which."""
    found = _FENCE.match(text, at, end)
    if state.fence:
        if found and found[1].startswith(state.fence) and not found[2].strip():
            state.fence, state.slip = "", -1
        elif state.mode == "reasoning" and state.slip < 0:
            close = text.find(state.closing, at, end) if state.closing else -1
            state.slip = close
        return True
    if found and not ("`" in found[1] and "`" in found[2]):
        state.fence = found[1]
        return True
    return False


def _next_mark(
    state: _State, text: str, line: int, at: int, end: int, *, is_open: bool
) -> re.Match[str] | None:
    """The next mark that counts."""
    for found in _ANY.finditer(text, at, end):
        mark = found[0]
        if found.start() and text[found.start() - 1] == "`":
            continue
        is_first = state.mode == "start" and not text[at : found.start()].strip()
        if mark in PAIRS:
            if state.mode == "reasoning":
                continue
            before = text[line : found.start()].strip()
            if is_first or not (before or text[found.end() : end].strip()):
                return found
            state.has_named = state.has_named or not is_open
        elif _CLOSE.fullmatch(mark):
            if state.mode == "reasoning":
                if mark == state.closing:
                    return found
            elif not (state.has_reasoned or state.has_named or _names(text, line, found)):
                return found
        elif _stands_around(state, mark, is_first=is_first):
            return found
    return None


def _stands_around(state: _State, mark: str, *, is_first: bool) -> bool:
    """Whether a mark counts that is no pair's, but a channel's or an answer's."""
    if _FRAME.fullmatch(mark):
        return is_first or (mark in ANSWER_ENDS and state.mode != "reasoning")
    is_channel = mark.startswith(("<|start|>", "<|channel|>"))
    return is_channel or (state.has_reasoned and not state.closing)


def _names(text: str, line: int, found: re.Match[str]) -> bool:
    return _OPEN.search(text, line, found.start()) is not None


def _may_be_alone(state: _State, text: str, line: int, found: re.Match[str]) -> bool:
    """Whether the end of the line decides if this opening mark counts."""
    return found[0] in PAIRS and state.mode == "answer" and not text[line : found.start()].strip()


def _mark(state: _State, found: re.Match[str]) -> None:
    mark, start, end = found[0], found.start(), found.end()
    if mark in PAIRS:
        state.mode, state.closing, state.has_reasoned = "reasoning", PAIRS[mark], True
    elif channel := _CHANNEL.fullmatch(mark):
        is_analysis = channel[1].strip().startswith("analysis")
        state.mode = "reasoning" if is_analysis else "start"
        state.closing, state.has_reasoned = "", True
    else:
        if _CLOSE.fullmatch(mark) and not state.has_reasoned:
            # The template opened the reasoning: all that came so far belongs to it.
            state.parts = [Part("reasoning", 0, start)] if start else []
            state.has_reasoned = True
        state.mode = "start"
    state.slip = -1
    state.add("mark", start, end)


def _held_from(text: str, at: int, end: int) -> int:
    """From where the end of a growing line may be the beginning of a mark."""
    channel = max(text.rfind(m, at, end) for m in ("<|start|>", "<|channel|>"))
    if channel >= 0 and end - channel < _MAX_CHANNEL_CHARS and "\n" not in text[channel:end]:
        earlier = text.rfind("<|start|>", at, channel)
        return earlier if earlier >= 0 else channel
    tail = text[max(at, end - _LONGEST_MARK) : end]
    for length in range(len(tail), 0, -1):
        if tail[-length] in "<[" and any(mark.startswith(tail[-length:]) for mark in _MARKS):
            return end - length
    return end
