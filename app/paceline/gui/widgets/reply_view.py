"""One reply: a status before the first token, the text, an error if there was one, the figures.

`append` only collects; `flush` writes. Who calls `flush` and how often is the chat view's business.

Long: all states of a reply meet here, and each is a few lines about the same few widgets.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout

from paceline.gui.widgets.message_actions import Act
from paceline.gui.widgets.message_item import MessageItem
from paceline.gui.widgets.reply_body import ReplyBody
from paceline.gui.widgets.reply_footer import ReplyFooter
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks
from paceline.messages import SOURCE_TARGET

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.shown import ShownMessage
    from paceline.gui.viewmodels.sources import Sources
    from paceline.gui.widgets.message_actions import MessageActions
    from paceline.gui.widgets.message_view import MessageView
    from paceline.messages import Decision, TokenTrace

PIECE_CHARS = 4_000
"""How much of a long text is shown at once: less than 20 ms of work."""


class ReplyView(MessageItem):
    """A reply that may still be growing."""

    flush_wanted = Signal(object)
    """Carries the reply; asks for `flush` soon."""
    code_save_requested = Signal(str, str)
    """A block's language and its code."""
    drafts_seen = Signal()
    """A drafter gave a token for the first time."""
    ended = Signal(object)
    """Carries the reply, which was seen growing and is complete now, or failed."""

    def __init__(self, message: ShownMessage, theme: Theme, icons: Icons | None) -> None:
        super().__init__(message, theme, icons)
        self._text = ""
        self._n_shown = 0
        self._is_finished = False
        self._is_growing = True
        self._was_seen_growing = False
        self._is_dirty = False
        self._is_theme_due = False
        self._has_drafts = False
        self._speed = ""

        self._status: QLabel | None = None
        self._body = ReplyBody(theme)
        self._body.link_activated.connect(self.link_activated)
        self._body.copy_requested.connect(self.copy_requested)
        self._body.code_save_requested.connect(self.code_save_requested)
        self._body.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self._body.hide()
        self._error: QLabel | None = None
        self._note: QLabel | None = None
        self._footer = ReplyFooter()
        self._footer.stats.clicked.connect(self._on_stats_clicked)
        self._row, self._action_row = self._footer.row, self._footer.action_row

        layout = self._rows = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for widget in (self._body, self._footer):
            layout.addWidget(widget)
        self._show_siblings()
        self._name()

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

    def _make_status(self) -> QLabel:
        label = QLabel()
        label.setProperty("role", "muted")
        self._rows.insertWidget(0, label)
        return label

    # ----------------------------------------------------------------------------- state

    @property
    def text(self) -> str:
        """The reply's Markdown as received, also what is not shown yet."""
        return self._text

    @property
    def plain_text(self) -> str:
        """What can be read on the screen, without markup."""
        self.flush()
        return self._body.plain_text or self._body.reasoning_text

    @property
    def answer_text(self) -> str:
        """The Markdown without the reasoning, unless there is nothing else; what is copied."""
        self.flush()
        return self._body.answer_text or self._body.reasoning_text

    @property
    def body(self) -> MessageView:
        """The answer's view."""
        return self._body.answer

    @property
    def parts(self) -> ReplyBody:
        """The answer and the reasoning."""
        return self._body

    @property
    def is_growing(self) -> bool:
        """Whether more is to come."""
        return self._is_growing

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has said anything about it yet."""
        return self._is_growing and not self._text and not self.status_text

    @property
    def has_drafts(self) -> bool:
        """Whether a drafter gave any of its tokens."""
        return self._has_drafts

    @property
    def is_theme_due(self) -> bool:
        """Whether the text still has the colours of the theme before."""
        return self._is_theme_due

    @property
    def status_text(self) -> str:
        """What is said in place of the text; empty: nothing."""
        return "" if self._status is None or self._status.isHidden() else self._status.text()

    def set_status(self, text: str) -> None:
        """Say what happens before the first token; the first token hides it."""
        if self._status is None:
            if not text:
                return
            self._status = self._make_status()
        self._status.setText(text)
        self._status.setVisible(bool(text))

    def focus_text(self) -> None:
        """Give the keyboard to the text, or to the figures where there is none."""
        target = self._footer.stats if self._body.isHidden() else self._body.answer
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def mark_words(self, words: tuple[str, ...]) -> None:
        """Mark these words in the text for a while; none: no marks."""
        self.flush()
        self._body.mark_words(words)

    def append(
        self,
        text: str,
        traces: tuple[TokenTrace, ...],
        *,
        step: int = 0,
        n_drafted: int = 0,
        sources: Sources | None = None,
        seconds: float = 0.0,
        decision: Decision | None = None,
    ) -> None:
        """Take what one step added; shown at the next flush.

        Args:
            text: What the reply gained; may be empty.
            traces: The step's tokens, with their ends in the final text.
            step: The step's number.
            n_drafted: How many tokens were drafted in it, for the hover text.
            sources: What the drafters are called, and their colours.
            seconds: How long the step took, for the time of the reasoning.
            decision: What Auto decided for it, for the hover text.
        """
        self._text += text
        self._body.add_step(
            traces,
            step=step,
            n_drafted=n_drafted,
            sources=sources,
            seconds=seconds,
            decision=decision,
        )
        if not self._has_drafts and any(trace.source != SOURCE_TARGET for trace in traces):
            self._has_drafts = True
            self.drafts_seen.emit()
        if text:
            self._is_dirty = True
            self.flush_wanted.emit(self)

    def finish(self, text: str) -> None:
        """The reply is complete; this is its text, shown at the next flush.

        Whoever says so has more to do at this moment, and nothing may hold the window up for long.
        """
        if not text.startswith(self._text[: self._n_shown]):
            self._n_shown = 0
        self._text = text
        self._is_finished = True
        self._is_growing = False
        self._is_dirty = True
        self.flush_wanted.emit(self)

    @property
    def is_partly_shown(self) -> bool:
        """Whether pieces of a long text that is complete are still to be shown."""
        return self._is_finished and self._is_dirty and self._n_shown > 0

    def flush_piece(self) -> None:
        """Show what came so far; of a long text that is complete, the next piece alone."""
        self._flush(in_pieces=True)

    def flush(self) -> None:
        """Show everything that came so far."""
        self._flush(in_pieces=False)

    def _flush(self, *, in_pieces: bool) -> None:
        if self._is_theme_due:
            self._is_theme_due = False
            self._body.set_theme(self._theme)
        if not self._is_dirty:
            return
        self._is_dirty = False
        if self._text and self._body.isHidden():
            self.set_status("")
        self._body.setVisible(bool(self._text))
        self._body.set_caret(self._is_growing)
        n_left = len(self._text) - self._n_shown
        if self._is_finished and in_pieces and n_left > 2 * PIECE_CHARS:
            self._show_piece()
        elif self._is_finished:
            self._n_shown = len(self._text)
            self._body.show_final(self._text)
            self._show_footer()
            self._name()
            if self._was_seen_growing:
                self._was_seen_growing = False
                self.ended.emit(self)
        else:
            self._was_seen_growing = True
            self._n_shown = len(self._text)
            self._body.show_growing(self._text)

    def _show_piece(self) -> None:
        end = self._n_shown + PIECE_CHARS
        # Whole lines, if they are not too long for that.
        self._n_shown = self._text.rfind("\n", self._n_shown, end) + 1 or end
        self._body.show_growing(self._text[: self._n_shown])
        self._is_dirty = True
        self.flush_wanted.emit(self)

    # ------------------------------------------------------------------------ below the text

    def set_stats(self, text: str, tooltip: str = "", *, tokens_per_s: float | None = None) -> None:
        """The line below the reply.

        Args:
            text: Rich text; ``<b>`` is in the text colour, ``<em>`` a gain, ``<del>`` a loss.
            tooltip: More of the same, on hover.
            tokens_per_s: The speed, for those who hear it instead.
        """
        self._footer.set_stats(text, tooltip, self._theme)
        if tokens_per_s is not None:
            self._speed = self.tr("{:.0f} tokens per second").format(tokens_per_s)
        self._show_footer()
        self._name()

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
        self._name()
        if self._was_seen_growing and not self._is_finished:
            self.ended.emit(self)

    def set_note(self, text: str) -> None:
        """Say something about how the reply came about, below its text; empty: nothing."""
        if self._note is None:
            if not text:
                return
            self._note = BreakingLabel()
            self._note.setTextFormat(Qt.TextFormat.PlainText)
            self._note.setProperty("role", "small")
            self._rows.insertWidget(self._rows.indexOf(self._footer), self._note)
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def _show_footer(self) -> None:
        if self._is_dirty:
            return  # the flush does it
        self._footer.stats.setVisible(self._footer.has_stats and not self._is_growing)
        self._update_actions()

    def _name(self) -> None:
        """Tell screen readers what this is and how it went."""
        if self._error is not None:
            name = self.tr("Reply, failed")
        elif self._is_growing:
            name = self.tr("Reply, being written")
        elif self._speed:
            name = self.tr("Reply, finished, {}").format(self._speed)
        else:
            name = self.tr("Reply, finished")
        self.setAccessibleName(name)
        self._body.setAccessibleName(name)

    def update_message(self, message: ShownMessage) -> None:
        """Show other siblings; a text that was changed elsewhere takes the old one's place."""
        super().update_message(message)
        if not self._is_growing and message.text and message.text != self._text:
            self.finish(message.text)

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours, soon."""
        super().set_theme(theme)
        self._is_theme_due = True
        self.flush_wanted.emit(self)  # building a long conversation again takes a while
        self._footer.set_theme(theme)
        self._show_footer()

    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide where each token came from."""
        self._body.set_token_colours(on)

    def _wants_actions(self) -> bool:
        return not self._is_growing and super()._wants_actions()

    def _offer(self, actions: MessageActions) -> None:
        actions.set_possible(Act.COPY, bool(self._text))
        actions.set_possible(Act.DETAILS, self._footer.has_stats or self._error is not None)
        self._footer.fit(actions, self._switch, self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show words beside the icons where there is room."""
        super().resizeEvent(event)
        if self._actions is not None:
            self._offer(self._actions)

    @Slot()
    def _on_stats_clicked(self) -> None:
        self.acted.emit(Act.DETAILS, self.message_id)
