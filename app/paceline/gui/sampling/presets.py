"""Presets of how replies are drawn: the list, which one is chosen, and the button with its menu.

A built-in preset sets how tokens are drawn and how long a reply may be; system prompt, stop
strings, biases and form stay as they are, since they belong to the task and not to the style. One
of the user's brings all of it. One preset is what new chats begin with. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QMenu,
    QSizePolicy,
    QWidget,
)

from paceline.chat.presets import clean_name, free_name
from paceline.gui.kit.labels import YieldingButton
from paceline.gui.kit.translation import local
from paceline.names import visible
from paceline.params import ReplySettings, SamplingParams
from paceline.settings import MAX_PRESETS, ReplyPreset

BUILT_IN = ":"
"""What the key of a built-in preset begins with; `obstacle` keeps names from beginning so."""
DEFAULT_KEY = ":balanced"
_CODE_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class PresetRow:
    """A preset as a menu shows it: `key` is what `choose` takes."""

    key: str
    title: str
    summary: str
    is_built_in: bool


class ReplyPresets(QObject):
    """Knows the presets and what the shown chat has set; changes nothing but its own list.

    Attributes:
        own: The user's, in their order.
        chosen: Key of the preset that the shown chat is compared with.
        now: What the shown chat has set.
    """

    changed = Signal()
    """The list, the choice, the default, or what is set"""
    kept_changed = Signal()
    """What is to be saved"""

    def __init__(
        self, own: Sequence[ReplyPreset] = (), default: str = "", parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._built_in = {
            DEFAULT_KEY: (
                ReplyPreset(self.tr("Balanced")),
                self.tr("The defaults: lively, and still to the point."),
            ),
            ":precise": (
                _of(self.tr("Precise"), SamplingParams(temperature=0.2)),
                self.tr("Facts and instructions: stays close to the likeliest words."),
            ),
            ":creative": (
                _of(self.tr("Creative"), SamplingParams(temperature=1.0, top_k=0, min_p=0.05)),
                self.tr("Stories and ideas: takes the less likely word more often."),
            ),
            ":greedy": (
                _of(self.tr("Greedy"), SamplingParams(temperature=0.0)),
                self.tr("Always the likeliest token: the same reply each time, and the most "
                        "accepted drafts."),
            ),
            ":code": (
                _of(self.tr("Code"), SamplingParams(temperature=0.2, top_p=0.9), _CODE_TOKENS),
                self.tr("Programs: steady, without penalties, and room for long replies."),
            ),
        }  # fmt: skip
        self.own = tuple(own)
        self._default = default
        self.now = self.default_settings
        self.chosen = self.default_key

    @property
    def rows(self) -> tuple[PresetRow, ...]:
        """All of them, the built-in ones first."""
        built_in = [
            PresetRow(key, preset.name, summary, is_built_in=True)
            for key, (preset, summary) in self._built_in.items()
        ]
        own = [PresetRow(p.name, p.name, _summary(p), is_built_in=False) for p in self.own]
        return (*built_in, *own)

    @property
    def default_key(self) -> str:
        """Key of the preset that new chats begin with."""
        return self._default if self.preset(self._default) is not None else DEFAULT_KEY

    @property
    def default_settings(self) -> ReplySettings:
        """What new chats begin with."""
        preset = self.preset(self.default_key)
        return preset.settings if preset is not None else ReplySettings()

    @property
    def chosen_own(self) -> ReplyPreset | None:
        """The chosen one, if it is one of the user's."""
        return self._find(self.chosen)

    @property
    def title(self) -> str:
        """What the chosen one is called."""
        preset = self.preset(self.chosen)
        return preset.name if preset is not None else ""

    @property
    def differs(self) -> bool:
        """Whether other values are set than those of the chosen preset."""
        return self.applied(self.chosen) != self.now

    def preset(self, key: str) -> ReplyPreset | None:
        """Return a preset; None: it does not exist."""
        if key in self._built_in:
            return self._built_in[key][0]
        return self._find(key)

    def applied(self, key: str) -> ReplySettings:
        """Return what is set once a preset is in force."""
        preset, now = self.preset(key), self.now
        if preset is None:
            return now
        if key in self._built_in:
            sampling = replace(
                preset.settings.sampling,
                logit_bias=now.sampling.logit_bias,
                grammar=now.sampling.grammar,
                json_schema=now.sampling.json_schema,
            )
            return replace(now, sampling=sampling, max_tokens=preset.settings.max_tokens)
        return preset.settings

    def show_settings(self, settings: ReplySettings) -> None:
        """Know what the shown chat has set now."""
        if settings != self.now:
            self.now = settings
            self.changed.emit()

    def show_chat(self, settings: ReplySettings) -> None:
        """Know what another chat has set; it is compared with the first preset that is like it."""
        self.now = settings
        self.chosen = self._like(settings)
        self.changed.emit()

    def _like(self, settings: ReplySettings) -> str:
        default = self.default_key
        keys = [default, *(preset.name for preset in self.own), *self._built_in]
        return next((key for key in keys if self.applied(key) == settings), default)

    def choose(self, key: str) -> None:
        """Take a preset as the one to compare with; what it sets is applied by the caller."""
        if key != self.chosen and self.preset(key) is not None:
            self.chosen = key
            self.changed.emit()

    def make_default(self) -> None:
        """Let new chats begin with the chosen preset."""
        self._default = self.chosen
        self._set(self.own)

    def obstacle(self, name: str, but: str = "") -> str:
        """Why a preset cannot have a name, in words; empty: it can. `but` is its own one."""
        name = clean_name(name)
        if not name:
            return self.tr("Give the preset a name.")
        if name.startswith(BUILT_IN):
            return self.tr("A name cannot begin with a colon.")
        taken = {row.title.casefold() for row in self.rows if row.title != but}
        if name.casefold() in taken:
            return self.tr("There is a preset of this name.")
        return ""

    @property
    def room(self) -> int:
        """How many more there can be; one made of an older file may be one too many."""
        return max(MAX_PRESETS - len(self.own), 0)

    def save_as(self, name: str) -> None:
        """Keep what is set under a name that has no obstacle, and choose it."""
        name = clean_name(name)
        self.chosen = name
        self._set((*self.own, ReplyPreset(name, self.now)))

    def update_chosen(self) -> None:
        """Let the chosen preset hold what is set; one of the user's."""
        chosen = self.chosen_own
        if chosen is not None:
            new = replace(chosen, settings=self.now)
            self._set(tuple(new if preset is chosen else preset for preset in self.own))

    def rename(self, key: str, name: str) -> None:
        """Give one of the user's a name without obstacle."""
        preset, name = self._find(key), clean_name(name)
        if preset is not None:
            new = replace(preset, name=name)
            if self.chosen == key:
                self.chosen = name
            if self._default == key:
                self._default = name
            self._set(tuple(new if other is preset else other for other in self.own))

    def delete(self, key: str) -> None:
        """Drop one of the user's; what is set stays."""
        preset = self._find(key)
        if preset is not None:
            self.own = tuple(other for other in self.own if other is not preset)
            if self.chosen == key:
                self.chosen = self._like(self.now)
            self._set(self.own)

    def add(self, presets: Sequence[ReplyPreset]) -> tuple[str, ...]:
        """Add presets under names that are free; returns these."""
        names: list[str] = []
        taken = [row.title for row in self.rows]
        for preset in presets:
            # A name from a file may begin with the sign of the built-in ones.
            wanted = clean_name(preset.name).lstrip(f"{BUILT_IN} ") or self.tr("Preset")
            names.append(free_name(wanted, [*taken, *names]))
        new = [replace(p, name=name) for p, name in zip(presets, names, strict=True)]
        self._set((*self.own, *new))
        return tuple(names)

    def restore(self, own: Sequence[ReplyPreset], chosen: str, default: str) -> None:
        """Bring back a list, a choice and a default as they were."""
        self.chosen, self._default = chosen, default
        self._set(tuple(own))

    def _find(self, key: str) -> ReplyPreset | None:
        return next((preset for preset in self.own if preset.name == key), None)

    def _set(self, own: tuple[ReplyPreset, ...]) -> None:
        self.own = own
        self.changed.emit()
        self.kept_changed.emit()


