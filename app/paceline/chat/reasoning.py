"""Separates a reply's reasoning from its answer, while it streams and in whole.

Models that reason write the reasoning before the answer, between marks of their templates:
`<think>…</think>` and the like, `[THINK]…[/THINK]`, or the channels of gpt-oss
(`<|channel|>analysis<|message|>…`, OpenAI's harmony format). The engine puts what the prompt has
opened before the reply, and writes marks that are in no list of ours as `<think>…</think>`.
Nothing of a text is lost: its parts, marks included, are the whole text again, and they do not
depend on how it came in pieces.

An opening mark counts at the beginning of a reply (or of what follows a closed reasoning), or alone
in its line if the model knows such marks, and only where it is closed: one that is not is text,
unless the reply begins with it and was cut off. Channels count from the beginning of a reply on. A
closing mark that none has opened counts if the model knows such marks. Where nothing is known of a
reply, as of one from elsewhere, a mark that a sentence names or announces is text. No mark counts
within a code fence, in a line that is indented as code, or after a backtick. Where a reasoning does
not end, a fence in it was the model's slip: then a closing mark counts that stands in an open
fence, or alone in its line in a closed one, without an opening mark before it. One in the line that
ends a fence counts at once.

No I/O, no Qt; any thread, one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from paceline.engine.prompt.reasoning_marks import (
    ANALYSIS,
    ANSWER_BEGINS,
    ANSWER_ENDS,
    CHANNEL,
    FRAMES,
    LAST_WORDS,
    PAIRS,
)

PartKind = Literal["answer", "reasoning", "mark", "held"]
"""Kinds of a part: a "mark" is not shown; "held" text may still become a mark, only while a text
grows."""
_Verdict = Literal["mark", "text", "undecided"]

_MAX_CHANNEL_CHARS = 160
_MAX_SLIPS = 8


def _any_of(*marks: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(marks, key=len, reverse=True))))


_ALL_FRAMES = (*ANSWER_BEGINS, *ANSWER_ENDS, *FRAMES, *FRAMES.values(), *LAST_WORDS)
_OPEN, _CLOSE, _FRAME = _any_of(*PAIRS), _any_of(*PAIRS.values()), _any_of(*_ALL_FRAMES)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>")
_ANY = re.compile("|".join(p.pattern for p in (_OPEN, _CLOSE, _FRAME, CHANNEL, _CHANNEL_END)))
_MARKS = (
    *PAIRS, *PAIRS.values(), *_ALL_FRAMES, "<|start|>", "<|channel|>", "<|end|>", "<|return|>",
)  # fmt: skip
_MAX_MARK_CHARS = max(map(len, _MARKS))
_BY_FIRST = {first: [m for m in _MARKS if m[0] == first] for first in {m[0] for m in _MARKS}}
_HEADER = re.compile(r"<\|start\|>\w{0,40}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,3}[.)]) {1,3}(?=```|~~~)")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)")
_BEFORE_CODE = re.compile(r"(?:[^\S\n]*\n)+(?=(?: {4}| {0,3}\t)[^\n]*\S)")
_BLANKS = re.compile(r"\s*")
_BLANK_REST = re.compile(r"\s*\Z")
_LAST_MARKS = re.compile(rf"\A(?:{_any_of(*ANSWER_ENDS).pattern})+")
_LIST_MARK = re.compile(r"\s*(?:[-*+>]|\d{1,3}[.)]|[A-Za-z][.)])\s*")
_ANNOUNCING = frozenset(",:;-\u2013\u2014\uff1a\uff0c\"'\u201c\u2018\u00ab\u300c([{<`/\\")
_GOING_ON = frozenset(",.;:!?)]}\"'\u201d\u2019\u00bb\u300d`\u3002\uff0c")
"""Signs before and after a mark that is named in a sentence."""
_NAMED = re.compile(r"[,.;:!?)]|[^\S\n]+[a-z]")
"""Text after a mark with which a sentence begins."""


class Known(NamedTuple):
    """Facts of how a reply was generated; each is None if it is not known.

    Attributes:
        is_finished: Whether the model ended it by itself.
        has_marks: Whether the model's template or vocabulary know marks of reasoning.
        is_json: Whether its answer is JSON, since a schema asked for that.
    """

    is_finished: bool | None = None
    has_marks: bool | None = None
    is_json: bool = False


UNKNOWN = Known()


class ReplySection(NamedTuple):
    """Characters [start, end) of a text, and their kind."""

    kind: PartKind
    start: int
    end: int


@dataclass(slots=True)
class _State:
    """The splitter's state at one position of the text."""

    mode: Literal["start", "answer", "reasoning"] = "start"
    opening: str = ""  # of the reasoning; empty: a channel
    opened: int = -1  # where that stands
    is_first: bool = True  # and whether nothing of an answer stands before it
    closing: str = ""  # what ends the reasoning; empty: a channel
    frame: str = ""  # what ends the answer
    fence: str = ""
    has_reasoned: bool = False
    has_channels: bool = False
    has_named: bool = False  # an opening mark stood in the answer as text
    fence_start: int = -1
    slip: int = -1  # where a closing mark stood in a fence that is still open
    first_slip: int = -1  # or in one that was closed, which may have begun where another one ended
    names: Mapping[str, int] = field(default_factory=dict)  # opening marks that are text from here
    known: Known = UNKNOWN
    parts: list[ReplySection] = field(default_factory=list)

    def copy(self) -> _State:
        return replace(self, parts=list(self.parts))

    def add(self, kind: PartKind, start: int, end: int) -> None:
        if start < end:
            last = self.parts[-1] if self.parts else None
            if last is not None and last.kind == kind:
                self.parts[-1] = ReplySection(kind, last.start, end)
            else:
                self.parts.append(ReplySection(kind, start, end))


