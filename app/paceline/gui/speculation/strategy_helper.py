"""The answer to “Which strategy?”: kinds of work as cards, each with a reason and a button.

The dialog shows rows; `StrategyAdvisor` finds out what is true here and does what was answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget

from paceline.chat.advice import UseCase, UseCaseStrategy, recommendations
from paceline.engine.draft.strategy import settings_named, strategy_text
from paceline.gui.context import AppContext
from paceline.gui.kit.card import Card
from paceline.gui.kit.dialogs import DialogOwner, closing_row, scrolling, within_screen
from paceline.gui.kit.labels import text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, fill, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, PAGE, STEP, px


@dataclass(frozen=True, slots=True)
class HelperRow:
    """One kind of work.

    Attributes:
        recommended: The strategy for it, and why.
        strategy: The strategy's title.
        is_in_use: Whether it is the strategy in force.
        hint: The memory that unloading the draft model would free; empty: none.
    """

    recommended: UseCaseStrategy
    strategy: str
    is_in_use: bool
    hint: str


class _UseCaseCard(Card):
    """Keeps its button when its words change, and so the keyboard."""

    applied = Signal(str)

    def __init__(self, row: HelperRow) -> None:
        super().__init__()
        self._text = ""
        self.in_use = styled(QLabel(self.tr("in use")), role="pill", tone="accent")
        self.apply = QPushButton(self.tr("Apply"), autoDefault=False)
        fill(self.header, self.in_use, self.apply)
        self.reason = text_label("", "muted", wraps=True, plain=True)
        self.strategy = text_label("", "value", wraps=True, plain=True)
        self.details = text_label(wraps=True, plain=True)
        self.hint = text_label(wraps=True, plain=True)
        self.offer = QPushButton(self.tr("Unload it"), autoDefault=False)
        self._below = QWidget()
        row_of(
            (self.hint, 1),
            (self.offer, 0, Qt.AlignmentFlag.AlignBottom),
            on=self._below,
            margins=0,
            spacing=STEP,
        )
        for widget in (self.reason, self.strategy, self.details, self._below):
            self.body.addWidget(widget)
        self.apply.clicked.connect(self._on_apply)
        self.show_row(row)

    def show_row(self, row: HelperRow) -> None:
        """Show what is true now."""
        self._text = strategy_text(row.recommended.strategy)
        title, reason = said(row.recommended.title), said(row.recommended.reason)
        self.set_title(title)
        self.reason.setText(reason)
        self.strategy.setText(f"→ {row.strategy}")
        settings = settings_named(self._text)
        self.details.setText(with_soft_breaks(", ".join(settings)))
        self.details.setVisible(bool(settings))
        self.in_use.setVisible(row.is_in_use)
        self.apply.setVisible(not row.is_in_use)
        self.apply.setAccessibleName(self.tr("Use {} for {}").format(row.strategy, title))
        self.apply.setAccessibleDescription(reason)
        self.apply.setToolTip(self.tr("Use {}").format(self._text))
        self.hint.setText(row.hint)
        self.offer.setAccessibleDescription(row.hint)
        self._below.setVisible(bool(row.hint))

    @Slot()
    def _on_apply(self) -> None:
        self.applied.emit(self._text)


class StrategyHelper(QDialog):
    """Stands over the window; applying closes it, an offer does not."""

    applied = Signal(str)
    """A strategy text"""
    offer_taken = Signal()
    """The draft model is not needed"""

    def __init__(self, rows: Sequence[HelperRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Which strategy?"))
        heading = text_label(self.tr("Which strategy?"), "heading")
        intro = text_label("", "muted", wraps=True, plain=True)
        intro.setText(
            self.tr(
                "The text is the same with all of them, only the speed differs. Choose what comes "
                "close to your work; the figures of your own replies say more."
            )
        )
        page = styled(QWidget(), kind="page")
        cards = column_of(
            heading, intro, on=page, margins=(PAGE, PAGE - STEP, PAGE, PAGE), spacing=GAP
        )
        self.cards: dict[UseCase, _UseCaseCard] = {}
        for row in rows:
            card = _UseCaseCard(row)
            card.applied.connect(self._on_applied)
            card.offer.clicked.connect(self.offer_taken)
            self.cards[row.recommended.use_case] = card
            cards.addWidget(card)
        cards.addStretch(1)
        column_of((scrolling(page), 1), closing_row(self), on=self, margins=0, spacing=0)
        look.follow(self._fit)

    def show_rows(self, rows: Sequence[HelperRow]) -> None:
        """Show what is true now; the same kinds of work as before."""
        for row in rows:
            self.cards[row.recommended.use_case].show_row(row)

    @Slot()
    def _fit(self) -> None:
        self.setMinimumWidth(px(420))
        self.resize(within_screen(self, QSize(px(580), px(720))))

    @Slot(str)
    def _on_applied(self, strategy: str) -> None:
        self.accept()
        self.applied.emit(strategy)


class StrategyAdvisor(DialogOwner[StrategyHelper]):
    """Owns the dialog while it is open; main thread."""

    def __init__(self, context: AppContext, *, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        context.actions.which_strategy.triggered.connect(self.open)
        context.speculation.choices_changed.connect(self._refresh)
        context.speculation.strategy_changed.connect(self._refresh)
        context.pair.changed.connect(self._refresh)

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front."""
        if self.dialog is None:
            dialog = self.own(StrategyHelper(self.rows(), self._context.window))
            dialog.applied.connect(self._on_applied)
            dialog.offer_taken.connect(self._context.actions.no_draft.trigger)
            dialog.open()
        self.bring_to_front()

    def rows(self) -> tuple[HelperRow, ...]:
        """Return what is recommended now."""
        return tuple(map(self._row, recommendations(self._context.speculation.model)))

    def _row(self, recommended: UseCaseStrategy) -> HelperRow:
        model, draft = self._context.speculation, self._context.pair.state.draft
        text, hint = strategy_text(recommended.strategy), ""
        can_unload = self._context.actions.no_draft.isEnabled()
        if recommended.draft_is_spare and draft is not None and can_unload:
            hint = self.tr("The draft model is not needed then; without it {} more are free.")
            if model.model == "mtp":
                hint = self.tr("The MTP head is not needed then; without it {} more are free.")
            hint = hint.format(local_size(draft.size_bytes))
        title = model.choice_of_text(text).title
        return HelperRow(recommended, title, text == model.text, hint)

    @Slot()
    def _refresh(self) -> None:
        if self.dialog is not None:
            self.dialog.show_rows(self.rows())

    @Slot(str)
    def _on_applied(self, strategy: str) -> None:
        self._context.notices.attempt(self._context.speculation.use, strategy)
