"""The settings of the chosen drafters, built from their own descriptions; they apply live.

Strategies are kept per pair of models: the one that was used last, and those with a name. A pair is
known by the names of its files: moved models keep what belongs to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from paceline.chat.pair import Pair, PairState
from paceline.chat.presets import clean_name
from paceline.engine.draft.base import AUTO, DrafterInfo, Parameter
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.kit.card import Card
from paceline.gui.kit.dialogs import DialogOwner, NameDialog
from paceline.gui.kit.fields import SliderField
from paceline.gui.kit.labels import YieldingCheckBox, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, discard, fill, row_of, styled
from paceline.gui.kit.translation import local
from paceline.gui.state.speculation import SpeculationModel
from paceline.names import visible
from paceline.settings import MAX_PRESETS, DraftPreset

PairKey = tuple[str, str]
"""File names of target and draft model; no draft model is empty."""
MAX_LAST = 50
"""Pairs whose last strategy is remembered"""


def key_of(pair: Pair) -> PairKey:
    """Return what a pair is known by."""
    return Path(pair.target.path).name, Path(pair.draft.path).name if pair.draft else ""


class DraftPresets(QObject):
    """The list, and the pair that it is about now."""

    changed = Signal()
    """The list, or the pair"""
    kept_changed = Signal()
    """What is to be saved"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.presets: tuple[DraftPreset, ...] = ()
        """All of them, as they are saved; of those without a name the newest last."""
        self.pair: PairKey | None = None
        """The pair that is loaded; None: there is none."""

    def set_pair(self, pair: PairKey | None) -> None:
        """Know what is loaded."""
        if pair != self.pair:
            self.pair = pair
            self.changed.emit()

    @property
    def last(self) -> str:
        """The strategy that was used last with this pair; empty: none."""
        found = self._find("")
        return found.strategy if found is not None else ""

    @property
    def named(self) -> tuple[DraftPreset, ...]:
        """Those of this pair that have a name."""
        return tuple(p for p in self.presets if p.name and (p.target, p.draft) == self.pair)

    def remember(self, strategy: str) -> None:
        """Keep the strategy as what was used last with this pair."""
        if self.pair is None or strategy == self.last:
            return
        others = [p for p in self.presets if p is not self._find("")]
        n_too_many = sum(not p.name for p in others) - MAX_LAST + 1
        oldest = [p for p in others if not p.name][: max(n_too_many, 0)]
        kept = [p for p in others if not any(p is old for old in oldest)]
        self._set((*kept, DraftPreset("", *self.pair, strategy)))

    def obstacle(self, name: str, but: str = "") -> str:
        """Why a preset of this pair cannot have a name, in words; empty: it can."""
        name = clean_name(name)
        if not name:
            return self.tr("Give the preset a name.")
        if any(p.name.casefold() == name.casefold() for p in self.named if p.name != but):
            return self.tr("There is a preset of this name.")
        return ""

    @property
    def room(self) -> int:
        """How many more can have a name."""
        return MAX_PRESETS - sum(bool(preset.name) for preset in self.presets)

    def save_as(self, name: str, strategy: str) -> None:
        """Keep a strategy for this pair under a name without obstacle."""
        if self.pair is not None:
            self._set((*self.presets, DraftPreset(clean_name(name), *self.pair, strategy)))

    def strategy_of(self, name: str) -> str:
        """The strategy of a preset of this pair; empty: it does not exist."""
        found = self._find(name)
        return found.strategy if found is not None else ""

    def rename(self, old: str, new: str) -> None:
        """Give a preset of this pair another name without obstacle."""
        found = self._find(old)
        if found is not None:
            renamed = replace(found, name=clean_name(new))
            self._set(tuple(renamed if p is found else p for p in self.presets))

    def delete(self, name: str) -> None:
        """Drop a preset of this pair."""
        found = self._find(name)
        if found is not None:
            self._set(tuple(p for p in self.presets if p is not found))

    def _find(self, name: str) -> DraftPreset | None:
        mine = [p for p in self.presets if (p.target, p.draft) == self.pair and p.name == name]
        return mine[0] if mine else None

    def _set(self, presets: tuple[DraftPreset, ...]) -> None:
        self.presets = presets
        self.changed.emit()
        self.kept_changed.emit()


