"""The choice of the strategy: a segment per group, and below it what of the group is in force.

In a chain ticked lookups are asked in the order of the ticks, the model last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QWidget,
)

from paceline.gui.kit.dialogs import DialogOwner, deciding_box, scrolling, within_screen
from paceline.gui.kit.fields import Segments
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import IconLabel, column_of, fill, row_of, styled
from paceline.gui.kit.row_painting import show_rows
from paceline.gui.kit.rows import Index
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import mono_font, ui_font
from paceline.gui.state.speculation import (
    GROUPS,
    Choice,
    Group,
    SpeculationModel,
    choice_of,
    in_order,
)

WIDTH_PX = 400
MAX_HEIGHT_PX = 460
_NAME, _SUMMARY, _OBSTACLE, _IS_CHOSEN = (Qt.ItemDataRole.UserRole + i for i in range(4))
_PADDING, _GAP, _MARK_PX = 8, 2, 20
_TEXT_PX = WIDTH_PX - _MARK_PX - 2 * _PADDING - 24
"""Width of the text; leaves room for frame and scroll bar."""
_WRAP = int(Qt.TextFlag.TextWordWrap)


class _Text(NamedTuple):
    """A text of a row: its place, from the row's upper left corner, and its look."""

    place: QRect
    text: str
    font: QFont
    colour: QPalette.ColorRole


def _texts(index: Index) -> Iterator[_Text]:
    """Give title and id, in one line where there is room, below them what it is, and the obstacle.

    Obstacles are why it cannot be used now.
    """
    roles = QPalette.ColorRole
    is_enabled = bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)
    muted = roles.Dark if is_enabled else roles.PlaceholderText
    title, name = str(index.data()), str(index.data(_NAME))
    title_font, name_font, font = ui_font(13, QFont.Weight.DemiBold), mono_font(11), ui_font(12)
    title_metrics, name_metrics = QFontMetrics(title_font), QFontMetrics(name_font)
    place = QRect(_PADDING + _MARK_PX, _PADDING, _TEXT_PX, 10_000)
    place.setHeight(title_metrics.boundingRect(place, _WRAP, title).height())
    if index.data(_IS_CHOSEN):
        mark = QRect(_PADDING, _PADDING, _MARK_PX, place.height())
        yield _Text(mark, "✓", title_font, roles.Accent)
    yield _Text(place, title, title_font, roles.Text if is_enabled else roles.PlaceholderText)
    name_px = name_metrics.horizontalAdvance(name)
    below = place.bottom() + 1 + _GAP
    if title_metrics.horizontalAdvance(title) + name_px + 16 > _TEXT_PX:
        shown = name_metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _TEXT_PX)
        own_line = QRect(place.left(), below, _TEXT_PX, name_metrics.height())
        yield _Text(own_line, shown, name_font, muted)
        below += own_line.height()
    else:
        on_base = _PADDING + title_metrics.ascent() - name_metrics.ascent()
        behind = QRect(place.right() - name_px, on_base, name_px + _PADDING, name_metrics.height())
        yield _Text(behind, name, name_font, muted)
    for role, colour in ((_SUMMARY, muted), (_OBSTACLE, roles.Dark)):
        words = str(index.data(role))
        lines = QRect(place.left(), below, _TEXT_PX, 10_000)
        lines.setHeight(QFontMetrics(font).boundingRect(lines, _WRAP, words).height())
        if words:
            yield _Text(lines, words, font, colour)
            below += lines.height()


class _Delegate(QStyledItemDelegate):
    """Draws a strategy's texts."""

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        bottom = max(text.place.bottom() + 1 for text in _texts(index))
        return QSize(_TEXT_PX, bottom + _PADDING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        palette, rect = option.palette, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.color(QPalette.ColorRole.AlternateBase))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 6, 6)
        for text in _texts(index):
            painter.setFont(text.font)
            painter.setPen(palette.color(text.colour))
            painter.drawText(text.place.translated(rect.topLeft()), _WRAP, text.text)
        painter.restore()


