"""Parsing of calls of tools in the growing text of a reply.

The result does not depend on how the text is split into pieces. Arguments are emitted as they come,
as soon as their meaning is certain. A text that only looks like a call, for example without a
tool's name, is part of the answer.
"""

from __future__ import annotations

import functools
import re
import secrets
import string
from collections.abc import Callable, Generator, Sequence

from paceline.content import Tool
from paceline.engine.calls.form import (
    CallForm,
    Element,
    Hole,
    OneText,
    Perhaps,
    PythonArguments,
    TaggedArguments,
)
from paceline.engine.calls.mark_finder import MarkFinder
from paceline.engine.calls.pieces import (
    Answer,
    CallArguments,
    CallBegan,
    CallEnded,
    CallPiece,
)
from paceline.engine.calls.tool_schemas import Kind, ToolSchema, type_of
from paceline.engine.calls.values import (
    NoValueError,
    ValueEnd,
    as_json,
    inside_quotes,
    is_object,
    value_of,
)

_Reading = Generator[None, None, bool]
"""A parser that waits at each `yield` for more text, and returns whether the text matched."""
_LETTERS = string.ascii_letters + string.digits
_ID = re.compile(r"[\w.-]{0,64}", re.ASCII)
_BLANKS = re.compile(r"\s*")
_WORDS = re.compile(r"\s+|\S+")
_NAME_CHAR = re.compile(r"[\w-]")
_QUOTED = re.compile(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')
_ESCAPE = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)
_SAME_ESCAPES = '"\\/bfnrtu'
_PYTHON_NAME = re.compile(r"[^\s=(),]*")  # names of arguments need not be Python identifiers


