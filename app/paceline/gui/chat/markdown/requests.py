"""What the texts of messages ask of the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class MessageRequests(QObject):
    """One object for a whole conversation, so that no part has to pass its signals on."""

    link_activated = Signal(str)
    """An http or https address; whether it is opened is for the receiver to ask."""
    code_save_requested = Signal(str, str)
    """A block's language as the author named it, and its code."""
    code_wrap_requested = Signal()
    """Long lines of code are to be shown the other way."""
