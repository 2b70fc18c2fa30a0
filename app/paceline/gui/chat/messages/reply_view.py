"""One reply: a status before the first token, the text, an error if any, and a footer.

`append` only collects; `flush` writes. The chat view decides when and how often it calls `flush`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from html import escape

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from paceline.chat.reasoning import UNKNOWN, Known
from paceline.gui.chat.links import MessageRequests
from paceline.gui.chat.markdown.found import hits_in
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.message_actions import Act, MessageActions
from paceline.gui.chat.messages.message_item import ROW_PX, MessageEdit, MessageItem, ShownMessage
from paceline.gui.chat.messages.reply_body import ReplyBody
from paceline.gui.kit.labels import BreakingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.state.sources import Sources
from paceline.messages import StepCommitted

SEPARATOR = " · "
_PADDING = 3


class StatsLabel(QPushButton):
    """Rich text that can be clicked; a button's own text allows no colours within a line."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "stats")
        self.label = text_label("", "stats")
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._row = row_of(self.label, on=self, margins=(_PADDING, 0, _PADDING, 0))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the size of the whole text in one line."""
        return self._row.sizeHint() + QSize(0, 6)

    def minimumSizeHint(self) -> QSize:
        """Return the same: a figure is never cut."""
        return self.sizeHint()


_COMPACT_PX = 240
"""Width of the row of actions with icons alone, at scale 1."""


class _Slot(QWidget):
    """Space for the actions, also while they are hidden; it shrinks down to the icons alone."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = 0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.set_wanted(0)

    def set_wanted(self, width: int) -> None:
        """Request this width, and at least that of the icons."""
        least = px(_COMPACT_PX)
        width = max(width, least)
        if width != self._wanted:
            self.setMinimumWidth(least)
            self._wanted = width
            self.setMaximumWidth(width)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._wanted, super().sizeHint().height())


class ReplyFooter(QWidget):
    """Figures on the left, actions on the right, or below them in a narrow chat.

    Attributes:
        stats: The figures; hidden at first.
        row: The whole line, to which a switch between siblings is added.
        action_row: Layout for the actions.
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = self._details = ""
        self.stats = StatsLabel()
        self.stats.hide()
        self.row = row_of(on=self, margins=0, spacing=4)
        self.row.addStrut(ROW_PX)
        self.row.addWidget(self.stats, 0, Qt.AlignmentFlag.AlignLeft)
        self.row.addStretch(1)
        self._slot = _Slot()
        self.action_row = row_of(None, on=self._slot, margins=0)
        self.row.addWidget(self._slot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use a second line where the icons do not fit beside the figures."""
        super().resizeEvent(event)
        needed = self.stats.sizeHint().width() + px(_COMPACT_PX) + self.row.spacing()
        is_narrow = self.has_stats and needed > self.width()
        way = QBoxLayout.Direction
        self.row.setDirection(way.TopToBottom if is_narrow else way.LeftToRight)

    @property
    def has_stats(self) -> bool:
        """Return whether there are figures, shown or not."""
        return bool(self._text)

    def set_stats(self, text: str, details: str) -> None:
        """Set the figures.

        Args:
            text: Rich text; ``<b>`` is in the text colour, ``<em>`` a gain, ``<del>`` a loss.
            details: Further figures, for the tool tip.
        """
        self._text, self._details = text, details
        theme = look.theme
        shown = text
        for tag, colour in (("em", theme.accent), ("b", theme.text), ("del", theme.danger)):
            start = f'<span style="color:{colour};font-weight:600">'
            shown = shown.replace(f"<{tag}>", start).replace(f"</{tag}>", "</span>")
            text = text.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
        self.stats.label.setText(shown)
        self.stats.updateGeometry()
        self.stats.setToolTip(f"{text}\n{details}".strip())
        self.stats.setAccessibleName(
            self.tr("Figures of this reply: {}").format(text.replace(SEPARATOR, ", "))
        )

    def renew(self) -> None:
        """Show the figures in the present colours."""
        if self.has_stats:
            self.set_stats(self._text, self._details)

    def fit(self, actions: MessageActions, switch: QWidget | None, width: int) -> None:
        """Show words beside the icons of the actions where they fit into so many pixels."""
        others = self.stats.sizeHint().width() if self.has_stats else 0
        if switch is not None:
            others += switch.sizeHint().width()
        full = actions.full_width
        is_compact = others + full + 16 > width
        actions.set_compact(is_compact)
        self._slot.set_wanted(0 if is_compact else full)


PIECE_CHARS = 4_000
"""Size of the piece of a long text that is shown at once: less than 20 ms of work."""


