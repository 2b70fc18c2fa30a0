"""Tasks that change a little in code and leave the rest: renaming, docstrings, comments."""

from __future__ import annotations

import builtins
import io
import keyword
import random
import re
import tokenize
from collections.abc import Callable, Sequence

from demo_pair.chats.chat import Chat, asked
from demo_pair.chats.words import word_list

RENAMING = (
    "Rename `{a}` to `{b}` in this code:", "Rename {a} to {b}:", "Call `{a}` `{b}` instead:",
    "Rename the variable {a} to {b} in this code, and change nothing else.",
    "Replace the name `{a}` by `{b}` everywhere in this code.",
    "In this code, `{a}` should be called `{b}`.", "Change the identifier {a} to {b} below.",
    "Please rename `{a}` to `{b}` and leave everything else as it is.",
    "Refactor: {a} becomes {b}.", "I'd like `{a}` to be named `{b}`. Change the code.",
)  # fmt: skip
DOCSTRING = (
    "Add the docstring “{d}” to this function:", "Give this function the docstring “{d}”.",
    "Insert this docstring: “{d}”", "Document this function with “{d}”",
)  # fmt: skip
SPELLING = (
    "Fix the spelling mistake in the docstring:", "There is a typo in the docstring. Correct it.",
    "Correct the docstring's spelling and change nothing else.",
)  # fmt: skip
NO_COMMENTS = (
    "Remove the comments from this code:", "Delete all comments:", "This code without comments?",
)  # fmt: skip
NEW_NAMES = word_list("new_names")
_NAME = re.compile(r"\b[A-Za-z_][A-Za-z_0-9]{2,}\b")
_DEF = re.compile(r"^( *)def \w+\([^\n]*\)(?: -> [^\n:]+)?:\n(?! *(?:\"|'|r\"))", re.MULTILINE)
_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"self", "cls", "python"}


class Editing:
    """Makes such tasks from the documentation's code."""

    def __init__(self, codes: Sequence[str], briefs: Sequence[str], rng: random.Random) -> None:
        self._codes = [code for code in codes if 60 < len(code) < 1_100 and names_in(code)]
        self._functions = [code for code in self._codes if _DEF.search(code) and ">>>" not in code]
        self._commented = [
            c for c in self._codes if "#" in c and without_comments(c) not in ("", c)
        ]
        self._briefs = [b for b in briefs if 20 < len(b) < 75 and '"' not in b and "\\" not in b]
        self._rng = rng
        self._makers: list[tuple[Callable[[], Chat | None], int]] = [
            (self._rename, 14),
            (self._docstring, 3 if self._functions else 0),
            (self._spelling, 2 if self._functions else 0),
            (self._comments, 2 if self._commented else 0),
        ]

    def make(self) -> Chat:
        """Return one task."""
        makers = [maker for maker, _ in self._makers]
        weights = [weight for _, weight in self._makers]
        while True:
            chat = self._rng.choices(makers, weights)[0]()
            if chat is not None:
                return chat

    def _varied(self, code: str) -> str:
        """Return code with a few names exchanged, so that it cannot be known by heart."""
        names = names_in(code)
        for name in self._rng.sample(names, min(len(names), self._rng.choice((0, 1, 2)))):
            new = self._rng.choice(NEW_NAMES)
            if not re.search(rf"\b{new}\b", code):
                code = renamed(code, name, new)
        return code

    def _asked(self, templates: Sequence[str], given: str, answer: str, **words: str) -> Chat:
        question = self._rng.choice(templates).format(**words)
        code = f"```python\n{given}\n```"
        return asked("edit", f"{question}\n\n{code}", f"```python\n{answer}\n```")

    def _rename(self) -> Chat | None:
        code = self._varied(self._rng.choice(self._codes))
        names = names_in(code)
        if not names:
            return None
        old, new = self._rng.choice(names), self._rng.choice(NEW_NAMES)
        if self._rng.random() < 0.2:
            new = f"{new}_{self._rng.choice(NEW_NAMES)}"
        if re.search(rf"\b{new}\b", code):
            return None
        chat = self._asked(RENAMING, code, renamed(code, old, new), a=old, b=new)
        if self._rng.random() < 0.15 and (others := [n for n in names if n != old]):
            second, third = self._rng.choice(others), self._rng.choice(NEW_NAMES)
            edited = renamed(code, old, new)
            if not re.search(rf"\b{third}\b", edited):
                ask = f"Now rename `{second}` to `{third}`, too."
                last = f"```python\n{renamed(edited, second, third)}\n```"
                return asked("edit", *(text for _, text in chat.turns), ask, last)
        return chat

    def _docstring(self) -> Chat | None:
        code = self._varied(self._rng.choice(self._functions))
        text = self._rng.choice(self._briefs)
        return self._asked(DOCSTRING, code, with_docstring(code, text), d=text)

    def _spelling(self) -> Chat | None:
        code = self._varied(self._rng.choice(self._functions))
        text = self._rng.choice(self._briefs)
        words = [word for word in text.split() if word.isalpha() and len(word) > 4]
        if not words:
            return None
        word = self._rng.choice(words)
        at = self._rng.randrange(1, len(word) - 2)
        wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if wrong == word:
            return None
        given = with_docstring(code, text.replace(word, wrong, 1))
        return self._asked(SPELLING, given, with_docstring(code, text))

    def _comments(self) -> Chat | None:
        code = self._varied(self._rng.choice(self._commented))
        return self._asked(NO_COMMENTS, code, without_comments(code))


def names_in(code: str) -> list[str]:
    """Return the identifiers that occur at least twice and are not the language's own."""
    found = [name for name in _NAME.findall(code) if name not in _KEPT]
    return sorted({name for name in found if found.count(name) > 1 and len(name) < 25})


def renamed(code: str, old: str, new: str) -> str:
    """Return code with a word replaced wherever it stands on its own."""
    return re.sub(rf"\b{re.escape(old)}\b", new, code)


def with_docstring(code: str, text: str) -> str:
    """Return code whose first function without one has a docstring."""
    return _DEF.sub(lambda m: f'{m[0]}{m[1]}    """{text}"""\n', code, count=1)


def without_comments(code: str) -> str:
    """Return code without comments and without lines that had only comments; empty: no Python."""
    lines = code.splitlines()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return ""
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            kept = lines[row - 1][:column].rstrip()
            lines[row - 1] = kept if kept else "\x00"
    return "\n".join(line for line in lines if line != "\x00").strip("\n")
