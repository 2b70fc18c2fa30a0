"""Questions to begin with, suited to the pair that is loaded. Pure functions.

The demo pair has read Python's documentation and nothing else; whoever asks it about anything else
is disappointed. Other models get questions whose replies repeat themselves in different ways, so
that one sees who drafts what, and one whose reply does not: with SmolLM2-135M, greedily and under
Auto, they ran at 1.20, 1.12, 1.00 and 1.08 times plain decoding (AVX-512, one thread). Models for
code are told apart by their names, which is all there is.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from paceline.catalog.curated import words_of

_CODERS = frozenset({"coder", "code", "codestral", "starcoder", "codegemma", "devstral"})
_IN_ENGLISH = (
    "Write a JSON list of four cities, each with name, country and population.",
    "Write Python functions that add, subtract, multiply and divide two numbers.",
    "Explain what a lighthouse is.",
    "Write a Python class Point with methods to add, subtract and compare points.",
)


class Starter(NamedTuple):
    """One question, and what to look at in its reply; empty: nothing in particular."""

    text: str
    look: str = ""


def starters(target_name: str, *, is_demo: bool) -> tuple[Starter, ...]:
    """Return four questions, the most telling first.

    Args:
        target_name: What the target is called; may be empty.
        is_demo: Whether it is the built-in one.
    """
    if is_demo:
        return (
            # In English whatever the interface speaks: the models know no other language.
            Starter("How do I open a file?"),
            Starter("What does os.path.join do?"),
            Starter("Show me an example of a class."),
            Starter("How do I use argparse?"),
        )
    if words_of(target_name) & _CODERS:
        return (
            Starter(
                _tr(
                    "Rename the function add to plus and write all of it again:\n\n"
                    "def add(a, b):\n    return a + b\n\n"
                    "def add_all(numbers):\n    total = 0\n    for number in numbers:\n"
                    "        total = add(total, number)\n    return total"
                ),
                _tr("The code comes back from your own message."),
            ),
            Starter(
                _tr("Write unit tests for a function that parses dates."),
                _tr("Every test begins like the one before."),
            ),
            Starter(
                _tr("Write a Python dictionary of the months and their number of days."),
                _tr("Lines of one form: drafts of a few tokens."),
            ),
            Starter(
                _tr("Explain what a race condition is, with a short example."),
                _tr("Free text: little to draft from."),
            ),
        )
    looks = (
        _tr("Field names repeat, so lookups draft them."),
        _tr("Each function begins like the one before."),
        _tr("Free text: little to draft from, so plain speed."),
        _tr("Drafts of a few tokens, here and there."),
    )
    texts = _IN_ENGLISH
    if "smollm2" not in words_of(target_name):  # which knows no other language
        texts = (
            _tr("Write a JSON list of four cities, each with name, country and population."),
            _tr("Write Python functions that add, subtract, multiply and divide two numbers."),
            _tr("Explain what a lighthouse is."),
            _tr("Write a Python class Point with methods to add, subtract and compare points."),
        )
    return tuple(map(Starter, texts, looks))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Starters", text)
