"""The settings of the chosen drafters, built from their own descriptions; they apply live.

Strategies are stored per pair of models: the one used last, and named ones. A pair is identified by
its file names, so moved models keep their strategies.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from paceline.chat.pair import Pair, PairState
from paceline.chat.presets import clean_name
from paceline.engine.draft.base import AUTO, DrafterInfo, Parameter
from paceline.engine.draft.strategy import read_strategy
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.card import Card
from paceline.gui.kit.fields import SliderField
from paceline.gui.kit.labels import YieldingCheckBox, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, discard, fill, row_of, styled
from paceline.gui.kit.translation import local
from paceline.gui.state.presets import PresetList, PresetMenu, PresetNamer, add_entry
from paceline.gui.state.speculation import SpeculationModel
from paceline.settings import DraftPreset

PairKey = tuple[str, str]
"""File names of target and draft model; empty for no draft model."""
MAX_LAST = 50
"""Maximum number of pairs whose last strategy is stored."""


def key_of(pair: Pair) -> PairKey:
    """Return the identity of a pair."""
    return Path(pair.target.path).name, Path(pair.draft.path).name if pair.draft else ""


class DraftPresets(PresetList[DraftPreset]):
    """Presets of all pairs (unnamed ones: the newest last), and the loaded pair."""

    pair: PairKey | None = None
    """The loaded pair, or None."""

    def set_pair(self, pair: PairKey | None) -> None:
        """Set the loaded pair."""
        if pair != self.pair:
            self.pair = pair
            self.changed.emit()

    @property
    def offered(self) -> tuple[DraftPreset, ...]:
        """Presets of this pair; an unnamed one is the strategy used last."""
        return tuple(preset for preset in self.own if (preset.target, preset.draft) == self.pair)

    @property
    def named(self) -> tuple[DraftPreset, ...]:
        """Named presets of this pair."""
        return tuple(preset for preset in self.offered if preset.name)

    @property
    def last(self) -> str:
        """Strategy used last with this pair, or empty."""
        found = self.find("")
        return found.strategy if found is not None else ""

    def remember(self, strategy: str) -> None:
        """Store the strategy as the one used last with this pair."""
        if self.pair is None or strategy == self.last:
            return
        last = self.find("")
        others = [preset for preset in self.own if preset is not last]
        nameless = [preset for preset in others if not preset.name]
        oldest = {id(preset) for preset in nameless[: max(len(nameless) - MAX_LAST + 1, 0)]}
        kept = (preset for preset in others if id(preset) not in oldest)
        self.set_own((*kept, DraftPreset("", *self.pair, strategy)))

    def save_as(self, name: str, strategy: str) -> None:
        """Save a strategy for this pair under a name without obstacle."""
        if self.pair is not None:
            self.set_own((*self.own, DraftPreset(clean_name(name), *self.pair, strategy)))


class DraftPresetsController(PresetNamer[DraftPresets]):
    """Controller of the presets.

    A strategy counts as used when it is chosen for a loaded pair, or a reply begins with it.
    """

    def __init__(
        self,
        context: AppContext,
        *,
        button: QToolButton,
        parent: QObject | None = None,
    ) -> None:
        """Give `button` the menu; it is hidden while there is no pair to save presets for."""
        presets = DraftPresets(context.settings.settings.draft_presets)
        super().__init__(presets, context.window, parent)
        presets.setParent(self)
        self._context = context
        self._button = button
        button.setMenu(PresetMenu(self._fill, button))
        presets.kept_changed.connect(self._on_kept_changed)
        self._speculation = context.speculation
        self._meanwhile = ""
        context.speculation.strategy_changed.connect(self._on_strategy)
        context.signals.started.connect(self._remember)
        context.pair.changed.connect(self._on_pair)
        self._on_pair(context.pair.state)

    def _fill(self, menu: QMenu) -> None:
        """Add the pair's presets and the actions on them."""
        named = self.presets.named
        for preset in named:
            add_entry(
                menu,
                preset.name,
                partial(self._use, preset.strategy, self.tr("The preset holds “{}”.")),
                is_chosen=preset.strategy == self._speculation.text,
                explanation=preset.strategy,
            )
        if not named:
            menu.addAction(self.tr("None for this pair yet")).setEnabled(False)
        menu.addSeparator()
        add_entry(menu, self.tr("Save as…"), self._save_as, is_on=self.presets.room > 0)
        if named:
            rename, delete = menu.addMenu(self.tr("Rename")), menu.addMenu(self.tr("Delete"))
            for name in (preset.name for preset in named):
                add_entry(rename, f"{name}…", partial(self.ask_new_name, name))
                add_entry(delete, name, partial(self.presets.delete, name))

    def _save_as(self) -> None:
        title = self.tr("Save draft settings for this pair")
        self.ask_name(title, self.tr("Save"), self._keep)

    def _keep(self, name: str) -> None:
        self.presets.save_as(name, self._speculation.text)

    @Slot()
    def _on_kept_changed(self) -> None:
        self._context.settings.set("draft_presets", self.presets.own)

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        is_ready = state.status == "ready" and state.pair is not None
        key = key_of(state.pair) if is_ready and state.pair is not None else None
        if key == self.presets.pair:
            return
        self.presets.set_pair(key)
        self._button.setVisible(key is not None)
        if key is None:
            self._meanwhile = ""
            return
        wanted = self._meanwhile or self.presets.last
        if wanted and wanted != self._speculation.text:
            self._use(wanted, self.tr("The strategy that was used last with this pair is “{}”."))
        if self._meanwhile:
            self._remember()

    @Slot()
    def _on_strategy(self) -> None:
        if self.presets.pair is not None:
            self._remember()
        elif self._context.pair.state.status == "loading":
            self._meanwhile = self._speculation.text  # meant for the pair being loaded

    @Slot()
    def _remember(self) -> None:
        strategy = self._speculation.text
        if not self._speculation.obstacle(self._speculation.current.name):
            self.presets.remember(strategy)

    def _use(self, text: str, words: str) -> None:
        model = self._speculation
        try:
            strategy = read_strategy(text)
            if model.knows(strategy) and model.obstacle(model.choice_for(strategy).name):
                return  # it waits for its draft model
            model.use(strategy)
        except UserError as error:
            self._context.notices.warn(
                words.format(text) + " " + self.tr("It cannot be used here."), str(error)
            )