class ReplyView(MessageItem):
    """A reply that may still be growing.

    Attributes:
        is_growing: Whether the reply is being written.
        is_look_due: Whether the text still has the old colours and size; the next flush renews it.
    """

    flush_wanted = Signal(object)
    """Carries the reply; `flush` is to be called soon."""
    ended = Signal(object)
    """Carries the reply, which grew in the view and is now complete or failed."""

    def __init__(
        self,
        message: ShownMessage,
        sources: Sources | None = None,
        requests: MessageRequests | None = None,
    ) -> None:
        """Create an empty reply.

        Args:
            message: The reply's message.
            sources: Titles and colours of drafters; None if they are unknown.
            requests: Handles links and code to save.
        """
        super().__init__(message)
        self._text = ""
        self._known = UNKNOWN
        self._n_shown = 0
        self._is_finished = False
        self.is_growing = True
        self._was_seen_growing = False
        self._is_dirty = False
        self.is_look_due = False
        self._speed = ""

        self._status: QLabel | None = None
        self._provenance = Provenance(sources)
        self.parts = ReplyBody(self._provenance, requests)
        self.parts.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.parts.hide()
        self._error: QLabel | None = None
        self.note: QLabel | None = None
        self._footer = ReplyFooter()
        self._footer.stats.clicked.connect(self._on_stats_clicked)
        self._row, self._action_row = self._footer.row, self._footer.action_row

        self._rows = column_of(self.parts, self._footer, on=self, margins=0, spacing=8)
        self._show_place()
        self._name()

    def _make_error(self) -> QLabel:
        frame = styled(QFrame(), kind="notice", tone="danger")
        label = BreakingLabel()
        label.setTextFormat(Qt.TextFormat.RichText)
        column_of(label, on=frame, margins=(12, 10, 12, 10))
        self._rows.insertWidget(self._rows.indexOf(self._footer), frame)
        return label

    def _make_status(self) -> QLabel:
        label = text_label("", "muted")
        self._rows.insertWidget(0, label)
        return label

    # ----------------------------------------------------------------------------- state

    @property
    def text(self) -> str:
        """Markdown of the reply as received, not yet shown text included."""
        return self._text

    @property
    def plain_text(self) -> str:
        """Readable text, without markup."""
        self.flush()
        return self.parts.plain_text or self.parts.reasoning_text

    @property
    def answer_text(self) -> str:
        """Markdown without the reasoning, unless there is nothing else; used for copies."""
        self.flush()
        return self.parts.answer_text or self.parts.reasoning_text

    @property
    def body(self) -> MessageView:
        """View of the answer."""
        return self.parts.answer

    @property
    def is_untouched(self) -> bool:
        """Return whether neither text nor status has been set yet."""
        return self.is_growing and not self._text and not self.status_text

    @property
    def drafters(self) -> Collection[str]:
        """Ids of the drafters of its tokens."""
        return self._provenance.drafters

    @property
    def status_text(self) -> str:
        """Status in place of the text, or empty."""
        return "" if self._status is None or self._status.isHidden() else self._status.text()

    def set_status(self, text: str) -> None:
        """Show a status before the first token, which hides it."""
        if self._status is None:
            if not text:
                return
            self._status = self._make_status()
        say(self._status, text)

    def focus_text(self) -> None:
        """Focus the text, or the figures where there is none."""
        hidden = self.editor or self._footer.stats
        target = hidden if self.parts.isHidden() else self.parts.answer
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def first_hit(self, pattern: re.Pattern[str]) -> int:
        """Return the number of the first hit in the answer, or else of the first one of all."""
        spans = (found.span() for found in pattern.finditer(self._text))
        shown = (i for i, (begin, _) in enumerate(spans) if not self.parts.is_reasoning(begin))
        return next(shown, 0)

    def _show_marks(self) -> None:
        self.parts.mark(hits_in(self._text, *self._searched))

    def set_known(self, known: Known) -> None:
        """Set how reasoning is recognised, while the reply is written."""
        self._known = known

    def append(self, step: StepCommitted) -> None:
        """Add the tokens of a step; they are shown at the next flush."""
        self._provenance.add(step)
        if step.text:
            self._text += step.text
            self._is_dirty = True
            self.flush_wanted.emit(self)

    def finish(self, text: str, known: Known = UNKNOWN) -> None:
        """Complete the reply with its text, which is shown at the next flush.

        It is not shown at once, since the caller has more to do and must not freeze the window.
        """
        if not text.startswith(self._text[: self._n_shown]):
            self._n_shown = 0
        self._text, self._known = text, known
        self._is_finished = True
        self.is_growing = False
        self._is_dirty = True
        self.flush_wanted.emit(self)

    @property
    def is_partly_shown(self) -> bool:
        """Return whether pieces of a complete long text are still to be shown."""
        return self._is_finished and self._is_dirty and self._n_shown > 0

    def flush_piece(self) -> None:
        """Show the text so far, or only the next piece of a complete long text."""
        self._flush(in_pieces=True)

    def flush(self) -> None:
        """Show all text so far."""
        self._flush(in_pieces=False)

    def _flush(self, *, in_pieces: bool) -> None:
        if self.is_look_due:
            self.is_look_due = False
            self.parts.renew()
        if not self._is_dirty:
            return
        self._is_dirty = False
        if self._text and self.parts.isHidden():
            self.set_status("")
        self.parts.setVisible(bool(self._text) and self.editor is None)
        self.parts.set_caret(self.is_growing)
        n_left = len(self._text) - self._n_shown
        if self._is_finished and in_pieces and n_left > 2 * PIECE_CHARS:
            self._show_piece()
        elif self._is_finished:
            self._n_shown = len(self._text)
            self.parts.show_source(self._text, is_final=True, known=self._known)
            self._show_footer()
            self._name()
            if self._was_seen_growing:
                self._was_seen_growing = False
                self.ended.emit(self)
        else:
            self._was_seen_growing = True
            self._n_shown = len(self._text)
            self.parts.show_source(self._text, known=self._known)
        if self._searched[0] is not None:
            self._show_marks()

    def _show_piece(self) -> None:
        end = self._n_shown + PIECE_CHARS
        # Whole lines, if they are not too long.
        self._n_shown = self._text.rfind("\n", self._n_shown, end) + 1 or end
        self.parts.show_source(self._text[: self._n_shown], known=self._known)
        self._is_dirty = True
        self.flush_wanted.emit(self)

    # --------------------------------------------------------------------------- editing

    def begin_edit(self, text: str | None = None) -> None:
        """Put an edit field in the text's place; Enter begins a new line with any send key."""
        if self.editor is not None or self.is_growing:
            return
        self.flush()
        shown = self._text if text is None else text
        edit = self._open_editor(MessageEdit(shown, "ctrl+enter", for_reply=True))
        self._rows.insertWidget(self._rows.indexOf(self.parts), edit)
        self.parts.hide()
        self._update_actions()

    @Slot(str)
    def _on_submitted(self, text: str) -> None:
        edit = self.editor
        self._on_cancelled()
        if edit is not None and text != self._text:
            self.edit_submitted.emit(self.message_id, text)

    @Slot()
    def _on_cancelled(self) -> None:
        edit, self.editor = self.editor, None
        if edit is None:
            return
        edit.hide()
        edit.deleteLater()
        self.parts.setVisible(bool(self._text))
        self._update_actions()
        self.focus_text()
        self.edit_ended.emit(self.message_id)

    # ------------------------------------------------------------------------ below the text

    def set_stats(self, text: str, tooltip: str = "", *, tokens_per_s: float | None = None) -> None:
        """Set the line below the reply.

        Args:
            text: Rich text; ``<b>`` is in the text colour, ``<em>`` a gain, ``<del>`` a loss.
            tooltip: Further figures.
            tokens_per_s: The speed, for screen readers.
        """
        self._footer.set_stats(text, tooltip)
        if tokens_per_s is not None:
            self._speed = self.tr("{:.0f} tokens per second").format(tokens_per_s)
        self._show_footer()
        self._name()

    def set_error(self, message: str, hint: str) -> None:
        """Show that the reply failed; the received text stays."""
        self.is_growing = False
        self.flush()
        self.set_status("")
        self.parts.set_caret(False)
        if self._error is None:
            self._error = self._make_error()
        lines = [f"<b>{escape(with_soft_breaks(message))}</b>", escape(with_soft_breaks(hint))]
        self._error.setText("<br>".join(line for line in lines if line))
        self._show_footer()
        self._name()
        if self._was_seen_growing and not self._is_finished:
            self.ended.emit(self)

    def set_note(self, text: str) -> None:
        """Show a note about the reply below its text; empty for none."""
        if self.note is None:
            if not text:
                return
            self.note = styled(BreakingLabel(), role="small")
            self._rows.insertWidget(self._rows.indexOf(self._footer), self.note)
        say(self.note, text)

    def _show_footer(self) -> None:
        if self._is_dirty:
            return  # the flush sets it
        self._footer.stats.setVisible(self._footer.has_stats and not self.is_growing)
        self._update_actions()

    def _name(self) -> None:
        """Give screen readers a name with the outcome."""
        if self._error is not None:
            name = self.tr("Reply, failed")
        elif self.is_growing:
            name = self.tr("Reply, being written")
        elif self._speed:
            name = self.tr("Reply, finished, {}").format(self._speed)
        else:
            name = self.tr("Reply, finished")
        self.setAccessibleName(name)
        self.parts.setAccessibleName(name)

    def update_message(self, message: ShownMessage) -> None:
        """Show other siblings; a text that was changed elsewhere replaces the old one."""
        super().update_message(message)
        if not self.is_growing and message.text and message.text != self._text:
            self.finish(message.text, self._known)

    def renew(self) -> None:
        """Show the figures in the present look now, the text at the next flush."""
        self.is_look_due = True
        self.flush_wanted.emit(self)  # building a long conversation again takes a while
        self._footer.renew()
        self._show_footer()

    def _wants_actions(self) -> bool:
        return not self.is_growing and super()._wants_actions()

    def _offer(self, actions: MessageActions) -> None:
        actions.set_possible(Act.COPY, bool(self._text))
        actions.set_possible(Act.CONTINUE, bool(self._text))
        actions.set_possible(Act.DETAILS, self._footer.has_stats or self._error is not None)
        actions.show_figures(self._footer.stats.toolTip())
        self._footer.fit(actions, self._switch, self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show words beside the icons where they fit."""
        super().resizeEvent(event)
        if self._actions is not None:
            self._footer.fit(self._actions, self._switch, self.width())

    @Slot()
    def _on_stats_clicked(self) -> None:
        self.acted.emit(Act.DETAILS, self.message_id)
