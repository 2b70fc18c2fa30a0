"""Keeps what has the keyboard in sight."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea, QWidget


def scroll_to(widget: QWidget | None) -> None:
    """Scroll all areas around a widget so that it is seen.

    Qt does this for a step of the keyboard within a scroll area, but not for one into it.
    """
    above = widget.parentWidget() if widget is not None else None
    while above is not None:
        if isinstance(above, QScrollArea) and widget is not None:
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
