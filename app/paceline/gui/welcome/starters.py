"""Questions to start with, which suit the loaded model.

They contain most of their answers, so that lookups draft most of an answer with any instruct model.
Those for all models were tried with SmolLM2-135M, greedily, which follows them and ends by itself.
Code models are recognised by their names, since nothing else identifies them. The demo pair was
trained on Python's documentation alone, so its questions are about that.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from paceline.catalog.judge.curated import words_of
from paceline.gui.kit.translation import translator


class Starter(NamedTuple):
    """A question to start with: its name and its text."""

    title: str
    text: str


_tr = translator("Starters")
_CODERS = frozenset({"coder", "code", "codestral", "starcoder", "codegemma", "devstral"})
_FUNCTIONS = """```js
// Adds two numbers
function add(a, b) {
  return a + b;
}

// Subtracts two numbers
function subtract(a, b) {
  return a - b;
}

// Multiplies two numbers
function multiply(a, b) {
  return a * b;
}

// Divides two numbers
function divide(a, b) {
  return a / b;
}

// Returns the mean of two numbers
function average(a, b) {
  return (a + b) / 2;
}

// Returns the larger of two numbers
function larger(a, b) {
  return a > b ? a : b;
}
```"""
_SUMS = """```python
def add(a, b):
    return a + b


def add_all(numbers):
    total = 0
    for number in numbers:
        total = add(total, number)
    return total


def mean(numbers):
    return add_all(numbers) / len(numbers)
```"""
_TEN_LINES = """name = "Alder House"
city = "Boston"
address = "the road from the village to the lake"
breakfast = "from seven to ten in the morning"
dinner = "from six to nine in the evening"
bus = "every hour from the stop in front of the house to the station and back"
dogs = "only in the rooms on the ground floor, and never in the restaurant"
garden = "open for all guests until ten in the evening"
bicycles = "can be borrowed at the desk for one day without paying a deposit"
winter = "closed from the first of December to the last of February\""""


def starters(target_name: str, *, is_demo: bool) -> tuple[Starter, ...]:
    """Return four questions, the most impressive first.

    Args:
        target_name: The name of the target; may be empty.
        is_demo: Whether it is the built-in one.
    """
    if is_demo:
        asked = (
            "How do I open a file?",
            "What does os.path.join do?",
            "Show me an example of a class.",
            "How do I use argparse?",
        )
        return tuple(Starter(text, text) for text in asked)
    words = words_of(target_name)
    english = "smollm2" in words  # it knows no other language
    comments = _asked("Remove the comments from this code:", in_english=english)
    lines = _asked("Turn these ten lines into one JSON object:", in_english=english)
    code = Starter(_tr("Remove comments from code"), f"{comments}\n\n{_FUNCTIONS}")
    to_json = Starter(_tr("Turn ten lines into JSON"), f"{lines}\n\n{_TEN_LINES}")
    if words & _CODERS:
        rename = _asked(
            "Rename the function add to plus, and write all of the code again:", in_english=english
        )
        hints = _asked(
            "Add type hints to this code, and write all of it again:", in_english=english
        )
        return (
            code,
            Starter(_tr("Rename a function"), f"{rename}\n\n{_SUMS}"),
            to_json,
            Starter(_tr("Add type hints to code"), f"{hints}\n\n{_SUMS}"),
        )
    correct = _asked(
        "Begin every sentence of this paragraph with a capital letter:\n\n"
        "thank you for your letter of the third of May. the two chairs that you ordered were sent "
        "on Monday, and they should arrive within five days. the table is not in stock at the "
        "moment. it will be sent in the last week of June, together with the two lamps and the "
        "mirror from your second order. if you do not want to wait for the table, please write to "
        "us before the end of the month, and we will send the money back to your account. we are "
        "sorry for the delay, and we hope that you will enjoy the chairs.",
        in_english=english,
    )
    quote = _asked(
        "Quote what this page says about the opening hours:\n\n"
        "The library is open from nine in the morning until seven in the evening from Monday to "
        "Friday, and from ten in the morning until four in the afternoon on Saturday. It is "
        "closed on Sunday and on the first Monday of each month. In July and August it closes two "
        "hours earlier, and the reading room is open only in the morning.\n"
        "A card for the library costs twelve euros a year. For students the card is free.\n"
        "Every reader may borrow ten books for four weeks. For each day that a book is late, the "
        "reader pays twenty cents.",
        in_english=english,
    )
    return (
        code,
        to_json,
        Starter(_tr("Correct a paragraph"), correct),
        Starter(_tr("Quote from a page"), quote),
    )


def _asked(text: str, *, in_english: bool) -> str:
    """Return a question in the language of the window, or as it is."""
    return text if in_english else QCoreApplication.translate("Starters", text)
