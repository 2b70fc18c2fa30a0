"""Sentences of engine and catalogue in the language of the interface.

They are made where no translation is available, many of them in other processes. Each has its
English template and its arguments (`paceline.sentence`), so here the same arguments are put into
the template's translation. Main thread.
"""

from __future__ import annotations

from typing import Any

from paceline.gui.kit.translation import translator, with_signs, with_unit
from paceline.names import visible
from paceline.sentence import Sentence, Wording

SENTENCES = "Sentences"
"""Context of the templates; `packaging/translations.py` collects them."""


def said(*texts: str) -> str:
    """Translate texts of engine or catalogue, such as a message and a hint, and join them.

    A text without arguments is its own template; so are those that old records keep. A text without
    a translation, such as the words of a plug-in or of the system, stays as it is.
    """
    return visible(" ".join(_in_language(text) for text in texts if text))


def _in_language(text: str) -> str:
    if isinstance(text, Sentence):
        return _WORDING.put(_tr(text.template), text.arguments)
    return _tr(text)


class _Wording(Wording):
    """Formatting in the window's language: signs of numbers, translations of sentences."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            words = _in_language(value) if isinstance(value, Sentence) else value
            return super().format_field(words, format_spec)
        words = super().format_field(value, format_spec)
        return with_unit(words) if format_spec in ("percent", "time") else with_signs(words)


_tr = translator(SENTENCES)
_WORDING = _Wording()