def _summary(preset: ReplyPreset) -> str:
    sampling = preset.settings.sampling
    return f"T {local(sampling.temperature):g} · top-p {local(sampling.top_p):g}"


def _of(name: str, sampling: SamplingParams, max_tokens: int = 1024) -> ReplyPreset:
    return ReplyPreset(name, ReplySettings(sampling, max_tokens))


_TITLE_CHARS = 22
_MARK = " •"
"""Follows the name while other values are set than the preset's."""


class PresetMenu(QMenu):
    """All presets to choose from, and what can be done with them; made anew when it opens."""

    chosen = Signal(str)
    """Key of a preset"""
    save_as_wanted = Signal()
    rename_wanted = Signal()
    delete_wanted = Signal()
    import_wanted = Signal()
    export_wanted = Signal()

    def __init__(self, presets: ReplyPresets, parent: QWidget) -> None:
        super().__init__(parent)
        self._presets = presets
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)
        self.fill()

    @Slot()
    def fill(self) -> None:
        """Fill the menu with the presets and what can be done with them."""
        self.clear()
        presets = self._presets
        was_built_in = True
        for row in presets.rows:
            if was_built_in and not row.is_built_in:
                self.addSeparator()
            was_built_in = row.is_built_in
            action = self.addAction(_menu_text(row.title))
            action.setCheckable(True)
            action.setChecked(row.key == presets.chosen)
            action.setData(row.key)
            action.setToolTip(row.summary)
            if row.key == presets.default_key:
                action.setText(self.tr("{} (new chats)").format(action.text()))
            action.triggered.connect(self._on_preset)
        self.addSeparator()
        own = presets.chosen_own
        self._add(
            self.tr("Use “{}” for new chats").format(_menu_text(presets.title)),
            presets.make_default,
            is_on=presets.chosen != presets.default_key,
        )
        self._add(self.tr("Save as…"), self.save_as_wanted.emit, is_on=presets.room > 0)
        if own is not None:
            name = _menu_text(own.name)
            update = self.tr("Update “{}”").format(name)
            self._add(update, presets.update_chosen, is_on=presets.differs)
            self._add(self.tr("Rename “{}”…").format(name), self.rename_wanted.emit)
            self._add(self.tr("Delete “{}”").format(name), self.delete_wanted.emit)
        self.addSeparator()
        self._add(self.tr("Import…"), self.import_wanted.emit)
        self._add(self.tr("Export…"), self.export_wanted.emit, is_on=bool(presets.own))

    def _add(self, text: str, slot: object, *, is_on: bool = True) -> None:
        action = self.addAction(text)
        action.setEnabled(is_on)
        action.triggered.connect(slot)

    @Slot()
    def _on_preset(self) -> None:
        action = cast("QAction", self.sender())
        action.setChecked(action.data() == self._presets.chosen)  # the tick follows the choice
        self.chosen.emit(action.data())


