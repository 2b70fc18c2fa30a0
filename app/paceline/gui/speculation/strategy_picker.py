"""The choice of the strategy: one row with the present one, and the lists that it opens.

The first list has four entries, each with a description and, if it cannot be used now, the reason.
The last one leads to the searchable list of all strategies, and to a dialog that builds chains: a
chain asks its ticked lookups in the order of the ticks, and the model last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from paceline.gui.kit.dialogs import DialogOwner, deciding_box, scrolling, within_screen
from paceline.gui.kit.labels import say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import IconLabel, Popup, column_of, fill, row_of, styled
from paceline.gui.kit.row_painting import show_rows
from paceline.gui.kit.rows import Index
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import mono_font, ui_font
from paceline.gui.state.speculation import (
    GROUPS,
    HEADS,
    USUAL_LOOKUP,
    Group,
    SpeculationModel,
    StrategyChoice,
    choice_of,
    in_order,
)

WIDTH_PX = 400
MAX_HEIGHT_PX = 460
_KEY, _NAME, _SUMMARY, _OBSTACLE, _IS_CHOSEN = (Qt.ItemDataRole.UserRole + i for i in range(5))
_PADDING, _GAP, _MARK_PX = 8, 2, 20
_TEXT_PX = WIDTH_PX - _MARK_PX - 2 * _PADDING - 24
"""Width of the text, without frame and scroll bar."""
_WRAP = int(Qt.TextFlag.TextWordWrap)


class _Text(NamedTuple):
    """A text of a row: its position relative to the row's upper left corner, and its look."""

    place: QRect
    text: str
    font: QFont
    colour: QPalette.ColorRole


def _texts(index: Index) -> Iterator[_Text]:
    """Yield title and id, in one line if they fit, below them the description and the obstacle.

    The obstacle is the reason why it cannot be used now.
    """
    roles = QPalette.ColorRole
    title, name = str(index.data()), str(index.data(_NAME))
    title_font, name_font, font = ui_font(13, QFont.Weight.DemiBold), mono_font(11), ui_font(12)
    title_metrics, name_metrics = QFontMetrics(title_font), QFontMetrics(name_font)
    place = QRect(_PADDING + _MARK_PX, _PADDING, _TEXT_PX, 10_000)
    place.setHeight(title_metrics.boundingRect(place, _WRAP, title).height())
    if index.data(_IS_CHOSEN):
        mark = QRect(_PADDING, _PADDING, _MARK_PX, place.height())
        yield _Text(mark, "✓", title_font, roles.Accent)
    yield _Text(place, title, title_font, roles.Text)
    name_px = name_metrics.horizontalAdvance(name)
    below = place.bottom() + 1 + _GAP
    if title_metrics.horizontalAdvance(title) + name_px + 16 > _TEXT_PX:
        shown = name_metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _TEXT_PX)
        own_line = QRect(place.left(), below, _TEXT_PX, name_metrics.height())
        yield _Text(own_line, shown, name_font, roles.Dark)
        below += own_line.height()
    else:
        on_base = _PADDING + title_metrics.ascent() - name_metrics.ascent()
        behind = QRect(place.right() - name_px, on_base, name_px + _PADDING, name_metrics.height())
        yield _Text(behind, name, name_font, roles.Dark)
    for role, colour in ((_SUMMARY, roles.Dark), (_OBSTACLE, roles.Text)):
        words = str(index.data(role))
        lines = QRect(place.left(), below, _TEXT_PX, 10_000)
        lines.setHeight(QFontMetrics(font).boundingRect(lines, _WRAP, words).height())
        if words:
            yield _Text(lines, words, font, colour)
            below += lines.height()


class _Delegate(QStyledItemDelegate):
    """Painter of a strategy's texts."""

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


class StrategyEntry(NamedTuple):
    """A row of the list.

    Attributes:
        key: The strategy, or empty to list all strategies.
        title: Its name in words.
        summary: A sentence on what it does.
        name: Its id, where that is shown.
        obstacle: Why it cannot be used now, or empty.
    """

    key: str
    title: str
    summary: str
    name: str = ""
    obstacle: str = ""


_LIST_KEYS = (
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown,
    Qt.Key.Key_Return, Qt.Key.Key_Enter,
)  # fmt: skip


