"""View of one message: rendered Markdown or plain text, as high as its content.

The view interprets nothing and loads nothing: no raw HTML, no pictures, no links but http and
https, which it only reports. Selection, copy and context menu are the text browser's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QMimeData,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QToolTip, QWidget

from paceline.chat.auto_words import decision_words
from paceline.gui.chat.links import MessageRequests, describe_link
from paceline.gui.chat.markdown.code_buttons import ButtonsOnCode
from paceline.gui.chat.markdown.cuts import link_target
from paceline.gui.chat.markdown.document import MarkdownDocument
from paceline.gui.chat.markdown.format import BLOCK_GAP, CODE_HEADER, CODE_PADDING, TEXT_PX
from paceline.gui.chat.markdown.formulas import formula_rect, shared_formulas
from paceline.gui.chat.markdown.found import Hits
from paceline.gui.chat.markdown.paint import GroundPainter
from paceline.gui.chat.markdown.provenance import Provenance, Span, TokenRecord
from paceline.gui.chat.markdown.sideways import (
    BAR_PX,
    BarsOnFormulas,
    SideWindow,
    reveal,
    shift_at,
    turn,
)
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import ui_font
from paceline.messages import SOURCE_TARGET

_SCROLL_KEYS = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
    }
)


_CLEARS_SELECTION = frozenset(
    {
        Qt.FocusReason.MouseFocusReason,
        Qt.FocusReason.TabFocusReason,
        Qt.FocusReason.BacktabFocusReason,
    }
)


_MAX_TIP_CHARS = 300
"""Maximum number of characters of a formula's source in a tool tip."""


class _Selected(NamedTuple):
    """A selection: its ends in the document, and the selected characters of the reply."""

    anchor: int
    position: int
    source: tuple[int, int] | None


