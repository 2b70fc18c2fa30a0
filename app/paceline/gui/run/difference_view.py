"""Two texts side by side, with their differences marked."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFrame, QTextBrowser

from paceline.chat.difference import Difference, as_table
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import mono_font


class DifferenceView(QTextBrowser):
    """View of a comparison that steps from one difference to the next.

    Attributes:
        difference: The shown comparison.
    """

    def __init__(self) -> None:
        super().__init__(openLinks=False)
        self.difference = Difference((), 0)
        self._at = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(self.tr("Both texts, row by row"))
        look.follow(self._render)

    def show_difference(self, difference: Difference) -> None:
        """Show two texts from their beginning."""
        self.difference, self._at = difference, 0
        self._render()

    def go(self, step: int) -> int:
        """Scroll to another difference; after the last one comes the first.

        Returns:
            The number of the difference, from 1; 0 if there is none.
        """
        n = self.difference.n_changes
        if n:
            self._at = n if self._at + step < 1 else 1 if self._at + step > n else self._at + step
            self.scrollToAnchor(f"change-{self._at}")
        return self._at

    @Slot()
    def _render(self) -> None:
        theme, document = look.theme, self.document()
        family = mono_font().family()
        document.setDefaultStyleSheet(
            f"td {{ padding: {px(3)}px {px(10)}px; vertical-align: top; }}"
            f".code {{ font-family: '{family}'; white-space: pre-wrap; padding: 0 {px(10)}px; }}"
            f".gone {{ background: {theme.danger_soft}; text-decoration: line-through; }}"
            f".new {{ background: {theme.accent_soft}; text-decoration: underline; }}"
        )
        document.setDocumentMargin(px(10))
        self.setHtml(as_table(self.difference, anchors=True))