class PresetButton(YieldingButton):
    """Says which preset is in force; `long` has the word before it and takes the whole width."""

    def __init__(self, presets: ReplyPresets, *, long: bool) -> None:
        super().__init__()
        self._presets = presets
        self.menu_ = PresetMenu(presets, self)
        self.setProperty("kind", "chip" if long else "quiet")
        if long:
            self.setProperty("align", "left")
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if long:
            # With a menu of its own, text at the left would lose its margin.
            self.clicked.connect(self._on_clicked)
        else:
            self.setMenu(self.menu_)
        presets.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def _on_clicked(self) -> None:
        self.menu_.popup(self.mapToGlobal(QPoint(0, self.height())))

    @Slot()
    def refresh(self) -> None:
        """Show the choice."""
        presets = self._presets
        title = presets.title
        mark = _MARK if presets.differs else ""
        words = self.tr("Preset: {}").format(f"{_short(title)}{mark}")
        self.setText(f"{_menu_text(words)} ▾")
        name = self.tr("Preset of replies: {}").format(visible(title))
        if presets.differs:
            name = self.tr("{}, changed since").format(name)
        self.setAccessibleName(name)
        explanation = self.tr("How replies are drawn: temperature, length, stop strings, prompt.")
        if presets.differs:
            explanation = self.tr("{}\n• Other values are set than those of “{}”.").format(
                explanation, title
            )
        self.setToolTip(explanation)


def _short(title: str) -> str:
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"


def _menu_text(text: str) -> str:
    return visible(text).replace("&", "&&")
