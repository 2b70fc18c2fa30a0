"""What an empty conversation shows: two lines of text, or somebody else's page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget


class WelcomePage(QWidget):
    """Centred text until there is something better."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widget: QWidget | None = None
        self._title = QLabel()
        self._title.setProperty("role", "heading")
        self._body = QLabel()
        self._body.setProperty("role", "muted")
        layout = self._layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(8)
        layout.addStretch(1)
        for label in (self._title, self._body):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            layout.addWidget(label)
        layout.addStretch(1)

    @property
    def has_content(self) -> bool:
        """Whether there is anything to show."""
        return self._widget is not None or bool(self._title.text())

    def show_text(self, title: str, body: str) -> None:
        """Show a heading and a sentence."""
        self._title.setText(title)
        self._body.setText(body)

    def show_widget(self, widget: QWidget) -> None:
        """Show a page in place of the text."""
        if widget is self._widget:
            return
        if self._widget is not None:
            self._layout.removeWidget(self._widget)
            self._widget.deleteLater()
        self._widget = widget
        self._title.hide()
        self._body.hide()
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.insertWidget(1, widget, 1000)  # it centres itself
