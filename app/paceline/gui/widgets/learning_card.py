"""Whether drafters may learn from the chats beyond the moment, and how they forget."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from paceline.gui.widgets.card import Card
from paceline.gui.widgets.yielding import YieldingCheckBox


class LearningCard(Card):
    """A switch, a button, and a line that says what was done."""

    changed = Signal()
    forget_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Learning"))
        self.switch = YieldingCheckBox(self.tr("Learn across chats"))
        self.switch.setToolTip(
            self.tr(
                "On: drafters keep what they learn (token statistics of your chats) in a folder "
                "on this computer, for faster drafts. Nothing leaves the computer.\n"
                "Off: what they learn ends with the chat."
            )
        )
        self.switch.setAccessibleDescription(self.switch.toolTip())
        self.forget = QPushButton(self.tr("Forget…"))
        self.forget.setProperty("kind", "link")
        self.remark = QLabel()
        self.remark.setProperty("role", "small")
        self.remark.setWordWrap(True)
        self.remark.hide()
        row = QHBoxLayout()
        row.addWidget(self.switch, 1)
        row.addWidget(self.forget)
        self.body.addLayout(row)
        self.body.addWidget(self.remark)
        self.switch.toggled.connect(self._on_toggled)
        self.forget.clicked.connect(self._on_forget)
        self.set_obstacle("")

    @property
    def remembers(self) -> bool:
        """Whether drafters may keep what they learn."""
        return self.switch.isChecked()

    def show_remembers(self, remembers: bool) -> None:  # noqa: FBT001
        """Show the switch without telling anybody."""
        with QSignalBlocker(self.switch):
            self.switch.setChecked(remembers)

    def set_obstacle(self, reason: str) -> None:
        """Why nothing can be forgotten now; empty: it can."""
        self.forget.setEnabled(not reason)
        self.forget.setToolTip(reason or self.tr("Delete what drafters have learned so far"))
        self.forget.setAccessibleDescription(self.forget.toolTip())

    def show_remark(self, text: str) -> None:
        """Say what was done; empty: nothing."""
        self.remark.setText(text)
        self.remark.setVisible(bool(text))

    @Slot()
    def _on_toggled(self) -> None:
        self.show_remark("")
        self.changed.emit()

    @Slot()
    def _on_forget(self) -> None:
        self.forget_wanted.emit()
