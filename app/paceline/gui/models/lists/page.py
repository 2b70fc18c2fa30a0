"""What the three pages of the picker have in common: fields, a list, a panel for states.

In the list a click or Enter picks, Enter and a double click also go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont, QIcon, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QBoxLayout,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from paceline.gui.kit.fields import Choice
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import Refits, Shown, column_of, fill, row_of
from paceline.gui.kit.row_painting import RIGHT, draw_text, paint_ground, show_rows
from paceline.gui.kit.rows import Index
from paceline.gui.kit.search_field import PAUSE_MS, SearchField
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import ui_font
from paceline.gui.models.candidates import Picks

ROW_PX = 56
_MARGIN_PX = 12
_MARK_PX = 18
"""The circle of the picked row."""
_BADGE_PX = 18
_GAP_PX = 12


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a rounded field; `tone` is "accent", "lookup", "danger" or empty for grey."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class RowText:
    """What a row says.

    Attributes:
        title: First line.
        facts: Second line.
        size: At the right of the first line.
        badges: At the right of the second line.
        is_picked: Whether it is the choice of the step; None: picking it leads somewhere else.
        is_dimmed: Greyed: it can be picked and will hardly do, or it cannot be picked.
        problem: Takes the place of the facts.
    """

    title: str
    facts: str = ""
    size: str = ""
    badges: tuple[Badge, ...] = ()
    is_picked: bool | None = False
    is_dimmed: bool = False
    problem: str = ""


def paint_row(
    painter: QPainter, rect: QRect, text: RowText, *, is_over: bool, has_ring: bool
) -> None:
    """Paint a row, with the pointer over it, with the ring of what has the keyboard."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    theme = look.theme
    paint_ground(painter, rect, is_chosen=bool(text.is_picked), is_over=is_over, has_ring=has_ring)
    inner = rect.adjusted(_MARGIN_PX, 8, -_MARGIN_PX, -8)
    if text.is_picked is not None:
        if not text.problem:
            _paint_mark(painter, inner, is_picked=text.is_picked)
        inner.adjust(_MARK_PX + _GAP_PX, 0, 0, 0)
    half = inner.height() // 2
    upper = QRect(inner.left(), inner.top(), inner.width(), half)
    lower = QRect(inner.left(), inner.top() + half, inner.width(), half)
    upper.setRight(_paint_size(painter, upper, text))
    lower.setRight(_paint_badges(painter, lower, text))
    painter.setFont(ui_font(13, QFont.Weight.Medium))
    painter.setPen(QColor(theme.faint if text.is_dimmed else theme.text))
    draw_text(painter, upper, text.title)
    painter.setFont(ui_font(12))
    painter.setPen(QColor(theme.faint if text.is_dimmed else theme.muted))
    draw_text(painter, lower, text.problem or text.facts)
    painter.restore()


