"""Emphasis in scripts that are written without blanks between words.

CommonMark decides by blanks and punctuation whether marks (`**`, `*`, `__`, `~~`) open or close.
Where words are not parted by blanks, it gets that wrong: in `**重要：**请注意` the second marks
could not close, since punctuation stands before them and a letter after them. Beside such a script
only blanks decide. Texts without such scripts are read as CommonMark says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markdown_it.common.utils import isPunctChar, isWhiteSpace
from markdown_it.rules_inline.state_inline import Scanned

# Letters and punctuation: full-width forms, corner brackets and Khmer's full stop belong to them.
_UNSPACED = re.compile(
    "[\u0e00-\u109f"  # Thai, Lao, Tibetan, Burmese
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul: particles follow without a blank
    "\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff\uaa60-\uaa7f"  # Khmer, Tai
    "\u2e80-\ua4cf\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uffee"  # Han, kana, Yi
    "\U00016fe0-\U0001b2ff\U0001f200-\U0001f2ff\U00020000-\U0003fffd]"
)
_UNSEEN = re.compile("[\u200b-\u200d\u2060\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Joiners and variants, which say nothing about the letter beside them."""
_MAX_SIGNS = 8
"""Upper bound of the punctuation characters that are skipped between marks and a letter, as in
`“模型”**`."""


def beside_letters(found: Scanned, src: str, start: int, last: int) -> Scanned:
    """Return whether marks open or close emphasis, by the letters beside them.

    Args:
        found: Result by CommonMark's rules.
        src: The text.
        start: Index of the first mark.
        last: End of the text.
    """
    if src.isascii():
        return found
    end = start + found.length
    before = range(start - 1, max(-1, start - 1 - _MAX_SIGNS), -1)
    after = range(end, min(last, end + _MAX_SIGNS))
    if not (_is_unspaced(src[at] for at in before) or _is_unspaced(src[at] for at in after)):
        return found
    left = src[start - 1] if start else " "
    right = src[end] if end < last else " "
    has_left, has_right = not isWhiteSpace(ord(left)), not isWhiteSpace(ord(right))
    is_in_word = has_left and has_right and not (isPunctChar(left) or isPunctChar(right))
    if src[start] == "_" and is_in_word:
        return found
    return Scanned(has_right, has_left, found.length)


def _is_unspaced(chars: Iterable[str]) -> bool:
    """Return whether the next letter, or a sign before it, belongs to a script without blanks."""
    for char in chars:
        if _UNSPACED.match(char):
            return True
        if not (isPunctChar(char) or _UNSEEN.match(char)):
            return False
    return False
