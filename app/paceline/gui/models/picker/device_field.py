"""The field for a model's devices: one, several, or the automatic choice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from paceline.gui.kit.fields import DropDown
from paceline.gui.kit.layouts import column_of
from paceline.gui.state.device_words import device_words
from paceline.messages import DeviceInfo


class _StayingMenu(QMenu):
    """A menu that stays open while its entries are ticked by mouse or Space."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tick the entry below the pointer."""
        action: QAction | None = self.actionAt(event.position().toPoint())
        if action is not None:
            action.trigger()
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tick the entry with the focus; handle all other keys as usual."""
        action = self.activeAction()
        if event.key() == Qt.Key.Key_Space and action is not None:
            action.trigger()
        else:
            super().keyPressEvent(event)


class _Shown(DropDown):
    """A combo box of one entry; a menu opens in place of its list."""

    opened = Signal()

    def showPopup(self) -> None:
        """Request the menu."""
        self.opened.emit()


class DeviceField(QWidget):
    """Field for a text as in `ModelParams.device`: names between commas, or empty.

    The processor and the automatic choice exclude other devices; a device that no longer exists
    stays until another choice is made.

    Attributes:
        value: The text.
    """

    changed = Signal()

    def __init__(self, auto: str) -> None:
        """Offer only the automatic choice, under this name."""
        super().__init__()
        self._auto = auto
        self.value = ""
        self._devices: tuple[DeviceInfo, ...] = ()
        self.shown = _Shown([("", "")])
        self.menu = _StayingMenu(self)
        self.menu.triggered.connect(self._on_triggered)
        self.shown.opened.connect(self.open_menu)
        column_of(self.shown, on=self, margins=0)
        self.setFocusProxy(self.shown)
        self.show_devices(())

    def setAccessibleName(self, name: str) -> None:
        """Name the field and the part of it that takes the focus."""
        super().setAccessibleName(name)
        self.shown.setAccessibleName(name)

    def show_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Offer these devices; updates are frequent, and the menu may be open."""
        names = [device.name for device in self._devices]
        if names != [device.name for device in devices] or not self.menu.actions():
            self.menu.clear()
            self._entry(self._auto, "")
            for device in devices:
                self._entry("", device.name)
        self._devices = tuple(devices)
        for action, device in zip(self.menu.actions()[1:], devices, strict=True):
            action.setText(device_words(device))
        self._show()

    def show_value(self, value: str) -> None:
        """Show a value without emitting a signal."""
        self.value = value
        self._show()

    def _entry(self, words: str, name: str) -> None:
        action = self.menu.addAction(words)
        action.setData(name)
        action.setCheckable(True)

    @property
    def _names(self) -> list[str]:
        return [part.strip() for part in self.value.split(",") if part.strip()]

    def _show(self) -> None:
        chosen = {name.lower() for name in self._names} or {""}
        for action in self.menu.actions():
            action.setChecked(action.data().lower() in chosen)
        words = ", ".join(self._names) or self._auto
        self.shown.setItemText(0, words)
        self.shown.setAccessibleDescription(words)

    @Slot()
    def open_menu(self) -> None:
        """Open the menu below the field."""
        self.menu.popup(self.shown.mapToGlobal(QPoint(0, self.shown.height())))
        ticked = next((each for each in self.menu.actions() if each.isChecked()), None)
        self.menu.setActiveAction(ticked or self.menu.actions()[0])

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        kinds = {device.name: device.kind for device in self._devices}
        name, before = action.data(), self.value
        if name == "" or kinds[name] == "cpu":
            self.value = name
        else:  # the order of the devices is that of the layers
            wanted = {each.lower() for each in self._names} ^ {name.lower()}
            offered = [each for each in kinds if kinds[each] != "cpu"]
            self.value = ",".join(each for each in offered if each.lower() in wanted)
        self._show()
        if self.value != before:
            self.changed.emit()