class ReasoningSplitter:
    """Splits a growing text; what comes before the last line is hardly ever read again."""

    def __init__(self) -> None:
        self._text = ""
        self._done = 0
        self._state = _State()

    def split(
        self, text: str, *, is_final: bool, known: Known = UNKNOWN
    ) -> tuple[ReplySection, ...]:
        """Return the parts of a text, in order and without gaps.

        Args:
            text: Begins with the text of the last call, or is another one altogether.
            is_final: Whether nothing follows.
            known: Facts of how the text was generated.
        """
        if known != self._state.known or not text.startswith(self._text[: self._done]):
            self._done, self._state = 0, _State(known=known)
        self._text = text
        self._done = _lines(self._state, text, self._done, is_final=is_final)
        state = self._state.copy()
        _line(state, text, self._done, len(text), is_open=not is_final)
        if is_final:
            state = _end(state, text)
        return tuple(state.parts)


def split_reasoning(text: str, known: Known = UNKNOWN) -> tuple[ReplySection, ...]:
    """Return the parts of a complete text, in order and without gaps."""
    return ReasoningSplitter().split(text, is_final=True, known=known)


def answer_of(text: str, known: Known = UNKNOWN) -> str:
    """Return a reply without its reasoning; the whole reply where it has none."""
    return join_parts(text, split_reasoning(text, known), "answer") if _has_marks(text) else text


def _has_marks(text: str) -> bool:
    # A long chat has thousands of texts, and few of them have even the first character of a mark.
    return any(
        first in text and any(mark in text for mark in marks) for first, marks in _BY_FIRST.items()
    )


def reasoning_of(text: str, known: Known = UNKNOWN) -> str:
    """Return a reply's reasoning; empty where it has none."""
    return join_parts(text, split_reasoning(text, known), "reasoning")


