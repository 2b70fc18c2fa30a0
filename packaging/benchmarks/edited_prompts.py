"""100 prompts, and five small edits of each, for `edits`."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from paceline.messages import ChatMessage, SamplingParams

FORMS = (
    ("Explain how {} works.", "Describe how {} works."),
    ("Write a short story about {}.", "Write a brief story about {}."),
    ("What are the advantages of {}?", "What are the benefits of {}?"),
    ("Give me advice about {}.", "Give me tips about {}."),
    ("Make a list of important facts about {}.", "Make a list of interesting facts about {}."),
    ("Why do people like {}?", "Why do people love {}?"),
    ("Write an email to a friend about {}.", "Write a letter to a friend about {}."),
    ("How did {} change the world?", "How did {} shape the world?"),
    ("What should a beginner know about {}?", "What should a newcomer know about {}?"),
    ("Write a quick introduction to {}.", "Write a short introduction to {}."),
)
"""A question, and the same with a synonym."""
TOPICS = (
    "the lighthouse", "a bicycle", "public libraries", "the printing press", "bread", "chess",
    "solar power", "the postal service", "gardening", "the compass",
)  # fmt: skip
SYSTEM = "You are a helpful assistant."
BASE = SamplingParams(temperature=0.8)


N_PROMPTS = len(FORMS) * len(TOPICS)
EDITS = ("synonym", "sentence", "system", "top-p", "temperature")


class Edit(NamedTuple):
    """A conversation and its sampling, before or after a small change."""

    messages: tuple[ChatMessage, ...]
    sampling: SamplingParams = BASE


def edited(n: int) -> dict[str, tuple[Edit, Edit]]:
    """Return the conversation of this number, 0 to 99, before and after each of `EDITS`."""
    form, topic = FORMS[n % len(FORMS)], TOPICS[n // len(FORMS)]
    question, synonym = (text.format(topic) for text in form)

    def asked(text: str, system: str = SYSTEM) -> Edit:
        return Edit((ChatMessage("system", system), ChatMessage("user", text)))

    first = asked(question)
    narrow, cool = replace(BASE, top_p=0.9), replace(BASE, temperature=0.7)
    return {
        "synonym": (first, asked(synonym)),
        "sentence": (first, asked(f"{question} Use simple words.")),
        "system": (first, asked(question, "You are a friendly teacher.")),
        "top-p": (first._replace(sampling=narrow), first),
        "temperature": (first._replace(sampling=cool), first),
    }
