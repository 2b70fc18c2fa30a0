"""The settings of the chosen drafter, built from its own description; they apply live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from paceline.gui.widgets.card import Card
from paceline.gui.widgets.fields import SliderField

if TYPE_CHECKING:
    from paceline.engine.drafters.base import Parameter
    from paceline.gui.viewmodels.speculation import SpeculationModel


class _ParameterField(SliderField):
    """One setting of a drafter."""

    def __init__(self, parameter: Parameter) -> None:
        usual = max(4 * parameter.default, 32)
        super().__init__(
            parameter.title,
            f"{parameter.help} ({parameter.name})",
            parameter.low,
            parameter.high,
            whole=parameter.kind == "int",
            slider_high=usual if parameter.high > 2 * usual else None,
        )
        self.name = parameter.name


class DraftSettings(Card):
    """Sliders of the chosen drafter and, below, why a setting is not taken."""

    def __init__(self, model: SpeculationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Draft settings"), self.tr("apply at the next step"))
        self._model = model
        self._fields: list[_ParameterField] = []
        self._reset = QPushButton(self.tr("Reset"))
        self._reset.setProperty("kind", "link")
        self._reset.setToolTip(self.tr("Put these settings back to their defaults"))
        self.header.addWidget(self._reset)
        self.problem = QLabel()
        self.problem.setProperty("role", "danger")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.body.addLayout(self._rows)
        self.body.addWidget(self.problem)
        self._reset.clicked.connect(self._on_reset)
        model.drafter_changed.connect(self._rebuild)
        model.refused.connect(self.show_problem)
        self._rebuild()

    @property
    def fields(self) -> dict[str, SliderField]:
        """The fields by the name of their setting."""
        return {field.name: field for field in self._fields}

    @Slot(str)
    def show_problem(self, text: str) -> None:
        """Say why a setting is not taken; empty: all is well."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    @Slot()
    def _rebuild(self) -> None:
        for field in self._fields:
            self._rows.removeWidget(field)
            field.hide()
            field.deleteLater()
        info = self._model.current
        self._fields = [_ParameterField(parameter) for parameter in info.parameters]
        for field in self._fields:
            field.set_value(self._model.value(field.name))
            field.value_changed.connect(self._on_value_changed)
            self._rows.addWidget(field)
        self.title.setToolTip(info.summary)
        self._reset.setVisible(bool(self._fields))
        remark = self.tr("apply at the next step") if self._fields else self.tr("none here")
        self.remark.setText(remark)

    @Slot()
    def _on_value_changed(self) -> None:
        for field in self._fields:
            self._model.set_value(field.name, field.value)

    @Slot()
    def _on_reset(self) -> None:
        self._model.reset()
