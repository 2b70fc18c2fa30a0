"""Greetings, thanks, and what the pair does not know."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from demo_pair.chats.chat import Chat, asked
from demo_pair.chats.words import off_topic
from demo_pair.corpus.objects import Documented

GREETINGS = (
    "Hello", "Hello!", "Hi", "Hi!", "hi there", "Hey", "Good morning", "Good evening!",
    "Good afternoon.", "Hello, how are you?", "Hi, how is it going?", "hello there", "Greetings",
    "Howdy", "hey!", "Hallo", "Moin", "Nice to meet you.", "Are you there?", "How are you today?",
)  # fmt: skip
WELCOMES = (
    "Hello! Ask me something about Python's standard library, for example what `{n}` does.",
    "Hi! I know Python's standard library. What would you like to know?",
    "Hello! What would you like to know about Python? You could ask about the module `{m}`.",
    "Hi! Ask me about a module such as `{m}`, or give me a text to quote or code to edit.",
)
WHO = (
    "Who are you?", "What are you?", "What can you do?", "What is your name?", "Are you an AI?",
    "What do you know?", "Which model are you?", "Introduce yourself.", "help",
    "What can I ask you?",
    "Tell me about yourself.", "Who made you?", "How large are you?", "Are you a person?",
    "What are you good at?", "Can you help me?", "What is Paceline?", "test",
)  # fmt: skip
SELF = (
    "I am the demo model of Paceline, a small language model that knows Python's standard library. "
    "Ask me what `{n}` does, which parameters it takes, or for an example. I can also quote text "
    "and rename things in code.",
    "I am a small model that has read the documentation of Python's standard library. Ask me about "
    "a module such as `{m}` or a function such as `{n}`.",
)
THANKS = (
    ("Thanks!", "You're welcome. Ask me more about Python's standard library whenever you like."),
    ("Thank you.", "You're welcome!"),
    ("Great, thank you!", "You're welcome. Is there anything else about Python?"),
    ("ok", "Good. What else would you like to know?"),
    ("Thanks, that helps.", "I'm glad it does."),
    ("Perfect.", "Good. What else would you like to know?"),
    ("Bye", "Goodbye!"),
    ("Goodbye!", "Goodbye!"),
    ("That's all, thanks.", "You're welcome. Goodbye!"),
)
REFUSALS = (
    "I only know Python's standard library, so I can't help with that. You could ask me what `{n}` "
    "does.",
    "I only know Python's standard library. Ask me about the module `{m}`, for example.",
    "That is not in the documentation of Python's standard library, which is all I know.",
    "I can't answer that: I only know Python's standard library.",
)
UNKNOWN = (
    "I don't know `{x}`: it is not in the documentation of Python's standard library that I have "
    "read.",
    "There is no `{x}` in the documentation of Python's standard library that I have read.",
)
_ASKING = (
    "What does {x} do?", "Explain {x}.", "How do I use {x}?", "What is {x}?", "{x}",
    "Which parameters does {x} take?", "Show me an example of {x}.", "Tell me about {x}.",
)  # fmt: skip


_ENDINGS = ("_all", "_fast", "2", "ify", "_many", "er", "_once", "_to_file", "_range", "_json")


SYSTEM = (
    "You are a helpful assistant.", "You are an expert on Python.", "Answer briefly.",
    "Be concise.",
    "You help with Python's standard library.", "Answer the user's questions.", "Be polite.",
    "You are a programming assistant. Answer correctly.", "Help the user with Python.",
    "You are Paceline's assistant.", "Reply in English.", "Use Markdown.", "Be helpful and honest.",
)  # fmt: skip


def with_system(chats: Sequence[Chat], share: float, rng: random.Random) -> list[Chat]:
    """Return chats, some of them after a system message, which changes nothing in the replies."""
    return [
        replace(chat, turns=(("system", rng.choice(SYSTEM)), *chat.turns))
        if rng.random() < share
        else chat
        for chat in chats
    ]


class Manners:
    """Makes chats that are not about anything documented.

    Args:
        everything: What there is; examples in the answers are taken from it.
    """

    def __init__(self, everything: Sequence[Documented], rng: random.Random) -> None:
        self._examples = [e for e in everything if not e.owner and e.kind in ("function", "class")]
        self._modules = sorted({each.module for each in everything} - {"builtins"})
        self._names = {each.name for each in everything}
        self._rng = rng
        self._off_topic = list(off_topic())

    def _fill(self, template: str) -> str:
        example = self._rng.choice(self._examples)
        return template.format(n=example.name, m=self._rng.choice(self._modules))

    def greeting(self) -> Chat:
        """Return a chat that greets or asks who is there."""
        if self._rng.random() < 0.5:
            return asked(
                "greeting", self._rng.choice(GREETINGS), self._fill(self._rng.choice(WELCOMES))
            )
        return asked("greeting", self._rng.choice(WHO), self._fill(self._rng.choice(SELF)))

    def thanks(self) -> Chat:
        """Return a chat that only thanks."""
        return asked("greeting", *self._rng.choice(THANKS))

    def refusal(self) -> Chat:
        """Return a chat about something else."""
        template, fillers = self._rng.choice(self._off_topic)
        question = template.replace("{}", self._rng.choice(fillers)) if fillers else template
        if self._rng.random() < 0.15:
            question = question[:1].lower() + question[1:].rstrip(".?")
        return asked("refusal", question, self._fill(self._rng.choice(REFUSALS)))

    def unknown(self) -> Chat:
        """Return a question about a name that there is not: a module's with another's last part."""
        while True:
            name = f"{self._rng.choice(self._modules)}.{self._rng.choice(self._examples).short}"
            if self._rng.random() < 0.3:
                name = f"{self._rng.choice(self._examples).short}{self._rng.choice(_ENDINGS)}"
            if name not in self._names:
                break
        shown = name if self._rng.random() < 0.5 else f"`{name}`"
        question = self._rng.choice(_ASKING).format(x=shown)
        return asked("unknown", question, self._rng.choice(UNKNOWN).format(x=name))
