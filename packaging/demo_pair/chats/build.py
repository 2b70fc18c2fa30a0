"""The data set: what is learnt, and two sets that are held out.

``unseen`` is about modules of which no chat to learn from speaks: those that PEP 594 takes out of
the library, so that the pair misses little. It measures how well the text of the documentation is
modelled. ``rephrased`` asks about things that were learnt, in words that were not: it measures
whether the answers are known.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from demo_pair.chats import asking, reading
from demo_pair.chats.aspects import Aspects, version_of
from demo_pair.chats.chat import Chat, asked
from demo_pair.chats.copying import Copying
from demo_pair.chats.editing import Editing
from demo_pair.chats.manners import Manners, with_system
from demo_pair.chats.words import how_tos, word_list
from demo_pair.corpus.objects import Documented, documented
from demo_pair.corpus.prose import brief, is_text
from demo_pair.corpus.sections import Section, sections
from demo_pair.corpus.sources import Documentation

HELD_OUT = frozenset(word_list("held_out_modules"))
COMMON = frozenset(word_list("common_modules"))
"""What people ask about; it is asked about twice as often."""
N_UNSEEN, N_REPHRASED = 500, 500
SYSTEM_SHARE = 0.04
SESSIONS = 60
"""One chat of so many is a long one."""


@dataclass(frozen=True)
class DataSet:
    """Chats by purpose."""

    learnt: list[Chat]
    unseen: list[Chat]
    rephrased: list[Chat]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many chats of which kind there are."""
        sets = {"learnt": self.learnt, "unseen": self.unseen, "rephrased": self.rephrased}
        return {k: dict(Counter(chat.kind for chat in v).most_common()) for k, v in sets.items()}


def build(documentation: Documentation, *, share: float = 1.0, seed: int = 1711) -> DataSet:
    """Build the chats.

    Args:
        documentation: The sources.
        share: How much of everything is used, from 0 to 1; small values are for trying.
        seed: Of every choice.
    """
    rng = random.Random(seed)
    things, texts = documented(documentation), sections(documentation)
    known = [each for each in things if not is_held_out(each.source, each.module)]
    known_texts = [each for each in texts if not is_held_out(each.source, each.module)]
    unknown = [each for each in things if is_held_out(each.source, each.module)]
    unknown_texts = [each for each in texts if is_held_out(each.source, each.module)]
    if share < 1:
        known = rng.sample(known, max(40, round(share * len(known))))
        known_texts = rng.sample(known_texts, max(20, round(share * len(known_texts))))
    learnt = list(_documented_chats(known, known_texts, rng))
    n = len(learnt)
    learnt += _tasks(known, known_texts, n, rng)
    learnt += _manners(known, n, rng)
    learnt += reading.sessions(learnt, len(learnt) // SESSIONS, rng)
    learnt = with_system(learnt, SYSTEM_SHARE, rng)
    unseen = list(_documented_chats(unknown, unknown_texts, rng))
    unseen += _tasks(unknown, unknown_texts, len(unseen), rng)
    rng.shuffle(learnt)
    rng.shuffle(unseen)
    return DataSet(learnt, unseen[:N_UNSEEN], _rephrased(known, ages(texts), rng))


def is_held_out(source: str, module: str) -> bool:
    """Return whether a file or module is about something that is not learnt."""
    return bool({source.rpartition("/")[2], module} & HELD_OUT)


def _documented_chats(
    things: Sequence[Documented], texts: Sequence[Section], rng: random.Random
) -> Iterator[Chat]:
    aspects = Aspects(things, ages(texts))
    answers = {each.name: list(aspects.of(each)) for each in things}
    by_module: dict[str, list[Documented]] = {}
    for each in things:
        by_module.setdefault(each.module, []).append(each)
    for each in things:
        for _ in range(2 if each.module in COMMON else 1):
            yield from asking.single(each, answers[each.name], rng)
            other = rng.choice(by_module[each.module])
            yield asking.conversation((each, other), (answers[each.name], answers[other.name]), rng)
            for _ in range(2):
                if chat := asking.task(each, rng):
                    yield chat
    for one, other in reading.comparable(things):
        yield reading.difference(one, other, rng)
    yield from _texts(texts, by_module, rng)


def ages(texts: Sequence[Section]) -> dict[str, str]:
    """Return the versions in which modules were added, as their first sections say."""
    tops = [each for each in texts if each.module and not each.above]
    return {each.module: version for each in tops if (version := version_of(each.paragraphs))}


def _texts(
    texts: Sequence[Section], by_module: dict[str, list[Documented]], rng: random.Random
) -> Iterator[Chat]:
    for section in texts:
        if section.above == "Glossary":
            yield from reading.about_term(section, rng)
            continue
        # Frequently asked questions and the tutorial are nearest to what people ask.
        is_near = section.source.startswith(("faq/", "tutorial/"))
        yield from reading.about_section(section, rng, 5 if is_near else 2)
        if section.module and not section.above:
            inside = by_module.get(section.module, [])
            yield from reading.about_module(section.module, section, inside, rng)


def _tasks(
    things: Sequence[Documented], texts: Sequence[Section], n: int, rng: random.Random
) -> list[Chat]:
    """Return tasks that repeat text beside `n` chats about the documentation."""
    paragraphs = [p for each in things for p in each.paragraphs if is_text(p)]
    paragraphs += [p for each in texts for p in each.paragraphs if is_text(p)]
    codes = reading.codes(texts, things)
    names = [each.name for each in things] + [each.short for each in things]
    copying = Copying(paragraphs, codes, names, rng)
    editing = Editing(codes, [text for each in things if (text := brief(each))], rng)
    found = [copying.make() for _ in range(n // 8)]
    return found + [editing.make() for _ in range(n // 10)]


def _manners(things: Sequence[Documented], n: int, rng: random.Random) -> list[Chat]:
    """Return small talk, refusals and everyday tasks beside `n` chats about the documentation."""
    manners = Manners(things, rng)
    found = [manners.refusal() for _ in range(n // 40)]
    found += [manners.unknown() for _ in range(n // 60)]
    found += [manners.greeting() for _ in range(n // 300)]
    found += [manners.thanks() for _ in range(n // 1000)]
    tasks = list(how_tos())
    for at in range(n // 40):
        wordings, answer = tasks[at % len(tasks)]
        found.append(asked("how-to", rng.choice(wordings), answer))
    return found


def _rephrased(
    things: Sequence[Documented], modules: Mapping[str, str], rng: random.Random
) -> list[Chat]:
    aspects = Aspects(things, modules)
    found: list[Chat] = []
    for each in rng.sample(things, min(len(things), N_REPHRASED)):
        candidates = asking.evaluated(each, list(aspects.of(each)), rng)
        candidates = [chat for chat in candidates if chat.kind not in ("kind", "deprecated")]
        if chat := asking.task(each, rng, for_judging=True):
            candidates.append(chat)
        found.append(rng.choice(candidates))
    return found