class MessageView(QTextBrowser):
    """The text of one message.

    Args:
        parent: Qt's parent.
        requests: Handles links and code to save; None for the view's own.
        provenance: The source of the reply's characters; None for the view's own.
        is_muted: Whether the text is secondary.

    Attributes:
        content: The document with the source of its text.
    """

    height_changed = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        requests: MessageRequests | None = None,
        provenance: Provenance | None = None,
        is_muted: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "message")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setOpenLinks(False)
        self.setAcceptDrops(False)
        # The message around it offers more than the text alone; see `message_item`.
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setFont(ui_font(TEXT_PX))
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.viewport().setAutoFillBackground(False)
        # Another line must not repaint all lines.
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.requests = requests or MessageRequests(self)
        self.content = MarkdownDocument(self.document(), provenance, is_muted=is_muted)
        self._painter = GroundPainter(self.document())
        self._codes = ButtonsOnCode(self.document(), self.viewport(), self.requests)
        self._bars = BarsOnFormulas(self.document(), self.viewport())
        self._hits = Hits()
        self._marked: list[Span] = []
        self._current: list[Span] = []
        self._has_caret = False
        look.token_colours_changed.connect(self.viewport().update)
        shared_formulas().drawn.connect(self._on_formulas_drawn)
        self.anchorClicked.connect(self._on_anchor_clicked)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.horizontalScrollBar().rangeChanged.connect(self._on_side_range)
        self.setFixedHeight(0)

    def show_source(self, source: str, base: int = 0, *, is_final: bool = False) -> None:
        """Show Markdown.

        Args:
            source: The whole text of this view; cheap where it extends the shown text.
            base: Its offset in the reply's text.
            is_final: Whether nothing follows.
        """
        selected = self._selected()
        content = self.content
        if base != content.base:
            content.restart(base)
        (content.finish if is_final else content.write)(source)
        self._refresh(selected)

    @Slot()
    def _on_formulas_drawn(self) -> None:
        selected = self._selected()
        if self.content.draw_formulas():
            self._refresh(selected)

    def show_plain(self, text: str) -> None:
        """Show a text as it was typed."""
        self.content.write_plain(text)
        self._refresh()

    def renew(self) -> None:
        """Show the same in the present colours and size; the owner decides when.

        Building the document again takes a while, so a long conversation does it step by step.
        """
        self.setFont(ui_font(TEXT_PX))
        selected = self._selected()
        self.content.renew()
        self._refresh(selected)

    def set_caret(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide the caret after the last character, a sign of more to come."""
        if on != self._has_caret:
            self._has_caret = on
            self.viewport().update()

    def mark(self, hits: Hits) -> None:
        """Mark hits as far as they are shown here; marks stay while the text grows."""
        if hits != self._hits:
            self._hits = hits
            self._place_marks()
            for start, *_ in self._current:
                cursor = QTextCursor(self.document())
                cursor.setPosition(start)
                reveal(self._windows(), start, self.cursorRect(cursor).left())
            self.viewport().update()

    def _place_marks(self) -> None:
        place = self.content.place_of
        self._marked = [span for hit in self._hits.spans if (span := place(*hit)) is not None]
        span = place(*self._hits.current) if self._hits.current is not None else None
        self._current = [span] if span is not None else []

    def current_top(self) -> float | None:
        """Return the top of the current hit's line, or None if it is not here."""
        if not self._current:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._current[0].start)
        return float(self.cursorRect(cursor).top())

    def _selected(self) -> _Selected | None:
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return None
        source = self.content.source_of(cursor.selectionStart(), cursor.selectionEnd())
        return _Selected(cursor.anchor(), cursor.position(), source)

    def _refresh(self, selected: _Selected | None = None) -> None:
        """Update selection, buttons and picture to the content."""
        last = self.document().characterCount() - 1
        if selected is not None and selected != self._selected():
            ends = [selected.anchor, selected.position]
            if selected.source and (place := self.content.place_of(*selected.source)):
                # A formula that came or went before the selection has moved it.
                ends = sorted(place[:2], reverse=ends[0] > ends[1])
            selection = self.textCursor()
            selection.setPosition(min(ends[0], last))
            selection.setPosition(min(ends[1], last), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(selection)
        self._codes.show_codes(self.content.marks)
        self._place_marks()
        self._describe()
        self._place()
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(self.content.changed_from, last))
        # From the line above on, since a card's header and the old caret may extend there.
        top = max(0, self.cursorRect(cursor).top() - CODE_HEADER - BLOCK_GAP)
        self.viewport().update(0, top, self.viewport().width(), self.viewport().height() - top)

    def _describe(self) -> None:
        """Give screen readers the source of formulas, which are single characters in the text."""
        formulas = "; ".join(" ".join(placed.source.split()) for placed in self.content.formulas)
        description = self.tr("Formulas, in their order: {}").format(formulas) if formulas else ""
        if description != self.accessibleDescription():
            self.setAccessibleDescription(description)

    # -------------------------------------------------------------------------- geometry

    @Slot()
    def _on_side_range(self) -> None:
        """Stay at the left: only blocks of code are scrolled, each by its own bar."""
        self.horizontalScrollBar().setRange(0, 0)

    @Slot()
    def _fit(self) -> None:
        height = ceil(self.document().size().height())
        last = self.document().characterCount() - 1
        if any(mark.kind == "code_block" and mark.end == last for mark in self.content.marks):
            height += CODE_PADDING  # the layout omits the margin below the last line
        if self._bars.has_last:
            height += px(BAR_PX) + BLOCK_GAP
        if height != self.height():
            self.setFixedHeight(height)
            self.height_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Reposition the buttons on their cards, and the bars below wide content."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        self._codes.place()
        self._bars.place(self.content.formulas)
        self._fit()

    def _windows(self) -> list[SideWindow]:
        """Return the windows on scrolled code and formulas, from the top."""
        windows = [*self._codes.windows(), *self._bars.windows()]
        return sorted(windows, key=lambda window: window.rect.top())

    # -------------------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint backgrounds first, then Qt's text on them."""
        painter = QPainter(self.viewport())
        content, is_coloured = self.content, look.token_colours
        windows = [w for w in self._windows() if w.rect.intersects(QRectF(event.rect()))]
        self._painter.paint(
            painter,
            QRectF(event.rect()),
            content.marks,
            content.spans if is_coloured else (),
            self._marked,
            current=self._current,
            formulas=content.formulas if self._marked else (),
            within=content.formula_spans if is_coloured else None,
            windows=windows,
        )
        if self._has_caret:
            self._paint_caret(painter)
        for window in windows:
            self._paint_scrolled(painter, window, QRectF(event.rect()))
        painter.end()
        # Qt paints the rest, in strips between the scrolled blocks.
        rest = event.rect()
        for window in windows:
            seen = window.rect.toAlignedRect()
            strip = QRect(rest)
            strip.setBottom(min(rest.bottom(), seen.top() - 1))
            if strip.isValid():
                super().paintEvent(QPaintEvent(strip))
            rest.setTop(max(rest.top(), seen.bottom() + 1))
        if rest.isValid():
            super().paintEvent(QPaintEvent(rest))
        if self.textCursor().hasSelection() and content.formulas:
            self._paint_selected(QRectF(event.rect()), windows)

    def _paint_selected(self, clip: QRectF, windows: Sequence[SideWindow]) -> None:
        """Paint selected formulas once more: Qt covers objects with half the selection's colour."""
        cursor, ink = self.textCursor(), self.palette().highlightedText()
        painter = QPainter(self.viewport())
        scrolled = {window.start: window for window in windows}
        for placed in self.content.formulas:
            if cursor.selectionStart() <= placed.position < cursor.selectionEnd():
                rect = formula_rect(self.document(), placed)
                window = scrolled.get(placed.position)
                painter.setClipRect(clip if window is None else clip & window.rect)
                rect.translate(0 if window is None else -window.shift, 0)
                if rect.intersects(clip):
                    size = rect.width() / placed.formula.width
                    at = QPointF(rect.left(), rect.top() + size * placed.formula.ascent)
                    placed.formula.paint(painter, at, rect.width(), ink)

    def _paint_scrolled(self, painter: QPainter, window: SideWindow, clip: QRectF) -> None:
        """Paint the scrolled code or formula."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette = self.palette()
        shown = window.rect & clip
        context.clip = shown.translated(window.shift, 0)
        if self.textCursor().hasSelection():
            group = QPalette.ColorGroup.Active if self.hasFocus() else QPalette.ColorGroup.Inactive
            selection = QAbstractTextDocumentLayout.Selection()
            selection.cursor = self.textCursor()
            brush = self.palette().brush
            selection.format.setBackground(brush(group, QPalette.ColorRole.Highlight))
            selection.format.setForeground(brush(group, QPalette.ColorRole.HighlightedText))
            context.selections = [selection]
        painter.save()
        painter.setClipRect(shown)
        painter.translate(-window.shift, 0)
        self.document().documentLayout().draw(painter, context)
        painter.restore()

    def _paint_caret(self, painter: QPainter) -> None:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        rect = self.cursorRect(cursor)
        height = self.fontMetrics().height()
        painter.fillRect(
            QRectF(rect.left() + 2, rect.top(), 3, min(height, rect.height())),
            QColor(look.theme.text),
        )

    # ---------------------------------------------------------------------------- events

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the conversation, except over content that scrolls sideways."""
        turn(self._windows(), event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Clear the selection when the user turns to something else: only one may exist."""
        super().focusOutEvent(event)
        if event.reason() in _CLEARS_SELECTION and self.textCursor().hasSelection():
            cursor = self.textCursor()
            cursor.clearSelection()
            self.setTextCursor(cursor)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001 - Qt's name
        """Move through the links, except while a button on the text has the focus."""
        parent = self.parentWidget()
        if self.hasFocus() or parent is None:
            return super().focusNextPrevChild(next)
        return parent.focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the keys that scroll to the conversation."""
        if event.key() in _SCROLL_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tool tip of the position under the pointer, which scrolling may have moved."""
        if isinstance(event, QMouseEvent) and (
            shift := shift_at(self._windows(), event.position())
        ):
            event = QMouseEvent(
                event.type(),
                event.position() + QPointF(shift, 0),
                event.globalPosition(),
                event.button(),
                event.buttons(),
                event.modifiers(),
                event.pointingDevice(),
            )
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tool_tip_at(event.pos()), self.viewport())
            return True
        return super().viewportEvent(event)

    def tool_tip_at(self, at: QPoint) -> str:
        """Return the tool tip at a point of the viewport: a link's address, a token's source."""
        at = at + QPoint(shift_at(self._windows(), QPointF(at)), 0)
        layout = self.document().documentLayout()
        position = layout.hitTest(QPointF(at), Qt.HitTestAccuracy.ExactHit)
        lines = [self.tr("Image not loaded")] if self._is_image(position) else []
        anchor = self.anchorAt(at)
        if anchor:
            shown, warning = describe_link(anchor)
            lines += [shown, warning]
        if lines:
            return "\n".join(filter(None, lines))
        share = 0.0
        formula = self.content.formula_at(position)
        if formula is not None:
            lines = [" ".join(formula.source.split())[:_MAX_TIP_CHARS]]
            rect = formula_rect(self.document(), formula)
            share = (at.x() - rect.left()) / max(rect.width(), 1)
        if look.token_colours and position >= 0:
            record = self.content.record_at(position, share)
            lines += [describe_token(record)] if record else []
        return "\n".join(lines)

    def _is_image(self, position: int) -> bool:
        return any(
            mark.kind == "image" and mark.start <= position < mark.end
            for mark in self.content.marks
        )

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selected text alone, without the theme's colours."""
        data = QMimeData()
        cursor = self.textCursor()
        data.setText(self.content.copied(cursor.selectionStart(), cursor.selectionEnd()))
        return data

    def loadResource(self, _kind: int, _name: QUrl | str) -> QByteArray:
        """Load nothing: a model wrote the addresses in a message.

        The result is empty, but not None: without an answer the document would read a local file.
        """
        return QByteArray()

    @Slot(QUrl)
    def _on_anchor_clicked(self, url: QUrl) -> None:
        target = link_target(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        if target:
            self.requests.link_activated.emit(target)


def describe_token(record: TokenRecord) -> str:
    """Return one line about a committed token, and one about Auto's decision for its step."""
    lines = [_token(record)]
    if record.step.decision is not None:
        lines.append(said(decision_words(record.step.decision)))
    return "\n".join(lines)


def _token(record: TokenRecord) -> str:
    trace = record.trace
    if trace.source == SOURCE_TARGET:
        return " · ".join(_own(record))
    parts = [_tr("right guess"), record.title]
    if trace.position >= 0:
        place = _ordinal(trace.position + 1)
        if record.n_drafted:
            parts.append(_tr("{place} of {total}").format(place=place, total=record.n_drafted))
        else:
            parts.append(place)
    if trace.confidence is not None:
        parts.append(_tr("confidence {value:.2f}").format(value=local(trace.confidence)))
    parts.append(_step(record))
    return " · ".join(parts)


def _own(record: TokenRecord) -> list[str]:
    parts = [_tr("the model's own"), _step(record)]
    if record.n_drafted:
        is_bonus = record.n_accepted >= record.n_drafted
        parts.append(_tr("bonus") if is_bonus else _tr("after a wrong guess"))
    return parts


def _step(record: TokenRecord) -> str:
    return _tr("step {number}").format(number=record.step.step)


_tr = translator("TokenText")


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return _tr("{}th").format(number)
    match number % 10:
        case 1:
            return _tr("{}st").format(number)
        case 2:
            return _tr("{}nd").format(number)
        case 3:
            return _tr("{}rd").format(number)
    return _tr("{}th").format(number)