class StrategyMenu(Popup):
    """Popup below a widget; Enter or a click chooses, Esc changes nothing."""

    chosen = Signal(str)
    """`StrategyEntry.key` of the choice"""
    own_wanted = Signal()
    """The user wants to build a chain."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("strategy_menu")
        self.search = styled(QLineEdit(), kind="search")
        self.search.setPlaceholderText(self.tr("Find a strategy"))
        self.search.setAccessibleName(self.search.placeholderText())
        self.search.textChanged.connect(self._on_searched)
        self.search.installEventFilter(self)
        self.list = styled(QListWidget(), kind="menu")
        show_rows(self.list, _Delegate(self.list))
        self.list.setAccessibleName(self.tr("Strategies"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        self.own = styled(QPushButton(self.tr("Put one together…")), kind="quiet")
        self.own.clicked.connect(self._on_own)
        column_of(self.search, self.list, self.own, on=self.card, margins=4, spacing=4)

    def show_offers(self, offers: Sequence[StrategyEntry], chosen: str, *, is_all: bool) -> None:
        """List these; for all strategies, with a search and the button for own chains."""
        self.search.clear()
        self.list.clear()
        for offer in offers:
            item = QListWidgetItem(offer.title)
            is_chosen = offer.key == chosen
            for role, value in zip(
                (_KEY, _NAME, _SUMMARY, _OBSTACLE, _IS_CHOSEN),
                (offer.key, offer.name, offer.summary, offer.obstacle, is_chosen),
                strict=True,
            ):
                item.setData(role, value)
            named = f"{offer.title} ({offer.name})" if offer.name else offer.title
            words = f"{named}. {offer.summary} {offer.obstacle}".strip()
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
            self.list.addItem(item)
            if is_chosen:
                self.list.setCurrentItem(item)
        self.search.setVisible(is_all)
        self.own.setVisible(is_all)

    def open_below(self, widget: QWidget) -> None:
        """Show the list below a widget, or above it where space is short."""
        rows = sum(self.list.sizeHintForRow(row) for row in range(self.list.count()))
        height = min(rows + 4, MAX_HEIGHT_PX)
        self.list.setFixedHeight(height)
        for other in (self.search, self.own):
            height += 0 if other.isHidden() else other.sizeHint().height() + 4
        self.setFixedSize(WIDTH_PX, height + 8)
        screen = widget.screen().availableGeometry()
        place = widget.mapToGlobal(QPoint(widget.width() - WIDTH_PX, widget.height() + 4))
        if place.y() + self.height() > screen.bottom():
            place.setY(max(widget.mapToGlobal(QPoint(0, 0)).y() - self.height() - 4, screen.top()))
        place.setX(max(place.x(), screen.left()))
        self.move(place)
        self.show()
        (self.list if self.search.isHidden() else self.search).setFocus()

    def listed(self) -> list[str]:
        """Return the listed strategies, without those that the search hides."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [str(item.data(_KEY)) for item in items if not item.isHidden()]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the list's keys to the list while a word is typed."""
        is_press = watched is self.search and event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() in _LIST_KEYS:
            QCoreApplication.sendEvent(self.list, event)
            return True
        return super().eventFilter(watched, event)

    @Slot(str)
    def _on_searched(self, text: str) -> None:
        words = text.casefold().split()
        found = []
        for row in range(self.list.count()):
            item = self.list.item(row)
            spoken = str(item.data(Qt.ItemDataRole.AccessibleTextRole)).casefold()
            item.setHidden(not all(word in spoken for word in words))
            found += [] if item.isHidden() else [item]
        if found and words:
            self.list.setCurrentItem(found[0])

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        if self.isVisible():  # a click may also count as an activation
            self.hide()
            self.chosen.emit(str(item.data(_KEY)))

    @Slot()
    def _on_own(self) -> None:
        self.hide()
        self.own_wanted.emit()


_HEIGHT = 34
_ARROW_PX = 14
_UNBROKEN_HYPHEN = "\u2011"


