"""A reply's reasoning: one line that says how long it took, and the text when it is unfolded.

While it is folded nothing of it is rendered: a long reasoning costs no more than its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from paceline.gui.widgets.copy_button import CopyButton
from paceline.gui.widgets.fold_header import FoldHeader
from paceline.gui.widgets.message_paint import find_words
from paceline.gui.widgets.message_view import MessageView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from paceline.gui.theme import Theme
    from paceline.gui.widgets.provenance import Provenance

_LINE_PX, _INDENT_PX, _GAP_PX = 2, 18, 6


class ReasoningBlock(QWidget):
    """One stretch of reasoning; as high as what it shows."""

    height_changed = Signal()
    link_activated = Signal(str)
    copy_requested = Signal(str)
    code_save_requested = Signal(str, str)

    def __init__(self, theme: Theme, provenance: Provenance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._provenance = provenance
        self._source = ""
        self._base = 0
        self._is_growing = True
        self._has_token_colours = True
        self._is_theme_due = False
        self._was_chosen = False
        self._view: MessageView | None = None
        self._header = FoldHeader(theme, self)
        self._header.toggled.connect(self._on_toggled)
        self._header.clicked.connect(self._on_clicked)
        self._copy = CopyButton(self)
        self._copy.setAccessibleName(self.tr("Copy the reasoning"))
        self._copy.copy_requested.connect(self.copy_requested)
        self._copy.hide()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_time(None)

    # ----------------------------------------------------------------------------- state

    @property
    def header(self) -> FoldHeader:
        """The line that unfolds the text."""
        return self._header

    @property
    def view(self) -> MessageView | None:
        """The text's view; None before it was unfolded."""
        return self._view

    @property
    def is_open(self) -> bool:
        """Whether the text is shown."""
        return self._header.isChecked()

    def unfold(self) -> None:
        """Show the text, unless the user has decided already."""
        if not self._was_chosen:
            self._header.setChecked(True)

    def set_time(self, seconds: float | None) -> None:
        """Say how long it took, or takes so far; None: nobody knows."""
        if self._is_growing:
            words = self.tr("Thinking… {:.0f} s") if seconds else self.tr("Thinking…")
        elif seconds is None:
            words = self.tr("Reasoning")
        elif seconds < 60:
            words = self.tr("Thought for {:.1f} s")
        else:
            words = self.tr("Thought for {minutes} min {seconds} s")
        minutes, rest = divmod(round(seconds or 0), 60)
        text = words.format(seconds or 0, minutes=minutes, seconds=rest)
        if text != self._header.text():
            self._header.setText(text)
            self._arrange()

    def show_source(self, source: str, base: int, *, is_growing: bool, is_final: bool) -> None:
        """Show Markdown.

        Args:
            source: It.
            base: Where in the reply it begins.
            is_growing: Whether the reasoning goes on.
            is_final: Whether the reply is complete.
        """
        is_same = source == self._source and base == self._base
        if is_same and is_growing == self._is_growing and not is_final:
            return
        self._source, self._base, self._is_growing = source, base, is_growing
        self._copy.set_code(None if is_growing else source.strip())
        self._copy.setVisible(self.is_open and not is_growing)
        if self.is_open:
            self._render()

    def _render(self) -> None:
        view = self._view
        if view is None:
            view = self._view = MessageView(
                self._theme, self, provenance=self._provenance, is_muted=True
            )
            view.setAccessibleName(self.tr("Reasoning"))
            view.set_token_colours(self._has_token_colours)
            view.height_changed.connect(self._arrange)
            view.link_activated.connect(self.link_activated)
            view.copy_requested.connect(self.copy_requested)
            view.code_save_requested.connect(self.code_save_requested)
        elif self._is_theme_due:
            view.set_theme(self._theme)
        self._is_theme_due = False
        view.show_part(self._source, self._base, is_final=not self._is_growing)
        view.set_caret(self._is_growing)
        view.show()
        self._arrange()

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        self._theme = theme
        self._header.set_theme(theme)
        self._is_theme_due = self._view is not None
        if self.is_open:
            self._render()
        self._arrange()

    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide where each token came from."""
        self._has_token_colours = on
        if self._view is not None:
            self._view.set_token_colours(on)

    def mark_words(self, words: Sequence[str], *, unfold: bool) -> bool:
        """Mark words for a while, unfolding the text for one if asked; tell if one is there."""
        if unfold and not self.is_open and find_words(self._source, words):
            self._header.setChecked(True)
        return self.is_open and self._view is not None and self._view.mark_words(words)

    # -------------------------------------------------------------------------- geometry

    @Slot()
    def _arrange(self) -> None:
        size = self._header.sizeHint()
        self._header.setGeometry(0, 0, min(size.width(), max(self.width(), 1)), size.height())
        height = size.height()
        button = self._copy.sizeHint()
        top = (size.height() - button.height()) // 2
        self._copy.setGeometry(self.width() - button.width(), top, button.width(), button.height())
        if self.is_open and self._view is not None:
            top = height + _GAP_PX
            width = max(1, self.width() - _INDENT_PX)
            self._view.setGeometry(_INDENT_PX, top, width, self._view.height())
            height = top + self._view.height() + _GAP_PX
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the text the whole width."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A line at the left of the text."""
        if self.is_open:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.line_strong))
            top = self._header.height() + _GAP_PX
            painter.drawRoundedRect(QRectF(6, top, _LINE_PX, self.height() - top - _GAP_PX), 1, 1)

    # ---------------------------------------------------------------------------- events

    @Slot()
    def _on_clicked(self) -> None:
        self._was_chosen = True

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:  # noqa: FBT001
        self._copy.setVisible(on and not self._is_growing)
        if on:
            self._render()
        elif self._view is not None:
            self._view.hide()
        self._arrange()
