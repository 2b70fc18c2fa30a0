"""Ways to make a pair fit into memory, in a few words for a button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from paceline.catalog.memory_values import Saving


def saving_title(saving: Saving) -> str:
    """Return what a button says; empty for what only the user can find, such as another model."""
    texts = {
        "draft-cache": "Quantise the draft's cache",
        "draft-on-cpu": "Draft on the processor",
        "draft-context": "Shorten the draft's context",
        "lookups": "Use lookups, no draft model",
    }
    text = texts.get(saving, "")
    return QCoreApplication.translate("savings", text) if text else ""
