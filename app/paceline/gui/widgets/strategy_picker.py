"""The choice of the strategy: a segment per group, and below it what of the group is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.viewmodels.choices import GROUPS, Group
from paceline.gui.widgets.chain_dialog import ChainDialog
from paceline.gui.widgets.segments import Segments
from paceline.gui.widgets.strategy_menu import StrategyMenu

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from paceline.gui.viewmodels.choices import Choice
    from paceline.gui.viewmodels.speculation import SpeculationModel

_HEIGHT = 34
_UNBROKEN_HYPHEN = "\u2011"


class _Chooser(QPushButton):
    """Shows the chosen strategy by title and id; a click opens the list of its group."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "chip")
        # The layout within makes the button as high as all lines of the title.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        self.name = QLabel()
        self.name.setProperty("role", "small")
        self.arrow = QLabel("▾")
        self.arrow.setProperty("role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(self.title, 1)
        row.addWidget(self.name)
        row.addWidget(self.arrow)
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

    def __init__(self, model: SpeculationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Strategy"))
        self._model = model
        self._dialog: ChainDialog | None = None
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
        for button in self.segments.values():
            button.installEventFilter(self)
        self.chooser = _Chooser()
        self.chooser.clicked.connect(self._on_open)
        self.chooser.installEventFilter(self)
        self.help_button = QToolButton()
        self.help_button.setProperty("kind", "link")
        self.help_button.setText(self.tr("Which strategy?"))
        self.help_button.setToolTip(self.tr("Find the strategy for your kind of work"))
        self.help_button.setAccessibleDescription(self.help_button.toolTip())
        self.help_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu = StrategyMenu(self)
        self.menu.chosen.connect(self._on_chosen)
        self.menu.own_wanted.connect(self._on_own)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(frame)
        column.addWidget(self.chooser)
        column.addWidget(self.help_button, 0, Qt.AlignmentFlag.AlignRight)
        frame.chosen.connect(self._on_segment)
        model.drafter_changed.connect(self._show_chosen)
        model.choices_changed.connect(self._show_chosen)
        self._show_chosen()

    @property
    def dialog(self) -> ChainDialog | None:
        """The dialog that puts a chain together, while it is open."""
        return self._dialog

    def set_arrow(self, arrow: QIcon) -> None:
        """Show an icon in place of the arrow sign."""
        if not arrow.isNull():
            self.chooser.arrow.setPixmap(arrow.pixmap(14, 14))

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
        words = button.accessibleDescription()
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
        self._choose_group(group)
        self._show_chosen()

    def _choose_group(self, group: Group) -> None:
        """Choose what the group means; what cannot be used now gives way to what can."""
        model = self._model
        names = [model.usual(group), *(choice.name for choice in model.choices(group))]
        usable = [name for name in names if name and not model.obstacle(name)]
        if usable:
            model.choose(usable[0])

    @Slot()
    def _on_open(self) -> None:
        model = self._model
        choices = [(choice, model.obstacle(choice.name)) for choice in model.choices(model.group)]
        has_parts = sum(info.family == "lookup" for info in model.infos) > 0
        self.menu.show_choices(
            choices, model.current.name, offers_own=model.group == "mixed" and has_parts
        )
        self.menu.open_below(self.chooser)

    @Slot(str)
    def _on_chosen(self, name: str) -> None:
        self._model.choose(name)

    @Slot()
    def _on_own(self) -> None:
        model = self._model
        self._dialog = ChainDialog(model.infos, model.members, model.obstacle, self.window())
        self._dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._dialog.taken.connect(self._on_chosen)
        self._dialog.finished.connect(self._on_dialog_finished)
        self._dialog.open()

    @Slot()
    def _on_dialog_finished(self) -> None:
        self._dialog = None