def _paint_mark(painter: QPainter, inner: QRect, *, is_picked: bool) -> None:
    """Paint the circle that says whether a row is picked: not by a colour alone."""
    theme = look.theme
    middle = QPointF(inner.left() + _MARK_PX / 2, inner.center().y() + 0.5)
    radius = _MARK_PX / 2 - 1
    painter.setPen(QPen(QColor(theme.accent if is_picked else theme.line_strong), 1.5))
    painter.setBrush(QColor(theme.accent) if is_picked else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(middle, radius, radius)
    if is_picked:
        pen = QPen(QColor(theme.accent_text), 1.75)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        tick = (QPointF(-3.2, 0.2), QPointF(-0.9, 2.6), QPointF(3.4, -2.4))
        painter.drawPolyline(QPolygonF([middle + point for point in tick]))


def _paint_size(painter: QPainter, line: QRect, text: RowText) -> int:
    """Write the size at the right end; returns where the title must end."""
    if not text.size:
        return line.right()
    painter.setFont(ui_font(12))
    painter.setPen(QColor(look.theme.faint if text.is_dimmed else look.theme.muted))
    painter.drawText(line, RIGHT, text.size)
    return line.right() - painter.fontMetrics().horizontalAdvance(text.size) - _GAP_PX


def _paint_badges(painter: QPainter, line: QRect, text: RowText) -> int:
    """Paint the badges from the right end on; returns where the facts must end."""
    theme = look.theme
    colours = {
        # On the ground of a picked row the usual one would not be seen.
        "accent": (theme.surface if text.is_picked else theme.accent_soft, theme.accent),
        "lookup": (theme.lookup_soft, theme.lookup),
        "danger": (theme.danger_soft, theme.danger),
    }
    plain = (theme.surface if text.is_picked else theme.pressed, theme.muted)
    right = line.right()
    painter.setFont(ui_font(11, QFont.Weight.DemiBold))
    metrics = painter.fontMetrics()
    for badge in reversed(text.badges):
        width = metrics.horizontalAdvance(badge.text) + 16
        height = px(_BADGE_PX)
        field = QRect(right - width + 1, line.center().y() - height // 2, width, height)
        ground, ink = colours.get(badge.tone, plain)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(field, 8, 8)
        painter.setPen(QColor(ink))
        painter.drawText(field, Qt.AlignmentFlag.AlignCenter, badge.text)
        right -= width + 6
    return right - (_GAP_PX - 6 if text.badges else 0)


class ModelRow(QStyledItemDelegate):
    """Paints the rows of a list: name and facts at the left, size and badges at the right.

    What a row says comes from a function of the list, so that models need no knowledge of it.
    """

    def __init__(self, text_of: Callable[[Index], RowText], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._text_of = text_of

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Every row has the same height."""
        return QSize(200, px(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        state = option.state
        flag = QStyle.StateFlag
        paint_row(
            painter,
            QRect(option.rect).adjusted(0, 1, 0, -1),
            self._text_of(index),
            is_over=bool(state & (flag.State_MouseOver | flag.State_Selected)),
            has_ring=bool(state & flag.State_HasFocus and state & flag.State_KeyboardFocusChange),
        )


class OptionRow(QAbstractButton):
    """A row outside a list: one thing that can be picked."""

    def __init__(self, title: str, facts: str) -> None:
        super().__init__()
        self._words = RowText(title, facts)
        self.setCheckable(True)
        self.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(facts)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As high as a row of a list."""
        return QSize(200, px(ROW_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it like a row of a list."""
        paint_row(
            QPainter(self),
            self.rect().adjusted(0, 1, 0, -1),
            replace(self._words, is_picked=self.isChecked()),
            is_over=self.underMouse(),
            has_ring=self.hasFocus(),
        )


_LIST_PX = 114
"""Two rows and a frame; more is what the rest of a page leaves, whose lines are never cut."""
_PICKS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class ModelList(QListView):
    """Rows of two lines, drawn by a `ModelRow`."""

    picked = Signal(QModelIndex)
    confirmed = Signal(QModelIndex)
    """Picked, and the user wants to go on."""

    def __init__(
        self,
        name: str,
        text_of: Callable[[Index], RowText],
    ) -> None:
        super().__init__()
        self.setProperty("kind", "models")
        self.setAccessibleName(name)
        show_rows(self, ModelRow(text_of, self))
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.clicked.connect(self.picked)
        self.doubleClicked.connect(self.confirmed)

    def sizeHint(self) -> QSize:
        """Two rows; Qt's own asks for more than a low window has."""
        return QSize(200, px(_LIST_PX))

    def minimumSizeHint(self) -> QSize:
        """The same height."""
        return QSize(0, px(_LIST_PX))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick by Enter or Space; the dialog's buttons must not have these keys."""
        index = self.currentIndex()
        if event.key() in _PICKS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            if index.isValid():
                is_space = event.key() == Qt.Key.Key_Space
                (self.picked if is_space else self.confirmed).emit(index)
            event.accept()
            return
        super().keyPressEvent(event)

    @Slot()
    def take_focus(self) -> None:
        """Have the keyboard, with a row to go on from."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.currentIndex().isValid() and self.model() is not None:
            self.setCurrentIndex(self.model().index(0, 0))

    def show_row(self, row: int) -> None:
        """Go to a row; -1: to the top, with none to go on from."""
        index = self.model().index(row, 0)
        self.selectionModel().setCurrentIndex(
            index, QItemSelectionModel.SelectionFlag.ClearAndSelect
        )
        if index.isValid():
            self.scrollTo(index)
        else:
            self.scrollToTop()


_ICON_PX = 32
_TEXT_PX = 360


class StatePanel(Shown):
    """A sign, a title, a sentence, and a button if there is something to do."""

    asked = Signal(str)
    """Name of what the button offers"""

    def __init__(self) -> None:
        super().__init__()
        self._action = ""
        self.sign = QLabel()
        self.title = text_label("", "title", wraps=True)
        self.text = text_label("", "muted", wraps=True, plain=True)
        self.bar = QProgressBar(minimum=0, maximum=0, textVisible=False)
        self.bar.setFixedWidth(160)
        self.button = QPushButton()
        # Aligned in a column, a label of several lines does not get the height that it needs.
        middle = QWidget()
        middle.setMaximumWidth(px(_TEXT_PX))
        column_of(
            self.sign,
            self.title,
            self.text,
            (self.bar, 0, Qt.AlignmentFlag.AlignHCenter),
            (self.button, 0, Qt.AlignmentFlag.AlignHCenter),
            on=middle,
            margins=0,
            spacing=8,
        )
        column = column_of((None, 2), on=self, margins=(0, 24, 0, 24))
        row = row_of(None, (middle, 100), None)
        fill(column, row, (None, 3))
        for label in (self.sign, self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button.clicked.connect(self._on_clicked)

    def show_state(
        self,
        title: str,
        text: str = "",
        *,
        sign: QIcon | None = None,
        action: str = "",
        action_text: str = "",
        is_busy: bool = False,
    ) -> None:
        """Show this; `action` is what `asked` will say."""
        self.title.setText(title)
        say(self.text, text)
        self.sign.setVisible(sign is not None)
        if sign is not None:
            self.sign.setPixmap(sign.pixmap(_ICON_PX, _ICON_PX))
        self.bar.setVisible(is_busy)
        self._action = action
        self.button.setText(action_text)
        self.button.setVisible(bool(action))
        self.setAccessibleName(f"{title} {text}".strip())

    def _on_clicked(self) -> None:
        self.asked.emit(self._action)


class Page(Refits, Shown):
    """A place where models come from; `rows` is its list, `state` stands there when it is empty.

    Its fields stand below each other where it is narrower than `wide_px` at scale 1.
    """

    wide_px = 340

    picked = Signal(object)
    """Candidate"""
    head_picked = Signal()
    """The target's own MTP head is to draft"""
    confirmed = Signal()
    """The user wants to go on with what is picked."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        # Its fields give way, or stand below each other as soon as it is as narrow as its place.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.picks = Picks()
        """What is picked so far."""
        self.rows = ModelList(name, self.row_text)
        self.state = StatePanel()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.rows)
        self.stack.addWidget(self.state)
        self.bar = row_of(spacing=8)
        self.column = column_of(
            self.bar, (self.stack, 1), on=self, margins=(0, 12, 0, 0), spacing=8
        )
        self.rows.picked.connect(self.pick)
        self.rows.confirmed.connect(self._on_confirmed)

    def _fit(self) -> None:
        directions = QBoxLayout.Direction
        is_wide = self.width() >= px(self.wide_px)
        self.bar.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)

    def row_text(self, index: Index) -> RowText:
        """What a row says."""
        raise NotImplementedError

    def pick(self, index: QModelIndex) -> bool:
        """Take a row; whether that was possible."""
        raise NotImplementedError

    def make_choice(self, name: str, entries: Iterable[tuple[str, str]]) -> Choice:
        """Make a field to choose from words with their values."""
        choice = Choice(entries, name=name, n_letters=12)
        choice.setToolTip(name)
        return choice

    def make_search(self, words: str, pause_ms: int = PAUSE_MS) -> SearchField:
        """A search field from which the arrow keys lead into the list; see `SearchField`."""
        self.search = SearchField(words, pause_ms=pause_ms)
        self.search.left_downwards.connect(self._on_down)
        return self.search

    @Slot()
    def _on_down(self) -> None:
        if self.rows.isVisible():
            self.rows.take_focus()

    def _on_confirmed(self, index: QModelIndex) -> None:
        if self.pick(index):
            self.confirmed.emit()
