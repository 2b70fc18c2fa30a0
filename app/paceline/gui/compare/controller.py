"""Controller of a comparison: opens it, runs it, and shows both replies as they grow.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.chat.comparison import ReplyComparison, Side
from paceline.chat.pair import Pair
from paceline.chat.prompt import with_instructions
from paceline.chat.reply import TurnOptions
from paceline.engine.model.model_file import file_id
from paceline.errors import UserError
from paceline.gui.chat.links import MessageRequests
from paceline.gui.compare.columns import ReplyColumn, TwoColumns
from paceline.gui.compare.dialog import CompareDialog, SideChoice
from paceline.gui.context import AppContext
from paceline.gui.kit.dialogs import DialogOwner
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.models.saved_pairs import SavedPairs
from paceline.gui.sampling.presets import ReplyPresets
from paceline.gui.state.next_reply import kept_for
from paceline.gui.state.speculation import GROUPS
from paceline.messages import TurnEvent
from paceline.params import ReplySettings
from paceline.run_record import RunError

_TICK_MS = 100
_LEFT, _RIGHT = "off", "auto"
"""Strategies of the two sides at first."""


class CompareController(DialogOwner[CompareDialog]):
    """Owner of the dialog while it is open; closing it stops the comparison."""

    def __init__(
        self,
        context: AppContext,
        *,
        presets: ReplyPresets,
        saved: SavedPairs,
        requests: MessageRequests,
        fingerprint_of: Callable[[str], str],
        parent: QObject,
    ) -> None:
        """Connect the menu.

        Args:
            context: The program.
            presets: Settings that a side may have.
            saved: Models that a side may have.
            requests: Handles links and code to save.
            fingerprint_of: Returns the fingerprint of a model's file by its path.
            parent: The owner.
        """
        super().__init__(parent)
        self._context, self._presets, self._saved = context, presets, saved
        self._requests = requests
        self._question_id = self._chat_id = ""
        self._comparison = ReplyComparison(
            context.client, context.session, context.loader, self, fingerprint_of=fingerprint_of
        )
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        context.actions.answer_twice.triggered.connect(self.open_last)
        for signal in (context.signals.started, context.signals.ended, context.pair.changed):
            signal.connect(self._show_obstacle)

    @property
    def is_running(self) -> bool:
        """Return whether a comparison is running."""
        return self._comparison.is_running

    @Slot()
    def open_last(self) -> None:
        """Compare two replies to the last question of the shown chat."""
        path = self._context.shown.conversation.path()
        question = next((message for message in reversed(path) if message.role == "user"), None)
        if question is not None:
            self.open(question.message_id)
        else:
            self._context.notices.inform(self.tr("Ask something first; then compare two answers."))

    @Slot(str)
    def open(self, message_id: str) -> None:
        """Compare two replies to a question of the shown chat."""
        message = self._context.shown.conversation.messages.get(message_id)
        if message is None or self.dialog is not None:
            return
        self._chat_id, self._question_id = self._context.shown.id, message_id
        offered = self._offered()
        names = [name for _, name in offered.strategies]
        rows = names.index(_LEFT), names.index(_RIGHT)
        columns = TwoColumns(self._context.live.sources, self._requests)
        dialog = CompareDialog(message.text, offered, rows, columns, self._context.window)
        dialog.started.connect(self._on_started)
        dialog.stopped.connect(self._comparison.cancel)
        dialog.keep_wanted.connect(self._on_keep)
        self.own(dialog)
        self._begin_columns()
        self._show_obstacle()
        dialog.open()

    def _offered(self) -> SideChoice:
        speculation, state = self._context.speculation, self._context.pair.state
        strategies = [
            (self.tr("Without drafts") if group == "off" else choice.title, choice.name)
            for group in GROUPS
            for choice in speculation.choices(group)
        ]
        settings = [(self.tr("Settings of this chat"), "")]
        settings += [(row.title, row.key) for row in self._presets.rows]
        pairs: list[tuple[str, Pair | None]] = [(self.tr("The loaded models"), None)]
        own = self._saved.row_of(state.pair)
        for row, title in enumerate(self._saved.titles):
            if row != own:
                pairs.append((title, self._saved.pair(row)))
        return SideChoice(strategies, settings, pairs)

    # ------------------------------------------------------------------------------- running

    @Slot()
    def _on_started(self) -> None:
        """Look up the ids of the model files, under which prompting is stored; then start."""
        assert self.dialog is not None
        pairs = [pair for *_, pair in (side.value for side in self.dialog.sides) if pair]
        find = partial(_ids_of, [pair.target.path for pair in pairs])
        if pairs:
            self._context.background.start(find, self._start, self._on_unreadable)
        else:
            self._start({})

    @Slot(object)
    def _start(self, ids: dict[str, str]) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        sides = [self._side(*side.value, ids=ids) for side in dialog.sides]
        self._begin_columns()
        dialog.show_running(is_running=True)
        try:
            has_begun = self._comparison.start(self._chat_id, self._question_id, sides)
        except UserError as error:
            self._context.notices.user_error(error)
            has_begun = False
        if has_begun:
            dialog.columns.left.wait(self.tr("Waiting for the engine…"))
            dialog.columns.right.wait(self.tr("Comes next."))
            self._timer.start()
        else:
            dialog.show_running(is_running=False)
            self._show_obstacle()

    def _on_unreadable(self, _error: UserError) -> None:
        self._start({})  # the load reports the problem of the file

    def _side(self, strategy: str, preset: str, pair: Pair | None, *, ids: dict[str, str]) -> Side:
        context = self._context
        options: TurnOptions = context.next_reply.options()
        prompting = options.prompting
        if pair is not None:
            path = pair.target.path
            names = tuple(filter(None, (ids.get(path, ""), Path(path).name)))
            prompting = kept_for(context.settings.value("promptings"), names)
        options = TurnOptions(
            strategy=context.speculation.value_of(strategy),
            settings=self._with_preset(preset) if preset else options.settings,
            cuts=options.cuts,
            prompting=prompting,
        )
        return Side(options, pair)

    def _with_preset(self, name: str) -> ReplySettings:
        """Return a preset's settings as a reply in the shown chat gets them."""
        return with_instructions(self._context.shown.folder, self._presets.applied(name))

    def _begin_columns(self) -> None:
        """Name the columns by their differences."""
        dialog = self.dialog
        assert dialog is not None
        both = [side.words for side in dialog.sides]
        differs = [left != right for left, right in zip(*both, strict=True)]
        shown = differs if any(differs) else [True, False, False]
        titles = [
            " · ".join(word for word, is_shown in zip(words, shown, strict=True) if is_shown)
            for words in both
        ]
        dialog.columns.begin(titles[0], titles[1])

    def _column(self, side: int) -> ReplyColumn | None:
        if self.dialog is None:
            return None
        return (self.dialog.columns.left, self.dialog.columns.right)[side]

    def side_loading(self, side: int, fraction: float) -> None:
        """Show the loading progress of a side's models."""
        if column := self._column(side):
            column.wait(self.tr("Loading the models: {:.0f} %…").format(local(100 * fraction)))

    def side_took(self, side: int, at_s: float, event: TurnEvent) -> None:
        """Pass an event to the column."""
        if column := self._column(side):
            column.receive(at_s, event)

    def side_failed(self, side: int, error: RunError) -> None:
        """Show the error in the column."""
        if column := self._column(side):
            column.fail(error)

    def comparison_ended(self) -> None:
        """Offer the replies that were written."""
        self._timer.stop()
        if self.dialog is None:
            return
        self.dialog.show_running(is_running=False)
        for side, reply in enumerate(self._comparison.replies):
            if reply.status == "finished" and reply.text:
                self.dialog.offer_reply(side)
        self._show_obstacle()

    @Slot()
    def _on_tick(self) -> None:
        for side in range(2):
            column, at_s = self._column(side), self._comparison.elapsed_s(side)
            if column is not None and at_s is not None:
                column.pass_time(at_s)

    @Slot(int)
    def _on_keep(self, side: int) -> None:
        session, reply = self._context.session, self._comparison.replies[side]
        try:
            is_kept = session.keep_reply(self._question_id, reply)
        except UserError as error:
            self._context.notices.user_error(error)
            return
        if is_kept and self.dialog is not None:
            self.dialog.show_kept(side)

    @Slot()
    def _show_obstacle(self) -> None:
        if self.dialog is not None:
            words = "" if self.is_running else said(self._comparison.obstacle())
            self.dialog.show_obstacle(words)

    @Slot()
    def _on_finished(self) -> None:
        super()._on_finished()
        self._timer.stop()
        self._comparison.cancel()


def _ids_of(paths: list[str]) -> dict[str, str]:
    """Return the ids of files by their paths; needs short disk access."""
    return {path: file_id(Path(path)) for path in paths}
