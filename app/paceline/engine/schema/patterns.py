r"""Translation of the regular expressions of JSON schemas for the grammar library.

JSON Schema means ECMA-262's expressions, `jsonschema` uses Python's, and the library Rust's. Where
these differ, the translation matches only texts that match in all of them: `$` is the end of the
text and nothing before it, `\d` and `\w` are ASCII, `\D` and `\W` exclude the digits and letters of
other scripts, a dot does not match an end of a line. Syntax of only one of them is refused.

The expression is parsed by Python's own parser, which has no public name; its tree has been the
same for decades and is checked by a test.
"""

from __future__ import annotations

import re
import re._constants as ops  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from typing import Any, NamedTuple

from paceline.errors import ReasonError

_MAX_FORMS = 64
_DIFFERENT = re.compile(r"(?<!\\)(?:\\\\)*(\{,\d*\}|\\[ZANUa])")
"""Syntax with another meaning in Python than in ECMA-262, or only one in Python."""
_CLASS = re.compile(r"\\.|\[(\^?\])?(?:\\.|[^\]\\])*", re.DOTALL)
"""An escape, or a character class up to its end; with a group if it seems to be empty."""
_WRITABLE = frozenset("\b\t\n\f\r")
"""Control characters for which JSON has short escapes."""

_NO_NUL = r"[\x{1}-\x{10ffff}&&"
"""Prefix that excludes NUL: the library treats backslashes and quotes as members of every class
with NUL."""
_SPACES = r" \t\n\r\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_IN_ALL_DIALECTS = {
    ops.CATEGORY_DIGIT: "0-9",
    ops.CATEGORY_WORD: "0-9A-Za-z_",
    ops.CATEGORY_SPACE: _SPACES,
    ops.CATEGORY_NOT_DIGIT: r"[^\p{Nd}]",
    ops.CATEGORY_NOT_WORD: r"[^\p{L}\p{N}_]",
    ops.CATEGORY_NOT_SPACE: rf"[^{_SPACES}\x{{b}}\x{{c}}\x{{1c}}-\x{{1f}}\x{{85}}\x{{feff}}]",
}
"""Members of a class in all three dialects."""
_IN_ANY_DIALECT = {
    ops.CATEGORY_DIGIT: r"\p{Nd}",
    ops.CATEGORY_WORD: r"\p{L}\p{N}_",
    ops.CATEGORY_SPACE: rf"{_SPACES}\x{{b}}\x{{c}}\x{{1c}}-\x{{1f}}\x{{85}}\x{{feff}}",
    ops.CATEGORY_NOT_DIGIT: "[^0-9]",
    ops.CATEGORY_NOT_WORD: "[^0-9A-Za-z_]",
    ops.CATEGORY_NOT_SPACE: f"[^{_SPACES}]",
}
"""Members of a class in any of the three dialects."""


class PatternError(ReasonError):
    """The reason why an expression cannot be used."""


class _Form(NamedTuple):
    """One way in which a part can match, and whether it is anchored to the ends of the text."""

    text: str
    from_start: bool = False
    to_end: bool = False


def translate(pattern: str) -> str:
    """Return an expression for the whole text that matches the same texts.

    Raises:
        PatternError: It is not a regular expression, or has parts that cannot be translated.
    """
    return _Writer(is_ascii=False).whole(pattern)


def translate_for_names(patterns: list[str]) -> tuple[list[str], bool]:
    """Return expressions for names of properties, and whether they hold only for printable ASCII.

    For names it must also be certain when they do not match.

    Raises:
        PatternError: As in `translate`.
    """
    writer = _Writer(is_ascii=False)
    texts = [writer.whole(pattern) for pattern in patterns]
    if writer.is_exact:
        return texts, False
    return [_Writer(is_ascii=True).whole(pattern) for pattern in patterns], True


def none_of(texts: list[str]) -> str:
    """Return an expression for all texts except these."""
    forms: list[str] = []
    tree: dict[str, Any] = {}
    for text in texts:
        node = tree
        for char in text:
            node = node.setdefault(char, {})
        node[""] = {}
    todo = [("", tree)]
    while todo:
        before, node = todo.pop()
        following = sorted(char for char in node if char)
        others = f"{_NO_NUL}[^{''.join(map(_escaped, following))}]]" if following else "(?s:.)"
        forms.append(f"{before}{others}(?s:.*)")
        if "" not in node:
            forms.append(before)
        todo.extend((before + _escaped(char), node[char]) for char in following)
    return "|".join(f"(?:{form})" for form in forms)


