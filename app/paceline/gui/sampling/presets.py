"""Presets for replies: the list, the choice, and the button that shows it.

A built-in preset sets the sampling and the maximum length of a reply; system prompt, stop strings,
biases and form stay as they are, since they belong to the task and not to the style. A preset of
the user's sets all of it. New chats begin with the default preset. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtWidgets import QMenu, QSizePolicy

from paceline.chat.presets import clean_name, free_name
from paceline.gui.kit.labels import YieldingButton
from paceline.gui.kit.translation import local
from paceline.gui.state.presets import PresetList, PresetMenu
from paceline.names import visible
from paceline.params import ReplySettings, SamplingParams
from paceline.settings import ReplyPreset

BUILT_IN = ":"
"""First character of the key of a built-in preset; `obstacle` keeps names from beginning with
it."""
DEFAULT_KEY = ":balanced"
PresetsState = tuple[tuple[ReplyPreset, ...], str, str]
"""The user's presets, and the keys of the chosen and of the default one"""
_CODE_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class PresetRow:
    """A preset in a menu: `key` is the argument of `choose`."""

    key: str
    title: str
    summary: str
    is_built_in: bool


class ReplyPresets(PresetList[ReplyPreset]):
    """The presets and the shown chat's settings; changes nothing but its own list.

    `changed` signals another list, choice or default, and other settings.

    Attributes:
        chosen: Key of the preset that the shown chat is compared with.
        now: The shown chat's settings.
    """

    def __init__(
        self, own: Sequence[ReplyPreset] = (), default: str = "", parent: QObject | None = None
    ) -> None:
        super().__init__(own, parent)
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
                        "right guesses."),
            ),
            ":code": (
                _of(self.tr("Code"), SamplingParams(temperature=0.2, top_p=0.9), _CODE_TOKENS),
                self.tr("Programs: steady, without penalties, and room for long replies."),
            ),
        }  # fmt: skip
        self._default = default
        self.now = self.default_settings
        self.chosen = self.default_key

    @property
    def rows(self) -> tuple[PresetRow, ...]:
        """All presets, the built-in ones first."""
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
        """Settings of new chats."""
        preset = self.preset(self.default_key)
        return preset.settings if preset is not None else ReplySettings()

    @property
    def chosen_own(self) -> ReplyPreset | None:
        """The chosen preset, if it is one of the user's."""
        return self.find(self.chosen)

    @property
    def title(self) -> str:
        """Title of the chosen preset."""
        preset = self.preset(self.chosen)
        return preset.name if preset is not None else ""

    @property
    def differs(self) -> bool:
        """Return whether the settings differ from those that the chosen preset sets."""
        return self.applied(self.chosen) != self.now

    @property
    def is_changed(self) -> bool:
        """Return whether any field differs, also one that the preset does not set."""
        preset = self.preset(self.chosen)
        return preset is None or preset.settings != self.now

    def preset(self, key: str) -> ReplyPreset | None:
        """Return a preset, or None if it does not exist."""
        if key in self._built_in:
            return self._built_in[key][0]
        return self.find(key)

    def applied(self, key: str) -> ReplySettings:
        """Return the settings after a preset is applied."""
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
        """Set the shown chat's present settings."""
        if settings != self.now:
            self.now = settings
            self.changed.emit()

    def show_chat(self, settings: ReplySettings) -> None:
        """Set another chat's settings; they are compared with the first preset that equals them."""
        self.now = settings
        self.chosen = self._like(settings)
        self.changed.emit()

    def _like(self, settings: ReplySettings) -> str:
        default = self.default_key
        keys = [default, *(preset.name for preset in self.own), *self._built_in]
        return next((key for key in keys if self.applied(key) == settings), default)

    def choose(self, key: str) -> None:
        """Choose the preset for the comparison; the caller applies its settings."""
        if key != self.chosen and self.preset(key) is not None:
            self.chosen = key
            self.changed.emit()

    def make_default(self) -> None:
        """Make the chosen preset the default of new chats."""
        self._default = self.chosen
        self.set_own(self.own)

    @property
    def titles(self) -> list[str]:
        """Names of all presets, the built-in ones included."""
        return [row.title for row in self.rows]

    def obstacle(self, name: str, but: str = "") -> str:
        """Return why a preset cannot have a name; it could be the key of a built-in one."""
        if clean_name(name).startswith(BUILT_IN):
            return self.tr("A name cannot begin with a colon.")
        return super().obstacle(name, but)

    def save_as(self, name: str) -> None:
        """Save the settings under a name without obstacle, and choose it."""
        self.chosen = clean_name(name)
        self.set_own((*self.own, ReplyPreset(self.chosen, self.now)))

    def update_chosen(self) -> None:
        """Save the settings in the chosen preset, which is one of the user's."""
        chosen = self.chosen_own
        if chosen is not None:
            new = replace(chosen, settings=self.now)
            self.set_own(tuple(new if preset is chosen else preset for preset in self.own))

    def rename(self, old: str, new: str) -> None:
        """Rename one of the user's; it remains chosen and the default."""
        if self.find(old) is not None:
            name = clean_name(new)
            self.chosen = name if self.chosen == old else self.chosen
            self._default = name if self._default == old else self._default
            super().rename(old, name)

    def add(self, presets: Sequence[ReplyPreset]) -> tuple[str, ...]:
        """Add presets under free names; return these."""
        names: list[str] = []
        taken = self.titles
        for preset in presets:
            # A name from a file may begin with the sign of the built-in ones.
            wanted = clean_name(preset.name).lstrip(f"{BUILT_IN} ") or self.tr("Preset")
            names.append(free_name(wanted, [*taken, *names]))
        new = [replace(p, name=name) for p, name in zip(presets, names, strict=True)]
        self.set_own((*self.own, *new))
        return tuple(names)

    @property
    def state(self) -> PresetsState:
        """The state that `restore` accepts."""
        return self.own, self.chosen, self._default

    def restore(self, state: PresetsState) -> None:
        """Restore a list, a choice and a default."""
        own, self.chosen, self._default = state
        self.set_own(own)

    def set_own(self, own: tuple[ReplyPreset, ...]) -> None:
        """Replace the list; settings stay, and are compared with another preset if needed."""
        self.own = own
        if self.preset(self.chosen) is None:
            self.chosen = self._like(self.now)
        super().set_own(own)


