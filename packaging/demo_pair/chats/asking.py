"""Questions about one documented thing, on their own and in conversations."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from demo_pair.chats.aspects import Answer, a, full
from demo_pair.chats.chat import Chat, asked
from demo_pair.chats.manners import THANKS
from demo_pair.chats.phrases import FOLLOW_UPS, QUESTIONS, TASKS, for_evaluation, for_learning
from demo_pair.chats.words import word_list
from demo_pair.corpus.objects import BUILTIN, Documented
from demo_pair.corpus.prose import brief

OFTEN = {"explain": 3, "brief": 2, "signature": 2, "example": 2, "parameters": 1, "members": 2}
"""How often a chat asks for an aspect of a thing; the others are asked for at random."""
SELDOM = {"since": 0.35, "kind": 0.25, "module": 0.6, "raises": 0.4, "deprecated": 0.5}
FACTS = ("signature", "module", "since", "default", "parameters")
"""Aspects whose answer is right or wrong, word for word."""


def named(each: Documented, rng: random.Random, *, plainly: bool = False) -> str:
    """Return a thing's name as people write it."""
    name = each.short if each.alone and rng.random() < 0.3 else each.name
    call = each.is_called and rng.random() < 0.2
    name += "()" if call else ""
    if not plainly and each.module != BUILTIN and not each.owner and rng.random() < 0.1:
        return rng.choice((f"`{each.short}` of `{each.module}`", f"{each.short} in {each.module}"))
    return name if rng.random() < 0.5 else f"`{name}`"


def filled(template: str, each: Documented, answer: Answer, rng: random.Random) -> str:
    """Return a question."""
    parameter = answer.parameter if rng.random() < 0.5 else f"`{answer.parameter}`"
    text = template.format(n=named(each, rng), k=each.kind, p=parameter)
    if rng.random() < 0.08:
        text = text[:1].lower() + text[1:]
    return text


def single(each: Documented, answers: Sequence[Answer], rng: random.Random) -> Iterator[Chat]:
    """Yield chats of one question about a thing."""
    for answer in answers:
        times = OFTEN.get(answer.aspect, 1)
        if rng.random() > SELDOM.get(answer.aspect, 1.0):
            times = 0
        if answer.aspect in ("parameter", "default") and len(answers) > 12:
            times = int(rng.random() < 0.6)
        templates = for_learning(QUESTIONS[answer.aspect])
        for template in rng.sample(templates, min(times, len(templates))):
            yield asked(answer.aspect, filled(template, each, answer, rng), answer.text)


def evaluated(each: Documented, answers: Sequence[Answer], rng: random.Random) -> list[Chat]:
    """Return questions about a thing in words that no chat to learn from has."""
    return [
        asked(x.aspect, filled(for_evaluation(QUESTIONS[x.aspect]), each, x, rng), x.text)
        for x in answers
        if x.aspect in QUESTIONS
    ]


def conversation(
    pair: tuple[Documented, Documented],
    answers: tuple[Sequence[Answer], Sequence[Answer]],
    rng: random.Random,
) -> Chat:
    """Return a chat of two to four questions on one thing, perhaps followed by one on another."""
    each, other = pair
    opening = [x for x in answers[0] if x.aspect in ("explain", "brief", "module", "signature")]
    first = rng.choice(opening)
    texts = [
        filled(rng.choice(for_learning(QUESTIONS[first.aspect])), each, first, rng),
        first.text,
    ]
    rest = [x for x in answers[0] if x.aspect != first.aspect and x.aspect in FOLLOW_UPS]
    rng.shuffle(rest)
    told = {first.aspect}
    for answer in rest:
        if len(texts) >= rng.choice((4, 6, 6, 8)) or answer.aspect in told:
            continue
        told.add(answer.aspect)
        question = rng.choice(for_learning(FOLLOW_UPS[answer.aspect]))
        texts += [question.format(p=f"`{answer.parameter}`"), answer.text]
    brief_one = [x for x in answers[1] if x.aspect in ("brief", "explain")]
    if brief_one and rng.random() < 0.4:
        name = named(other, rng, plainly=True)
        templates = ("And {}?", "What about {}?", "And what does {} do?", "How about {}?")
        texts += [rng.choice(templates).format(name), brief_one[-1].text]
    if rng.random() < 0.08:
        texts += list(THANKS[rng.randrange(len(THANKS))])
    return asked("conversation", *texts)


# ------------------------------------------------------------------------- from task to name

_VERBS = frozenset(word_list("verbs"))
_LONGEST_TASK = 110


def task_of(each: Documented) -> str:
    """Return what a thing is for as a phrase after "how do I", from its first sentence.

    Empty where the sentence is no instruction, or says too little alone.
    """
    text = brief(each)
    if not each.is_called or not text or ". " in text or len(text) > _LONGEST_TASK:
        return ""
    text = re.sub(r"\*(\w+)\*", r"\1", text.rstrip(".:"))
    text = re.sub(r"\s+\([^()]*\)|,? and returns? .*$|, returning .*$", "", text)
    first, _, rest = text.partition(" ")
    if re.search(r"\b(it|its|they|this method|this function|described|below|above|self)\b", rest):
        return ""
    if len(rest.split()) < 3:
        return ""
    verb = first.lower()
    if verb in ("return", "returns"):
        if condition := re.match(r"(?:`?True`? if|whether|true if) (.*)", rest):
            return "" if "otherwise" in condition[1] else f"check whether {condition[1]}"
        return f"get {rest}" if rest.startswith(("the ", "a ", "an ", "all ")) else ""
    verb = verb if verb in _VERBS else verb.removesuffix("s")
    return f"{verb} {rest}" if verb in _VERBS else ""


def task(each: Documented, rng: random.Random, *, for_judging: bool = False) -> Chat | None:
    """Return a question for something that does a task; None: no task is known."""
    phrase = task_of(each)
    if not phrase:
        return None
    template = for_evaluation(TASKS) if for_judging else rng.choice(for_learning(TASKS))
    question = template.format(v=phrase, k=each.kind)
    question = question[:1].lower() + question[1:] if rng.random() < 0.1 else question
    return asked("find", question, advice(each))


def advice(each: Documented) -> str:
    """Return which thing does a task."""
    call = full(each, each.signatures[0])
    place = "" if each.module == BUILTIN or each.owner else f" from the module `{each.module}`"
    if each.owner:
        place = f", {a(each.kind)} of `{each.name.rpartition('.')[0]}`"
    return f"Use `{call}`{place}:\n\n{brief(each)}"
