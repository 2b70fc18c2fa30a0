"""Regular expressions of lines whose changes are ignored, in the settings."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLineEdit, QPushButton

from paceline.errors import ValueOutOfRangeError
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of, discard, row_of
from paceline.gui.kit.sentences import said
from paceline.gui.look.scale import HALF, STEP
from paceline.gui.settings.forms import OwnField, TextRow
from paceline.gui.state.settings_store import Setting
from paceline.server.unchanged import MAX_PATTERN_CHARS, check_expression


class ExpressionList(OwnField):
    """Field for a setting that is a tuple of regular expressions; invalid ones are refused."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.rows: list[TextRow] = []
        self.field = QLineEdit(maxLength=MAX_PATTERN_CHARS)
        self.field.setPlaceholderText("^x-billing-header: ")
        self.field.setAccessibleName(self.tr("Regular expression"))
        self.add = QPushButton(self.tr("Add"), autoDefault=False)
        self.problem = text_label("", "danger", wraps=True, plain=True)
        self.field.returnPressed.connect(self._on_add)
        self.field.textChanged.connect(self._on_typed)
        self.add.clicked.connect(self._on_add)
        self.setFocusProxy(self.field)
        self._column = column_of(
            row_of((self.field, 1), self.add, spacing=STEP),
            self.problem,
            on=self,
            margins=0,
            spacing=HALF,
        )
        setting.changed.connect(self._fill)
        self._fill()
        self._on_typed()

    @Slot()
    def _fill(self) -> None:
        discard(self.rows)
        self.rows = [
            TextRow(
                expression,
                self.tr("Do not ignore {} any more").format(expression),
                self.tr("Changes of such lines count again"),
            )
            for expression in self.setting.value
        ]
        for at, row in enumerate(self.rows):
            row.removed.connect(self._on_removed)
            self._column.insertWidget(at, row)

    @Slot()
    def _on_typed(self) -> None:
        self.add.setEnabled(bool(self.field.text()))
        say(self.problem, "")

    @Slot()
    def _on_add(self) -> None:
        text = self.field.text()
        if not text:
            return
        try:
            check_expression(text)
        except ValueOutOfRangeError as error:
            say(self.problem, said(error.message, error.hint))
            return
        self.field.clear()
        self.setting.add(text)

    @Slot(str)
    def _on_removed(self, expression: str) -> None:
        self.setting.set_value(tuple(e for e in self.setting.value if e != expression))
        self.field.setFocus()
