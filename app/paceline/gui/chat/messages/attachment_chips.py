"""The files that were sent with a message: chips with name and size that unfold their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from paceline.gui.chat.markdown.format import CODE_PX
from paceline.gui.look.current import look
from paceline.gui.look.scale import icon_size
from paceline.gui.look.theme import mono_font

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Attachment

MAX_TEXT_PX = 320
MAX_SHOWN_CHARS = 200_000
"""A longer text is cut in the view: laying it out would hold up the window."""
_CONTEXT = "AttachmentChip"


def attachment_view(attachment: Attachment) -> QPlainTextEdit:
    """A view of a file's text; of a very long one, of its beginning."""
    view = QPlainTextEdit()
    view.setProperty("kind", "attachment")
    view.setReadOnly(True)
    view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    view.setFont(mono_font(CODE_PX))
    view.setTabChangesFocus(True)
    view.setAccessibleName(_tr("Text of {}").format(attachment.name))
    view.setPlainText(attachment.text[:MAX_SHOWN_CHARS])
    return view


def attachment_note(attachment: Attachment) -> str:
    """What must be said below that view; empty where it shows all."""
    if len(attachment.text) <= MAX_SHOWN_CHARS:
        return ""
    words = _tr("The first {} characters are shown; the model reads all of them.")
    return words.format(f"{MAX_SHOWN_CHARS:,}")


def show_file_icon(button: QToolButton) -> None:
    """Put the icon of a file before the button's words, if there is one."""
    button.setIconSize(icon_size())
    button.setIcon(look.icon("file"))
    if not button.icon().isNull():
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)


class AttachmentChip(QWidget):
    """One file; a click on the chip shows or hides its text."""

    unfolded = Signal()
    """The text was shown or hidden."""

    def __init__(self, attachment: Attachment) -> None:
        super().__init__()
        self._attachment = attachment
        self._text: QPlainTextEdit | None = None
        self._note: QLabel | None = None
        size = QLocale().formattedDataSize(attachment.n_bytes, 1)
        self._chip = QToolButton()
        self._chip.setProperty("kind", "attachment")
        self._chip.setCheckable(True)
        self._chip.setText(f"{attachment.name} · {size}")
        self._chip.setAccessibleName(self.tr("Attached file {}, {}").format(attachment.name, size))
        self._chip.setToolTip(self.tr("Show or hide the text of {}").format(attachment.name))
        self._chip.toggled.connect(self._on_toggled)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._chip, 0, Qt.AlignmentFlag.AlignLeft)
        show_file_icon(self._chip)

    @property
    def chip(self) -> QToolButton:
        """The button."""
        return self._chip

    @property
    def text_view(self) -> QPlainTextEdit | None:
        """The text's view, once it was unfolded."""
        return self._text

    def changeEvent(self, event: QEvent) -> None:
        """Follow another size of text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._chip.setIconSize(icon_size())

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:  # noqa: FBT001
        if on and self._text is None:
            self._text = self._make_text()
        for widget in (self._text, self._note):
            if widget is not None:
                widget.setVisible(on)
        self.unfolded.emit()

    def _make_text(self) -> QPlainTextEdit:
        view = attachment_view(self._attachment)
        lines = view.blockCount()
        needed = lines * view.fontMetrics().lineSpacing() + 2 * 8 + 14  # a bar may come below
        view.setFixedHeight(min(needed, MAX_TEXT_PX))
        self._rows().addWidget(view)
        note = attachment_note(self._attachment)
        if note:
            self._note = QLabel(note)
            self._note.setProperty("role", "small")
            self._note.setWordWrap(True)
            self._rows().addWidget(self._note)
        return view

    def _rows(self) -> QVBoxLayout:
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        return layout


class AttachmentChips(QWidget):
    """All files of a message, one below the other."""

    unfolded = Signal()

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        super().__init__()
        self._chips = [AttachmentChip(attachment) for attachment in attachments]
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        for chip in self._chips:
            chip.unfolded.connect(self.unfolded)
            layout.addWidget(chip)

    @property
    def natural_width(self) -> int:
        """Pixels that the widest chip needs."""
        return max(chip.chip.sizeHint().width() for chip in self._chips)

    @property
    def is_unfolded(self) -> bool:
        """Whether any text is shown."""
        return any(chip.chip.isChecked() for chip in self._chips)