class DraftPresetButton(QToolButton):
    """A link-like button; the menu is made anew when it opens.

    Attributes:
        presets: What it offers.
    """

    chosen = Signal(str)
    """Name of a preset of the pair"""
    save_as_wanted = Signal()
    rename_wanted = Signal(str)
    delete_wanted = Signal(str)

    def __init__(self, model: SpeculationModel) -> None:
        super().__init__()
        self._model = model
        self.presets = DraftPresets(self)
        self.presets.changed.connect(self.refresh)
        self.setProperty("kind", "link")
        self.setText(self.tr("Presets ▾"))
        self.setAccessibleName(self.tr("Presets of draft settings for this pair"))
        self.setToolTip(
            self.tr(
                "Strategies with their settings, kept for this pair of models. What was used last "
                "with a pair comes back by itself when the pair is loaded."
            )
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu_ = QMenu(self, toolTipsVisible=True)
        self.menu_.aboutToShow.connect(self.fill)
        self.setMenu(self.menu_)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.hide()

    @Slot()
    def refresh(self) -> None:
        """There is nothing to keep presets for without a pair."""
        self.setVisible(self.presets.pair is not None)

    @Slot()
    def fill(self) -> None:
        """Fill the menu with the presets of the pair."""
        self.menu_.clear()
        presets = self.presets
        for preset in presets.named:
            action = self._add(self.menu_, preset.name, preset.name, self._on_chosen)
            action.setCheckable(True)
            action.setChecked(preset.strategy == self._model.text)
            action.setToolTip(preset.strategy)
        if not presets.named:
            self.menu_.addAction(self.tr("None for this pair yet")).setEnabled(False)
        self.menu_.addSeparator()
        save = self.menu_.addAction(self.tr("Save as…"))
        save.setEnabled(presets.room > 0)
        save.triggered.connect(self.save_as_wanted.emit)
        if presets.named:
            rename = self.menu_.addMenu(self.tr("Rename"))
            delete = self.menu_.addMenu(self.tr("Delete"))
            for preset in presets.named:
                self._add(rename, f"{preset.name}…", preset.name, self._on_rename)
                self._add(delete, preset.name, preset.name, self._on_delete)

    @staticmethod
    def _add(menu: QMenu, text: str, name: str, slot: Callable[[], None]) -> QAction:
        action = menu.addAction(visible(text).replace("&", "&&"))
        action.setData(name)
        action.triggered.connect(slot)
        return action

    def _name(self) -> str:
        return str(cast("QAction", self.sender()).data())

    @Slot()
    def _on_chosen(self) -> None:
        self.chosen.emit(self._name())

    @Slot()
    def _on_rename(self) -> None:
        self.rename_wanted.emit(self._name())

    @Slot()
    def _on_delete(self) -> None:
        self.delete_wanted.emit(self._name())


class DraftPresetsController(DialogOwner[NameDialog]):
    """A strategy counts as used when it is chosen for a loaded pair, or a reply begins with it."""

    def __init__(
        self,
        context: AppContext,
        *,
        button: DraftPresetButton,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self.presets = button.presets
        self.presets.presets = context.settings.settings.draft_presets
        self.presets.kept_changed.connect(self._on_kept_changed)
        self._speculation = context.speculation
        self._renamed = ""
        self._meanwhile = ""
        button.chosen.connect(self._on_chosen)
        button.save_as_wanted.connect(self._on_save_as)
        button.rename_wanted.connect(self._on_rename)
        button.delete_wanted.connect(self.presets.delete)
        context.speculation.strategy_changed.connect(self._on_strategy)
        context.signals.started.connect(self._remember)
        context.pair.changed.connect(self._on_pair)
        self._on_pair(context.pair.state)

    @Slot()
    def _on_kept_changed(self) -> None:
        self._context.settings.set("draft_presets", self.presets.presets)

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        is_ready = state.status == "ready" and state.pair is not None
        key = key_of(state.pair) if is_ready and state.pair is not None else None
        if key == self.presets.pair:
            return
        self.presets.set_pair(key)
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
            self._meanwhile = self._speculation.text  # meant for what is being loaded

    @Slot()
    def _remember(self) -> None:
        strategy = self._speculation.text
        if not self._speculation.obstacle(self._speculation.current.name):
            self.presets.remember(strategy)

    def _use(self, strategy: str, words: str) -> None:
        model = self._speculation
        if model.knows(strategy) and model.obstacle(model.choice_of_text(strategy).name):
            return  # it waits for its draft model
        try:
            model.use(strategy)
        except UserError as error:
            self._context.notices.warn(
                words.format(strategy) + " " + self.tr("It cannot be used here."), str(error)
            )

    @Slot(str)
    def _on_chosen(self, name: str) -> None:
        strategy = self.presets.strategy_of(name)
        if strategy:
            self._use(strategy, self.tr("The preset holds “{}”."))

    def _ask(self, title: str, action: str, name: str) -> NameDialog:
        obstacle = partial(self.presets.obstacle, but=name)
        dialog = self.own(NameDialog(title, action, obstacle, name, self._context.window))
        dialog.open()
        return dialog

    @Slot()
    def _on_save_as(self) -> None:
        dialog = self._ask(self.tr("Save draft settings for this pair"), self.tr("Save"), "")
        dialog.named.connect(self._on_named)

    @Slot(str)
    def _on_named(self, name: str) -> None:
        self.presets.save_as(name, self._speculation.text)

    @Slot(str)
    def _on_rename(self, name: str) -> None:
        self._renamed = name
        dialog = self._ask(self.tr("Rename the preset"), self.tr("Rename"), name)
        dialog.named.connect(self._on_renamed)

    @Slot(str)
    def _on_renamed(self, name: str) -> None:
        self.presets.rename(self._renamed, name)


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
            check = self.automatic = YieldingCheckBox(self.tr("automatic: as long as it pays"))
            check.setToolTip(
                self.tr(
                    "Auto decides at every step how many tokens are drafted, by what steps cost "
                    "here and by what is accepted ({}=auto)"
                ).format(parameter.name)
            )
            check.setAccessibleName(self.tr("{}: automatic").format(parameter.title))
            check.toggled.connect(self._on_automatic)

    @property
    def setting(self) -> float:
        """The value that is chosen; `AUTO` where it is left to Auto."""
        is_automatic = self.automatic is not None and self.automatic.isChecked()
        return AUTO if is_automatic else self.value

    def show_setting(self, value: float) -> None:
        """Show a value, or that it is automatic, without emitting a signal."""
        is_automatic = self.automatic is not None and value == AUTO
        if self.automatic is not None:
            with QSignalBlocker(self.automatic):
                self.automatic.setChecked(is_automatic)
        if not is_automatic:
            self._usual = value  # what it goes back to
        self.show_value(self._usual)
        self.setEnabled(not is_automatic)

    def set_owner(self, title: str) -> None:
        """Name the drafter to screen readers: several of a chain may have such a setting."""
        widgets = [self.slider, self.field, self.put_back_button]
        for widget in (*widgets, *([self.automatic] if self.automatic is not None else [])):
            name = widget.accessibleName() if widget not in widgets[:2] else self.label.text()
            widget.setAccessibleName(f"{title}: {name}")

    @Slot()
    def _on_automatic(self) -> None:
        self.changed.emit()


class DraftSettings(Card):
    """One section of sliders per drafter and, below, why a setting is not taken."""

    def __init__(self, model: SpeculationModel) -> None:
        super().__init__()
        self.set_title(self.tr("Draft settings"), self.tr("apply at the next step"))
        self._model = model
        self._fields: list[ParameterField] = []
        self._sections: list[QWidget] = []
        self._reset = styled(QPushButton(self.tr("Reset")), kind="link")
        self._reset.setToolTip(self.tr("Put these settings back to their defaults"))
        self.presets = DraftPresetButton(model)
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
        model.refused.connect(self.show_problem)
        self._rebuild()

    @property
    def fields(self) -> dict[str, ParameterField]:
        """The fields by the name of their setting; in a chain by ``ID.NAME``."""
        is_chain = len(self._model.members) > 1
        return {f"{f.drafter_id}.{f.name}" if is_chain else f.name: f for f in self._fields}

    @Slot(str)
    def show_problem(self, text: str) -> None:
        """Say why a setting is not taken; empty: all is well."""
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
        if isinstance(field, ParameterField) and field in self._fields:  # not one that is gone
            self._model.set_value(field.drafter_id, field.name, field.setting)
            if field.automatic is not None:
                self._show_values()

    def _show_values(self) -> None:
        """Show all settings; hide those that an automatic length has taken out of force."""
        model = self._model
        for field in self._fields:
            field.show_setting(model.value(field.drafter_id, field.name))
            field.setVisible(not model.is_idle(field.drafter_id, field.name))
