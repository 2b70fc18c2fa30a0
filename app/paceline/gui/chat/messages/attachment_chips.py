"""Files sent with a message: chips with name and size that unfold their text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.chat.attachments import estimated_tokens
from paceline.conversation import Attachment
from paceline.gui.chat.markdown.format import CODE_PX
from paceline.gui.kit.dialogs import closing_row
from paceline.gui.kit.fields import TextField
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import FlowLayout, Refits, column_of, discard, row_of, styled
from paceline.gui.kit.translation import local, local_size, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP
from paceline.gui.look.theme import mono_font
from paceline.names import visible

MAX_TEXT_PX = 320
MAX_SHOWN_CHARS, MAX_SHOWN_LINES = 200_000, 20_000
"""Maximum size of a shown text; laying out a longer one would freeze the window."""
_MAX_BROKEN_CHARS = 50_000
"""Maximum size of a text with a long line, which is wrapped."""
_LONG_LINE = re.compile(r"[^\n]{5000}")
"""An unwrapped line of this length takes as long to paint in part as in full."""


def attachment_view(attachment: Attachment) -> QPlainTextEdit:
    """Return a view of a file's text, or of the beginning of a very long one."""
    view = styled(TextField(), kind="attachment")
    view.setReadOnly(True)
    shown = _shown_part(attachment.text)
    if not _LONG_LINE.search(shown):
        view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    view.setFont(mono_font(CODE_PX))
    view.setTabChangesFocus(True)
    view.setAccessibleName(_tr("Text of {}").format(visible(attachment.name)))
    view.setPlainText(shown)
    return view


def attachment_note(attachment: Attachment) -> str:
    """Return the remark below that view; empty where it shows everything."""
    n_shown = len(_shown_part(attachment.text))
    if len(attachment.text) <= n_shown:
        return ""
    words = _tr("The first {} characters are shown; the model reads all of them.")
    return words.format(f"{local(n_shown):,}")


def _shown_part(text: str) -> str:
    shown = "\n".join(text[:MAX_SHOWN_CHARS].split("\n", MAX_SHOWN_LINES)[:MAX_SHOWN_LINES])
    return shown[:_MAX_BROKEN_CHARS] if _LONG_LINE.search(shown) else shown


def show_file_icon(button: QToolButton) -> None:
    """Put the icon of a file before the button's words."""
    button.setIcon(look.icon("file"))
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)


_tr = translator("AttachmentChip")


_NAME_CHARS = 20
_PREVIEW_SIZE = (720, 520)


class AttachmentChip(QWidget):
    """One file; a click on the chip shows or hides its text.

    Attributes:
        chip: The button.
        text_view: The text's view, once it was unfolded.
    """

    unfolded = Signal()
    """The text was shown or hidden."""

    def __init__(self, attachment: Attachment) -> None:
        super().__init__()
        self._attachment = attachment
        self.text_view: QPlainTextEdit | None = None
        self._note: QLabel | None = None
        size, name = local_size(attachment.n_bytes), visible(attachment.name)
        self.chip = styled(QToolButton(), kind="attachment")
        self.chip.setCheckable(True)
        self.chip.setText(f"{name} · {size}")
        self.chip.setAccessibleName(self.tr("Attached file {}, {}").format(name, size))
        self.chip.setToolTip(self.tr("Show or hide the text of {}").format(name))
        self.chip.toggled.connect(self._on_toggled)
        chip = (self.chip, 0, Qt.AlignmentFlag.AlignLeft)
        self._rows = column_of(chip, on=self, margins=0, spacing=6)
        show_file_icon(self.chip)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:  # noqa: FBT001
        if on and self.text_view is None:
            self.text_view = self._make_text()
        for widget in (self.text_view, self._note):
            if widget is not None:
                widget.setVisible(on)
        self.unfolded.emit()

    def _make_text(self) -> QPlainTextEdit:
        view = attachment_view(self._attachment)
        lines = view.blockCount()
        needed = lines * view.fontMetrics().lineSpacing() + 2 * 8 + 14  # a bar may appear below
        view.setFixedHeight(min(needed, MAX_TEXT_PX))
        self._rows.addWidget(view)
        if note := attachment_note(self._attachment):
            self._note = text_label(note, wraps=True)
            self._rows.addWidget(self._note)
        return view


