"""What the pages of the settings have in common: sections, rows, the search, the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.scale import GAP, PAGE, STEP
from paceline.gui.widgets.card import Card

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.preferences import Preference


@dataclass(frozen=True, slots=True)
class _Row:
    card: Card
    widget: QWidget
    words: str
    """What it is found by, in small letters"""


class SettingsPage(QWidget):
    """Cards with rows; every row can be found, and every preference be put back.

    The rows are made by `build`, since styling those of all pages takes longer than the window may
    stand still.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ""
        self.is_built = False
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._rows: list[_Row] = []
        self._preferences: list[Preference] = []
        self._heading = QLabel()
        self._heading.setProperty("role", "heading")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(PAGE, PAGE - 4, PAGE, PAGE)
        self._column.setSpacing(GAP)
        self._column.addWidget(self._heading)
        self._column.addStretch(1)

    def set_title(self, title: str) -> None:
        """Name the page; before anything is put on it."""
        self.title = title
        self._heading.setText(title)
        self.setAccessibleName(title)

    def build(self) -> None:
        """Make the rows, once."""
        if not self.is_built:
            self.is_built = True
            self._fill()

    def _fill(self) -> None:
        """Put sections and rows on the page."""

    def section(self, title: str) -> Card:
        """Begin another card."""
        card = Card()
        card.set_title(title)
        card.body.setSpacing(GAP)
        self._column.insertWidget(self._column.count() - 1, card)
        return card

    def add(
        self, card: Card, widget: QWidget, words: Sequence[str], *preferences: Preference
    ) -> None:
        """Put a row into a card; it is found by these words and by the card's title."""
        card.body.addWidget(widget)
        text = " ".join((self.title, card.title.text(), *words)).casefold()
        self._rows.append(_Row(card, widget, text))
        self._preferences += preferences

    def show_matching(self, words: Sequence[str]) -> int:
        """Show only rows with all these words, none meaning everything; how many there are.

        A page without rows, as it is before `build`, has none.
        """
        cards: dict[Card, int] = {}
        for row in self._rows:
            is_found = all(word in row.words for word in words)
            row.widget.setVisible(is_found)
            cards[row.card] = cards.get(row.card, 0) + is_found
        for card, n_found in cards.items():
            card.setVisible(n_found > 0)
        return sum(cards.values())

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What can be put back to its defaults."""
        return tuple(self._preferences)


class SettingRow(QWidget):
    """A name with its explanation, and a control at the right, or below where it is wide."""

    def __init__(
        self,
        title: str,
        explanation: str,
        control: QWidget,
        *,
        is_wide: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.label = QLabel(title)
        self.label.setBuddy(control)
        self.remark = small_text(explanation)
        self.remark.setVisible(bool(explanation))
        if not control.accessibleName():
            control.setAccessibleName(title)
        control.setAccessibleDescription(explanation)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.label)
        words.addWidget(self.remark)
        row = QVBoxLayout(self) if is_wide else QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(STEP if is_wide else 2 * STEP)
        row.addLayout(words, 1)
        row.addWidget(control, 0)


def small_text(text: str) -> QLabel:
    """Return a secondary text that wraps."""
    label = QLabel(text)
    label.setProperty("role", "small")
    label.setWordWrap(True)
    return label
