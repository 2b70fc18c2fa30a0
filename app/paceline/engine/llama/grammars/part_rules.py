"""Translation of a grammar's parts to rules in llguidance's notation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paceline.engine.model.grammar_parts import (
    AnyOf,
    FixedText,
    GrammarPart,
    InOrder,
    JsonText,
    Repeated,
    TextPattern,
    TextUntil,
)

Codes = Sequence[str | int]
"""A text with control tokens: its texts, and ids of the tokens, in order."""


def code_of(text: str) -> str:
    """Return a text as a regular expression, without the slashes around it."""
    return "".join(rf"\x{{{ord(char):x}}}" for char in text)


def codes_of(mark: Codes) -> list[str]:
    """Return a mark in the library's notation, with adjacent texts merged."""
    codes: list[str] = []
    for part in mark:
        if isinstance(part, int):
            codes.append(f"<[{part}]>")
        elif codes and codes[-1][0] == "/":
            codes[-1] = f"{codes[-1][:-1]}{code_of(part)}/"
        else:
            codes.append(f"/{code_of(part)}/")
    return codes


def until(closing: Codes, name: str, before: str = "(?s:.*)") -> tuple[str, str]:
    """Return the rule of this name for text up to a mark, and the rest of the mark after it.

    Args:
        closing: The mark; not empty.
        name: Name of the rule.
        before: Regular expression for the text before the mark.
    """
    first, *more = codes_of(closing)
    # A text ends at the first mark; a control token is not among its characters.
    if first[0] == "/":
        return f"{name}[lazy]: /{before}{first[1:]}", " ".join(more)
    return f"{name}: /{before}/", " ".join([first, *more])


class PartRules:
    """The rules of several parts, each part once.

    Args:
        codes: Splits a text into texts and control tokens.
        json_form: Returns the library's form of a JSON schema.

    Attributes:
        lines: The rules.
    """

    def __init__(
        self,
        codes: Callable[[str], Codes],
        json_form: Callable[[JsonText], str],
    ) -> None:
        self._codes = codes
        self._json_form = json_form
        self._names: dict[int, str] = {}
        self._fixed: dict[tuple[str, bool], str] = {}
        self.lines: list[str] = []

    def name(self, part: GrammarPart) -> str:
        """Return the name of a part's rule; empty if the part is an empty text.

        Raises:
            SchemaError: A JSON schema in it cannot be used.
        """
        found = self._names.get(id(part))
        if found is None:
            found = self._names[id(part)] = self._written(part)
        return found

    def _written(self, part: GrammarPart) -> str:
        match part:
            case FixedText(text, is_plain):
                key = text, is_plain
                if key not in self._fixed:
                    codes = [*filter(None, [text])] if is_plain else self._codes(text)
                    self._fixed[key] = self._add(" ".join(codes_of(codes)))
                return self._fixed[key]
            case TextPattern(pattern):
                return self._add(f"/{pattern}/")
            case JsonText():
                return self._add(f"%json {self._json_form(part)}")
            case TextUntil(end, least, most):
                return self._until(end, least, most)
            case InOrder(parts):
                return self._add(" ".join(filter(None, map(self.name, parts))))
            case AnyOf(options):
                return self._add(" | ".join(self.name(option) or '""' for option in options))
            case Repeated(repeated, is_once):
                name = self.name(repeated)
                return self._add(name and f"{name}{'?' if is_once else '*'}")

    def _until(self, end: str, least: int, most: int | None) -> str:
        rest = "" if most is None else str(max(most - least, 0))
        before = f"(?s:.{{0,{rest}}})"
        if least:  # none of these characters begins the end, which would then come first
            before = f"[^\\n{code_of(end.strip()[0])}]{{{least}}}{before}"
        name = f"u{len(self.lines)}"
        rule, after = until(self._codes(end), name, before)
        self.lines.append(rule)
        return self._add(f"{name} {after}")

    def _add(self, body: str) -> str:
        if not body.strip():
            return ""
        name = f"p{len(self.lines)}"
        self.lines.append(f"{name}: {body}")
        return name