class AttachmentChips(QWidget):
    """All files of a message, one below the other."""

    unfolded = Signal()

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        super().__init__()
        self._chips = [AttachmentChip(attachment) for attachment in attachments]
        layout = column_of(on=self, margins=0, spacing=6)
        for chip in self._chips:
            chip.unfolded.connect(self.unfolded)
            layout.addWidget(chip)

    @property
    def natural_width(self) -> int:
        """Width of the widest chip, in pixels."""
        return max(chip.chip.sizeHint().width() for chip in self._chips)

    @property
    def is_unfolded(self) -> bool:
        """Return whether any text is shown."""
        return any(chip.chip.isChecked() for chip in self._chips)


class DraftChip(QFrame):
    """One file: a click shows its text, the cross or Delete removes it."""

    remove_requested = Signal(object)
    preview_requested = Signal(object)

    def __init__(self, attachment: Attachment) -> None:
        super().__init__()
        self.setProperty("kind", "draft_chip")
        self.attachment = attachment
        self.name = styled(_ChipButton(), kind="draft_chip")
        self.name.clicked.connect(self._on_preview)
        self.name.deleted.connect(self._on_remove)
        self.cross = styled(_ChipButton(), kind="draft_chip", sign="small")
        self.cross.clicked.connect(self._on_remove)
        self.cross.deleted.connect(self._on_remove)
        row_of(self.name, self.cross, on=self, margins=1, spacing=0)
        self._say()
        show_file_icon(self.name)
        self.cross.setIcon(look.icon("close"))

    def _say(self) -> None:
        name = visible(self.attachment.name)
        size = local_size(self.attachment.n_bytes)
        n_tokens = f"{local(estimated_tokens(self.attachment)):,}"
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
        """Remove the file on Delete, click on Enter."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.deleted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class DraftAttachments(Refits, QWidget):
    """All files of the message; hidden while there are none."""

    changed = Signal()
    emptied = Signal()
    """The last file, which had the focus, was removed."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Attached files"))
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
        """Replace all files by these."""
        if tuple(attachments) == self.attachments:
            return
        discard(self.chips, self._flow)
        self.chips = []
        self._add(attachments)

    def add(self, attachments: Sequence[Attachment]) -> None:
        """Add files, except those that are already there."""
        there = self.attachments
        new = [attachment for attachment in attachments if attachment not in there]
        if new:
            self._add(new)

    def _add(self, attachments: Sequence[Attachment]) -> None:
        for attachment in dict.fromkeys(attachments):
            chip = DraftChip(attachment)
            chip.remove_requested.connect(self._on_remove)
            chip.preview_requested.connect(self._on_preview)
            self.chips.append(chip)
            self._flow.addWidget(chip)
        self._update()

    def _update(self) -> None:
        self.setVisible(bool(self.chips))
        self._fit()
        self.changed.emit()

    def event(self, event: QEvent) -> bool:
        """Lay out again when the chips change size: they are styled after this widget."""
        is_done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return is_done

    def _fit(self) -> None:
        """Lay out again: lines break differently now."""
        for chip in self.chips:
            chip.ensurePolished()
        self.setFixedHeight(self._flow.heightForWidth(self.width()) if self.chips else 0)

    @Slot(object)
    def _on_remove(self, chip: DraftChip) -> None:
        at = self.chips.index(chip)
        had_focus = chip.isAncestorOf(self.focusWidget() or self)
        self.chips.remove(chip)
        discard([chip], self._flow)
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
        self.setWindowTitle(visible(attachment.name))
        self.resize(*_PREVIEW_SIZE)
        self.text = attachment_view(attachment)
        inner = column_of((self.text, 1), margins=GAP)
        if note := attachment_note(attachment):
            inner.addWidget(text_label(note, wraps=True))
        column_of((inner, 1), closing_row(self), on=self, margins=0, spacing=0)
        self.text.setFocus()


def _shortened(name: str) -> str:
    """Return a name of at most 20 characters, with its beginning and its ending."""
    if len(name) <= _NAME_CHARS:
        return name
    return f"{name[: _NAME_CHARS - 8]}…{name[-7:]}"
