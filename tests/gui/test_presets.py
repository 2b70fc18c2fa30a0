"""Presets of replies: built-in and own ones, menu, files, undo, and what survives a restart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from PySide6.QtTest import QSignalSpy

from paceline.chat.presets import MAX_FILE_BYTES, clean_name, presets_from_text, presets_to_text
from paceline.errors import UserError
from paceline.gui.kit.file_dialogs import read_text
from paceline.gui.sampling.presets import DEFAULT_KEY, ReplyPresets
from paceline.messages import StartTurn
from paceline.params import LogitBias, ReplySettings, SamplingParams
from paceline.settings import MAX_PRESETS, ReplyPreset, Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtGui import QAction
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

TUTOR = ReplyPreset(
    "Tutor", ReplySettings(SamplingParams(temperature=0.4), 300, None, "Explain.", ("\n\n",))
)
WORK = ReplySettings(
    SamplingParams(temperature=1.3, logit_bias=(LogitBias(1, 2.0),), json_schema="{}"),
    77, 5, "Be brief.", ("###",),
)  # fmt: skip


# ------------------------------------------------------------------------------- the view-model


@pytest.fixture
def presets(qapp: object) -> ReplyPresets:
    return ReplyPresets([TUTOR])


def test_a_built_in_preset_leaves_what_belongs_to_the_work(presets: ReplyPresets) -> None:
    keys = [row.key for row in presets.rows if row.is_built_in]
    assert len({repr(presets.applied(key)) for key in keys}) == len(keys) == 5
    assert presets.applied(DEFAULT_KEY) == ReplySettings()
    assert ReplyPresets([TUTOR], "gone").default_key == DEFAULT_KEY
    presets.show_settings(WORK)
    precise = presets.applied(":precise")
    assert precise.sampling == SamplingParams(
        temperature=0.2, logit_bias=(LogitBias(1, 2.0),), json_schema="{}"
    )
    assert (precise.seed, precise.system_prompt, precise.stop) == (5, "Be brief.", ("###",))
    assert presets.applied(":greedy").sampling.temperature == 0
    assert presets.applied(":code").max_tokens > presets.applied(":greedy").max_tokens


def buttons(program: Program) -> list[str]:
    """Return what the two buttons of presets say; both are read aloud without the sign."""
    both = program.sampling.card_button, program.sampling.foot_button
    assert len({button.accessibleName() for button in both}) == 1
    (words,) = {button.text() for button in both}
    return [words, both[0].accessibleName()]


def test_a_chat_is_compared_with_the_preset_that_is_like_it(presets: ReplyPresets) -> None:
    presets.show_settings(WORK)
    assert (presets.chosen, presets.differs) == (DEFAULT_KEY, True)
    cold = ReplySettings(SamplingParams(temperature=0.0), system_prompt="Be brief.")
    for values, key in ((TUTOR.settings, "Tutor"), (cold, ":greedy"), (WORK, DEFAULT_KEY)):
        presets.show_chat(values)
        assert (presets.chosen, presets.differs) == (key, values == WORK)


NAMES = st.sampled_from(["Work", " Play", "Tutor ", "a\tb"])
WRONG = st.sampled_from(["", " \n", ":greedy", ":Mine", "precise", "CODE"])
VALUES = st.sampled_from([WORK, TUTOR.settings, ReplySettings(), ReplySettings(max_tokens=5)])


class PresetsMachine(RuleBasedStateMachine):
    """The user's presets beside a dictionary of them; built-in ones stay whatever is done."""

    def __init__(self) -> None:
        super().__init__()
        self.presets = ReplyPresets()
        self.built_in = self.presets.rows
        self.own: dict[str, ReplySettings] = {}
        self.chosen = self.default = DEFAULT_KEY
        self.n_kept = 0
        self.kept = QSignalSpy(self.presets.kept_changed)

    def has_own(self) -> bool:
        return bool(self.own)

    def one_of(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from([*self.own]))

    @rule(values=VALUES)
    def set_values(self, values: ReplySettings) -> None:
        self.presets.show_settings(values)

    @rule(name=NAMES)
    def save_as(self, name: str) -> None:
        cleaned = clean_name(name)
        assert bool(self.presets.obstacle(name)) == (cleaned in self.own)
        if cleaned not in self.own:
            self.presets.save_as(name)
            self.own[cleaned], self.chosen = self.presets.now, cleaned
            self.n_kept += 1

    @rule(name=WRONG)
    def no_such_name(self, name: str) -> None:
        assert self.presets.obstacle(name)

    @rule(row=st.integers(0, 4), name=NAMES)
    def change_a_built_in_one(self, row: int, name: str) -> None:
        self.chosen = self.built_in[row].key
        self.presets.choose(self.chosen)
        self.presets.update_chosen()
        self.presets.rename(self.chosen, clean_name(name))
        self.presets.delete(self.chosen)

    @precondition(has_own)
    @rule(data=st.data())
    def choose(self, data: st.DataObject) -> None:
        self.chosen = self.one_of(data)
        self.presets.choose(self.chosen)

    @rule()
    def make_default(self) -> None:
        self.presets.make_default()
        self.default = self.chosen
        self.n_kept += 1

    @precondition(lambda self: self.chosen in self.own)
    @rule()
    def update(self) -> None:
        self.presets.update_chosen()
        self.own[self.chosen] = self.presets.now
        self.n_kept += 1

    @precondition(has_own)
    @rule(data=st.data(), name=NAMES)
    def rename(self, data: st.DataObject, name: str) -> None:
        key, new = self.one_of(data), clean_name(name)
        if not self.presets.obstacle(name, but=key):
            self.presets.rename(key, name)
            self.own = {new if old == key else old: own for old, own in self.own.items()}
            self.chosen = new if self.chosen == key else self.chosen
            self.default = new if self.default == key else self.default
            self.n_kept += 1

    @precondition(has_own)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        key = self.one_of(data)
        self.presets.delete(key)
        del self.own[key]
        self.chosen = self.presets.chosen if self.chosen == key else self.chosen
        self.n_kept += 1

    @rule(names=st.lists(NAMES | WRONG, min_size=1, max_size=3))
    def add(self, names: list[str]) -> None:
        taken = {row.title.casefold() for row in self.presets.rows}
        added = self.presets.add([ReplyPreset(name, WORK) for name in names])
        assert len({*taken, *(name.casefold() for name in added)}) == len(taken) + len(names)
        assert not any(name.startswith(":") for name in added)
        self.own |= dict.fromkeys(added, WORK)
        self.n_kept += 1

    @invariant()
    def all_is_as_it_was_done(self) -> None:
        presets = self.presets
        assert [(p.name, p.settings) for p in presets.own] == list(self.own.items())
        assert presets.rows[: len(self.built_in)] == self.built_in
        # It stays the default by its name, for an undo of the deletion.
        is_there = self.default in self.own or self.default.startswith(":")
        default = self.default if is_there else DEFAULT_KEY
        assert (presets.chosen, presets.default_key) == (self.chosen, default)
        assert presets.differs == (presets.applied(self.chosen) != presets.now)
        if default in self.own:
            assert presets.default_settings == self.own[default]
        for name, values in self.own.items():
            assert presets.applied(name) == values
        assert self.kept.count() == self.n_kept


