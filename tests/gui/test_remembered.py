"""What the settings file says survives a life of the window in which nobody changes it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from paceline.params import ModelParams, Prompting, ReplySettings, SamplingParams
from paceline.settings import (
    DraftPreset,
    ModelPrompting,
    ReplyPreset,
    SavedPair,
    Settings,
    WindowSettings,
    load_settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paceline.gui.program import Program

OTHER = Settings(
    theme="dark",
    token_colours=False,
    wraps_code=False,
    strategies=("ngram-simple:n=3", "draft:n_max=5"),
    learns_from_chats=False,
    learned_mb=4,
    was_told_of_learning=True,
    engine_host="thread",
    kernels="stock",
    window=WindowSettings(
        sidebar_visible=False,
        sidebar_width=260,
        panel_width=380,
        panel_tab="chat",
        open_sections=("loading",),
        open_conversation="",
    ),
    pairs=(SavedPair(ModelParams("/a.gguf"), ModelParams("/b.gguf"), "Mine"),),
    model_folders=("/models",),
    hub_offline=True,
    reply_presets=(
        ReplyPreset("Calm", ReplySettings(SamplingParams(0.1), 10, 5, "Hm.", ("x", "\n\n"))),
    ),
    default_preset="Calm",
    draft_presets=(DraftPreset("Fast", "a.gguf", "b.gguf", "draft:n_max=9"),),
    promptings=(ModelPrompting("a.gguf", Prompting("{{ messages }}", "off")),),
    keeps_on_edit=False,
    cuts_long_chats=False,
    font_px=16,
    motion="reduced",
    language="en",
    send_key="ctrl+enter",
    opens_last_chat=False,
    was_welcomed=True,
    recent_commands=(("View", "Token colours"),),
)


@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
def test_the_values_differ_from_the_defaults(name: str) -> None:
    assert getattr(OTHER, name) != getattr(Settings(), name)


def test_every_setting_outlives_a_window_that_changes_none(
    make_program: Callable[..., Program], paceline_home: Path
) -> None:
    program = make_program(OTHER)
    program.window.close()
    saved = load_settings(paceline_home / "config" / "settings.json").settings
    lost = {
        field.name: (getattr(saved, field.name), getattr(OTHER, field.name))
        for field in fields(Settings)
        if field.name not in ("window", "strategies")
        and getattr(saved, field.name) != getattr(OTHER, field.name)
    }
    assert lost == {}
    assert saved.strategies[:2] == OTHER.strategies
    assert saved.window.geometry
    for field in fields(WindowSettings):
        if field.name != "geometry":
            assert getattr(saved.window, field.name) == getattr(OTHER.window, field.name)