def join_parts(text: str, parts: tuple[ReplySection, ...], kind: PartKind) -> str:
    """Return the text of the parts of one kind; the unchanged text if there is no other kind."""
    if all(part.kind == kind for part in parts):
        return text
    texts = (_trimmed(text[part.start : part.end]) for part in parts if part.kind == kind)
    return "\n\n".join(filter(None, texts))


def _trimmed(text: str) -> str:
    """Return a part without blanks around it, but those that make its first line code."""
    before = _BEFORE_CODE.match(text)
    return text[before.end() :].rstrip() if before else text.strip()


def _end(state: _State, text: str) -> _State:
    """Process the end of a text: the mark of an unclosed reasoning may turn out to be text."""
    while True:
        for _ in range(_MAX_SLIPS):
            at = state.slip if state.first_slip < 0 else state.first_slip
            if state.mode != "reasoning" or at < 0:
                break
            state = _after_slip(state, text, at)
        if not _has_only_named(state, text):
            return state
        names = {**state.names, state.opening: state.opened}
        state = _State(names=names, known=state.known)
        done = _lines(state, text, 0, is_final=True)
        _line(state, text, done, len(text), is_open=False)


def _has_only_named(state: _State, text: str) -> bool:
    """Return whether the mark that has opened the reasoning, which does not end, is text."""
    if state.mode != "reasoning" or not state.opening:
        return False
    is_finished, has_marks = state.known.is_finished, state.known.has_marks
    if is_finished is not None and state.is_first and (is_finished or has_marks is not False):
        return is_finished
    after = state.opened + len(state.opening)
    return (
        not state.is_first
        or _NAMED.match(text, after) is not None
        or any(found[0] != state.opening for found in _OPEN.finditer(text, after))
    )


def _after_slip(state: _State, text: str, at: int) -> _State:
    """Close the reasoning at the mark that seemed to be in a fence, and go on after it."""
    found = _CLOSE.match(text, at)
    assert found is not None
    again = _State("start", has_reasoned=True, names=state.names, known=state.known)
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


def _lines(state: _State, text: str, start: int, *, is_final: bool) -> int:
    """Take whole lines, as far as no mark in them waits for what follows; return where they end."""
    while (end := text.find("\n", start) + 1) > 0:
        if not is_final and _BLANK_REST.match(text, end) and _ANY.search(text, start, end):
            probe = state.copy()
            _line(probe, text, start, len(text), is_open=True)
            if probe.parts[-1].kind == "held":
                break
        _line(state, text, start, end, is_open=False)
        start = end
    return start


def _line(state: _State, text: str, start: int, end: int, *, is_open: bool) -> None:
    """Take one line, or what there is of the last one (`is_open`: it may go on)."""
    at = start
    while at < end:
        if both := _end_of_fence_and_reasoning(state, text, at, end):
            _plain(state, text, at, both.start())
            state.fence = ""
            _mark(state, both)
            at = both.end()
            continue
        if _is_fence_line(state, text, at, end):
            stop = _held_from(text, at, end) if is_open and state.mode == "reasoning" else end
            _plain(state, text, at, stop)
            state.add("held", stop, end)
            return
        found, verdict = _next_mark(state, text, start, at, end, is_open=is_open)
        if found is None or verdict == "undecided":
            stop = _held_from(text, at, end) if is_open else end
            stop = min(stop, found.start()) if found else stop
            _plain(state, text, at, stop)
            state.add("held", stop, end)
            return
        _plain(state, text, at, found.start())
        _mark(state, found)
        at = found.end()


def _plain(state: _State, text: str, start: int, end: int) -> None:
    state.add("reasoning" if state.mode == "reasoning" else "answer", start, end)
    if state.mode == "start" and text[start:end].strip():
        state.mode = "answer"


def _end_of_fence_and_reasoning(
    state: _State, text: str, at: int, end: int
) -> re.Match[str] | None:
    """Return the closing mark right after the end of a fence, as in "```</think>"."""
    found = _FENCE.match(text, at, end)
    if not (found and state.closing and state.mode == "reasoning"):
        return None
    before, closing, _ = found[2].partition(state.closing)
    if not closing or "`" in before or not found[1].startswith(state.fence):
        return None
    return _CLOSE.match(text, found.start(2) + len(before), end)


