"""Sentences of engine and catalogue in the language of the interface.

They are made where no translation is known, many of them in other processes, and records keep them
in English. So the window recognises one by its words, where it shows it: `said` looks which
sentence of the context `SENTENCES` it is, and puts what was inserted, translated in the same way,
into that sentence's translation. What is not recognised stays as it is. Main thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from itertools import pairwise
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QLocale

from paceline.gui.kit.translation import ENGLISH, FOLDER, translator, with_signs, with_unit
from paceline.names import visible
from paceline.paths import resources
from paceline.sentence import Sentence, Wording

SENTENCES = "Sentences"
"""Context of these sentences; `packaging/translations.py` collects them."""
_tr = translator(SENTENCES)
_ENTRY = re.compile(r"<source>(.*?)</source>\s*<translation>(.*?)</translation>", re.DOTALL)
_PLACE = re.compile(r"(“?){(\d)}")
_NUMBER = re.compile(r"-?\d+(,\d{3})*(\.\d+)?( ?(%|×|s|ms|bytes|[kMGT]i?B)| B)?")
"""A B without a blank counts a model's weights, in the form that models are named by: 7.6B."""
_CUT = re.compile(r"(?<=[.!?”]) |(?=[,;] )|(?= \()")
"""Between sentences, and between the phrases that one can be made of."""
_NAME = re.compile(r"(?<=“)[^“”]*(?=”)|(?<=„)[^“]*(?=“)")
"""What stands in English or German quotation marks, which is never cut."""
_QUOTED = re.compile(r"“([^“”]*)”")
_LEAD = re.compile(r"[,;]? ")
_LONGEST, _MOST = 2000, 24
"""Characters and parts of a text that is looked at."""
_KEYS = (10, 3)
"""Letters by which sentences are found: many begin with the same three, few with the same ten."""


def said(*texts: str) -> str:
    """Return what engine or catalogue say, such as a message and a hint, as the window says it."""
    return " ".join(_said(text) for text in texts if text)


def _said(text: str) -> str:
    if isinstance(text, Sentence) and text.arguments:
        return visible(_WORDING.put(_tr(text.template), text.arguments))
    language, words = QLocale().name().split("_")[0], visible(str(text))
    if language in ("C", ENGLISH) or len(text) > _LONGEST:
        return words
    return _translated(words, language).replace(" %", "\N{NARROW NO-BREAK SPACE}%")


class _Wording(Wording):
    """Numbers get the signs of the language, sentences their translations."""

    def format_field(self, value: Any, format_spec: str) -> str:
        words = super().format_field(said(value) if isinstance(value, str) else value, format_spec)
        if isinstance(value, str):
            return words
        return with_unit(words) if format_spec in ("percent", "time") else with_signs(words)


_WORDING = _Wording()


@lru_cache(maxsize=512)
def _translated(text: str, language: str) -> str:
    whole = _as_one(text, language)
    if whole is not None:
        return whole
    without_names = _NAME.sub(lambda name: "x" * len(name[0]), text)
    cuts = [cut.start() for cut in _CUT.finditer(without_names) if cut.start()]
    if len(cuts) > _MOST:
        return text
    for cut in reversed(cuts):
        head = _as_one(text[:cut], language)
        if head is not None:
            return head + _translated(text[cut:], language)
    if lead := _LEAD.match(text):
        return lead[0] + _translated(text[lead.end() :], language)
    return text[: cuts[0]] + _translated(text[cuts[0] :], language) if cuts else text


