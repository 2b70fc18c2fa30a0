"""Random regular expressions, as ECMA-262 writes them, from a grammar of such expressions."""

from __future__ import annotations

import random

COMMON = (
    r"^[a-z]+$", r"^[A-Z]{3}$", r"^\d{4}-\d{2}-\d{2}$", r"^\d{3}-\d{4}$", r"\S", r"^\S+$",
    r"^[^\s]+$", r"^#[0-9a-fA-F]{6}$", r"^[a-zA-Z_][a-zA-Z0-9_]*$", r"^(?!\s*$).+", r"^$|^\d+$",
    r"^\+?[1-9]\d{1,14}$", r"^https?://", r"^\w+@\w+\.\w{2,}$", r"^v?\d+(\.\d+){0,2}$", r"\.json$",
    r"^(foo|bar|baz)$", r"^foo|bar$", r"^.{1,8}$", r"^[\w.-]+$", r"^\p{L}+$", r"^x-", r"^[^/\\]+$",
    r'^"[^"]*"$', r"^[\u4e00-\u9fff]{1,4}$", r"^(?:[01]\d|2[0-3]):[0-5]\d$", r"\bword\b", "^$",
    r"^[A-Za-z0-9+/]*={0,2}$", r"^\s*$", r"^(\(\d{3}\))?\d{3}-\d{4}$", "", r"^a+?$", r"^[\s\S]*$",
)  # fmt: skip
"""Patterns that people write into schemas."""

_LITERALS = (*"abcxyzABC019_- ,:;=@#!%&~<>'\"/`é漢", "\U0001f600", "ab", "foo", "id-", "€")
_ESCAPED = (
    r"\.", r"\-", r"\+", r"\*", r"\?", r"\(", r"\)", r"\[", r"\]", r"\{", r"\}", r"\|", r"\^",
    r"\$", r"\\", r"\/", r"\t", r"\n", r"\r", r"\f", r"\v", r"\x41", r"\u0041", r"\u00e9", r"\0",
)  # fmt: skip
_CLASSES = (r"\d", r"\w", r"\s", r"\D", r"\W", r"\S")
_QUANTIFIERS = ("*", "+", "?", "{2}", "{0}", "{1,3}", "{2,}", "{0,1}", "{0,20}", "{3,3}")
_RANGES = (
    *("a-z", "A-Z", "0-9", "a-c", "x-z", " -~", "à-ü"),
    *("一-龥", "0-9a-f", "!-/", r"\u0000-\u001f"),
)
_ODD = (
    r"(?=a)", r"(?!b)", r"(?<=a)", r"(?<!a)", r"\1", r"\B", r"\p{Lu}", r"\P{N}", r"(?<n>a)", r"\cA",
    r"(?i)", r"\Z", "(", ")", "[", "*", "a**", "a{2}{3}", "{", "]", "}", "a{,3}", "a{3,2}", r"\q",
    "[]", "[^]", "[z-a]", "$^", "^*", "\n", "\t", "\x7f", r"[\b]", r"[^\D]", r"[\d-x]", r"\ud83d",
)  # fmt: skip
"""Patterns that some regular expression engines refuse or interpret differently."""


def random_pattern(rng: random.Random) -> str:
    """Return an expression that is often one that people would write, and mostly a right one."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(COMMON)
    body = _choice(rng, 0)
    if kind > 0.95:
        at = rng.randrange(len(body) + 1)
        body = body[:at] + rng.choice(_ODD) + body[at:]
    if rng.random() < 0.5 and "|" in body and rng.random() < 0.7:
        body = f"({body})"
    first, last = rng.choices([("^", "$"), ("", ""), ("^", ""), ("", "$")], [6, 2, 1, 1])[0]
    return first + body + last


def _choice(rng: random.Random, depth: int) -> str:
    n = rng.choices([1, 2, 3], [6, 2, 1])[0]
    return "|".join(_sequence(rng, depth) for _ in range(n))


def _sequence(rng: random.Random, depth: int) -> str:
    n = rng.choices([0, 1, 2, 3, 4], [0.3, 4, 4, 2, 1])[0]
    return "".join(_repeated(rng, depth) for _ in range(n))


def _repeated(rng: random.Random, depth: int) -> str:
    atom = _atom(rng, depth)
    if atom in {r"\b", "^", "$"} or rng.random() < 0.55:
        return atom
    if len(atom) > 1 and atom[0] not in "\\[(":
        atom = f"(?:{atom})"
    return atom + rng.choice(_QUANTIFIERS) + ("?" if rng.random() < 0.15 else "")


def _atom(rng: random.Random, depth: int) -> str:
    kind = rng.choices(
        ["literal", "escape", "named", "set", "any", "group", "anchor"],
        [6, 2, 3, 4, 1, 2 if depth < 3 else 0, 0.4],
    )[0]
    match kind:
        case "literal":
            return rng.choice(_LITERALS)
        case "escape":
            return rng.choice(_ESCAPED)
        case "named":
            return rng.choice(_CLASSES)
        case "set":
            return _set(rng)
        case "any":
            return "."
        case "group":
            return rng.choice(("(", "(", "(?:")) + _choice(rng, depth + 1) + ")"
        case _:
            return rng.choice((r"\b", "^", "$"))


def _set(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randint(1, 3)):
        parts.append(
            rng.choice(
                (
                    rng.choice(_RANGES),
                    rng.choice(_CLASSES),
                    rng.choice((r"\-", r"\]", r"\\", r"\"", r"\n", r"\/", r"\.")),
                    rng.choice(("_", ".", "é", '"', " ", "+", "$", "(", "\U0001f600")),
                )
            )
        )
    return "[" + rng.choice(("", "", "", "^")) + "".join(parts) + rng.choice(("", "", "-")) + "]"
