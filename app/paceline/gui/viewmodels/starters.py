"""Questions to begin with, suited to the pair that is loaded. Pure functions.

The demo pair has read Python's documentation and nothing else; whoever asks it about anything else
is disappointed. Other models are told apart by their names, which is all there is.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from paceline.catalog.curated import words_of

_CODERS = frozenset({"coder", "code", "codestral", "starcoder", "codegemma", "devstral"})


def starters(target_name: str, *, is_demo: bool) -> tuple[str, ...]:
    """Return four questions, the most telling first.

    Args:
        target_name: What the target is called; may be empty.
        is_demo: Whether it is the built-in one.
    """
    if is_demo:
        return (
            # In English whatever the interface speaks: the models know no other language.
            "How do I open a file?",
            "What does os.path.join do?",
            "Show me an example of a class.",
            "How do I use argparse?",
        )
    if words_of(target_name) & _CODERS:
        return (
            _tr("Write a function that finds the longest common prefix of a list of words."),
            _tr("Explain what a race condition is, with a short example."),
            _tr("Write unit tests for a function that parses dates."),
            _tr("Turn this loop into a comprehension: for x in xs: if x: ys.append(x * 2)"),
        )
    return (
        _tr("Explain speculative decoding as if to a friend, in five sentences."),
        _tr("Write a polite message that moves a meeting to next week."),
        _tr("Compare three ways to keep notes, as a table."),
        _tr("Write a small Python script that counts the words of a text file."),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Starters", text)