def new_id() -> str:
    """Return an id for a call that the strictest templates accept: nine letters and digits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(9))


class CallReader:
    """Parses an answer with its calls, and whatever follows them.

    Args:
        form: Form in which the model writes calls.
        tools: Tools that it can call.
        make_id: Makes an id for a call without one.

    Attributes:
        has_mark: Whether a mark has come with which a call begins, or seems to.
    """

    def __init__(
        self, form: CallForm, tools: Sequence[Tool], make_id: Callable[[], str] = new_id
    ) -> None:
        self._form = form
        self._schemas = {tool.name: ToolSchema(tool) for tool in tools}
        self._make_id = make_id
        self._marks = MarkFinder(form)
        self._text = ""
        self._at = 0
        self._is_last = False  # whether nothing follows
        self._is_cut = False
        self._ran_out = False  # whether the text ended where more was expected
        self._is_after_calls = False
        self._index = -1
        self._is_open = False
        self._name = self._id = ""
        self._arguments: list[str] = []
        self._out: list[CallPiece] = []
        self._reading = self._read()
        self.has_mark = False

    def add(self, text: str) -> tuple[CallPiece, ...]:
        """Add text, and return the pieces that became certain."""
        self._text += text
        return self._go_on()

    def finish(self, *, is_cut: bool) -> tuple[CallPiece, ...]:
        """Return the remaining pieces, since nothing follows.

        Args:
            is_cut: Whether the model did not end the reply: then a call that has begun is not text.
        """
        self._is_last, self._is_cut = True, is_cut
        return self._go_on()

    def _go_on(self) -> tuple[CallPiece, ...]:
        next(self._reading, None)
        out, self._out = self._out, []
        return tuple(merged(out))

    # ------------------------------------------------------------------------------- the whole

    def _read(self) -> Generator[None, None, None]:
        while True:
            while (found := self._marks.find(self._text)) is None:
                if self._is_last:
                    self._answer(len(self._text))
                    return
                self._answer(self._marks.read)
                yield
            begin, mark = found
            self.has_mark = True
            self._answer(begin, is_before_mark=True)
            answered = self._at
            self._at = after_mark = begin + len(mark)
            if not (yield from self._calls()):
                self._at = answered
                self._marks.go_past(after_mark)
            else:
                self._marks.go_past(self._at)

    def _answer(self, end: int, *, is_before_mark: bool = False) -> None:
        """Emit the answer up to here; blanks at its end wait, since a call may follow."""
        text = self._text[self._at : end]
        if self._is_after_calls:
            text = text.lstrip()
        waits = is_before_mark or not self._is_last or self._is_after_calls
        told = text.rstrip() if waits else text
        self._at = max(self._at, end - len(text) + len(told))
        if told:
            self._is_after_calls = False
            self._out.append(Answer(told))

    def _calls(self) -> _Reading:
        """Parse calls after a mark; return False if it was none, and is part of the answer."""
        form = self._form
        is_call = yield from self._begun()
        after = -1
        while is_call and (yield from self._call()):
            self._is_after_calls, after = True, self._at
            is_call = bool(form.between) and (yield from self._fixed(form.between))
            if not is_call:
                yield from self._fixed(form.end)
                is_cut_end = self._ran_out
                self._at = len(self._text) if is_cut_end else self._at
                return True
        if self._is_open:
            self._end(is_whole=False)
            self._at = len(self._text) if self._ran_out else self._at
        elif self._ran_out and self._is_cut:
            self._at = len(self._text)
        elif after >= 0:
            self._at = after
        else:
            return False
        return True

    def _begun(self) -> _Reading:
        if not self._form.begin:
            return True
        yield from self._matching(_BLANKS)
        return (yield from self._fixed(self._form.begin.lstrip()))

    # -------------------------------------------------------------------------------- one call

    def _call(self) -> _Reading:
        self._name = self._id = ""
        self._arguments = []
        for element in self._form.call:
            if not (yield from self._element(element)):
                return False
        self._end(is_whole=is_object("".join(self._arguments)))
        return True

    def _element(self, element: Element) -> _Reading:
        match element:
            case Hole.NAME:
                reading = self._tool()
            case Hole.ID:
                reading = self._call_id()
            case Perhaps(parts):
                reading = self._perhaps(parts)
            case TaggedArguments():
                reading = self._tagged(element)
            case PythonArguments():
                reading = self._python()
            case Hole.ARGUMENTS:
                reading = self._json()
            case _:
                reading = self._fixed(element)
        return (yield from reading)

    def _begin(self) -> None:
        self._index += 1
        self._is_open = True
        named = self._id and self._form.id_of.format(name=self._name, id=self._id)
        self._out.append(CallBegan(self._index, self._name, named or self._make_id()))

    def _end(self, *, is_whole: bool) -> None:
        self._is_open = False
        self._out.append(CallEnded(self._index, is_whole))

    def _emit(self, text: str) -> None:
        if text:
            self._arguments.append(text)
            self._out.append(CallArguments(self._index, text))

    def _tool(self) -> _Reading:
        while True:
            rest = self._text[self._at :]
            if not any(name.startswith(rest) for name in self._schemas):
                break
            if not (yield from self._more()):
                break
        self._name = max(filter(rest.startswith, self._schemas), key=len, default="")
        self._at += len(self._name)
        return bool(self._name) and not _NAME_CHAR.match(self._text, self._at)

    def _call_id(self) -> _Reading:
        self._id = yield from self._matching(_ID)
        return bool(self._id)

    def _perhaps(self, parts: Sequence[str | Hole]) -> _Reading:
        before = self._at
        for part in parts:
            if not (yield from self._element(part)):
                self._at = before
                break
        return True

    # ------------------------------------------------------------------------------- arguments

    def _json(self) -> _Reading:
        """Emit an object as it comes."""
        yield from self._matching(_BLANKS)
        if self._text[self._at : self._at + 1] != "{":
            return False
        self._begin()
        value = ValueEnd()
        while True:
            end = value.find(self._text, self._at)
            stop = end if end >= 0 else len(self._text)
            self._emit(self._text[self._at : stop])
            self._at = stop
            if end >= 0:
                return True
            if not (yield from self._more()):
                return False

    def _tagged(self, tags: TaggedArguments) -> _Reading:
        self._begin()
        schema = self._schemas[self._name]
        opening = "{"
        endings = [tags.after_name.rstrip("\n"), *filter(None, [tags.after_json_name])]
        while (yield from self._fixed(tags.before)):
            found = yield from self._up_to(endings)
            if found is None:
                return False
            name, ending = found
            kind = schema.kind(name)
            if tags.after_json_name:
                kind = "json" if ending else "text"
            if tags.after_name.endswith("\n"):
                yield from self._line_break()
            self._emit(f"{opening}{as_json(name)}: ")
            opening = ", "
            if kind == "text":
                is_right = yield from self._string(tags.after_value)
            else:
                is_right = yield from self._value(tags.after_value, schema, name, kind)
            if not is_right:
                return False
            yield from self._matching(_BLANKS)
        self._emit("{}" if opening == "{" else "}")
        return True

    def _string(self, after: str) -> _Reading:
        """Emit a string as it comes."""
        end = after.strip()
        line_break = "\n" if after.startswith("\n") else ""
        self._emit('"')
        while True:
            at = self._text.find(end, self._at)
            if at < 0:
                stop = _certain(self._text, self._at, line_break + end, end)
            elif line_break and self._text.endswith(line_break, self._at, at):
                stop = at - 1
            else:
                stop = at
            self._emit(inside_quotes(self._text[self._at : stop]))
            self._at = stop
            if at >= 0:
                self._emit('"')
                self._at = at + len(end)
                return True
            if not (yield from self._more()):
                return False

    def _value(self, after: str, schema: ToolSchema, name: str, kind: Kind) -> _Reading:
        """Emit a value that is not only text, once it is complete."""
        found = yield from self._up_to([after.strip()])
        if found is None:
            return False
        text = found[0].removesuffix("\n") if after.startswith("\n") else found[0]
        try:
            value = value_of(text)
        except NoValueError:
            value = text
        if kind == "either" and (isinstance(value, str) or not schema.takes(name, type_of(value))):
            value = text
        self._emit(as_json(value))
        return True

    def _python(self) -> _Reading:
        self._begin()
        opening = "{"
        while True:
            yield from self._matching(_BLANKS)
            if self._text.startswith(")", self._at):
                self._emit("{}" if opening == "{" else "}")
                return True
            if opening != "{" and not (yield from self._fixed(", ")):
                return False
            name = yield from self._matching(_PYTHON_NAME)
            if not (name and (yield from self._fixed("="))):
                return False
            self._emit(f"{opening}{as_json(name)}: ")
            opening = ", "
            is_quoted = yield from self._fixed('"')
            if not (yield from self._quoted() if is_quoted else self._literal()):
                return False

    def _quoted(self) -> _Reading:
        """Emit a quoted string as it comes."""
        self._emit('"')
        while True:
            found = _QUOTED.match(self._text, self._at)
            assert found is not None
            self._emit(_ESCAPE.sub(_json_escape, found[0]))
            self._at = found.end()
            if self._text.startswith('"', self._at):
                self._emit('"')
                self._at += 1
                return True
            if not (yield from self._more()):
                return False

    def _literal(self) -> _Reading:
        """Emit another value, once it is complete."""
        start, value = self._at, ValueEnd(",)")
        while (end := value.find(self._text, self._at)) < 0:
            self._at = len(self._text)
            if not (yield from self._more()):
                return False
        self._at = end
        try:
            self._emit(as_json(value_of(self._text[start:end])))
        except NoValueError:
            return False
        return True

    # ----------------------------------------------------------------------------------- texts

    def _more(self) -> _Reading:
        """Wait for more text; return False if there is none."""
        if self._is_last:
            self._ran_out = True
            return False
        yield
        return True

    def _fixed(self, expected: str | OneText) -> _Reading:
        """Skip an expected text; return False, without skipping, if it does not match."""
        texts = expected.texts if isinstance(expected, OneText) else (expected,)
        while True:
            ends = [_end_of(each, self._text, self._at) for each in texts]
            if any(is_open for _, is_open in ends) and (yield from self._more()):
                continue
            end = max(end for end, _ in ends)
            if end < 0:
                return False
            self._at = end
            return True

    def _line_break(self) -> Generator[None, None, None]:
        if self._at < len(self._text) or (yield from self._more()):
            self._at += self._text.startswith("\n", self._at)

    def _matching(self, pattern: re.Pattern[str]) -> Generator[None, None, str]:
        """Skip the characters that match a pattern, and return them."""
        while True:
            found = pattern.match(self._text, self._at)
            assert found is not None
            if found.end() < len(self._text) or not (yield from self._more()):
                self._at = found.end()
                return found[0]

    def _up_to(self, ends: Sequence[str]) -> Generator[None, None, tuple[str, int] | None]:
        """Skip one of these texts; return the text before it and its index, or None without one."""
        start = self._at
        while True:
            found = [
                (match.start(), i, match.end())
                for i, end in enumerate(ends)
                if (match := _pattern_of(end).search(self._text, start))
            ]
            if found:
                at, i, self._at = min(found)
                return self._text[start:at], i
            if not (yield from self._more()):
                return None


@functools.lru_cache(256)
def _pattern_of(text: str) -> re.Pattern[str]:
    """Return a pattern for a text that allows any blanks where the text has some."""
    return re.compile(r"\s*".join(map(re.escape, text.split())))


def _end_of(expected: str, text: str, at: int) -> tuple[int, bool]:
    """Return the end index of an expected text, and whether more text may change that.

    Where the text has blanks, any are allowed. The index is -1 if it does not match.
    """
    for word in _WORDS.findall(expected):
        if word.isspace():
            found = _BLANKS.match(text, at)
            assert found is not None
            at = found.end()
        elif text.startswith(word, at):
            at += len(word)
        else:
            return -1, word.startswith(text[at:])
    return at, expected[-1:].isspace() and at == len(text)


def _json_escape(found: re.Match[str]) -> str:
    """Return a character of a Python string in JSON's notation."""
    written = found[0]
    if len(written) == 1:
        return inside_quotes(written)
    if written[1] in _SAME_ESCAPES:
        return written
    return "'" if written[1] == "'" else f"\\{written}"


def _certain(text: str, start: int, *ends: str) -> int:
    """Return the index up to which none of these may have begun at the text's end."""
    for at in range(max(start, len(text) - max(map(len, ends))), len(text)):
        if any(end.startswith(text[at:]) for end in ends):
            return at
    return len(text)


def merged(pieces: Sequence[CallPiece]) -> list[CallPiece]:
    """Return the pieces with adjacent ones of the same kind merged."""
    found: list[CallPiece] = []
    for piece in pieces:
        last = found[-1] if found else None
        match last, piece:
            case Answer(before), Answer(text):
                found[-1] = Answer(before + text)
            case CallArguments(index, before), CallArguments(_, text):
                found[-1] = CallArguments(index, before + text)
            case _:
                found.append(piece)
    return found