class _Writer:
    """Translates one expression.

    Attributes:
        is_exact: Whether the translation matches all texts that match in any of the three dialects.
    """

    def __init__(self, *, is_ascii: bool) -> None:
        self._is_ascii = is_ascii
        self.is_exact = True

    def whole(self, pattern: str) -> str:
        """Return the result of `translate`."""
        if found := _DIFFERENT.search(pattern):
            raise PatternError("“{part}” is read in different ways", part=found[1])
        if any(found[1] for found in _CLASS.finditer(pattern)):
            raise PatternError("“]” first in a class is read in different ways")
        try:
            tree = parser.parse(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise PatternError("it is no regular expression ({error})", error=error) from None
        if tree.state.flags & ~re.UNICODE:
            raise PatternError("“(?…)” with letters is not known to JSON schemas")
        try:
            forms = self._sequence(tree, first=True, last=True)
        except RecursionError:
            raise PatternError("it is nested too deep") from None
        around = "[ -~]*" if self._is_ascii else "(?s:.*)"
        texts = [
            f"{'' if form.from_start else around}(?:{form.text}){'' if form.to_end else around}"
            for form in forms
        ]
        return "|".join(texts)

    def _sequence(self, items: Any, *, first: bool, last: bool) -> list[_Form]:
        forms = [_Form("")]
        items = list(items)
        n_starts = next((i for i, (op, _) in enumerate(items) if op is not ops.AT), len(items))
        n_ends = next(
            (i for i, (op, _) in enumerate(reversed(items)) if op is not ops.AT), len(items)
        )
        for i, (op, value) in enumerate(items):
            is_first = first and i <= n_starts
            is_last = last and i >= len(items) - 1 - n_ends
            if op is ops.AT:
                forms = [
                    self._anchored(form, value, first=is_first, last=is_last) for form in forms
                ]
                continue
            parts = self._part(op, value, first=is_first, last=is_last)
            forms = [
                _Form(
                    form.text + part.text,
                    form.from_start or part.from_start,
                    form.to_end or part.to_end,
                )
                for form in forms
                for part in parts
            ]
            if len(forms) > _MAX_FORMS:
                raise PatternError("it has too many ways to begin and to end")
        return forms

    def _anchored(self, form: _Form, kind: object, *, first: bool, last: bool) -> _Form:
        if kind is ops.AT_BEGINNING and first and not form.text:
            return form._replace(from_start=True)
        if kind is ops.AT_END and last:
            self.is_exact = False
            return form._replace(to_end=True)
        if kind in (ops.AT_BEGINNING, ops.AT_END):
            raise PatternError("“^” or “$” stands in the middle")
        raise PatternError("“\\b” and “\\B” cannot be carried out")

    def _part(self, op: object, value: Any, *, first: bool, last: bool) -> list[_Form]:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            return [_Form(self._character(op, value))]
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            least, most, items = value
            inner = self._alternatives(self._sequence(items, first=False, last=False))
            end = "" if most is ops.MAXREPEAT else str(int(most))
            return [_Form(f"{inner[0].text}{{{int(least)},{end}}}")]
        if op is ops.SUBPATTERN:
            _, added, removed, items = value
            if added or removed:
                raise PatternError("“(?…)” with letters is not known to JSON schemas")
            return self._alternatives(self._sequence(items, first=first, last=last))
        if op is ops.BRANCH:
            found = [f for items in value[1] for f in self._sequence(items, first=first, last=last)]
            return self._alternatives(found)
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            raise PatternError("looking ahead or behind, as “(?=…)”, cannot be carried out")
        if op in (ops.GROUPREF, ops.GROUPREF_EXISTS):
            raise PatternError("references back, as “\\1”, cannot be carried out")
        raise PatternError("possessive parts, as “a++”, are not known to JSON schemas")

    @staticmethod
    def _alternatives(forms: list[_Form]) -> list[_Form]:
        """Merge forms that are anchored to the same ends."""
        texts: dict[tuple[bool, bool], list[str]] = {}
        for form in forms:
            texts.setdefault((form.from_start, form.to_end), []).append(form.text)
        return [
            _Form(f"(?:{'|'.join(dict.fromkeys(found))})", *ends) for ends, found in texts.items()
        ]

    def _character(self, op: object, value: Any) -> str:
        if op is ops.LITERAL:
            return _literal(value)
        if op is ops.ANY:
            self.is_exact = False
            return self._class(r"[^\n\r\x{2028}\x{2029}]")
        if op is ops.NOT_LITERAL:
            return self._class(f"[^{_literal(value)}]")
        is_negated = value[0][0] is ops.NEGATE
        if any(kind is ops.CATEGORY for kind, _ in value):
            self.is_exact = False
        categories = _IN_ANY_DIALECT if is_negated else _IN_ALL_DIALECTS
        text = "".join(_member(kind, member, categories) for kind, member in value[is_negated:])
        return self._class(f"[{'^' if is_negated else ''}{text}]")

    def _class(self, text: str) -> str:
        return f"[ -~&&{text}]" if self._is_ascii else f"{_NO_NUL}{text}]"


def _member(kind: object, value: Any, categories: dict[object, str]) -> str:
    if kind is ops.CATEGORY:
        return categories[value]
    low, high = value if kind is ops.RANGE else (value, value)
    if low >= 0xD800 and high <= 0xDFFF:
        raise PatternError("half of a surrogate pair is no character")
    return _escaped(chr(low)) if low == high else f"{_code(low)}-{_code(high)}"


def _literal(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:
        raise PatternError("half of a surrogate pair is no character")
    char = chr(code)
    if code == 0x7F or (code < 0x20 and char not in _WRITABLE):
        raise PatternError("the control character {code:#04x} cannot be written", code=code)
    return _escaped(char)


def _escaped(char: str) -> str:
    return char if char.isascii() and char.isalnum() else _code(ord(char))


def _code(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:  # an end of a range that extends beyond them
        code = 0xE000 if code < 0xDC00 else 0xD7FF
    return rf"\x{{{code:x}}}"
