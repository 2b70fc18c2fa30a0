"""Search within the shown chat: hits are counted, and the user can step through them.

The messages' source is searched, so messages count that have no view, or are folded. A long chat is
searched in slices of a few milliseconds between two events, and marks are made with the views.
"""

from __future__ import annotations

import re
from time import perf_counter

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QTextEdit, QWidget
from shiboken6 import isValid

from paceline.chat.reply import Reply
from paceline.conversation import Conversation, Message
from paceline.gui.chat.markdown.found import phrase
from paceline.gui.chat.view import ChatPane
from paceline.gui.context import AppContext
from paceline.gui.kit.translation import local
from paceline.messages import StepCommitted

TURN_S = 0.004
"""Time slice for searching between two events."""
RECOUNT_MS = 200
"""Interval of counting the hits in a growing reply."""


class FindController(QObject):
    """Counts the hits of the shown chat and steps from one to the next; main thread."""

    def __init__(self, context: AppContext, pane: ChatPane, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._actions = context.actions
        self._pane, self._bar = pane, pane.find_bar
        self._shown_id = ""
        self._pattern: re.Pattern[str] | None = None
        self._path: tuple[Message, ...] = ()
        self._counts: list[int] = []  # hits of each message counted so far
        # The message of the current hit, and the hit's number there.
        self._place, self._number = 0, -1
        self._seeks = False
        self._came_from: QWidget | None = None
        self._scan = QTimer(self, singleShot=True, interval=0)
        self._scan.timeout.connect(self._on_scan)
        self._recount = QTimer(self, singleShot=True, interval=RECOUNT_MS)
        self._recount.timeout.connect(self._on_recount)
        bar, actions, signals = self._bar, context.actions, context.signals
        bar.field.textChanged.connect(self._on_text)
        bar.next.clicked.connect(self._on_next)
        bar.previous.clicked.connect(self._on_previous)
        bar.close_button.clicked.connect(self.close)
        actions.find.triggered.connect(self.open)
        actions.find_next.triggered.connect(self._on_next)
        actions.find_previous.triggered.connect(self._on_previous)
        context.shown.path_changed.connect(self._on_shown)
        signals.started.connect(self._on_reply)
        signals.grew.connect(self._on_grew)
        signals.ended.connect(self._on_reply)
        self._on_shown(context.shown.conversation)

    # ----------------------------------------------------------------------------- user actions

    @Slot()
    def open(self) -> None:
        """Show the bar; text selected in a message becomes the search text."""
        focus = QApplication.focusWidget()
        field = self._bar.field
        if self._bar.isHidden():
            self._came_from = focus
            self._place = self._pane.chat.first_seen()
            self._number = -1
            self._bar.show()
        if isinstance(focus, QTextEdit) and "\u2029" not in focus.textCursor().selectedText():
            selected = focus.createMimeDataFromSelection().text()  # in the form of the source
            if selected and len(selected) <= field.maxLength():
                field.setText(selected)
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()
        self._restart(seek=True)

    @Slot()
    def close(self) -> None:
        """Hide bar and marks, and restore the keyboard focus."""
        if self._bar.isHidden():
            return
        had_focus = self._bar.isAncestorOf(QApplication.focusWidget() or self._pane)
        self._bar.hide()
        self._restart()
        back, self._came_from = self._came_from, None
        if had_focus:
            is_there = back is not None and isValid(back) and back.isVisible()
            (back if is_there and back is not None else self._pane.composer).setFocus()

    @Slot()
    def _on_next(self) -> None:
        self._step(1)

    @Slot()
    def _on_previous(self) -> None:
        self._step(-1)

    @Slot()
    def _on_text(self) -> None:
        self._number = -1
        self._restart(seek=True)

    # -------------------------------------------------------------------------------- searching

    def _restart(self, *, seek: bool = False) -> None:
        """Count anew; with `seek`, go to the first hit from the current position on."""
        self._recount.stop()
        self._seeks = seek
        self._pattern = None if self._bar.isHidden() else phrase(self._bar.field.text())
        self._path = self._shown.conversation.path() if self._pattern is not None else ()
        self._counts = []
        self._pane.chat.mark(self._pattern)
        self._on_scan()

    @Slot()
    def _on_scan(self) -> None:
        until_s = perf_counter() + TURN_S
        while len(self._counts) < len(self._path) and perf_counter() < until_s:
            self._counts.append(self._n_hits(len(self._counts)))
        if len(self._counts) < len(self._path):
            self._scan.start()
        elif self._seeks and self._number < 0:
            self._step(1)
        elif self._place < len(self._counts) and 0 <= self._number < self._counts[self._place]:
            self._show_hit(seek=self._seeks)
        else:
            self._number = -1
        self._show_count()

    def _n_hits(self, place: int) -> int:
        message, active = self._path[place], self._session.active
        is_growing = active is not None and active.message_id == message.message_id
        text = active.text if is_growing and active is not None else message.text
        return sum(1 for _ in self._pattern.finditer(text)) if self._pattern is not None else 0

    def _step(self, step: int) -> None:
        """Go to the next or previous hit, around both ends.

        A closed bar is opened, with the last search text.
        """
        if self._bar.isHidden():
            self._actions.find.trigger()
            return
        n = len(self._path)
        if len(self._counts) < n or not any(self._counts):
            return
        place, number = min(self._place, n - 1), self._number + step
        while not 0 <= number < self._counts[place]:
            place = (place + step) % n
            number = 0 if step > 0 else self._counts[place] - 1
        self._place, self._number = place, number
        self._show_hit(seek=True)
        self._show_count()

    def _show_hit(self, *, seek: bool) -> None:
        self._pane.chat.show_hit(self._path[self._place].message_id, self._number, seek=seek)

    def _show_count(self) -> None:
        total = sum(self._counts)
        is_whole = len(self._counts) == len(self._path)
        if self._pattern is None:
            words = ""
        elif not is_whole:
            words = self.tr("{} so far…").format(f"{local(total):,}")
        elif not total:
            words = self.tr("Not found")
        else:
            at = sum(self._counts[: self._place]) + self._number + 1 if self._number >= 0 else 0
            words = self.tr("{} of {}").format(f"{local(at):,}", f"{local(total):,}")
        self._bar.show_count(words)
        for button in (self._bar.previous, self._bar.next):
            button.setEnabled(bool(total) and is_whole)

    # --------------------------------------------------------------------------- session events

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        self._actions.find.setEnabled(bool(conversation.messages))
        if conversation.conversation_id != self._shown_id:
            self._shown_id = conversation.conversation_id
            self.close()
        elif not self._bar.isHidden():
            self._restart()

    @Slot(object)
    def _on_reply(self, reply: Reply) -> None:
        """Count anew after a reply began or ended: messages or text have changed."""
        if reply.conversation_id == self._shown_id:
            self._actions.find.setEnabled(True)
            if not self._bar.isHidden():
                self._restart()

    @Slot(object, object)
    def _on_grew(self, reply: Reply, _step: StepCommitted) -> None:
        is_shown = reply.conversation_id == self._shown_id and self._pattern is not None
        if is_shown and not self._recount.isActive():
            self._recount.start()

    @Slot()
    def _on_recount(self) -> None:
        """Count the hits of the growing reply, which is the last message."""
        if self._counts and len(self._counts) == len(self._path):
            self._counts[-1] = self._n_hits(len(self._path) - 1)
            self._show_count()