def _as_one(text: str, language: str) -> str | None:
    """Return the translation of one sentence or phrase; None: it is none that is known."""
    # A phrase can be a whole sentence, and the last full stop that of a sentence around this one.
    has_stop, bare = text.endswith("."), text.removesuffix(".")
    if not bare or _NUMBER.fullmatch(bare):
        return with_signs(bare) + "." * has_stop
    if not re.search(r"[^\W\d]", _QUOTED.sub("", text)):
        return _QUOTED.sub(r"„\1“", text)
    other = bare if has_stop else f"{text}."
    sentences = _sentences(language)
    for form in (text, other):
        keys = *(form[:n].lower() for n in _KEYS), form[-_KEYS[-1] :], ""
        found = (sentence for key in keys for sentence in sentences.get(key, ()))
        # One that a place begins would take what other sentences say into its place.
        for sentence in sorted(found, key=attrgetter("begins", "n_letters"), reverse=True):
            if (words := sentence.translated(form, language)) is not None:
                if form is other:
                    words = f"{words}." if has_stop else words.removesuffix(".")
                # A phrase may begin a sentence, too.
                return words[:1].upper() + words[1:] if text[0].isupper() else words
    return None


class _Sentence:
    """One sentence with its translation; both have places, `{0}` and so on."""

    def __init__(self, source: str, translation: str) -> None:
        places = list(_PLACE.finditer(source))
        edges = [0, *(edge for place in places for edge in (place.start(2) - 1, place.end()))]
        self._pieces = [source[a:b] for a, b in pairwise([*edges, len(source)])][::2]
        self._names = {int(place[2]) for place in places if place[1]}
        self._translation = translation
        self.begins = bool(self._pieces[0])
        self.n_letters = sum(map(len, self._pieces))
        first, last = self._pieces[0], self._pieces[-1]
        parts = (*(first[:n].lower() for n in _KEYS), last[-_KEYS[-1] :])
        known = zip(parts, (*_KEYS, _KEYS[-1]), strict=True)
        self.key = next((part for part, n in known if len(part) == n), "")

    def translated(self, text: str, language: str) -> str | None:
        """Return a text as it is said in the language; None: it is another sentence."""
        found = self._inserted(text)
        if found is None:
            return None

        def put(place: re.Match[str]) -> str:
            at = int(place[2])
            # What stands in quotation marks is a name.
            is_name = at in self._names
            return place[1] + (found[at] if is_name else _translated(found[at], language))

        return _PLACE.sub(put, self._translation)

    def _inserted(self, text: str) -> list[str] | None:
        """Return what stands at the places; None: it is another sentence."""
        first, *middle = self._pieces
        last = middle.pop() if middle else ""
        at, end = len(first), len(text) - len(last)
        begins = text[:at][:1].lower() + text[1:at] == first[:1].lower() + first[1:]
        if not (begins and text.endswith(last) and at <= end):
            return None
        if len(self._pieces) == 1:
            return [] if at == end else None
        found = []
        for piece in middle:
            start = text.find(piece, at, end)
            while start >= 0 and not _is_closed(text[at:start]):
                start = text.find(piece, start + 1, end)
            if start < 0:
                return None
            found.append(text[at:start])
            at = start + len(piece)
        return [*found, text[at:end]] if _is_closed(text[at:end]) else None


def _is_closed(part: str) -> bool:
    """Whether all brackets and quotation marks that open in a part close in it, and others none."""
    return all(part.count(opening) == part.count(closing) for opening, closing in ("()", "“”"))


@lru_cache(maxsize=1)
def _sentences(language: str) -> Mapping[str, Sequence[_Sentence]]:
    """All that have a translation, by how they begin, or how they end where a place begins them.

    So a text is compared with a dozen and not with hundreds.
    """
    found: dict[str, list[_Sentence]] = {}
    for sentence in _read(language):
        found.setdefault(sentence.key, []).append(sentence)
    return found


def _read(language: str) -> Iterator[_Sentence]:
    """The sentences of a language's file; none where there is no file."""
    file = resources() / FOLDER / f"paceline_{language}.ts"
    if not file.is_file():
        return
    # Qt's compiled file cannot be asked for its sources, and to parse all of this one takes 40 ms.
    context = file.read_text(encoding="utf-8").partition(f"<name>{SENTENCES}</name>")[2]
    for source, translation in _ENTRY.findall(context.partition("</context>")[0]):
        yield _Sentence(unescape(source), unescape(translation))
