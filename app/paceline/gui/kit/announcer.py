"""Reads a growing reply aloud in sentences, for users of screen readers.

A screen reader that is notified of every change of a text reads half words many times a second. So
complete sentences are announced, politely and at most every two seconds, without markup.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

ANNOUNCE_MS = 2_000
_END = re.compile(r"[.!?…。！？:;](?=[\s\"')\]*_]|$)|\n")
_FENCE = re.compile(r"^\s*(```|~~~).*$", re.MULTILINE)
_AT_START = re.compile(r"^\s{0,3}(#{1,6}\s+|>\s?|[-*+]\s+)|\|", re.MULTILINE)
_AROUND = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


class Announcer(QObject):
    """Announcer of the new text of a reply, and of its end."""

    said = Signal(str)

    def __init__(self, speaker: QObject) -> None:
        super().__init__(speaker)
        self._speaker = speaker
        self._text = ""
        self._at = 0
        self._timer = QTimer(self, singleShot=True, interval=ANNOUNCE_MS)
        self._timer.timeout.connect(self._on_due)

    def begin(self, text: str = "") -> None:
        """Start with another reply; the text that it already has is not announced."""
        self._timer.stop()
        self._text, self._at = text, len(text)

    def update(self, text: str) -> None:
        """Receive the whole source of the reply as it is now."""
        self._text = text
        if not self._timer.isActive():
            self._timer.start()

    def finish(self, words: str) -> None:
        """Announce the rest, then how the reply ended."""
        self._timer.stop()
        rest = spoken(self._text[self._at :])
        self._at = len(self._text)
        self._say(f"{rest} {words}".strip())

    def stop(self) -> None:
        """Announce nothing more."""
        self._timer.stop()
        self._text, self._at = "", 0

    @Slot()
    def _on_due(self) -> None:
        end = last_end(self._text, self._at)
        if end > self._at:
            words = spoken(self._text[self._at : end])
            self._at = end
            if words:
                self._say(words)

    def _say(self, words: str) -> None:
        self.said.emit(words)
        if QAccessible.isActive():
            event = QAccessibleAnnouncementEvent(self._speaker, words)
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Polite)
            QAccessible.updateAccessibility(event)


def last_end(text: str, start: int) -> int:
    """Return the end of the last whole sentence or line after `start`, or `start` without one."""
    end = start
    for found in _END.finditer(text, start):
        if found.end() < len(text) or found[0] == "\n":  # "3." may become "3.5"
            end = found.end()
    return end


def spoken(text: str) -> str:
    """Return Markdown as it is read aloud: without its markup."""
    text = _LINK.sub(r"\1", _FENCE.sub(" ", text))
    return " ".join(_AROUND.sub("", _AT_START.sub(" ", text)).split())
