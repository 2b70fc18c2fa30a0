"""One setting of a drafter; a length has a check below it that leaves it to Auto."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Slot

from paceline.engine.drafters.base import AUTO
from paceline.gui.widgets.fields import SliderField
from paceline.gui.widgets.yielding import YieldingCheckBox

if TYPE_CHECKING:
    from paceline.engine.drafters.base import Parameter


class ParameterField(SliderField):
    """A slider and a field; `automatic` stands below them where the setting is such a length."""

    def __init__(self, drafter_id: str, parameter: Parameter) -> None:
        usual = max(4 * parameter.default, 32)
        super().__init__(
            parameter.title,
            f"{parameter.help} ({parameter.name}, {parameter.low:g} to {parameter.high:g})",
            parameter.low,
            parameter.high,
            whole=parameter.kind == "int",
            slider_high=usual if parameter.high > 2 * usual else None,
            default=parameter.default,
        )
        self.drafter_id = drafter_id
        self.name = parameter.name
        self._usual = parameter.default
        self.automatic: YieldingCheckBox | None = None
        if parameter.can_be_auto:
            check = self.automatic = YieldingCheckBox(self.tr("automatic: as long as it pays"))
            check.setToolTip(
                self.tr(
                    "Auto decides at every step how many tokens are drafted, by what steps cost "
                    "here and by what is accepted ({}=auto)"
                ).format(parameter.name)
            )
            check.setAccessibleName(self.tr("{}: automatic").format(parameter.title))
            check.setAccessibleDescription(check.toolTip())
            check.toggled.connect(self._on_automatic)

    @property
    def setting(self) -> float:
        """The value that is chosen; `AUTO` where it is left to Auto."""
        is_automatic = self.automatic is not None and self.automatic.isChecked()
        return AUTO if is_automatic else self.value

    def show_setting(self, value: float) -> None:
        """Show a value, or that it is automatic, without telling anybody."""
        is_automatic = self.automatic is not None and value == AUTO
        if self.automatic is not None:
            with QSignalBlocker(self.automatic):
                self.automatic.setChecked(is_automatic)
        if not is_automatic:
            self._usual = value  # what it goes back to
        self.set_value(self._usual)
        self.setEnabled(not is_automatic)

    def set_owner(self, title: str) -> None:
        """Tell apart, for those who hear it, what several drafters of a chain have."""
        widgets = [self.slider, self.field, self.put_back_button]
        for widget in (*widgets, *([self.automatic] if self.automatic is not None else [])):
            name = widget.accessibleName() if widget not in widgets[:2] else self.label.text()
            widget.setAccessibleName(f"{title}: {name}")

    @Slot()
    def _on_automatic(self) -> None:
        self.value_changed.emit(self.setting)