def _summary(preset: ReplyPreset) -> str:
    sampling = preset.settings.sampling
    return f"T {local(sampling.temperature):g} · top-p {local(sampling.top_p):g}"


def _of(name: str, sampling: SamplingParams, max_tokens: int = 1024) -> ReplyPreset:
    return ReplyPreset(name, ReplySettings(sampling, max_tokens))


_TITLE_CHARS = 22


class PresetButton(YieldingButton):
    """Button with the preset in force; a `long` one has a caption and takes the whole width."""

    def __init__(self, presets: ReplyPresets, fill: Callable[[QMenu], None], *, long: bool) -> None:
        """Create the button; `fill` adds the entries of the menu."""
        super().__init__()
        self._presets = presets
        self.menu_ = PresetMenu(fill, self)
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
        changed = self.tr("{}, changed") if presets.is_changed else "{}"
        words = self.tr("Preset: {}").format(changed.format(_short(title)))
        self.setText(f"{visible(words).replace('&', '&&')} ▾")
        name = self.tr("Preset of replies: {}").format(changed.format(visible(title)))
        self.setAccessibleName(name)
        explanation = self.tr("How replies are drawn: temperature, length, stop strings, prompt.")
        if presets.is_changed:
            explanation = self.tr("{}\n• Other values are set than those of “{}”.").format(
                explanation, title
            )
        self.setToolTip(explanation)


def _short(title: str) -> str:
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