TestPresets = pytest.mark.usefixtures("qapp")(PresetsMachine.TestCase)
TestPresets.settings = settings(stateful_step_count=30)


# ------------------------------------------------------------------------------------ the window


def menu_action(program: Program, words: str) -> QAction:
    menu = program.sampling.card_button.menu_
    menu.fill()
    (found,) = (action for action in menu.actions() if action.text().startswith(words))
    return found


def test_a_preset_goes_into_the_next_reply(program: Program, client: FakeClient) -> None:
    commands = {command.title: command for command in program.sampling.commands()}
    assert commands["Use the preset Balanced"].is_on
    commands["Use the preset Code"].run()
    assert program.sampling.presets.chosen == ":code"
    program.window.panel.sampling.system_prompt.setPlainText("Be kind.")
    menu_action(program, "Precise").trigger()
    program.chat.send("Hello?")
    command = client.last(StartTurn)
    assert command.sampling.temperature == 0.2
    assert command.prompt.messages[0].text == "Be kind."
    program.window.panel.sampling.system_prompt.setPlainText("")
    assert all("Precise" in words for words in buttons(program))
    assert program.sampling.foot_button.isVisibleTo(program.window)


def test_a_preset_is_called_changed_when_anything_is_set_otherwise(program: Program) -> None:
    card = program.window.panel.sampling
    menu_action(program, "Precise").trigger()
    unchanged = buttons(program)
    for change in (
        lambda: card.sliders["top_k"].field.setValue(3),
        lambda: card.max_tokens.setValue(77),
        lambda: card.system_prompt.setPlainText("Be kind."),
        lambda: card.form.put_text("schema", '{"type": "object"}'),
        lambda: card.biases.setText("3=1"),
        lambda: card.stops.add("###"),
        lambda: card.seed.use(4),
    ):
        change()
        assert all("Precise" in words for words in buttons(program))
        assert buttons(program) != unchanged
        menu_action(program, "Creative").trigger()
        card.system_prompt.setPlainText("")
        card.form.put_text("free", "")
        card.biases.setText("")
        card.stops.show_value(())
        card.seed.use(None)
        menu_action(program, "Precise").trigger()


