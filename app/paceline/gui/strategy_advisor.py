"""Opens “Which strategy?”, says what is true here, and carries the answer out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.chat.use_cases import USE_CASES, UseCase, recommend
from paceline.engine.proposals import readable_size
from paceline.errors import UserError
from paceline.gui.widgets.strategy_helper import HelperRow, StrategyHelper

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QCheckBox, QWidget

    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.speculation import SpeculationModel


class StrategyAdvisor(QObject):
    """Owns the dialog while it is open; main thread."""

    def __init__(
        self,
        *,
        speculation: SpeculationModel,
        pair: PairModel,
        learn: QCheckBox,
        no_draft: QAction,
        notifications: Notifications,
        window: QWidget,
        parent: QObject | None = None,
    ) -> None:
        """Connect to what can change the answer.

        Args:
            speculation: Knows the strategies, and is told the chosen one.
            pair: Whether there is a draft model.
            learn: The switch “Learn across chats”.
            no_draft: The action that unloads the draft model.
            notifications: For what cannot be used.
            window: What the dialog lies over.
            parent: The owner.
        """
        super().__init__(parent)
        self._speculation = speculation
        self._pair = pair
        self._learn = learn
        self._no_draft = no_draft
        self._notifications = notifications
        self._window = window
        self.dialog: StrategyHelper | None = None
        for signal in (
            speculation.choices_changed, speculation.strategy_changed, pair.changed, learn.toggled,
        ):  # fmt: skip
            signal.connect(self._refresh)

    @Slot()
    def open(self) -> None:
        """Show the dialog, or bring it to the front."""
        if self.dialog is None:
            self.dialog = StrategyHelper(self.rows(), self._window)
            self.dialog.applied.connect(self._on_applied)
            self.dialog.offer_taken.connect(self._on_offer)
            self.dialog.finished.connect(self._on_finished)
            self.dialog.open()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def close(self) -> None:
        """Close the dialog with the window."""
        if self.dialog is not None:
            self.dialog.reject()

    def rows(self) -> tuple[HelperRow, ...]:
        """Return what is recommended now."""
        return tuple(self._row(use_case) for use_case in USE_CASES)

    def _row(self, use_case: UseCase) -> HelperRow:
        model = self._speculation
        found = recommend(use_case, has_draft=model.has_draft, is_known=model.knows)
        title, reason = self._words(is_auto=found.strategy == "auto")[use_case]
        hint = offer = kind = ""
        draft = self._pair.state.draft
        if found.needs_learning and not self._learn.isChecked():
            hint = self.tr("It gets better from chat to chat when it may keep what it learned.")
            offer, kind = self.tr("Learn across chats"), "learn"
        elif found.draft_is_spare and draft is not None and self._no_draft.isEnabled():
            hint = self.tr("The draft model is not needed then; without it {} more are free.")
            hint = hint.format(readable_size(draft.size_bytes))
            offer, kind = self.tr("Unload it"), "unload"
        return HelperRow(
            use_case,
            title,
            reason,
            model.choice_of_text(found.strategy).title,
            found.strategy,
            is_in_use=found.strategy == model.strategy,
            hint=hint,
            offer=offer,
            offer_kind=kind,
        )

    def _general(self, *, is_auto: bool) -> str:
        if is_auto:
            return self.tr(
                "What pays is different in every reply. Auto measures it at every step, takes "
                "drafts where they pay and decodes plainly where they do not."
            )
        if self._speculation.has_draft:
            return self.tr("New text stands nowhere yet, so only a smaller model can guess it.")
        return self.tr(
            "New text can only be guessed by a draft model. Without one, whatever comes again in "
            "the chat is copied."
        )

    def _words(self, *, is_auto: bool) -> dict[UseCase, tuple[str, str]]:
        return {
            "general": (self.tr("General chat"), self._general(is_auto=is_auto)),
            "editing": (
                self.tr("Editing code or text"),
                self.tr(
                    "Most of the reply stands in your message already: long pieces are copied from "
                    "there, many tokens per step."
                ),
            ),
            "structured": (
                self.tr("Structured output"),
                self.tr(
                    "JSON, tables and logs repeat the same keys with other values: keys are "
                    "looked up, and what a schema forces costs nothing at all."
                ),
            ),
            "long": (
                self.tr("Long sessions"),
                self.tr(
                    "One pool of constant size learns from everything you write and stays fast "
                    "however long the chat gets."
                ),
            ),
            "reasoning": (
                self.tr("Reasoning models"),
                self.tr(
                    "What was thought is said once more in the answer, so long matches are worth "
                    "waiting for."
                ),
            ),
            "memory": (
                self.tr("Little memory"),
                self.tr("Copies from the prompt alone: no second model and next to no memory."),
            ),
        }

    @Slot()
    def _refresh(self) -> None:
        if self.dialog is not None:
            self.dialog.show_rows(self.rows())

    @Slot(str)
    def _on_applied(self, strategy: str) -> None:
        try:
            self._speculation.use(strategy)
        except UserError as error:
            self._notifications.user_error(error)

    @Slot(str)
    def _on_offer(self, kind: str) -> None:
        if kind == "learn":
            self._learn.setChecked(True)
        else:
            self._no_draft.trigger()

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None
