"""Settings that a session of the window leaves unchanged stay in the file."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from declared_values import OTHER_SETTINGS as OTHER
from paceline.settings import Settings, WindowSettings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paceline.gui.program import Program


def test_the_values_differ_from_the_defaults() -> None:
    names = [field.name for field in fields(Settings)]
    assert [name for name in names if getattr(OTHER, name) == getattr(Settings(), name)] == []


def test_every_setting_outlives_a_window_that_changes_none(
    make_program: Callable[..., Program], paceline_home: Path
) -> None:
    broken = replace(OTHER.window, geometry="!!! no base64 !!!")
    program = make_program(replace(OTHER, window=broken))
    assert program.window.isVisible(), "geometry that cannot be read does no harm"
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
    assert saved.window.geometry not in ("", broken.geometry)
    for field in fields(WindowSettings):
        if field.name != "geometry":
            assert getattr(saved.window, field.name) == getattr(OTHER.window, field.name)
