"""Regular expressions of a JSON schema, so that what they allow can stand within a JSON text.

llama-cpp-python's converter writes a pattern's characters between the quotes as they are. What
JSON must escape there (quotes, backslashes, line breaks) would end or break the text, so it is
written escaped here, and control characters are taken out of classes.
"""

from __future__ import annotations

import re

_ANY = r'[^"\\\x00-\x1F]'
_PART = re.compile(r'\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\[(?:\\.|[^\]\\])*\]?|[".]', re.DOTALL)
_ESCAPED = {
    '"': r'(\\")', r"\"": r'(\\")', r"\\": r"(\\\\)", r"\n": r"(\\n)", r"\r": r"(\\r)",
    r"\t": r"(\\t)", r"\s": r"( |\\t|\\n|\\r)", ".": _ANY,
}  # fmt: skip
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CHAR = r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[trn\\\"\[\]-]|[^\\]"
_CLASS = re.compile(f"(?:{_CHAR})*", re.DOTALL)
_RANGE = re.compile(f"({_CHAR})(?:-({_CHAR}))?", re.DOTALL)
_NAMED = {r"\t": 9, r"\r": 13, r"\n": 10}
_FORBIDDEN = (*range(32), ord('"'), ord("\\"))


def json_pattern(pattern: str) -> str:
    """Return the pattern for the same texts as JSON writes them."""
    if "|" in pattern and pattern[:1] == "^" and pattern[1:].endswith("$"):
        pattern = f"^({pattern[1:-1]})$"  # else the quotes would belong to the outer choices
    return _PART.sub(lambda found: _part(found[0]), pattern)


def _part(text: str) -> str:
    if text in _ESCAPED:
        return _ESCAPED[text]
    if len(text) > 2 and text[0] == "\\":
        return _part(f"[{text}]")
    if text[0] == "\\":
        found = _in_class(text)
        return f"[{found}]" if found != text else text
    text = _ESCAPE.sub(lambda escape: _in_class(escape[0]), text)
    if text.startswith("[^"):
        return _ANY[:-1] + text[2:]
    if not _CLASS.fullmatch(text[1:-1]):  # an escape that grammars do not know: refused later
        return text
    ranges = [
        (_code(found[1]), _code(found[2] or found[1])) for found in _RANGE.finditer(text[1:-1])
    ]
    if not any(low <= code <= high for low, high in ranges for code in _FORBIDDEN):
        return text
    kept = "".join(
        rf"\U{low:08X}-\U{high:08X}" for given in ranges for low, high in _without_forbidden(*given)
    )
    choices = [f"[{kept}]"] if kept else []
    for code, escaped in ((34, r'\\"'), (92, r"\\\\"), (10, r"\\n"), (13, r"\\r"), (9, r"\\t")):
        if any(low <= code <= high for low, high in ranges):
            choices.append(escaped)
    return f"({'|'.join(choices)})" if choices else text


def _in_class(escape: str) -> str:
    """Return what an escape is within a grammar's class; unchanged where grammars know it."""
    if escape[1].isascii() and not (escape[1].isalnum() or escape[1].isspace()):
        return rf"\x{ord(escape[1]):02X}"
    return {r"\d": "0-9", r"\w": "a-zA-Z0-9_"}.get(escape, escape)


def _without_forbidden(low: int, high: int) -> list[tuple[int, int]]:
    """Return the parts of a range between the characters that JSON escapes."""
    parts = []
    for code in (c for c in _FORBIDDEN if low <= c <= high):
        if low < code:
            parts.append((low, code - 1))
        low = code + 1
    return [*parts, (low, high)] if low <= high else parts


def _code(char: str) -> int:
    if len(char) == 1:
        return ord(char)
    if char[1] in "xuU":
        return int(char[2:], 16)
    return _NAMED.get(char, ord(char[1]))
