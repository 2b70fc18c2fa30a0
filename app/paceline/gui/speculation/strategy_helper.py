"""The answer to “Which strategy?”: kinds of work as cards, each with a reason and a button.

`StrategyAdvisor` finds out what is true here, and does what was answered.
"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget

from paceline.chat.advice import UseCase, UseCaseStrategy, recommendations
from paceline.engine.draft.heads import head_kind
from paceline.engine.draft.strategy import settings_text, strategy_text
from paceline.gui.context import AppContext
from paceline.gui.kit.card import Card
from paceline.gui.kit.dialogs import DialogOwner, closing_row, scrolling, within_screen
from paceline.gui.kit.labels import text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, fill, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, PAGE, STEP, px
from paceline.params import DEFAULT_STRATEGY


class _UseCaseCard(Card):
    """Keeps its button when its words change, and so the keyboard.

    Attributes:
        wanted: The strategy that its button applies.
    """

    def __init__(self) -> None:
        super().__init__()
        self.wanted = DEFAULT_STRATEGY
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

    def show_strategy(
        self, recommended: UseCaseStrategy, strategy: str, *, is_in_use: bool, hint: str
    ) -> None:
        """Show what is true now.

        Args:
            recommended: The strategy for a kind of work, and why.
            strategy: The strategy's title.
            is_in_use: Whether it is the strategy in force.
            hint: The memory that unloading the draft model would free; empty: none.
        """
        self.wanted = recommended.strategy
        title, reason = said(recommended.title), said(recommended.reason)
        self.set_title(title)
        self.reason.setText(reason)
        self.strategy.setText(f"→ {strategy}")
        settings = settings_text(self.wanted)
        self.details.setText(with_soft_breaks(", ".join(settings)))
        self.details.setVisible(bool(settings))
        self.in_use.setVisible(is_in_use)
        self.apply.setVisible(not is_in_use)
        self.apply.setAccessibleName(self.tr("Use {} for {}").format(strategy, title))
        self.apply.setAccessibleDescription(reason)
        self.apply.setToolTip(self.tr("Use {}").format(strategy_text(self.wanted)))
        self.hint.setText(hint)
        self.offer.setAccessibleDescription(hint)
        self._below.setVisible(bool(hint))


class StrategyHelper(QDialog):
    """Stands over the window, with an empty card for each kind of work."""

    def __init__(self, parent: QWidget | None = None) -> None:
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
        self.cards = {use_case: _UseCaseCard() for use_case in get_args(UseCase)}
        fill(cards, *self.cards.values())
        cards.addStretch(1)
        column_of((scrolling(page), 1), closing_row(self), on=self, margins=0, spacing=0)
        look.follow(self._fit)

    @Slot()
    def _fit(self) -> None:
        self.setMinimumWidth(px(420))
        self.resize(within_screen(self, QSize(px(580), px(720))))


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
            dialog = self.own(StrategyHelper(self._context.window))
            for card in dialog.cards.values():
                card.apply.clicked.connect(self._on_apply)
                card.offer.clicked.connect(self._context.actions.no_draft.trigger)
            self._refresh()
            dialog.open()
        self.bring_to_front()

    @Slot()
    def _refresh(self) -> None:
        if self.dialog is None:
            return
        model, draft = self._context.speculation, self._context.pair.state.draft
        spare = ""
        if draft is not None and self._context.actions.no_draft.isEnabled():
            size, head = local_size(draft.size_bytes), head_kind(model.model)
            spare = self.tr("The draft model is not needed then; without it {} more are free.")
            spare = spare.format(size)
            if head is not None:
                spare = self.tr("The {} is not needed then; without it {} more are free.")
                spare = spare.format(said(head.title), size)
        for recommended in recommendations(model.model):
            self.dialog.cards[recommended.use_case].show_strategy(
                recommended,
                model.choice_for(recommended.strategy).title,
                is_in_use=recommended.strategy == model.strategy,
                hint=spare if recommended.use_case == "memory" else "",
            )

    @Slot()
    def _on_apply(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        card = next(card for card in dialog.cards.values() if card.apply is self.sender())
        dialog.accept()
        self._context.notices.attempt(self._context.speculation.use, card.wanted)