class ParameterField(SliderField):
    """A slider, a field and, for a length that Auto may choose, the check box `automatic`."""

    def __init__(self, drafter_id: str, parameter: Parameter) -> None:
        usual = max(4 * parameter.default, 32)
        low, high = local(parameter.low), local(parameter.high)
        super().__init__(
            replace(parameter, usual=usual) if parameter.high > 2 * usual else parameter,
            f"{parameter.help} ({parameter.name}, {low:g}–{high:g})",
        )
        self.drafter_id = drafter_id
        self.name = parameter.name
        self._usual = parameter.default
        self.automatic: YieldingCheckBox | None = None
        if parameter.can_be_auto:
            check = self.automatic = YieldingCheckBox(self.tr("Automatic: as long as it pays"))
            check.setToolTip(
                self.tr(
                    "Auto decides at every step how many tokens are drafted, by what steps cost "
                    "here and by how many are right ({}=auto)"
                ).format(parameter.name)
            )
            check.setAccessibleName(self.tr("{}: automatic").format(parameter.title))
            check.toggled.connect(self._on_automatic)

    @property
    def setting(self) -> float:
        """The chosen value; `AUTO` where Auto chooses it."""
        is_automatic = self.automatic is not None and self.automatic.isChecked()
        return AUTO if is_automatic else self.value

    def show_setting(self, value: float) -> None:
        """Show a value, or that it is automatic, without emitting a signal."""
        is_automatic = self.automatic is not None and value == AUTO
        if self.automatic is not None:
            with QSignalBlocker(self.automatic):
                self.automatic.setChecked(is_automatic)
        if not is_automatic:
            self._usual = value  # the value to return to
        self.show_value(self._usual)
        self.setEnabled(not is_automatic)
        self.field.setVisible(not is_automatic)  # a number would be read as a limit

    def set_owner(self, title: str) -> None:
        """Name the drafter for screen readers: several of a chain may have such a setting."""
        widgets = [self.slider, self.field, self.put_back_button]
        for widget in (*widgets, *([self.automatic] if self.automatic is not None else [])):
            name = widget.accessibleName() if widget not in widgets[:2] else self.label.text()
            widget.setAccessibleName(f"{title}: {name}")

    @Slot()
    def _on_automatic(self) -> None:
        self.changed.emit()


