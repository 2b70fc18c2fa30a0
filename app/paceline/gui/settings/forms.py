"""Parts of settings pages: sections, rows and controls, search and reset."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QDir, QRectF, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QLabel,
    QPushButton,
    QWidget,
)

from paceline.gui.kit.card import Card, FoundRow, show_matching
from paceline.gui.kit.fields import DropDown, Slider, WholeNumber
from paceline.gui.kit.file_dialogs import FileChooser
from paceline.gui.kit.labels import ElidedLabel, text_label
from paceline.gui.kit.layouts import IconButton, column_of, discard, row_of
from paceline.gui.look.colours import DARK, LIGHT, Theme
from paceline.gui.look.current import look
from paceline.gui.look.scale import CORNER, GAP, HALF, PAGE, STEP, px
from paceline.gui.look.theme import ui_font
from paceline.gui.state.settings_store import Setting, SettingsStore


class SettingsPage(QWidget):
    """Cards with rows; every row can be found, and every setting reset.

    `build` makes the rows when the page is first shown, since styling those of all pages would
    freeze the window too long.
    """

    def __init__(self, title: str, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.is_built = False
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(title)
        self._store = store
        self._rows: list[FoundRow] = []
        self._settings: list[Setting] = []
        self._column = column_of(
            text_label(title, "heading"), None,
            on=self, margins=(PAGE, PAGE - 4, PAGE, PAGE), spacing=GAP,
        )  # fmt: skip

    def build(self) -> None:
        """Make the rows, once."""
        if not self.is_built:
            self.is_built = True
            self._fill()

    def _fill(self) -> None:
        """Add the page's sections and rows."""

    def section(self, title: str) -> Card:
        """Begin another card."""
        card = Card(title)
        card.body.setSpacing(GAP)
        self._column.insertWidget(self._column.count() - 1, card)
        return card

    def add(self, card: Card, widget: QWidget, *words: str) -> None:
        """Add a row to a card; it is found by these words and by the titles around it."""
        card.body.addWidget(widget)
        text = " ".join((self.title, card.title.text(), *words)).casefold()
        self._rows.append(FoundRow(card, widget, text))

    def add_switch(
        self, card: Card, name: str, title: str, explanation: str, also: str = ""
    ) -> None:
        """Add a check box for the setting of this name to a card; see `add_row`."""
        setting = self._store.setting(name)
        self.add(card, SwitchRow(title, explanation, setting), title, also)
        self._settings.append(setting)

    def add_row(
        self, card: Card, title: str, explanation: str, control: Control, also: str = ""
    ) -> SettingRow:
        """Add a control to a card.

        Args:
            card: The card.
            title: Its title, which searches find, too.
            explanation: A sentence about it; may be empty.
            control: Shows and changes its `setting`.
            also: Further words for searches.
        """
        row = SettingRow(title, explanation, control)
        self.add(card, row, title, also)
        self._settings.append(control.setting)
        return row

    def show_matching(self, words: Sequence[str]) -> int:
        """Show only rows with all these words, or all rows without words; return their number.

        A page has no rows before `build`.
        """
        return show_matching(self._rows, words)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Settings that can be reset."""
        return tuple(self._settings)


class SettingRow(QWidget):
    """A title with its explanation, and a list at the right, or another control below."""

    def __init__(self, title: str, explanation: str, control: QWidget) -> None:
        super().__init__()
        label = QLabel(title)
        label.setBuddy(control)
        remark = text_label(explanation, wraps=True)
        control.setAccessibleName(title)
        control.setAccessibleDescription(explanation)
        words = column_of(label, remark, spacing=2)
        if isinstance(control, (ChoiceField, NumberField)):
            row_of((words, 1), control, on=self, margins=0, spacing=2 * STEP)
        else:
            column_of((words, 1), control, on=self, margins=0, spacing=STEP)
        # After it has a parent: without one it would be a window.
        remark.setVisible(bool(explanation))


_UNLIMITED_PX = 2000
_WIDTH, _HEIGHT = 132, 84


class SwitchRow(QWidget):
    """A check box, with its explanation below."""

    def __init__(self, title: str, explanation: str, setting: Setting) -> None:
        super().__init__()
        self.box = QCheckBox(title)
        self.box.setAccessibleDescription(explanation)
        self.remark = text_label(explanation, wraps=True)
        self.remark.setContentsMargins(px(20), 0, 0, 0)
        column_of(self.box, self.remark, on=self, margins=0, spacing=2)
        setting.bind(self.box)


class ChoiceField(DropDown):
    """A drop-down list of values with their names."""

    def __init__(
        self,
        choices: Sequence[tuple[str | int, str]],
        setting: Setting,
    ) -> None:
        """Offer pairs of a value and its name."""
        super().__init__(((name, value) for value, name in choices), n_letters=14)
        self.setProperty("kind", "")
        self.setting = setting
        self._show()
        self.activated.connect(self._on_chosen)
        setting.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        self.setCurrentIndex(self.findData(self.setting.value))

    @Slot(int)
    def _on_chosen(self, at: int) -> None:
        self.setting.set_value(self.itemData(at))


class NumberField(WholeNumber):
    """Field for a whole number; the lowest one may stand for a word."""

    def __init__(self, low: int, high: int, setting: Setting, word: str = "") -> None:
        super().__init__(low, high)
        self.setting = setting
        self.setSpecialValueText(word)
        self.setProperty("kind", "")
        self.setGroupSeparatorShown(False)
        self._show()
        self.valueChanged.connect(setting.set_value)
        setting.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        with QSignalBlocker(self):
            self.setValue(int(self.setting.value))


class SizeField(QWidget):
    """A slider over sizes in pixels, with the number beside it."""

    moved = Signal(int)

    def __init__(self, low: int, high: int, setting: Setting) -> None:
        super().__init__()
        self.setting = setting
        self.slider = Slider()
        self.slider.setRange(low, high)
        self.slider.setPageStep(1)
        self.number = text_label("", "muted")
        row_of((self.slider, 1), self.number, on=self, margins=0, spacing=STEP)
        self.setFocusProxy(self.slider)
        self._show()
        # Another size restyles the whole window, which is too much for every pixel of a drag.
        self.slider.setTracking(False)
        self.slider.sliderMoved.connect(self._on_moved)
        self.slider.valueChanged.connect(setting.set_value)
        setting.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(int(self.setting.value))
        self._on_moved(int(self.setting.value))

    @Slot(int)
    def _on_moved(self, size: int) -> None:
        self.number.setText(self.tr("{} px").format(size))
        self.moved.emit(size)


class OwnField(QWidget):
    """A control of another kind that shows and changes its `setting`."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting = setting


