"""The files that will go with the message that is being written: chips to look into and remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.chat.attachments import estimated_tokens
from paceline.gui.scale import GAP, icon_size
from paceline.gui.widgets.attachment_chips import attachment_note, attachment_view
from paceline.gui.widgets.dialog_parts import closing_row
from paceline.gui.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from paceline.conversation import Attachment
    from paceline.gui.icons import Icons

_CROSS_PX = 12
_NAME_CHARS = 20
_PREVIEW_SIZE = (720, 520)


class DraftChip(QFrame):
    """One file: a click shows its text, the cross or Delete takes it away."""

    remove_requested = Signal(object)
    preview_requested = Signal(object)

    def __init__(self, attachment: Attachment, icons: Icons | None) -> None:
        super().__init__()
        self.setProperty("kind", "draft_chip")
        self.attachment = attachment
        self.name = _ChipButton()
        self.name.setProperty("kind", "draft_chip")
        self.name.clicked.connect(self._on_preview)
        self.name.deleted.connect(self._on_remove)
        self.cross = _ChipButton()
        self.cross.setProperty("kind", "draft_chip")
        self.cross.setText("✕")
        self.cross.clicked.connect(self._on_remove)
        self.cross.deleted.connect(self._on_remove)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        row.addWidget(self.name)
        row.addWidget(self.cross)
        self._say()
        self.set_icons(icons)

    def set_icons(self, icons: Icons | None) -> None:
        """Use these drawings, in the colours of the theme in force."""
        if icons is not None:
            self.name.setIconSize(icon_size())
            self.cross.setIconSize(icon_size(_CROSS_PX))
            self.name.setIcon(icons.icon("file"))
            self.name.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self.cross.setIcon(icons.icon("close"))
            self.cross.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)

    def _say(self) -> None:
        name = self.attachment.name
        size = QLocale().formattedDataSize(self.attachment.n_bytes, 1)
        n_tokens = f"{estimated_tokens(self.attachment):,}"
        tokens = self.tr("≈ {} tokens").format(n_tokens)
        self.name.setText(f"{_shortened(name)} · {size} · {tokens}".replace("&", "&&"))
        self.name.setAccessibleName(
            self.tr("Attached file {}, {}, about {} tokens").format(name, size, n_tokens)
        )
        self.name.setToolTip(self.tr("Look into {}; Delete takes it away").format(name))
        self.cross.setAccessibleName(self.tr("Do not attach {}").format(name))
        self.cross.setToolTip(self.tr("Do not attach this file"))

    @Slot()
    def _on_preview(self) -> None:
        self.preview_requested.emit(self.attachment)

    @Slot()
    def _on_remove(self) -> None:
        self.remove_requested.emit(self)


class _ChipButton(QToolButton):
    deleted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete takes the file away, Enter clicks."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.deleted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class DraftAttachments(QWidget):
    """All files of the message; hidden while there are none."""

    changed = Signal()
    emptied = Signal()
    """The last one, which had the keyboard, was taken away."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Attached files"))
        self._icons: Icons | None = None
        self.chips: list[DraftChip] = []
        self.preview: AttachmentPreview | None = None
        self._flow = FlowLayout(self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files, in the order in which they were added."""
        return tuple(chip.attachment for chip in self.chips)

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Have exactly these."""
        if tuple(attachments) == self.attachments:
            return
        for chip in self.chips:
            self._drop(chip)
        self.chips = []
        self._add(attachments)

    def add(self, attachments: Sequence[Attachment]) -> None:
        """Have these as well; what is there already is not taken twice."""
        there = self.attachments
        new = [attachment for attachment in attachments if attachment not in there]
        if new:
            self._add(new)

    def set_icons(self, icons: Icons) -> None:
        """Use these drawings, in the colours of the theme in force."""
        self._icons = icons
        for chip in self.chips:
            chip.set_icons(icons)

    def _add(self, attachments: Sequence[Attachment]) -> None:
        for attachment in dict.fromkeys(attachments):
            chip = DraftChip(attachment, self._icons)
            chip.remove_requested.connect(self._on_remove)
            chip.preview_requested.connect(self._on_preview)
            self.chips.append(chip)
            self._flow.addWidget(chip)
        self._update()

    def _drop(self, chip: DraftChip) -> None:
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()

    def _update(self) -> None:
        self.setVisible(bool(self.chips))
        self._fit()
        self.changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines break elsewhere now."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs another height."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        for chip in self.chips:
            chip.ensurePolished()
        self.setFixedHeight(self._flow.heightForWidth(self.width()) if self.chips else 0)

    @Slot(object)
    def _on_remove(self, chip: DraftChip) -> None:
        at = self.chips.index(chip)
        had_focus = chip.isAncestorOf(self.focusWidget() or self)
        self.chips.remove(chip)
        self._drop(chip)
        if had_focus and self.chips:
            self.chips[min(at, len(self.chips) - 1)].name.setFocus(Qt.FocusReason.OtherFocusReason)
        self._update()
        if not self.chips:
            self.emptied.emit()

    @Slot(object)
    def _on_preview(self, attachment: Attachment) -> None:
        self.preview = AttachmentPreview(attachment, self.window())
        self.preview.open()


class AttachmentPreview(QDialog):
    """The text of a file as the model will read it; Esc closes it."""

    def __init__(self, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(attachment.name)
        self.resize(*_PREVIEW_SIZE)
        self.text = attachment_view(attachment)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        inner = QVBoxLayout()
        inner.setContentsMargins(GAP, GAP, GAP, GAP)
        inner.addWidget(self.text, 1)
        note = attachment_note(attachment)
        if note:
            label = QLabel(note)
            label.setProperty("role", "small")
            label.setWordWrap(True)
            inner.addWidget(label)
        rows.addLayout(inner, 1)
        rows.addWidget(closing_row(self))
        self.text.setFocus()


def _shortened(name: str) -> str:
    """A name of at most 20 characters, with its beginning and its ending."""
    if len(name) <= _NAME_CHARS:
        return name
    return f"{name[: _NAME_CHARS - 8]}…{name[-7:]}"
