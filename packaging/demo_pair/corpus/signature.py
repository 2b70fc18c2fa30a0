"""The parameters that a signature names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        name: With its stars, e.g. ``**kwargs``.
        default: As written; empty: there is none.
        note: What is special: ``optional``, ``by position only``, ``by keyword only`` or nothing.
    """

    name: str
    default: str = ""
    note: str = ""

    @property
    def bare(self) -> str:
        """The name without stars."""
        return self.name.lstrip("*")


def parameters_of(signature: str) -> list[Parameter] | None:
    """Return a signature's parameters; None: it has no parentheses or is not understood.

    Brackets around optional parameters, as in ``range(start, stop[, step])``, are understood.
    """
    start, end = signature.find("("), signature.rfind(")")
    if start < 0 or end < start or signature.count("(") != signature.count(")"):
        return None
    inner = signature[start + 1 : end]
    optional_from = len(inner)
    if bracket := re.search(r"\[\s*,|^\s*\[|,\s*\[|\w\[", inner):
        optional_from = bracket.start()
        inner = re.sub(r"\[(?=\s*,)|\](?=\]*\s*$)|\](?=\s*\[)|(?<=,)\s*\[|^\s*\[", " ", inner)
    found: list[Parameter] = []
    note = ""
    for at, part in _parts(inner):
        text = part.strip()
        if text == "/":
            found = [Parameter(p.name, p.default, "by position only") for p in found]
        elif text == "*":
            note = "by keyword only"
        elif made := re.fullmatch(r"(\*{0,2}[A-Za-z_]\w*)\s*(?::[^=]+)?(?:=\s*(.+))?", text):
            optional = "optional" if at >= optional_from and not made[2] else ""
            found.append(Parameter(made[1], made[2] or "", note or optional))
        elif text:
            return None
    return found


def _parts(inner: str) -> list[tuple[int, str]]:
    """Split at commas outside of brackets and quotes; each with where it begins."""
    found: list[tuple[int, str]] = []
    depth, quote, start = 0, "", 0
    for at, sign in enumerate(inner):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
        elif sign == "," and depth == 0:
            found.append((start, inner[start:at]))
            start = at + 1
    return [*found, (start, inner[start:])]