class DraftSettings(Card):
    """One section of sliders per drafter and, below, the reason for an invalid setting."""

    def __init__(self, model: SpeculationModel) -> None:
        super().__init__()
        self.set_title(self.tr("Draft settings"), self.tr("apply at the next step"))
        self._model = model
        self._fields: list[ParameterField] = []
        self._sections: list[QWidget] = []
        self._reset = styled(QPushButton(self.tr("Reset")), kind="link")
        self._reset.setToolTip(self.tr("Put these settings back to their defaults"))
        self.presets = self._make_presets()
        self.header.addWidget(self._reset)
        self.header.removeWidget(self.remark)
        below = row_of((self.remark, 1), self.presets, spacing=6)
        self.body.addLayout(below)
        self.problem = text_label("", "danger", wraps=True)
        self.problem.hide()
        self._rows = column_of(spacing=10)
        fill(self.body, self._rows, self.problem)
        self._reset.clicked.connect(model.reset)
        model.drafter_changed.connect(self._rebuild)
        self._rebuild()

    def _make_presets(self) -> QToolButton:
        button = styled(QToolButton(), kind="link")
        button.setText(self.tr("Presets ▾"))
        button.setAccessibleName(self.tr("Presets of draft settings for this pair"))
        button.setToolTip(
            self.tr(
                "Strategies with their settings, kept for this pair of models. What was used last "
                "with a pair comes back by itself when the pair is loaded."
            )
        )
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.hide()
        return button

    @property
    def fields(self) -> dict[str, ParameterField]:
        """Fields by the name of their setting; in a chain by ``ID.NAME``."""
        is_chain = len(self._model.members) > 1
        return {f"{f.drafter_id}.{f.name}" if is_chain else f.name: f for f in self._fields}

    @Slot(str)
    def show_problem(self, text: str) -> None:
        """Show why a setting is invalid; empty if all are valid."""
        say(self.problem, with_soft_breaks(text))

    @Slot()
    def _rebuild(self) -> None:
        discard(self._sections, self._rows)
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
        """Put the fields after Reset in the tab order; new widgets would be last in the window."""
        before: QWidget = self.presets
        for field in self._fields:
            checks = [field.automatic] if field.automatic is not None else []
            for widget in (field.slider, field.put_back_button, field.field, *checks):
                QWidget.setTabOrder(before, widget)
                before = widget

    def _section(self, info: DrafterInfo, *, is_chain: bool) -> QWidget:
        section = QWidget()
        rows = column_of(on=section, margins=0, spacing=2)
        if is_chain:
            title = text_label(info.title, "section")
            title.setToolTip(info.summary)
            section.setAccessibleName(info.title)
            rows.addWidget(title)
        for parameter in info.parameters:
            field = ParameterField(info.id, parameter)
            field.changed.connect(self._on_value_changed)
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
        field = self.sender()
        if isinstance(field, ParameterField) and field in self._fields:  # not a deleted one
            self._model.set_value(field.drafter_id, field.name, field.setting)
            if field.automatic is not None:
                self._show_values()

    def _show_values(self) -> None:
        """Show all settings; hide those that an automatic length overrides."""
        model = self._model
        for field in self._fields:
            field.show_setting(model.value(field.drafter_id, field.name))
            field.setVisible(not model.is_idle(field.drafter_id, field.name))
