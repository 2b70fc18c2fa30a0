"""The settings of the chosen drafters, built from their own descriptions; they apply live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from paceline.gui.widgets.card import Card
from paceline.gui.widgets.draft_preset_menu import DraftPresetButton
from paceline.gui.widgets.parameter_field import ParameterField
from paceline.gui.widgets.soft_breaks import with_soft_breaks

if TYPE_CHECKING:
    from paceline.engine.drafters.base import DrafterInfo
    from paceline.gui.viewmodels.speculation import SpeculationModel


class DraftSettings(Card):
    """One section of sliders per drafter and, below, why a setting is not taken."""

    def __init__(self, model: SpeculationModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Draft settings"), self.tr("apply at the next step"))
        self._model = model
        self._fields: list[ParameterField] = []
        self._sections: list[QWidget] = []
        self._reset = QPushButton(self.tr("Reset"))
        self._reset.setProperty("kind", "link")
        self._reset.setToolTip(self.tr("Put these settings back to their defaults"))
        self.presets = DraftPresetButton()
        self.header.addWidget(self._reset)
        self.header.removeWidget(self.remark)
        below = QHBoxLayout()
        below.setSpacing(6)
        below.addWidget(self.remark, 1)
        below.addWidget(self.presets)
        self.body.addLayout(below)
        self.problem = QLabel()
        self.problem.setProperty("role", "danger")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(10)
        self.body.addLayout(self._rows)
        self.body.addWidget(self.problem)
        self._reset.clicked.connect(self._on_reset)
        model.drafter_changed.connect(self._rebuild)
        model.refused.connect(self.show_problem)
        self._rebuild()

    @property
    def fields(self) -> dict[str, ParameterField]:
        """The fields by the name of their setting; in a chain by ``ID.NAME``."""
        is_chain = len(self._model.members) > 1
        return {f"{f.drafter_id}.{f.name}" if is_chain else f.name: f for f in self._fields}

    @property
    def section_titles(self) -> list[str]:
        """What the sections of a chain are called."""
        return [section.accessibleName() for section in self._sections if section.accessibleName()]

    @Slot(str)
    def show_problem(self, text: str) -> None:
        """Say why a setting is not taken; empty: all is well."""
        self.problem.setText(with_soft_breaks(text))
        self.problem.setVisible(bool(text))

    @Slot()
    def _rebuild(self) -> None:
        for section in self._sections:
            self._rows.removeWidget(section)
            section.hide()
            section.deleteLater()
        members = self._model.members
        self._fields = []
        self._sections = [self._section(info, is_chain=len(members) > 1) for info in members]
        for section in self._sections:
            self._rows.addWidget(section)
        self._show_values()
        self._put_in_tab_order()
        self.title.setToolTip(self._model.current.summary)
        self._reset.setVisible(bool(self._fields))
        remark = self.tr("apply at the next step") if self._fields else self.tr("none here")
        self.remark.setText(remark)

    def _put_in_tab_order(self) -> None:
        """Reach the fields behind Reset: what is made later would come last in the window."""
        before: QWidget = self.presets
        for field in self._fields:
            checks = [field.automatic] if field.automatic is not None else []
            for widget in (field.slider, field.put_back_button, field.field, *checks):
                QWidget.setTabOrder(before, widget)
                before = widget

    def _section(self, info: DrafterInfo, *, is_chain: bool) -> QWidget:
        section = QWidget()
        rows = QVBoxLayout(section)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(2)
        if is_chain:
            title = QLabel(info.title)
            title.setProperty("role", "section")
            title.setToolTip(info.summary)
            section.setAccessibleName(info.title)
            rows.addWidget(title)
        for parameter in info.parameters:
            field = ParameterField(info.id, parameter)
            field.value_changed.connect(self._on_value_changed)
            if is_chain:
                field.set_owner(info.title)
            self._fields.append(field)
            rows.addWidget(field)
            if field.automatic is not None:
                rows.addWidget(field.automatic)
        if not is_chain and not info.parameters:
            section.hide()
        return section

    @Slot()
    def _on_value_changed(self) -> None:
        model = self._model
        changed = [f for f in self._fields if f.setting != model.value(f.drafter_id, f.name)]
        for field in changed:
            model.set_value(field.drafter_id, field.name, field.setting)
        if any(field.automatic is not None for field in changed):
            self._show_values()

    def _show_values(self) -> None:
        """Show all settings; hide those that an automatic length has taken out of force."""
        model = self._model
        for field in self._fields:
            field.show_setting(model.value(field.drafter_id, field.name))
            field.setVisible(not model.is_idle(field.drafter_id, field.name))

    @Slot()
    def _on_reset(self) -> None:
        self._model.reset()
