"""Sentences of engine and catalogue in the language of the interface.

They are made where no translation is known, many of them in other processes. Each knows its English
template and its arguments (`paceline.sentence`), so here the same arguments are put into the
template's translation. Main thread.
"""

from __future__ import annotations

from typing import Any

from paceline.gui.kit.translation import translator, with_signs, with_unit
from paceline.names import visible
from paceline.sentence import Sentence, Wording

SENTENCES = "Sentences"
"""Context of the templates; `packaging/translations.py` collects them."""


def said(*texts: str) -> str:
    """Return what engine or catalogue say, such as a message and a hint, as the window says it.

    A text without arguments is its own template, as those are that old records keep. What has no
    translation, such as the words of a plug-in or of the system, stays as it is.
    """
    return visible(" ".join(_in_language(text) for text in texts if text))


def _in_language(text: str) -> str:
    if isinstance(text, Sentence):
        return _WORDING.put(_tr(text.template), text.arguments)
    return _tr(text)


class _Wording(Wording):
    """Numbers get the signs of the language, sentences their translations."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            words = _in_language(value) if isinstance(value, Sentence) else value
            return super().format_field(words, format_spec)
        words = super().format_field(value, format_spec)
        return with_unit(words) if format_spec in ("percent", "time") else with_signs(words)


_tr = translator(SENTENCES)
_WORDING = _Wording()