def test_presets_survive_a_restart(
    make_program: Callable[..., Program], paceline_home: Path
) -> None:
    first = make_program(Settings(reply_presets=(TUTOR,), default_preset=TUTOR.name))
    menu_action(first, "Delete").trigger()
    assert first.shown.settings == ReplySettings()
    first.window.chat_pane.errors.action.click()
    assert first.shown.settings == TUTOR.settings, "a new chat follows the defaults again"
    first.window.panel.sampling.use(WORK)
    first.sampling.presets.save_as("Work")
    menu_action(first, "Use “Work” for new chats").trigger()
    first.window.panel.sampling.sliders["temperature"].field.setValue(0.5)
    first.window.panel.sampling.cuts.setChecked(False)
    first.settings.save()
    loaded = load_settings(paceline_home / "config" / "settings.json")
    assert loaded.put_aside is None
    assert loaded.settings.reply_presets == (TUTOR, ReplyPreset("Work", WORK))
    second = make_program(loaded.settings)
    presets = second.sampling.presets
    assert (presets.chosen, presets.default_key, presets.differs) == ("Work", "Work", False)
    assert second.window.panel.sampling.settings == WORK
    assert replace(second.settings.settings, window=loaded.settings.window) == loaded.settings
    assert not second.next_reply.options().cuts


# ------------------------------------------------------------------------------------- the files


def test_export_and_import(program: Program, tmp_path: Path, qtbot: QtBot) -> None:
    presets, file = program.sampling.presets, tmp_path / "presets.json"
    assert not menu_action(program, "Export").isEnabled()
    presets.add([TUTOR])
    menu_action(program, "Export").trigger()
    assert program.save_file.dialog is not None
    program.save_file.dialog.reject()
    program.save_file.write(str(file))
    qtbot.waitUntil(file.exists)
    assert presets_from_text(file.read_text("utf-8")) == (TUTOR,)
    menu_action(program, "Import").trigger()
    assert program.open_file.dialog is not None
    program.open_file.dialog.reject()
    with qtbot.waitSignal(presets.kept_changed):
        program.open_file.read(str(file))
    assert [p.name for p in presets.own] == ["Tutor", "Tutor (2)"]
    assert "Tutor (2)" in program.window.chat_pane.errors.text.text()
    data = json.loads(presets_to_text([TUTOR, TUTOR]))
    data["presets"][1]["max_tokens"] = -1
    file.write_text(json.dumps(data), "utf-8")
    menu_action(program, "Import").trigger()
    with qtbot.waitSignal(program.notices.posted):
        program.open_file.read(str(file))
    error = program.window.chat_pane.errors.text.text()
    assert "2 (“Tutor”)" in error
    assert "-1" in error
    assert len(presets.own) == 2
    assert program.open_file.dialog is not None
    program.open_file.dialog.reject()


def test_there_is_room_for_so_many(program: Program) -> None:
    """An older file can have more than there is room for."""
    presets = program.sampling.presets
    for n_own in (MAX_PRESETS - 1, MAX_PRESETS + 1):
        many = tuple(ReplyPreset(f"P{number}") for number in range(n_own))
        presets.set_own(many)
        room = max(MAX_PRESETS - n_own, 0)
        with pytest.raises(UserError, match=f"room for {room}"):
            program.sampling.import_presets(presets_to_text([TUTOR, TUTOR]))
        if room:
            program.sampling.import_presets(presets_to_text([TUTOR]))
        assert not menu_action(program, "Save as").isEnabled()
        assert program.settings.settings.reply_presets == (*many, *([TUTOR] * room))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    long, binary = tmp_path / "long", tmp_path / "binary"
    long.write_bytes(b"x" * 11)
    binary.write_bytes(b"\xff\xfe\x00")
    assert read_text(long, 11) == "x" * 11
    for path, limit, code in (
        (long, 10, "file-too-long"),
        (binary, 10, "no-text"),
        (tmp_path / "absent", 10, "cannot-read"),
        (tmp_path, 10, "cannot-read"),
    ):
        with pytest.raises(UserError) as raised:
            read_text(path, limit)
        assert raised.value.code == code
    assert MAX_FILE_BYTES > 1_000_000
