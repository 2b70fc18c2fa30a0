import json
import math
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from declared_values import OTHER_REPLY, OTHER_SETTINGS
from paceline.codec import encode
from paceline.params import ModelParams, ReplySettings, SamplingParams
from paceline.settings import (
    MAX_PAIRS,
    MAX_PRESETS,
    SCHEMA_VERSION,
    LoadedSettings,
    ReplyPreset,
    SavedPair,
    Settings,
    load_settings,
    save_settings,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


@pytest.mark.parametrize("settings", [Settings(), OTHER_SETTINGS])
def test_what_is_saved_comes_back(file: Path, settings: Settings) -> None:
    save_settings(file, settings)
    assert load_settings(file) == LoadedSettings(settings)
    assert [p.name for p in file.parent.iterdir()] == ["settings.json"]


def test_a_missing_file_gives_the_defaults_and_writes_nothing(file: Path) -> None:
    assert load_settings(file) == LoadedSettings(Settings())
    assert not file.parent.exists()


def write(file: Path, data: Any) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return text


GOOD = {"version": SCHEMA_VERSION}


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{",
        "[1, 2]",
        "null",
        "[" * 100_000,
        {},
        {"version": SCHEMA_VERSION + 1},
        {"version": str(SCHEMA_VERSION)},
        {**GOOD, "surprise": 1},
        *({**GOOD, each.name: {"surprise": 1}} for each in fields(Settings)),
        {**GOOD, "theme": "pink"},
        {**GOOD, "max_tokens": True},
        {**GOOD, "sampling": {"unknown": 1}},
        {**GOOD, "sampling": {"logit_bias": [{"token": -1, "bias": 0}]}},
        {**GOOD, "sampling": {"logit_bias": [{"token": 1, "bias": math.nan}]}},
        {**GOOD, "sampling": {"grammar": "g", "json_schema": "{}"}},
        {**GOOD, "reply_presets": [{"name": "a", "max_tokens": 9}]},
        {**GOOD, "seed": 1, "reply_presets": 7},
        {**GOOD, "seed": 1, "reply_presets": [7]},
        {**GOOD, "learned_mb": 0},
        {**GOOD, "learned_mb": 9},
        {**GOOD, "strategies": []},
        {**GOOD, "pairs": [{"target": {"path": "a"}}] * (MAX_PAIRS + 1)},
        '{"version": 1, "sampling": {"top_p": NaN}}',
    ],
)
def test_an_unusable_file_is_put_aside_and_the_defaults_are_used(file: Path, data: Any) -> None:
    text = write(file, data)
    loaded = load_settings(file)
    assert loaded.settings == Settings()
    assert loaded.put_aside is not None
    assert loaded.put_aside.read_text(encoding="utf-8") == text
    assert not file.exists()


def test_one_that_cannot_be_put_aside_stays_and_the_defaults_are_used(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, _to: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(path))

    text = write(file, "{")
    monkeypatch.setattr(Path, "rename", refuse)
    assert load_settings(file) == LoadedSettings(Settings(), None)
    assert file.read_text(encoding="utf-8") == text


def test_a_folder_that_cannot_be_looked_into_gives_the_defaults(tmp_path: Path) -> None:
    too_long = tmp_path / ("x" * 300) / "settings.json"  # refused as another user's folder is
    assert load_settings(too_long) == LoadedSettings(Settings(), None)


def test_a_file_that_is_no_text_is_put_aside(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00binary")
    assert load_settings(file).put_aside is not None


def test_files_put_aside_do_not_overwrite_each_other(file: Path) -> None:
    asides = set()
    for text in ("first", "second", "third"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        asides.add(load_settings(file).put_aside)
    assert len(asides) == 3
    assert {p.read_text(encoding="utf-8") for p in file.parent.iterdir()} == {
        "first", "second", "third",
    }  # fmt: skip


def test_fields_that_are_missing_take_their_defaults(file: Path) -> None:
    write(file, {**GOOD, "theme": "light", "sampling": {"temperature": 1}})
    loaded = load_settings(file)
    assert loaded.put_aside is None
    preset = ReplyPreset("Default", ReplySettings(SamplingParams(temperature=1.0)))
    assert loaded.settings == Settings(
        theme="light", reply_presets=(preset,), default_preset="Default"
    )


def as_before(settings: ReplySettings, *presets: tuple[str, ReplySettings]) -> dict[str, Any]:
    """A file's data as it was while settings of replies were the same for all chats."""
    flat = [{"name": name, **encode(own)} for name, own in presets]
    for preset in flat:
        del preset["seed"]
    return {**GOOD, **encode(settings), "reply_presets": flat, "reply_preset": "Calm"}


def test_what_held_for_all_chats_becomes_the_preset_of_new_ones(file: Path) -> None:
    calm = ReplySettings(SamplingParams(0.1), 10, None, "Hm.", ("x",))
    write(file, as_before(OTHER_REPLY, ("Calm", calm), ("default", calm)))
    loaded = load_settings(file)
    assert loaded.put_aside is None
    assert loaded.settings.reply_presets == (
        ReplyPreset("Calm", calm), ReplyPreset("default", calm),
        ReplyPreset("Default (2)", OTHER_REPLY),
    )  # fmt: skip
    assert loaded.settings.default_preset == "Default (2)"
    save_settings(file, loaded.settings)
    assert load_settings(file) == loaded, "it is done once"


def test_the_most_presets_and_one_for_all_chats_fit(file: Path) -> None:
    own = [(f"P{number}", ReplySettings()) for number in range(MAX_PRESETS)]
    write(file, as_before(OTHER_REPLY, *own))
    assert len(load_settings(file).settings.reply_presets) == MAX_PRESETS + 1


def test_usual_settings_make_no_preset(file: Path) -> None:
    write(file, as_before(ReplySettings()))
    assert load_settings(file).settings == Settings()


def test_a_saved_pair_needs_no_more_than_a_target(file: Path) -> None:
    write(file, {**GOOD, "pairs": [{"target": {"path": "/m/a.gguf"}}]})
    assert load_settings(file).settings.pairs == (SavedPair(ModelParams("/m/a.gguf")),)


def test_names_that_are_no_text_come_back(tmp_path: Path) -> None:
    settings = Settings(model_folders=("/models/caf\udce9 é",), language="half \ud83d")
    save_settings(tmp_path / "settings.json", settings)
    assert load_settings(tmp_path / "settings.json") == LoadedSettings(settings)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
def test_only_the_owner_can_read_the_file(file: Path) -> None:
    save_settings(file, OTHER_SETTINGS)
    file.chmod(0o644)  # as the version before wrote it
    save_settings(file, Settings())
    assert file.stat().st_mode & 0o077 == 0
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("was_on", [False, True])
def test_who_chose_to_learn_from_chats_in_an_older_version_knows_of_it(
    tmp_path: Path, *, was_on: bool
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({**GOOD, "remember_drafts": was_on}))
    loaded = load_settings(path)
    assert loaded.put_aside is None
    assert loaded.settings.learns_from_chats
    assert loaded.settings.was_told_of_learning is was_on
