"""What is kept on this computer, where it is, and what leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from paceline.gui.reveal import open_folder
from paceline.gui.scale import STEP
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.settings.controls import SwitchRow
from paceline.gui.widgets.settings.page import SettingsPage, small_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.gui.preferences import Preferences

_WIDEST = 2000


class PlaceRow(QWidget):
    """A folder of the program's, and a button that opens it."""

    refused = Signal(str)
    """This folder could not be opened"""

    def __init__(self, title: str, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        name = QLabel(title)
        path = ElidedLabel(_WIDEST, Qt.TextElideMode.ElideMiddle)
        path.setProperty("role", "small")
        path.set_full_text(QDir.toNativeSeparators(str(folder)))
        path.setToolTip(path.full_text)
        path.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton(self.tr("Open folder"))
        self.button.setAccessibleName(self.tr("Open folder: {}").format(title))
        self.button.clicked.connect(self._on_clicked)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(name)
        words.addWidget(path)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * STEP)
        row.addLayout(words, 1)
        row.addWidget(self.button)
        self.button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @Slot()
    def _on_clicked(self) -> None:
        # A folder comes into being with the first file in it; until then its parent is shown.
        folder = next(place for place in (self._folder, *self._folder.parents) if place.exists())
        if not open_folder(folder):
            self.refused.emit(str(folder))


class PrivacyPage(SettingsPage):
    """The learning switch, the program's folders, and a promise."""

    forget_wanted = Signal()

    def __init__(
        self,
        preferences: Preferences,
        places: Sequence[tuple[str, Path]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Privacy"))
        self._all = preferences
        self._folders = tuple(places)
        self._obstacle = ""

    def _fill(self) -> None:
        preferences = self._all
        learning = self.section(self.tr("Learning"))
        learns = SwitchRow(
            self.tr("Learn across chats"),
            self.tr(
                "Drafters keep token statistics of your chats on this computer, for faster drafts. "
                "Private chats are never learned from. Off: what they learn ends with the chat."
            ),
            preferences.learns,
        )
        self.add(learning, learns, (learns.box.text(),), preferences.learns)
        self.forget = QPushButton(self.tr("Forget…"))
        self.forget.setAccessibleName(self.tr("Forget what was learned…"))
        self.forget.clicked.connect(self.forget_wanted)
        self._forget_remark = small_text(
            self.tr("Deletes everything that drafters have learned so far. The chats stay.")
        )
        forget = QWidget()
        row = QHBoxLayout(forget)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * STEP)
        row.addWidget(self._forget_remark, 1)
        row.addWidget(self.forget)
        self.add(learning, forget, (self.forget.text(), self._forget_remark.text()))

        kept = self.section(self.tr("Where your files are"))
        self._refused = small_text("")
        self._refused.hide()
        self.places = []
        for title, folder in self._folders:
            place = PlaceRow(title, folder)
            place.refused.connect(self._on_refused)
            self.places.append(place)
            self.add(kept, place, (title, self.tr("folder")))
        kept.body.addWidget(self._refused)

        leaves = self.section(self.tr("What leaves this computer"))
        promise = small_text(
            self.tr(
                "Nothing but requests to the Hugging Face Hub, and only when you search there, "
                "look at a repository or download a model. They name the repository and the file. "
                "Chats, replies, settings and statistics are never sent anywhere; there is no "
                "telemetry and no check for updates."
            )
        )
        self.add(leaves, promise, (promise.text(),))
        self.set_obstacle(self._obstacle)

    def set_obstacle(self, reason: str) -> None:
        """Why nothing can be forgotten now; empty: it can."""
        self._obstacle = reason
        if not self.is_built:
            return
        self.forget.setEnabled(not reason)
        self.forget.setToolTip(reason)
        self.forget.setAccessibleDescription(reason)

    @Slot(str)
    def _on_refused(self, folder: str) -> None:
        self._refused.setText(
            self.tr("No file manager could be opened. The folder is {}.").format(
                QDir.toNativeSeparators(folder)
            )
        )
        self._refused.show()
