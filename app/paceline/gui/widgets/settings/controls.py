"""Controls that show a preference and change it; other views of the same follow by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.scale import STEP, px
from paceline.gui.widgets.fields import Choice, Slider
from paceline.gui.widgets.settings.page import small_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.preferences import Preference


class SwitchRow(QWidget):
    """A box to tick, with its explanation below."""

    def __init__(
        self, title: str, explanation: str, preference: Preference, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._preference = preference
        self.box = QCheckBox(title)
        self.box.setAccessibleDescription(explanation)
        self.remark = small_text(explanation)
        self.remark.setContentsMargins(px(20), 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.box)
        column.addWidget(self.remark)
        self._show()
        self.box.toggled.connect(self._on_toggled)
        preference.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        with QSignalBlocker(self.box):
            self.box.setChecked(bool(self._preference.value))

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:  # noqa: FBT001
        self._preference.set_value(is_on)


class ChoiceField(Choice):
    """A drop-down list of values with their names."""

    def __init__(
        self,
        choices: Sequence[tuple[str, str]],
        preference: Preference,
        parent: QWidget | None = None,
    ) -> None:
        """Offer pairs of a value and its name."""
        super().__init__(parent)
        self.setProperty("kind", "")
        self.setMinimumContentsLength(14)
        self._preference = preference
        for value, name in choices:
            self.addItem(name, value)
        self._show()
        self.activated.connect(self._on_chosen)
        preference.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        self.setCurrentIndex(self.findData(self._preference.value))

    @Slot(int)
    def _on_chosen(self, at: int) -> None:
        self._preference.set_value(self.itemData(at))


class SizeField(QWidget):
    """A slider over sizes in pixels, with the number beside it."""

    moved = Signal(int)

    def __init__(
        self, low: int, high: int, preference: Preference, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._preference = preference
        self.slider = Slider()
        self.slider.setRange(low, high)
        self.slider.setPageStep(1)
        self.number = QLabel()
        self.number.setProperty("role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(STEP)
        row.addWidget(self.slider, 1)
        row.addWidget(self.number)
        self.setFocusProxy(self.slider)
        self._show()
        # Another size dresses the whole window anew, which is too much for every pixel of a drag.
        self.slider.setTracking(False)
        self.slider.sliderMoved.connect(self._on_moved)
        self.slider.valueChanged.connect(self._on_chosen)
        preference.changed.connect(self._show)

    def name(self, title: str) -> None:
        """Name the slider for those who do not see it."""
        self.slider.setAccessibleName(title)

    @Slot()
    def _show(self) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(int(self._preference.value))
        self._on_moved(int(self._preference.value))

    @Slot(int)
    def _on_moved(self, size: int) -> None:
        self.number.setText(self.tr("{} px").format(size))
        self.moved.emit(size)

    @Slot(int)
    def _on_chosen(self, size: int) -> None:
        self._preference.set_value(size)
