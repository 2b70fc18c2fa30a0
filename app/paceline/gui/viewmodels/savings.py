"""Ways to make a pair fit into memory, in a few words for a button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from paceline.catalog.memory_values import Saving


def saving_title(saving: Saving) -> str:
    """Return what a button says; empty for what only the user can find, such as another model."""
    return {
        "draft-cache": _tr("Quantise the draft's cache"),
        "draft-on-cpu": _tr("Draft on the processor"),
        "draft-context": _tr("Shorten the draft's context"),
        "lookups": _tr("Use lookups, no draft model"),
    }.get(saving, "")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Savings", text)
