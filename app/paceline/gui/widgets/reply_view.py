"""One reply: a status before the first token, the text, an error if there was one, the figures.

`append` only collects; `flush` writes. Who calls `flush` and how often is the chat view's business.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.widgets.message_view import MessageView
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks
from paceline.gui.widgets.stats_label import StatsLabel

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.sources import Sources
    from paceline.messages import TokenTrace


class ReplyView(QWidget):
    """A reply that may still be growing."""

    flush_wanted = Signal(object)
    """Carries the reply; asks for `flush` soon."""
    link_activated = Signal(str)
    copy_requested = Signal(str)
    regenerate_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self._is_finished = False
        self._is_growing = True
        self._was_flushed = False
        self._is_dirty = False
        self._is_theme_due = False
        self._is_last = False
        self._stats = self._details = ""

        self._status = QLabel()
        self._status.setProperty("role", "muted")
        self._status.hide()
        self._body = MessageView(theme)
        self._body.setAccessibleName(self.tr("Reply"))
        self._body.link_activated.connect(self.link_activated)
        self._body.copy_requested.connect(self.copy_requested)
        self._body.hide()
        self._error: QLabel | None = None
        self._footer = self._make_footer()

        layout = self._rows = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for widget in (self._status, self._body, self._footer):
            layout.addWidget(widget)

    def _make_error(self) -> QLabel:
        frame = QFrame()
        frame.setProperty("kind", "notice")
        frame.setProperty("tone", "danger")
        label = BreakingLabel()
        label.setTextFormat(Qt.TextFormat.RichText)
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.addWidget(label)
        self._rows.insertWidget(self._rows.indexOf(self._footer), frame)
        return label

    def _make_footer(self) -> QWidget:
        footer = QWidget()
        self._stats_label = StatsLabel()
        self._copy = self._make_action(self.tr("Copy"), self.tr("Copy the reply"))
        self._copy.clicked.connect(self._on_copy_clicked)
        self._regenerate = self._make_action(
            self.tr("Regenerate"), self.tr("Generate this reply again")
        )
        self._regenerate.clicked.connect(self.regenerate_requested)
        self._regenerate.hide()
        layout = QHBoxLayout(footer)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._stats_label, 1)
        layout.addWidget(self._copy)
        layout.addWidget(self._regenerate)
        footer.hide()
        return footer

    @staticmethod
    def _make_action(text: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "link")
        button.setText(text)
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    # ----------------------------------------------------------------------------- state

    @property
    def text(self) -> str:
        """The reply's Markdown as received, also what is not shown yet."""
        return self._text

    @property
    def plain_text(self) -> str:
        """What can be read on the screen, without markup."""
        self.flush()
        return self._body.toPlainText()

    @property
    def body(self) -> MessageView:
        """The text's view."""
        return self._body

    @property
    def status_text(self) -> str:
        """What is said in place of the text; empty: nothing."""
        return "" if self._status.isHidden() else self._status.text()

    def set_status(self, text: str) -> None:
        """Say what happens before the first token; the first token hides it."""
        self._status.setText(text)
        self._status.setVisible(bool(text))

    def append(
        self,
        text: str,
        traces: tuple[TokenTrace, ...],
        *,
        step: int = 0,
        n_drafted: int = 0,
        sources: Sources | None = None,
    ) -> None:
        """Take what one step added; shown at the next flush.

        Args:
            text: What the reply gained; may be empty.
            traces: The step's tokens, with their ends in the final text.
            step: The step's number.
            n_drafted: How many tokens were drafted in it, for the hover text.
            sources: What the drafters are called, and their colours.
        """
        self._text += text
        self._body.content.provenance.add(traces, step, n_drafted, sources)
        if text:
            self._is_dirty = True
            self.flush_wanted.emit(self)

    def finish(self, text: str) -> None:
        """The reply is complete; this is its text."""
        self._text = text
        self._is_finished = True
        self._is_growing = False
        self._is_dirty = True
        if self._was_flushed:
            self.flush()
        else:
            # From the store: many may come at once, and each is rendered when there is time.
            self.flush_wanted.emit(self)

    def flush(self) -> None:
        """Show everything that came so far."""
        if self._is_theme_due:
            self._is_theme_due = False
            self._body.set_theme(self._theme)
        if not self._is_dirty:
            return
        self._is_dirty = False
        self._was_flushed = True
        if self._text and self._body.isHidden():
            self.set_status("")
        self._body.setVisible(bool(self._text))
        self._body.set_caret(self._is_growing)
        if self._is_finished:
            self._body.show_final(self._text)
            self._show_footer()
        else:
            self._body.show_growing(self._text)

    # ------------------------------------------------------------------------ below the text

    def set_stats(self, text: str, tooltip: str = "") -> None:
        """The line below the reply.

        Args:
            text: Rich text; ``<b>`` is in the text colour, ``<em>`` a gain, ``<del>`` a loss.
            tooltip: More of the same, on hover.
        """
        self._stats = text
        theme = self._theme
        self._details = tooltip
        shown = text
        for tag, colour in (("em", theme.accent), ("b", theme.text), ("del", theme.danger)):
            start = f'<span style="color:{colour};font-weight:600">'
            shown = shown.replace(f"<{tag}>", start).replace(f"</{tag}>", "</span>")
            text = text.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
        self._stats_label.set_parts(shown)
        self._stats_label.setToolTip(f"{text}\n{tooltip}".strip())
        self._show_footer()

    def _show_footer(self) -> None:
        self._copy.setVisible(bool(self._text))
        self._regenerate.setVisible(self._is_last)
        self._footer.setVisible(bool(self._text or self._stats) or self._is_last)

    def set_error(self, message: str, hint: str) -> None:
        """Say that the reply failed; what was received stays."""
        self._is_growing = False
        self.flush()
        self.set_status("")
        self._body.set_caret(False)
        if self._error is None:
            self._error = self._make_error()
        lines = [f"<b>{escape(with_soft_breaks(message))}</b>", escape(with_soft_breaks(hint))]
        self._error.setText("<br>".join(line for line in lines if line))
        self._show_footer()

    def set_can_regenerate(self, on: bool) -> None:  # noqa: FBT001
        """Offer to generate the reply again: only for the last one."""
        self._is_last = on
        self._regenerate.setVisible(on)

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        self._theme = theme
        self._is_theme_due = True
        self.flush_wanted.emit(self)  # building a long conversation again takes a while
        if self._stats:
            self.set_stats(self._stats, self._details)

    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide where each token came from."""
        self._body.set_token_colours(on)

    @Slot()
    def _on_copy_clicked(self) -> None:
        self.copy_requested.emit(self._text)