def _is_fence_line(state: _State, text: str, at: int, end: int) -> bool:
    """Return whether the line from here on opens, closes or is within a code fence; notes which."""
    item = None if state.fence else _ITEM.match(text, at, end)
    found = _FENCE.match(text, item.end() if item else at, end)
    if state.fence:
        if found and found[1].startswith(state.fence) and not found[2].strip():
            if state.first_slip < 0 and _may_be_slip(state, text):
                state.first_slip = state.slip
            state.fence, state.slip = "", -1
        elif state.mode == "reasoning" and state.slip < 0:
            state.slip = text.find(state.closing, at, end) if state.closing else -1
        return True
    if found and not ("`" in found[1] and "`" in found[2]):
        state.fence, state.fence_start = found[1], at
        return True
    return False


def _may_be_slip(state: _State, text: str) -> bool:
    """Return whether a closing mark in a fence stands as one that ends a reasoning would."""
    at = state.slip
    if at < 0 or _OPEN.search(text, state.fence_start, at):
        return False
    line = text.rfind("\n", 0, at) + 1
    rest = _alone_to_the_end_of_line(text, at + len(state.closing), is_open=False)
    return rest == "mark" and not text[line:at].strip()


def _next_mark(
    state: _State, text: str, line: int, at: int, end: int, *, is_open: bool
) -> tuple[re.Match[str] | None, _Verdict]:
    """Return the next mark that counts, or may count once more text is known."""
    is_code = state.mode == "answer" and _INDENTED.match(text, line) is not None
    for found in _ANY.finditer(text, at, end):
        mark = found[0]
        if is_code or (found.start() and text[found.start() - 1] == "`"):
            continue
        is_first = state.mode == "start" and not text[at : found.start()].strip()
        if mark in PAIRS:
            verdict = _of_opening(state, text, line, found, is_first=is_first, is_open=is_open)
            if verdict == "text" and state.mode != "reasoning" and not is_open:
                state.has_named = True
        elif _CLOSE.fullmatch(mark):
            verdict = _of_closing(state, text, line, found, is_open=is_open)
        elif _FRAME.fullmatch(mark):
            verdict = _of_frame(state, text, line, found, is_first=is_first, is_open=is_open)
        else:
            begins = is_first and mark.startswith(("<|start|>", "<|channel|>"))
            verdict = "mark" if begins or state.has_channels else "text"
        if verdict != "text":
            return found, verdict
    return None, "text"


def _of_opening(
    state: _State, text: str, line: int, found: re.Match[str], *, is_first: bool, is_open: bool
) -> _Verdict:
    if state.mode == "reasoning" or found.start() >= state.names.get(found[0], len(text)):
        return "text"
    if is_first:
        return "mark"
    if text[line : found.start()].strip() or state.known.has_marks is False:
        return "text"
    return _alone_to_the_end_of_line(text, found.end(), is_open=is_open)


def _alone_to_the_end_of_line(text: str, at: int, *, is_open: bool) -> _Verdict:
    line_end = text.find("\n", at)
    if text[at : line_end if line_end >= 0 else len(text)].strip():
        return "text"
    return "undecided" if is_open and line_end < 0 else "mark"