class TextRow(QWidget):
    """A text with a button that removes it.

    Args:
        text: The text.
        title: The name of the button.
        hint: A sentence about the action of the button.
        shown: Words to show in place of the text; empty to show the text.
    """

    removed = Signal(str)

    def __init__(self, text: str, title: str, hint: str, shown: str = "") -> None:
        super().__init__()
        self._text = text
        self.name = ElidedLabel(_UNLIMITED_PX, Qt.TextElideMode.ElideMiddle)
        self.name.setText(shown or text)
        self.remove = IconButton("close", title, hint)
        self.remove.clicked.connect(self._on_remove)
        row_of((self.name, 1), (None, 0), self.remove, on=self, margins=0, spacing=STEP)

    @Slot()
    def _on_remove(self) -> None:
        self.removed.emit(self._text)


class FolderList(QWidget):
    """Field for a setting that is a tuple of folders."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting = setting
        self.rows: list[TextRow] = []
        self.folders = FileChooser(self)
        self.folders.chosen.connect(setting.add)
        self._empty = text_label(self.tr("None of your own yet."))
        self.add = QPushButton(self.tr("Add a folder…"))
        self.add.clicked.connect(self._on_add)
        self._column = column_of(
            self._empty,
            (self.add, 0, Qt.AlignmentFlag.AlignLeft),
            on=self,
            margins=0,
            spacing=HALF,
        )
        setting.changed.connect(self._fill)
        self._fill()

    @Slot()
    def _fill(self) -> None:
        discard(self.rows)
        self.rows = [self._row(folder) for folder in self.setting.value]
        for at, row in enumerate(self.rows):
            row.removed.connect(self._on_removed)
            self._column.insertWidget(at, row)
        self._empty.setVisible(not self.rows)

    def _row(self, folder: str) -> TextRow:
        shown = QDir.toNativeSeparators(folder)
        title = self.tr("Do not look in {}").format(shown)
        hint = self.tr("Do not look here any more; nothing is deleted")
        return TextRow(folder, title, hint, shown)

    @Slot(str)
    def _on_removed(self, folder: str) -> None:
        self.setting.set_value(tuple(f for f in self.setting.value if f != folder))
        self.add.setFocus()

    @Slot()
    def _on_add(self) -> None:
        self.folders.ask_folder(self, self.tr("Look for models in a folder"))


class ThemePicture(QAbstractButton):
    """Picture of a window in one theme, or half in each, with its name below."""

    def __init__(self, name: str, painted: Sequence[Theme]) -> None:
        super().__init__()
        self.setText(name)
        self.setAccessibleName(name)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._painted = tuple(painted)

    def sizeHint(self) -> QSize:
        """Return the size of the picture and a line of text."""
        text = QFontMetrics(ui_font()).size(0, self.text())
        return QSize(max(px(_WIDTH), text.width()) + 8, px(_HEIGHT) + STEP + text.height() + 8)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint picture, ring and name."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF((self.width() - px(_WIDTH)) / 2, 4, px(_WIDTH), px(_HEIGHT))
        outline = QPainterPath()
        outline.addRoundedRect(frame, CORNER, CORNER)
        painter.save()
        painter.setClipPath(outline)
        share = frame.width() / len(self._painted)
        for at, painted in enumerate(self._painted):
            part = QRectF(frame.left() + at * share, frame.top(), share, frame.height())
            painter.save()
            painter.setClipRect(part, Qt.ClipOperation.IntersectClip)
            painter.translate(frame.topLeft())
            painter.scale(frame.width() / _WIDTH, frame.height() / _HEIGHT)
            _paint_window(painter, painted)
            painter.restore()
        painter.restore()
        theme = look.theme
        painter.setBrush(Qt.BrushStyle.NoBrush)
        is_marked = self.isChecked() or self.hasFocus() or self.underMouse()
        colour = theme.accent if self.isChecked() or self.hasFocus() else theme.line_strong
        painter.setPen(QPen(QColor(colour if is_marked else theme.line), 1))
        painter.drawRoundedRect(frame, CORNER, CORNER)
        if self.isChecked():
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.drawRoundedRect(frame.adjusted(-3, -3, 3, 3), CORNER + 3, CORNER + 3)
        painter.setFont(ui_font())
        painter.setPen(QColor(theme.accent if self.isChecked() else theme.text))
        below = QRectF(0, frame.bottom() + STEP, self.width(), self.height())
        painter.drawText(
            below, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, self.text()
        )


def _paint_window(painter: QPainter, theme: Theme) -> None:
    """Paint the panes, a message and its coloured reply."""

    def block(left: float, top: float, width: float, height: float, colour: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        area = QRectF(left, top, width, height)
        painter.drawRoundedRect(area, min(2.0, height / 2), min(2.0, height / 2))

    painter.fillRect(0, 0, _WIDTH, _HEIGHT, QColor(theme.window))
    block(-2, -2, 36, _HEIGHT + 4, theme.surface)
    block(34, 0, 1, _HEIGHT, theme.line)
    block(7, 9, 20, 8, theme.accent)
    for top in (25, 35, 45):
        block(7, top, 20, 3, theme.line_strong)
    block(84, 10, 40, 12, theme.bubble)
    block(44, 32, 70, 4, theme.muted)
    block(44, 41, 28, 6, theme.accent_soft)
    block(44, 46, 28, 2, theme.accent)
    block(76, 41, 30, 6, theme.lookup_soft)
    block(76, 46, 30, 2, theme.lookup)
    block(44, 62, 80, 14, theme.surface)
    block(108, 66, 12, 6, theme.accent)


class ThemePictures(QWidget):
    """Three pictures, one of which is chosen."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting = setting
        self._group = QButtonGroup(self)
        row = row_of(on=self, margins=0, spacing=GAP)
        self.pictures = {
            "system": ThemePicture(self.tr("Like the desktop"), (LIGHT, DARK)),
            "light": ThemePicture(self.tr("Light"), (LIGHT,)),
            "dark": ThemePicture(self.tr("Dark"), (DARK,)),
        }
        for picture in self.pictures.values():
            self._group.addButton(picture)
            row.addWidget(picture)
        row.addStretch(1)
        self._show()
        self._group.buttonClicked.connect(self._on_clicked)
        setting.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        self.pictures[self.setting.value].setChecked(True)

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        for mode, picture in self.pictures.items():
            if picture is button:
                self.setting.set_value(mode)


Control = ChoiceField | NumberField | SizeField | FolderList | ThemePictures | OwnField
