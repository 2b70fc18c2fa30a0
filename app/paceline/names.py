"""Safe display of names from elsewhere: of models, files, repositories, chats, presets, tags.

Invisible characters can reverse the text beside a name, or make it look like another name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

REPLACEMENT = "\ufffd"
"""Replacement for an invisible character."""
_FLAG = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)")
_VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN = re.compile(
    "(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])"  # joiners, but within a script
    "|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]"  # fillers
    f"|(?<=[{_VARIANTS}])[{_VARIANTS}]"
)
_SEEN = frozenset("\n\t\u200c\u200d") | frozenset(
    chr(code) for first, last in ((0x600, 0x606), (0x6DD, 0x6DE), (0x70F, 0x710), (0x890, 0x892),
    (0x8E2, 0x8E3), (0x110BD, 0x110BE), (0x110CD, 0x110CE)) for code in range(first, last)
)  # fmt: skip
"""Format characters that are visible, or used within a script: marks of numbers, joiners."""


def visible(text: str) -> str:
    """Return a name of the same length in which every character is visible and none reorders text.

    Bidirectional controls (U+202E and its kind), other controls and invisible letters become
    U+FFFD. What emoji and scripts need stays: joiners, variants, the tags of a flag. Line ends and
    tabs stay, too.
    """
    if text.isascii() and text.isprintable():
        return text
    parts = _FLAG.split(text)
    parts[::2] = [_HIDDEN.sub(REPLACEMENT, "".join(map(_seen, part))) for part in parts[::2]]
    return "".join(parts)


def _seen(char: str) -> str:
    is_hidden = unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char not in _SEEN
    return REPLACEMENT if is_hidden else char


def told_apart(names: Sequence[str], most: int) -> tuple[str, ...]:
    """Return names of at most `most` letters each, shortened in their common parts.

    Different names stay different: if no single cut achieves that, they stay whole.
    """
    middle = most // 2
    for head in sorted(range(most), key=lambda place: abs(place - middle)):
        cut = tuple(_without_middle(name, head, most) for name in names)
        if len(set(cut)) == len(set(names)):
            return cut
    return tuple(names)


def _without_middle(name: str, head: int, most: int) -> str:
    n_tail = most - 1 - head
    return name if len(name) <= most else f"{name[:head]}…{name[len(name) - n_tail :]}"