def _of_closing(
    state: _State, text: str, line: int, found: re.Match[str], *, is_open: bool
) -> _Verdict:
    if state.mode == "reasoning":
        return "mark" if found[0] == state.closing else "text"
    if state.has_reasoned or state.has_named or _OPEN.search(text, line, found.start()):
        return "text"
    if state.known.has_marks is False:
        return "text"
    if state.known.is_finished and _BLANK_REST.match(text, found.end()):
        return "undecided" if is_open else "text"  # no answer follows, so this is the answer
    if state.known.has_marks:
        return "mark"
    start, after = found.start(), text[found.end() : found.end() + 1]
    rest = _BLANKS.match(text, found.end())
    following = text[rest.end() : rest.end() + 1] if rest else ""
    is_sentence = (last := _sign_before(text, start)).isalnum()
    is_glued = start > line and not text[start - 1].isspace()
    stands_apart = is_glued or not (is_sentence and text[line:start].strip())
    if (
        not stands_apart
        or last in _ANNOUNCING
        or after in _GOING_ON
        or _LIST_MARK.fullmatch(text, line, start)
    ):
        return "text"
    if not following:
        return "undecided" if is_open else "text"
    goes_on = is_sentence and following.islower() and not (is_glued and after == following)
    return "text" if goes_on else "mark"


def _sign_before(text: str, at: int) -> str:
    """Return the last non-blank character before a position, or empty if there is none."""
    while at and text[at - 1].isspace():
        at -= 1
    return text[at - 1 : at]


def _of_frame(
    state: _State, text: str, line: int, found: re.Match[str], *, is_first: bool, is_open: bool
) -> _Verdict:
    mark = found[0]
    if mark in FRAMES:
        return "mark" if is_first and state.has_reasoned else "text"
    if mark in ANSWER_BEGINS:
        return "mark" if is_first else "text"
    if mark == state.frame and state.mode != "reasoning":
        return _alone_to_the_end_of_line(text, found.end(), is_open=is_open)
    is_apart = state.has_reasoned or not text[line : found.start()].strip()
    is_last = mark in ANSWER_ENDS or (mark in LAST_WORDS and is_apart)
    if not is_last or state.mode == "reasoning":
        return "text"
    rest = _LAST_MARKS.sub("", text[found.end() :])
    may_be_one = is_open and any(end.startswith(rest) for end in ANSWER_ENDS)
    if rest.strip() and not may_be_one:
        return "text"
    return "undecided" if is_open else "mark"


def _mark(state: _State, found: re.Match[str]) -> None:
    mark, start, end = found[0], found.start(), found.end()
    if mark in PAIRS:
        state.is_first = state.mode == "start"
        state.opening, state.opened = mark, start
        state.mode, state.closing, state.has_reasoned = "reasoning", PAIRS[mark], True
    elif channel := CHANNEL.fullmatch(mark):
        is_analysis = channel[1].strip().startswith(ANALYSIS)
        state.mode = "reasoning" if is_analysis else "start"
        state.opening = state.closing = ""
        state.has_reasoned = state.has_channels = True
    else:
        if _CLOSE.fullmatch(mark) and not state.has_reasoned:
            # What has opened the reasoning is not in the text: all that came so far belongs to it.
            state.parts = [ReplySection("reasoning", 0, start)] if start else []
            state.has_reasoned = True
        state.frame = FRAMES.get(mark, "")
        state.mode = "start"
    state.slip = state.first_slip = -1
    state.add("mark", start, end)


def _held_from(text: str, at: int, end: int) -> int:
    """Return the place from which on the end of a growing line may be the beginning of a mark."""
    channel = max(text.rfind(m, at, end) for m in ("<|start|>", "<|channel|>"))
    is_near = channel >= 0 and end - channel < _MAX_CHANNEL_CHARS
    if is_near and "\n" not in text[channel:end] and not CHANNEL.match(text, channel):
        earlier = text.rfind("<|start|>", at, channel)
        is_header = earlier >= 0 and _HEADER.fullmatch(text, earlier, channel) is not None
        return earlier if is_header else channel
    tail = text[max(at, end - _MAX_MARK_CHARS) : end]
    for length in range(len(tail), 0, -1):
        if any(mark.startswith(tail[-length:]) for mark in _BY_FIRST.get(tail[-length], ())):
            return end - length
    return end
