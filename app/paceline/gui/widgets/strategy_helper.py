"""The answer to “Which strategy?”: kinds of work as cards, each with a reason and a button."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.scale import GAP, PAGE, STEP, px
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.dialog_parts import closing_row, scrolling
from paceline.gui.widgets.soft_breaks import with_soft_breaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.chat.use_cases import UseCase


@dataclass(frozen=True, slots=True)
class HelperRow:
    """One kind of work.

    Attributes:
        use_case: Its name.
        title: The same for people.
        reason: One sentence that teaches why.
        strategy: The title of what is recommended here.
        text: What `parse_strategy` takes.
        is_in_use: Whether it is the strategy in force.
        hint: What else helps; empty: nothing.
        offer: What the button below the hint says; empty: there is none.
        offer_kind: What that button asks for: "learn" or "unload".
    """

    use_case: UseCase
    title: str
    reason: str
    strategy: str
    text: str
    is_in_use: bool = False
    hint: str = ""
    offer: str = ""
    offer_kind: str = ""


class _UseCaseCard(Card):
    """Keeps its button when its words change, and so the keyboard."""

    applied = Signal(str)
    offer_taken = Signal(str)

    def __init__(self, row: HelperRow) -> None:
        super().__init__()
        self._text, self._offer_kind = row.text, row.offer_kind
        self.in_use = QLabel(self.tr("in use"))
        self.in_use.setProperty("role", "pill")
        self.in_use.setProperty("tone", "accent")
        self.apply = QPushButton(self.tr("Apply"))
        self.apply.setAutoDefault(False)
        self.header.addWidget(self.in_use)
        self.header.addWidget(self.apply)
        self.reason = _text("muted")
        self.strategy = _text("value")
        self.details = _text("small")
        self.hint = _text("small")
        self.offer = QPushButton()
        self.offer.setAutoDefault(False)
        self._below = QWidget()
        below = QHBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(STEP)
        below.addWidget(self.hint, 1)
        below.addWidget(self.offer, 0, Qt.AlignmentFlag.AlignBottom)
        for widget in (self.reason, self.strategy, self.details, self._below):
            self.body.addWidget(widget)
        self.apply.clicked.connect(self._on_apply)
        self.offer.clicked.connect(self._on_offer)
        self.show_row(row)

    def show_row(self, row: HelperRow) -> None:
        """Show what is true now."""
        self._text, self._offer_kind = row.text, row.offer_kind
        self.set_title(row.title)
        self.reason.setText(row.reason)
        self.strategy.setText(f"→ {row.strategy}")
        settings = row.text.partition(":")[2]
        self.details.setText(with_soft_breaks(settings.replace(":", ", ")))
        self.details.setVisible(bool(settings))
        self.in_use.setVisible(row.is_in_use)
        self.apply.setVisible(not row.is_in_use)
        self.apply.setAccessibleName(self.tr("Use {} for {}").format(row.strategy, row.title))
        self.apply.setAccessibleDescription(row.reason)
        self.apply.setToolTip(self.tr("Use {}").format(row.text))
        self.hint.setText(row.hint)
        self.offer.setText(row.offer)
        self.offer.setAccessibleName(row.offer)
        self.offer.setAccessibleDescription(row.hint)
        self.offer.setVisible(bool(row.offer))
        self._below.setVisible(bool(row.hint))

    @Slot()
    def _on_apply(self) -> None:
        self.applied.emit(self._text)

    @Slot()
    def _on_offer(self) -> None:
        self.offer_taken.emit(self._offer_kind)


class StrategyHelper(QDialog):
    """Lies over the window; applying closes it, an offer does not."""

    applied = Signal(str)
    """A strategy text"""
    offer_taken = Signal(str)
    """ "learn": learn across chats; "unload": the draft model is not needed"""

    def __init__(self, rows: Sequence[HelperRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("Which strategy?"))
        heading = QLabel(self.tr("Which strategy?"))
        heading.setProperty("role", "heading")
        intro = _text("muted")
        intro.setText(
            self.tr(
                "The text is the same with all of them, only the speed differs. Choose what comes "
                "close to your work; the figures of your own replies say more."
            )
        )
        page = QWidget()
        page.setProperty("kind", "page")
        cards = QVBoxLayout(page)
        cards.setContentsMargins(PAGE, PAGE - STEP, PAGE, PAGE)
        cards.setSpacing(GAP)
        cards.addWidget(heading)
        cards.addWidget(intro)
        self.cards: dict[UseCase, _UseCaseCard] = {}
        for row in rows:
            card = _UseCaseCard(row)
            card.applied.connect(self._on_applied)
            card.offer_taken.connect(self.offer_taken)
            self.cards[row.use_case] = card
            cards.addWidget(card)
        cards.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(scrolling(page), 1)
        column.addWidget(closing_row(self))
        self._fit()

    def show_rows(self, rows: Sequence[HelperRow]) -> None:
        """Show what is true now; the same kinds of work as before."""
        for row in rows:
            self.cards[row.use_case].show_row(row)

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs more room."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        height = self.screen().availableGeometry().height() if self.screen() else 900
        self.setMinimumWidth(px(420))
        self.resize(px(580), min(px(720), height - 80))

    @Slot(str)
    def _on_applied(self, strategy: str) -> None:
        self.accept()
        self.applied.emit(strategy)


def _text(role: str) -> QLabel:
    label = QLabel()
    label.setProperty("role", role)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
