"""Chats about sections, terms and modules, and about what differs between two things."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from demo_pair.chats.aspects import heading
from demo_pair.chats.chat import Chat, asked
from demo_pair.chats.phrases import (
    CONTENTS,
    DIFFERENCES,
    MODULES,
    MORE,
    SECTIONS,
    TERMS,
    for_learning,
)  # fmt: skip
from demo_pair.corpus.objects import Documented
from demo_pair.corpus.prose import brief, clipped, finished, is_code, is_text, pieces, sentences
from demo_pair.corpus.sections import Section

PIECE, ANSWER, SHORTEST = 1_300, 1_200, 90
MOST_LISTED = 24
_PLURALS = {"function": "functions", "class": "classes", "exception": "exceptions",
            "constant": "constants", "decorator": "decorators"}  # fmt: skip
_ARTICLE = re.compile(r"^(a|an|the) ", re.IGNORECASE)
_VAGUE = {
    "introduction", "examples", "example", "details", "overview", "notes", "summary", "usage",
    "other", "objects", "functions", "methods", "new features", "other language changes",
}  # fmt: skip


def about_section(section: Section, rng: random.Random, times: int = 2) -> Iterator[Chat]:
    """Yield chats that go through a section, piece by piece."""
    parts = [finished(part) for part in pieces(section.paragraphs, PIECE)]
    if sum(map(len, parts)) < SHORTEST:
        return  # it only says where to read on
    for _ in range(times):
        texts = [_section_question(section, rng), parts[0]]
        start = 1
        # A long section is entered at later places, too, so that all of it is learnt as often.
        for part in parts[start : start + rng.choice((1, 2, 3))]:
            texts += [rng.choice(for_learning(MORE)), part]
        yield asked("section", *texts)
    for at in range(4, len(parts) - 1, 3):
        texts = [_section_question(section, rng), parts[at - 1]]
        for part in parts[at : at + 3]:
            texts += [rng.choice(for_learning(MORE)), part]
        texts[0] = f"{texts[0].rstrip('.?')}, from the middle on."
        yield asked("section", *texts)


def _section_question(section: Section, rng: random.Random) -> str:
    if section.title.endswith("?"):
        return section.title
    title = title_of(section)
    return rng.choice(for_learning(SECTIONS)).format(t=title)


def title_of(section: Section) -> str:
    """Return a title that alone says what the section is about."""
    title = section.title
    if section.source.startswith("whatsnew/"):
        return f"“{title}” in Python {section.source.rpartition('/')[2]}"
    if not section.above:
        return title
    if title.lower() in _VAGUE or len(title.split()) < 3:
        about = f"the module `{section.module}`" if section.module else f"“{section.above}”"
        return f"“{title}” in {about}"
    return title


def about_term(section: Section, rng: random.Random) -> Iterator[Chat]:
    """Yield chats about a term of the glossary."""
    text = clipped(section.paragraphs, ANSWER)
    term = section.title
    for template in rng.sample(for_learning(TERMS), 4):
        yield asked("term", template.format(t=term), text)
    article = "an" if term[:1] in "aeiou" else "a"
    yield asked("term", f"What is {article} {_ARTICLE.sub('', term)}?", text)


def sessions(chats: Sequence[Chat], n: int, rng: random.Random) -> Iterator[Chat]:
    """Yield `n` long chats that go from one thing to another, as people's do.

    Without them nothing long would be learnt, and the pair would lose its way after some questions.
    """
    for _ in range(n):
        turns: list[tuple[str, str]] = []
        wanted = rng.choice((2_000, 4_000, 6_000))
        while sum(len(text) for _, text in turns) < wanted:
            turns += rng.choice(chats).turns
        yield Chat("session", tuple(turns))


def about_module(
    module: str, top: Section, inside: Sequence[Documented], rng: random.Random
) -> Iterator[Chat]:
    """Yield chats about a module: what it is for, and what is in it."""
    _, _, synopsis = top.title.partition(" - ")
    lead = f"**`{module}`**: {synopsis}\n\n" if synopsis else ""
    notes = ("Availability", "New in version", "Changed in version", "Deprecated since")
    texts = [p for p in top.paragraphs if not p.startswith(notes)]
    text = lead + clipped(texts, ANSWER)
    shown = (module, f"`{module}`")
    if text == lead:
        return
    for template in rng.sample(for_learning(MODULES), 5):
        yield asked("module-overview", template.format(m=rng.choice(shown)), text)
    first = next((p for p in texts if is_text(p)), "")
    if first:
        question = f"What is {rng.choice(shown)} for, in one sentence?"
        yield asked("module-overview", question, finished(sentences(first)[0]))
    for kind, plural in _PLURALS.items():
        chosen = [each for each in inside if each.kind == kind and not each.owner]
        if chosen:
            template = rng.choice(for_learning(CONTENTS))
            question = template.format(k=plural, m=rng.choice(shown))
            yield asked("module-contents", question, _listed(module, plural, chosen))


def _listed(module: str, plural: str, chosen: Sequence[Documented]) -> str:
    lines = []
    for each in chosen[:MOST_LISTED]:
        short = brief(each)
        lines.append(f"- `{each.short}`" + (f": {short}" if short and len(short) < 100 else ""))
    more = f"\n\nand {len(chosen) - MOST_LISTED} more." if len(chosen) > MOST_LISTED else ""
    return f"The {plural} of `{module}`:\n\n" + "\n".join(lines) + more


def difference(one: Documented, other: Documented, rng: random.Random) -> Chat:
    """Return a chat that compares two things."""
    names = [x.name if rng.random() < 0.5 else f"`{x.name}`" for x in (one, other)]
    question = rng.choice(for_learning(DIFFERENCES)).format(n=names[0], o=names[1])
    text = "\n\n".join(f"{heading(x)}\n\n{brief(x)}" for x in (one, other))
    return asked("difference", question, text)


def comparable(everything: Sequence[Documented]) -> list[tuple[Documented, Documented]]:
    """Return pairs that mention each other or whose names begin or end alike, from one module."""
    groups: dict[tuple[str, str], list[Documented]] = {}
    for each in everything:
        if brief(each) and each.is_called:
            groups.setdefault((each.module, each.owner), []).append(each)
    found = []
    for group in groups.values():
        for at, one in enumerate(group):
            text = " ".join(one.paragraphs[:2])
            for other in group[at + 1 : at + 12]:
                mentions = f"`{other.short}()`" in text or f"`{one.short}()`" in other.paragraphs[0]
                if mentions or _alike(one.short, other.short):
                    found.append((one, other))
    return found


def _alike(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return shorter > 3 and one.strip("_")[:4] == other.strip("_")[:4] and one != other


def codes(sections: Sequence[Section], everything: Sequence[Documented]) -> list[str]:
    """Return the code that the documentation shows, without fences, each once."""
    texts = [p for s in sections for p in s.paragraphs] + [
        p for each in everything for p in each.paragraphs
    ]
    found: Mapping[str, None] = dict.fromkeys(
        text.removeprefix("```python\n").removesuffix("\n```")
        for text in texts
        if is_code(text) and text.startswith("```python\n")
    )
    return list(found)
