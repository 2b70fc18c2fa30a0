"""Parts of dialogs: their owner, a scrolling page, buttons at the end, and a dialog for a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from paceline.chat.presets import MAX_NAME_CHARS, clean_name
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.translation import translator
from paceline.gui.look.scale import STEP, px

_TITLE_BAR_PX = 32
_WIDTH_PX = 340
_Dialog = TypeVar("_Dialog", bound=QDialog)


class DialogOwner(QObject, Generic[_Dialog]):
    """Owner of at most one dialog of a kind at a time; main thread.

    Attributes:
        dialog: The open dialog, or None.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.dialog: _Dialog | None = None

    def own(self, dialog: _Dialog) -> _Dialog:
        """Return the dialog after taking charge of it until it ends; it is deleted then."""
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.finished.connect(self._on_finished)
        self.dialog = dialog
        return dialog

    def bring_to_front(self) -> None:
        """Bring an open dialog to the front."""
        if self.dialog is not None:
            self.dialog.raise_()
            self.dialog.activateWindow()

    def close(self) -> None:
        """Close the dialog together with the window."""
        if self.dialog is not None:
            self.dialog.reject()

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None


def within_screen(window: QWidget, size: QSize) -> QSize:
    """Return a size reduced to fit the screen; a frame is assumed to be a title bar alone."""
    return size.boundedTo(window.screen().availableSize() - QSize(0, _TITLE_BAR_PX))


def scrolling(page: QWidget, name: str = "") -> QScrollArea:
    """Return an area that scrolls a page; with a name it can have the keyboard."""
    area = QScrollArea(widgetResizable=True)
    area.setWidget(page)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.StrongFocus if name else Qt.FocusPolicy.NoFocus)
    area.setAccessibleName(name)
    return area


def closing_row(dialog: QDialog, at_the_left: Sequence[QWidget] = ()) -> QFrame:
    """Return the foot of a dialog: widgets at the left, and Close, which accepts it."""
    foot = styled(QFrame(), kind="foot")
    row = row_of(on=foot, margins=(2 * STEP, STEP, 2 * STEP, STEP), spacing=STEP)
    for widget in at_the_left:
        row.addWidget(widget)
    row.addStretch(1)
    close = QPushButton(_tr("Close"), autoDefault=False)
    close.clicked.connect(dialog.accept)
    row.addWidget(close)
    return foot


def deciding_box(
    dialog: QDialog, action: str, accepted: Callable[[], None]
) -> tuple[QDialogButtonBox, QPushButton]:
    """Return the buttons of a dialog that changes something, and the first of them.

    Args:
        dialog: Cancel rejects it.
        action: The text of the first button.
        accepted: A bound method of the dialog; called when that is pressed.
    """
    box = QDialogButtonBox()
    take = box.addButton(action, QDialogButtonBox.ButtonRole.AcceptRole)
    take.setProperty("kind", "primary")
    box.addButton(_tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
    box.accepted.connect(accepted)
    box.rejected.connect(dialog.reject)
    return box, take


class NameDialog(QDialog):
    """A field and two buttons; a function takes the name when it is accepted."""

    def __init__(
        self,
        title: str,
        action: str,
        obstacle: Callable[[str], str],
        done: Callable[[str], None],
        *,
        name: str,
        parent: QWidget,
    ) -> None:
        """Set up the dialog.

        Args:
            title: The title, e.g. "Save as a preset".
            action: The text of the button.
            obstacle: Returns why a text cannot be the name, in words, or empty if it can.
            done: Takes the name.
            name: The first content of the field, selected.
            parent: The window below the dialog.
        """
        super().__init__(parent)
        self.setWindowTitle(title)
        self._obstacle, self._done = obstacle, done
        heading = text_label(title, "title")
        self.field = QLineEdit(name, maxLength=MAX_NAME_CHARS, placeholderText=self.tr("Name"))
        self.field.setAccessibleName(self.tr("Name"))
        self.field.selectAll()
        self.problem = text_label(wraps=True)
        buttons, self.accept_button = deciding_box(self, action, self._on_accepted)
        column_of(
            heading,
            self.field,
            self.problem,
            buttons,
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.setMinimumWidth(px(_WIDTH_PX))
        self.field.textChanged.connect(self._judge)
        self._judge()

    @Slot()
    def _judge(self) -> None:
        obstacle = self._obstacle(self.field.text())
        self.accept_button.setEnabled(not obstacle)
        # An empty line keeps its height, so that the buttons stay where they are.
        self.problem.setText(obstacle if self.field.text() else " ")

    @Slot()
    def _on_accepted(self) -> None:
        if self.accept_button.isEnabled():
            name = clean_name(self.field.text())
            self.accept()
            self._done(name)


_tr = translator("Dialogs")
