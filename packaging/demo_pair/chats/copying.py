"""Tasks whose reply repeats what was given: quoting, lists, passages of a text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from demo_pair.chats.chat import Chat, asked
from demo_pair.corpus.prose import sentences

WHOLE = (
    "Repeat this text exactly:", "Quote the following:", "Copy this:", "Repeat after me:",
    "Repeat the following text word for word.", "Please repeat this without any change.",
    "Write this down again, word for word.", "Say exactly this:", "Print the text below.",
    "Quote this passage word for word:", "Give me back this text, unchanged:", "Echo this:",
    "Reproduce the following text exactly.",
)  # fmt: skip
CODE = (
    "Repeat this code exactly:", "Copy this code:", "Print this code unchanged.",
    "Quote the following code:", "Write this code down again, without any change.",
    "Give me this code back as it is.",
)  # fmt: skip
LISTS = ("Repeat this list:", "Copy this list.", "Say this list again, in the same order:")
REVERSED = ("Reverse this list:", "Repeat this list from the last entry to the first:")
SORTED = ("Sort this list alphabetically:", "Put this list in alphabetical order:")
NUMBERED = ("Number the entries of this list:", "Make this a numbered list:")
FIRST = ("Quote the first sentence of this text:", "What is the first sentence here?")
LAST = ("Quote the last sentence of this text:", "Repeat only the last sentence:")
WITH = ("Quote the sentence that has the word “{w}”:", "Which sentence here has the word “{w}”?")
LOUD = ("Write this in capital letters:", "Put this into upper case:")


class Copying:
    """Makes such tasks from paragraphs, code and names of the documentation."""

    def __init__(
        self, paragraphs: Sequence[str], codes: Sequence[str], names: Sequence[str],
        rng: random.Random,
    ) -> None:  # fmt: skip
        self._paragraphs = [p for p in paragraphs if 80 < len(p) < 700]
        self._passages = [p for p in self._paragraphs if len(sentences(p)) > 2]
        self._codes = [code for code in codes if 40 < len(code) < 900]
        self._names = list(names)
        self._rng = rng
        self._makers: list[tuple[Callable[[], Chat], int]] = [
            (self._code, 4 if self._codes else 0), (self._passage, 3 if self._passages else 0),
            (self._whole, 8), (self._two, 3), (self._list, 3),
            (self._loud, 1), (self._again, 3), (self._mixed, 6), (self._words, 3),
        ]  # fmt: skip

    def make(self) -> Chat:
        """Return one task."""
        makers = [maker for maker, _ in self._makers]
        weights = [weight for _, weight in self._makers]
        return self._rng.choices(makers, weights)[0]()

    def _ask(self, templates: Sequence[str], given: str, answer: str, kind: str = "quote") -> Chat:
        template = self._rng.choice(templates)
        if self._rng.random() < 0.15:
            return asked(kind, f"{given}\n\n{template.rstrip(':')}", answer)
        return asked(kind, f"{template}\n\n{given}", answer)

    def _whole(self) -> Chat:
        text = self._rng.choice(self._paragraphs)
        return self._ask(WHOLE, text, text)

    def _two(self) -> Chat:
        text = "\n\n".join(self._rng.sample(self._paragraphs, self._rng.choice((2, 2, 3))))
        return self._ask(WHOLE, text, text)

    def _code(self) -> Chat:
        code = f"```python\n{self._rng.choice(self._codes)}\n```"
        return self._ask(CODE, code, code)

    def _mixed(self) -> Chat:
        """Sentences that do not belong together: only what was given says how it goes on."""
        chosen = self._rng.sample(self._paragraphs, self._rng.randint(2, 6))
        text = " ".join(self._rng.choice(sentences(each)) for each in chosen)
        return self._ask(WHOLE, text, text)

    def _words(self) -> Chat:
        """Words in no order at all."""
        words = " ".join(self._rng.sample(self._paragraphs, 4)).split()
        text = " ".join(self._rng.sample(words, min(len(words), self._rng.randint(4, 40))))
        return self._ask(WHOLE, text, text)

    def _list(self) -> Chat:
        chosen = self._rng.sample(self._names, self._rng.randint(3, 14))
        lines = "\n".join(f"- {name}" for name in chosen)
        tasks = (
            (LISTS, lines),
            (REVERSED, "\n".join(f"- {name}" for name in reversed(chosen))),
            (SORTED, "\n".join(f"- {name}" for name in sorted(chosen))),
            (NUMBERED, "\n".join(f"{n}. {name}" for n, name in enumerate(chosen, 1))),
        )
        # Sorting is hard for a model of this size: only short lists.
        templates, answer = self._rng.choice(tasks if len(chosen) < 7 else (tasks[0], tasks[3]))
        return self._ask(templates, lines, answer, "list")

    def _passage(self) -> Chat:
        text = self._rng.choice(self._passages)
        found = sentences(text)
        words = [w for w in text.split() if w.isalpha() and len(w) > 5 and text.count(w) == 1]
        if words and self._rng.random() < 0.5:
            word = self._rng.choice(words)
            answer = next(s for s in found if word in s)
            return self._ask([t.format(w=word) for t in WITH], text, answer)
        if self._rng.random() < 0.5:
            return self._ask(FIRST, text, found[0])
        return self._ask(LAST, text, found[-1])

    def _loud(self) -> Chat:
        text = sentences(self._rng.choice(self._paragraphs))[0]
        return self._ask(LOUD, text, text.upper())

    def _again(self) -> Chat:
        """A text is repeated twice: what is quoted may be the model's own words."""
        text = self._rng.choice(self._paragraphs)
        first = self._ask(WHOLE, text, text)
        again = self._rng.choice(("Again, please.", "Repeat that.", "Once more.", "And again."))
        return asked("quote", first.turns[0][1], text, again, text)
