"""Text as a search sees it: words, without case and accents, at the places of the original.

The index gets texts that are folded here, so that what it finds can be marked by the same rules;
FTS5's own tokenizer folds Latin letters only. Scripts that are written without spaces are looked
up by single characters; there the words of a search must then stand in the text as they were typed.
No I/O, any thread.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # kana, Han
)
_MARKS = "\u0300-\u036f"


class _Folds(dict[int, str]):
    """A character's plain, small form, one character long, so that places stay what they are."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        parts = unicodedata.normalize("NFD", char)
        is_accented = all("\u0300" <= mark <= "\u036f" for mark in parts[1:])  # not kana, Hangul
        small = (parts[0] if is_accented else char).lower()
        found = self[code] = small if len(small) == 1 else char
        return found


@cache
def _folds() -> _Folds:
    return _Folds()


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def folded(text: str) -> str:
    """The text without case and accents, as long as before."""
    return text.lower() if text.isascii() else text.translate(_folds())


def indexed(text: str) -> str:
    """The text as the index is to see it."""
    return text if text.isascii() else _unspaced().sub(r" \g<0> ", folded(text))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a search, folded, in order and without duplicates."""
    plain = re.sub(f"[{_MARKS}]", "", folded(text))
    runs = re.findall(r"[^\W_]+", plain)
    parts = [part for run in runs for part in _split(run)]
    return tuple(dict.fromkeys(parts))


def _split(run: str) -> list[str]:
    """Part what is written with spaces from what is not."""
    return [p for p in re.split(f"([{_UNSPACED}]+)", run) if p] if not run.isascii() else [run]


def terms_of(word: str) -> list[str]:
    """What the index has for a word of a search: itself, or its characters."""
    return list(word) if _unspaced().match(word) else [word]


def pattern_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """What finds these words in a folded text; the longer of two that begin alike comes first."""
    ordered = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(_word_pattern, ordered)))


def _word_pattern(word: str) -> str:
    spelled = f"[{_MARKS}]*".join(map(re.escape, word))
    return spelled if _unspaced().match(word) else f"(?<![^\\W_]){spelled}"


def whole_pattern(word: str) -> re.Pattern[str]:
    """What finds a folded word that is not only the beginning of another one."""
    return re.compile(f"{_word_pattern(word)}(?![^\\W_])")


def has_all(text: str, words: tuple[str, ...]) -> bool:
    """Whether a folded text has every one of the words."""
    return all(re.search(_word_pattern(word), text) for word in words)