class StrategyMenu(QFrame):
    """Opens below a widget; Enter or a click chooses, Esc leaves all as it was."""

    chosen = Signal(str)
    """Name of a strategy"""
    own_wanted = Signal()
    """The user wants to put a chain together"""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "card")
        self.setObjectName("strategy_menu")
        self.list = styled(QListWidget(), kind="menu")
        show_rows(self.list, _Delegate(self.list))
        self.list.setAccessibleName(self.tr("Strategies"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        self.own = styled(QPushButton(self.tr("Put one together…")), kind="quiet")
        self.own.clicked.connect(self._on_own)
        column_of(self.list, self.own, on=self, margins=4, spacing=4)

    def show_choices(
        self, choices: Sequence[tuple[Choice, str]], chosen: str, *, offers_own: bool
    ) -> None:
        """List these strategies, each with the reason why it cannot be used now, or ""."""
        self.list.clear()
        for choice, obstacle in choices:
            item = QListWidgetItem(choice.title)
            item.setData(_NAME, choice.name)
            item.setData(_SUMMARY, choice.summary)
            item.setData(_OBSTACLE, obstacle)
            item.setData(_IS_CHOSEN, choice.name == chosen)
            words = f"{choice.title} ({choice.name}). {choice.summary} {obstacle}".strip()
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
            if obstacle:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
            if choice.name == chosen:
                self.list.setCurrentItem(item)
        self.own.setVisible(offers_own)

    def open_below(self, widget: QWidget) -> None:
        """Show the list under a widget, or above it where there is no room."""
        rows = sum(self.list.sizeHintForRow(row) for row in range(self.list.count()))
        height = min(rows + 4, MAX_HEIGHT_PX)
        self.list.setFixedHeight(height)
        if not self.own.isHidden():
            height += self.own.sizeHint().height() + 4
        self.setFixedSize(WIDTH_PX, height + 8)
        screen = widget.screen().availableGeometry()
        place = widget.mapToGlobal(QPoint(widget.width() - WIDTH_PX, widget.height() + 4))
        if place.y() + self.height() > screen.bottom():
            place.setY(max(widget.mapToGlobal(QPoint(0, 0)).y() - self.height() - 4, screen.top()))
        place.setX(max(place.x(), screen.left()))
        self.move(place)
        self.show()
        self.list.setFocus()

    def names(self) -> list[str]:
        """The strategies that are listed."""
        return [str(self.list.item(row).data(_NAME)) for row in range(self.list.count())]

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        # A click may also count as an activation.
        if not self.isVisible() or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        self.hide()
        self.chosen.emit(str(item.data(_NAME)))

    @Slot()
    def _on_own(self) -> None:
        self.hide()
        self.own_wanted.emit()


_HEIGHT = 34
_ARROW_PX = 14
_UNBROKEN_HYPHEN = "\u2011"


class _Chooser(QPushButton):
    """Shows the chosen strategy by title and id; a click opens the list of its group."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "chip")
        # The layout within makes the button as high as all lines of the title.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.title = text_label("", "", wraps=True, plain=True)
        self.name = text_label()
        self.arrow = IconLabel(look.icon("chevron-down"), _ARROW_PX)
        row_of((self.title, 1), self.name, self.arrow, on=self, margins=(12, 8, 12, 8), spacing=8)
        for label in (self.title, self.name, self.arrow):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_choice(self, choice: Choice) -> None:
        """Show a strategy; the id of a chain is what its title says already."""
        # A line never ends within “N-gram”.
        self.title.setText(choice.title.replace("-", _UNBROKEN_HYPHEN))
        self.name.setText("" if choice.group == "mixed" else choice.name)
        self.name.setVisible(bool(self.name.text()))
        self.setToolTip(f"{choice.title} ({choice.name})\n{choice.summary}")
        self.setAccessibleName(self.tr("Strategy: {}").format(choice.title))
        self.setAccessibleDescription(choice.summary)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, _HEIGHT)


class StrategyPicker(QWidget):
    """Segments choose what was used last of their group; the field below offers all of it."""

    def __init__(self, model: SpeculationModel) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Strategy"))
        self._model = model
        titles: dict[Group, tuple[str, str]] = {
            "auto": (self.tr("Auto"), self.tr("Measures and decides at every step what pays")),
            "draft": (self.tr("Draft"), self.tr("A second, smaller model writes ahead")),
            "lookup": (self.tr("Lookup"), self.tr("Copies from what was written before")),
            "mixed": (self.tr("Mixed"), self.tr("Lookups first, then the draft model")),
            "off": (self.tr("Off"), self.tr("Plain decoding: one token per step")),
        }
        frame = Segments([(group, *titles[group]) for group in GROUPS])
        frame.setAccessibleName(self.tr("Kind of strategy"))
        self.segments = frame.buttons
        self._meanings = {group: meaning for group, (_, meaning) in titles.items()}
        for button in self.segments.values():
            button.installEventFilter(self)
        self.chooser = _Chooser()
        self.chooser.clicked.connect(self._on_open)
        self.chooser.installEventFilter(self)
        self.help_button = styled(QToolButton(), kind="link")
        self.help_button.setText(self.tr("Which strategy?"))
        self.help_button.setToolTip(self.tr("Find the strategy for your kind of work"))
        self.help_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu = StrategyMenu(self)
        self.menu.chosen.connect(model.choose)
        self.menu.own_wanted.connect(self._on_own)
        self.chain = DialogOwner[ChainDialog](self)
        """The dialog that puts a chain together, while it is open"""
        column_of(
            frame,
            self.chooser,
            (self.help_button, 0, Qt.AlignmentFlag.AlignRight),
            on=self,
            margins=0,
            spacing=8,
        )
        frame.chosen.connect(self._on_segment)
        model.drafter_changed.connect(self._show_chosen)
        model.choices_changed.connect(self._show_chosen)
        self._show_chosen()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow down opens the list, on the segments as on the field below them."""
        is_press = event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self._on_open()
            return True
        return super().eventFilter(watched, event)

    def _explain(self, group: Group, button: QToolButton) -> None:
        """Switch a group off that nothing of can be used now, and say why."""
        obstacles = [self._model.obstacle(choice.name) for choice in self._model.choices(group)]
        is_usable = not all(obstacles) and bool(obstacles)
        button.setEnabled(is_usable or group == self._model.group)
        words = self._meanings[group]
        if not obstacles:
            words = self.tr("There is no such strategy here.")
        elif not is_usable:
            words = obstacles[0]
        button.setToolTip(words)

    @Slot()
    def _show_chosen(self) -> None:
        chosen = self._model.current
        for group in GROUPS:
            button = self.segments[group]
            self._explain(group, button)
            button.setChecked(group == chosen.group)
        self.chooser.show_choice(chosen)

    @Slot(str)
    def _on_segment(self, group: Group) -> None:
        """Choose what the group means; what cannot be used now gives way to what can."""
        model = self._model
        names = [model.usual(group), *(choice.name for choice in model.choices(group))]
        usable = [name for name in names if name and not model.obstacle(name)]
        if usable:
            model.choose(usable[0])
        self._show_chosen()

    @Slot()
    def _on_open(self) -> None:
        model = self._model
        choices = [(choice, model.obstacle(choice.name)) for choice in model.choices(model.group)]
        offers_own = model.group == "mixed" and any(i.family == "lookup" for i in model.infos)
        self.menu.show_choices(choices, model.current.name, offers_own=offers_own)
        self.menu.open_below(self.chooser)

    @Slot()
    def _on_own(self) -> None:
        self.chain.own(ChainDialog(self._model, self.window())).open()


_CHAIN_WIDTH, _CHAIN_HEIGHT = 460, 600
_PARTS = ("model", "lookup")
"""Families that a chain is made of."""


class ChainDialog(QDialog):
    """A list to tick, the chain that it makes, and a button that takes it."""

    def __init__(self, model: SpeculationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Put a chain together"))
        self.setMinimumWidth(px(_CHAIN_WIDTH))
        self._model = model
        infos = dict.fromkeys((*model.members, *model.infos))
        self._infos = {
            info.id: info
            for info in in_order(list(infos))
            if info.family in _PARTS and model.is_offered(info.id)
        }
        self._order: list[str] = []
        self.boxes: dict[str, QCheckBox] = {}
        intro = text_label(
            self.tr("Lookups are asked in the order in which you tick them, the draft model last."),
            "muted",
            wraps=True,
        )
        self.preview = text_label("", "title", wraps=True)
        buttons, self.take = deciding_box(self, self.tr("Use this chain"), self._on_accepted)
        column_of(
            intro,
            (self._make_rows(), 1),
            self.preview,
            buttons,
            on=self,
            margins=(20, 18, 20, 16),
            spacing=12,
        )
        self.resize(within_screen(self, QSize(px(_CHAIN_WIDTH), px(_CHAIN_HEIGHT))))
        for info in model.members:
            if info.id in self.boxes and self.boxes[info.id].isEnabled():
                self.boxes[info.id].setChecked(True)
        self._on_toggled()

    def _make_rows(self) -> QScrollArea:
        page = styled(QWidget(), kind="page")
        rows = column_of(on=page, margins=(0, 0, 8, 0), spacing=2)
        for info in self._infos.values():
            box = QCheckBox(f"{info.title}  ({info.id})")
            reason = self._model.obstacle(info.id)
            box.setEnabled(not reason)
            summary = text_label(f"{info.summary} {reason}".strip(), wraps=True)
            summary.setContentsMargins(26, 0, 0, 8)
            box.setAccessibleDescription(summary.text())
            box.toggled.connect(self._on_toggled)
            self.boxes[info.id] = box
            fill(rows, box, summary)
        rows.addStretch(1)
        return scrolling(page)

    @Slot()
    def _on_toggled(self) -> None:
        ticked = [name for name, box in self.boxes.items() if box.isChecked()]
        self._order = [name for name in self._order if name in ticked]
        self._order += [name for name in ticked if name not in self._order]
        is_chain = len(self._order) > 1
        self.take.setEnabled(is_chain)
        preview = self._choice.title if is_chain else self.tr("Tick at least two.")
        self.preview.setText(preview)

    @property
    def _choice(self) -> Choice:
        return choice_of([self._infos[name] for name in self._order])

    @Slot()
    def _on_accepted(self) -> None:
        self.accept()
        self._model.choose(self._choice.name)