class _Chooser(QPushButton):
    """Button with the strategy, and the kind of a lookup beside it; a click opens the list."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "chip")
        # The layout within makes the button as high as all lines of the title.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.title = text_label("", "", wraps=True, plain=True)
        self.kind = text_label()
        self.arrow = IconLabel(look.icon("chevron-down"), _ARROW_PX)
        row_of((self.title, 1), self.kind, self.arrow, on=self, margins=(12, 8, 12, 8), spacing=8)
        for label in (self.title, self.kind, self.arrow):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_choice(self, title: str, kind: str, choice: StrategyChoice) -> None:
        """Show a strategy."""
        # A line never ends within “N-gram”.
        self.title.setText(title.replace("-", _UNBROKEN_HYPHEN))
        say(self.kind, kind)
        self.setToolTip(f"{choice.title} ({choice.name})\n{choice.summary}")
        self.setAccessibleName(self.tr("Drafts: {}").format(f"{title} {kind}".strip()))
        self.setAccessibleDescription(choice.summary)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, _HEIGHT)


class StrategyPicker(QWidget):
    """A row with the chosen strategy, and the reason if it cannot be used now."""

    draft_wanted = Signal(str)
    """A strategy was chosen whose draft model is not loaded."""

    def __init__(self, model: SpeculationModel) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Strategy"))
        self._model = model
        self._offered: tuple[tuple[Group, str, str], ...] = (
            ("auto", self.tr("Auto"), self.tr(
                "Measures at every step what pays, drafts where it does, and writes plainly where "
                "it does not."
            )),
            ("draft", self.tr("Draft model"), self.tr(
                "A second, smaller model writes ahead: pays with large models, for any text."
            )),
            ("lookup", self.tr("Lookups"), self.tr(
                "Copies what was written before; no second model. Pays for edits, code, JSON and "
                "quotes."
            )),
            ("off", self.tr("Off"), self.tr("No drafts: one token in each step.")),
        )  # fmt: skip
        self.chooser = _Chooser()
        self.chooser.clicked.connect(self._on_open)
        self.chooser.installEventFilter(self)
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        self.menu = StrategyMenu(self)
        self.menu.chosen.connect(self._on_chosen)
        self.menu.own_wanted.connect(self._on_own)
        self.chain = DialogOwner[ChainDialog](self)
        """The open dialog for building a chain."""
        label = text_label(self.tr("Drafts"), "title")
        label.setBuddy(self.chooser)
        row = row_of(label, (self.chooser, 1), spacing=12)
        column_of(row, self.problem, on=self, margins=0, spacing=6)
        model.drafter_changed.connect(self._show_chosen)
        model.choices_changed.connect(self._show_chosen)
        self._show_chosen()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the list on Down."""
        is_press = event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self._on_open()
            return True
        return super().eventFilter(watched, event)

    def show_problem(self, text: str) -> None:
        """Show why the strategy cannot be used now, or empty if it can."""
        say(self.problem, with_soft_breaks(text))

    @Slot()
    def _show_chosen(self) -> None:
        """Show the first list's word; for a lookup that is not the usual one, its kind, too."""
        chosen = self._model.current
        title, kind = chosen.title, ""
        if chosen.group == "lookup":
            title = next(name for group, name, _ in self._offered if group == "lookup")
            kind = chosen.title if chosen.name != USUAL_LOOKUP else ""
        self.chooser.show_choice(title, kind, chosen)

    def _offers(self) -> Iterator[StrategyEntry]:
        """Yield the four groups, each with its last or first usable strategy."""
        model = self._model
        for group, title, summary in self._offered:
            choices = {choice.name: choice for choice in model.choices(group)}
            names = [name for name in (model.usual(group), *choices) if name]
            usable = [name for name in names if not model.obstacle(name)]
            for name in [*usable, *names][:1]:
                head = choices[name] if name in HEADS else None
                words = (head.title, head.summary) if head else (title, summary)
                yield StrategyEntry(name, *words, obstacle=self._way_out(name))
        more = self.tr("All lookups by their kinds, and several in a row.")
        yield StrategyEntry("", self.tr("More…"), more)

    def _all(self) -> Iterator[StrategyEntry]:
        for group in GROUPS:
            for choice in self._model.choices(group):
                obstacle = self._way_out(choice.name)
                yield StrategyEntry(
                    choice.name, choice.title, choice.summary, choice.name, obstacle
                )

    def _way_out(self, name: str) -> str:
        obstacle = self._model.obstacle(name)
        return obstacle and self.tr("{} Choose this to get one.").format(obstacle)

    @Slot()
    def _on_open(self) -> None:
        self.menu.show_offers(list(self._offers()), self._model.current.name, is_all=False)
        self.menu.open_below(self.chooser)

    @Slot(str)
    def _on_chosen(self, key: str) -> None:
        model = self._model
        if not key:
            self.menu.show_offers(list(self._all()), model.current.name, is_all=True)
            self.menu.open_below(self.chooser)
        elif model.obstacle(key):
            self.draft_wanted.emit(key)
        else:
            model.choose(key)

    @Slot()
    def _on_own(self) -> None:
        self.chain.own(ChainDialog(self._model, self.window())).open()


_CHAIN_WIDTH, _CHAIN_HEIGHT = 460, 600
_PARTS = ("model", "lookup")
"""Families of drafters that a chain consists of."""


class ChainDialog(QDialog):
    """A list to tick, the resulting chain, and a button that uses it."""

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
        buttons, self.accept_button = deciding_box(
            self, self.tr("Use this chain"), self._on_accepted
        )
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
        self.accept_button.setEnabled(is_chain)
        preview = self._choice.title if is_chain else self.tr("Tick at least two.")
        self.preview.setText(preview)

    @property
    def _choice(self) -> StrategyChoice:
        return choice_of([self._infos[name] for name in self._order])

    @Slot()
    def _on_accepted(self) -> None:
        self.accept()
        self._model.choose(self._choice.name)
