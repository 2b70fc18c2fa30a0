"""Sentences and pieces of Markdown paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from demo_pair.corpus.objects import Documented

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"'(])")
_NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|St|Dr|Mr|No)|\b[A-Z])\.$")
_VERSION_NOTE = re.compile(r"(New in|Changed in|Deprecated since) version ")


def is_code(paragraph: str) -> bool:
    """Return whether a paragraph is fenced code."""
    return paragraph.startswith("```")


def is_text(paragraph: str) -> bool:
    """Return whether a paragraph is running text and no note on versions."""
    is_other = paragraph.startswith(("```", "|", "- ", "Availability:")) or "\n" in paragraph
    return not is_other and not _VERSION_NOTE.match(paragraph)


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph."""
    found: list[str] = []
    for piece in _END.split(paragraph):
        if found and _NO_END.search(found[-1]):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


def texts_of(each: Documented) -> list[str]:
    """Return the sentences of a description, notes on versions left out."""
    return [s for p in each.paragraphs if is_text(p) for s in sentences(p)]


def notes_of(each: Documented, *beginnings: str) -> list[str]:
    """Return the notes on versions that begin so, e.g. ``New in``."""
    return [p for p in each.paragraphs if _VERSION_NOTE.match(p) and p.startswith(beginnings)]


def brief(each: Documented) -> str:
    """Return a description's first sentence; a very short one with the next; empty: none."""
    if not each.paragraphs or not is_text(each.paragraphs[0]):
        return ""
    found = [s for s in sentences(each.paragraphs[0]) if s]
    if not found:
        return ""
    is_short = len(found) > 1 and (len(found[0]) < 25 or found[1].startswith("("))
    text = finished(" ".join(found[: 1 + is_short]))
    return text if re.search(r"[.!?]\W*$", text) else f"{text}."


def finished(sentence: str) -> str:
    """Return a sentence with an end."""
    return re.sub(r"[\s.,]*:$", ".", sentence)


def clipped(paragraphs: Iterable[str], most: int) -> str:
    """Return whole paragraphs of `most` characters together, at least a part of the first.

    A paragraph that leads to code which has no room is left out with it.
    """
    kept: list[str] = []
    length = 0
    for paragraph in paragraphs:
        if length + len(paragraph) > most:
            if not kept:
                kept.append(_first_sentences(paragraph, most))
            break
        kept.append(paragraph)
        length += len(paragraph) + 2
    while len(kept) > 1 and kept[-1].endswith(":"):
        kept.pop()
    return "\n\n".join([*kept[:-1], finished(kept[-1])]) if kept else ""


def _first_sentences(paragraph: str, most: int) -> str:
    if not is_text(paragraph):
        return ""
    found, *rest = sentences(paragraph)
    for each in rest:
        if len(found) + len(each) > most:
            break
        found += f" {each}"
    return found


def pieces(paragraphs: Sequence[str], most: int) -> list[str]:
    """Return paragraphs in pieces of about `most` characters; code stays with what leads to it."""
    found: list[list[str]] = [[]]
    for paragraph in paragraphs:
        length = sum(map(len, found[-1])) + len(paragraph)
        leads = found[-1] and found[-1][-1].endswith(":")
        if found[-1] and length > most and not (leads and length < 2 * most):
            found.append([])
        found[-1].append(paragraph)
    return ["\n\n".join(each) for each in found if each and sum(map(len, each)) < 2 * most]
