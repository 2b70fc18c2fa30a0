"""The two steps of the picker, side by side: what each is for, and what is picked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.theme import restyle
from paceline.gui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from paceline.gui.viewmodels.picks import Picks

_NAME_PX = 260
_HEIGHT = 64


class StepButton(QPushButton):
    """Number, heading, and the name of what is picked."""

    def __init__(self, number: int, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "step")
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._heading = heading
        self.number = QLabel(str(number))
        self.number.setProperty("role", "number")
        self.number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.number.setFixedSize(24, 24)
        self.heading = QLabel(heading)
        self.heading.setProperty("role", "small")
        self.name = ElidedLabel(_NAME_PX)
        self.name.setProperty("role", "title")
        self.name.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.heading)
        words.addWidget(self.name)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(12)
        row.addWidget(self.number)
        row.addLayout(words, 1)
        for label in (self.number, self.heading, self.name):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.toggled.connect(self._on_toggled)

    def sizeHint(self) -> QSize:
        """Two lines."""
        return QSize(200, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """The name may give way."""
        return QSize(140, _HEIGHT)

    def show_name(self, name: str, *, is_picked: bool) -> None:
        """Show what is picked, or what is to be done."""
        self.name.set_full_text(name)
        self.name.setProperty("role", "title" if is_picked else "muted")
        restyle(self.name)
        self.setToolTip(name if is_picked else "")
        self.setAccessibleName(f"{self._heading}: {name}")

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:  # noqa: FBT001
        for label in (self.number, self.heading):
            label.setProperty("tone", "accent" if is_on else "")
            restyle(label)


class StepBar(QWidget):
    """Both steps, and one sentence about the one that is being done."""

    chosen = Signal(int)
    """1 or 2"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = StepButton(1, self.tr("Target"))
        self.draft = StepButton(2, self.tr("Draft model"))
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        row = QHBoxLayout()
        row.setSpacing(8)
        for number, button in ((1, self.target), (2, self.draft)):
            self._group.addButton(button, number)
            row.addWidget(button, 1)
        self.sentence = QLabel()
        self.sentence.setProperty("role", "muted")
        self.sentence.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.sentence)
        self._group.idClicked.connect(self.chosen)

    def show_picks(self, picks: Picks) -> None:
        """Show what is picked and which step is being done."""
        self.target.setChecked(picks.step == 1)
        self.draft.setChecked(picks.step == 2)
        target, draft = picks.target, picks.draft
        name = target.title if target else self.tr("choose")
        self.target.show_name(name, is_picked=target is not None)
        if draft is not None:
            name = draft.title
        elif picks.is_decided:
            name = self.tr("No draft model: lookups only")
        else:
            name = self.tr("choose")
        self.draft.show_name(name, is_picked=picks.is_decided)
        if picks.step == 1:
            self.sentence.setText(
                self.tr("The model that you talk to. It alone decides every word of a reply.")
            )
        else:
            self.sentence.setText(
                self.tr("A small model that writes ahead: replies come faster, and read the same.")
            )
