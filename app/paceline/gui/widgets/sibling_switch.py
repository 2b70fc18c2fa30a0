"""Steps through the versions of a message: ‹ 2 / 3 ›."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from paceline.gui.scale import icon_size

if TYPE_CHECKING:
    from paceline.gui.icons import Icons

_ICON_PX = 14


class SiblingSwitch(QWidget):
    """Two buttons around a count; hidden where there is one version only."""

    stepped = Signal(int)
    """-1: the version before, 1: the one behind."""

    def __init__(self, icons: Icons | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sibling, self._n_siblings = 0, 1
        self._is_busy = False
        self._label = QLabel()
        self._label.setProperty("role", "small")
        self._back = self._make("‹", self.tr("Previous version"))
        self._back.clicked.connect(self._on_back)
        self._on = self._make("›", self.tr("Next version"))
        self._on.clicked.connect(self._on_next)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self._back, self._label, self._on):
            layout.addWidget(widget)
        self.set_icons(icons)

    @staticmethod
    def _make(text: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "link")
        button.setText(text)
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    def set_icons(self, icons: Icons | None) -> None:
        """Use these drawings, in the colours of the theme in force."""
        for button in (self._back, self._on):
            button.setIconSize(icon_size(_ICON_PX))
        if icons is not None:
            self._back.setIcon(icons.icon("chevron-left"))
            self._on.setIcon(icons.icon("chevron-right"))

    def show_place(self, sibling: int, n_siblings: int) -> None:
        """Show which version this is.

        Args:
            sibling: Its place, from 0.
            n_siblings: How many there are.
        """
        self._sibling, self._n_siblings = sibling, n_siblings
        self._label.setText(f"{sibling + 1} / {n_siblings}")
        self.setAccessibleName(self.tr("Version {} of {}").format(sibling + 1, n_siblings))
        self._label.setAccessibleName(self.accessibleName())
        self._update()

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """While a reply is generated, the path stays as it is."""
        self._is_busy = busy
        self._update()

    def _update(self) -> None:
        self._back.setEnabled(not self._is_busy and self._sibling > 0)
        self._on.setEnabled(not self._is_busy and self._sibling + 1 < self._n_siblings)

    @Slot()
    def _on_back(self) -> None:
        self.stepped.emit(-1)

    @Slot()
    def _on_next(self) -> None:
        self.stepped.emit(1)
