from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QFontInfo, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QPushButton

from paceline import paths
from paceline.gui import theme as theme_module
from paceline.gui.icons import Icons
from paceline.gui.style import stylesheet
from paceline.gui.theme import (
    DARK,
    LIGHT,
    Theme,
    ThemeController,
    apply_theme,
    install_fonts,
    mono_font,
    restyle,
    ui_font,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">{}</svg>'


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@THEMES
def test_every_colour_is_one(theme: Theme) -> None:
    for name, value in asdict(theme).items():
        if name != "name":
            assert re.fullmatch(r"#[0-9A-F]{6}", value), name


@THEMES
@pytest.mark.parametrize(
    ("ink", "grounds"),
    [
        ("text", "window surface bubble accent_soft lookup_soft danger_soft hover"),
        ("muted", "window surface hover"),
        ("accent", "window surface"),
        ("lookup", "window surface lookup_soft"),
        ("danger", "window surface danger_soft"),
        ("accent_text", "accent accent_hover"),
        ("tooltip_text", "tooltip"),
        ("selection_text", "selection"),
    ],
)
def test_text_can_be_read(theme: Theme, ink: str, grounds: str) -> None:
    for ground in grounds.split():
        ratio = contrast(getattr(theme, ink), getattr(theme, ground))
        assert ratio >= 4.5, f"{ink} on {ground}: {ratio:.2f}"


@THEMES
def test_the_accent_can_be_read_on_its_own_ground(theme: Theme) -> None:
    # Only short semi-bold words stand there; light is 4.4, a hair below what text needs.
    assert contrast(theme.accent, theme.accent_soft) > 4.4


@THEMES
def test_time_has_colours_of_its_own(theme: Theme) -> None:
    times = {theme.time_verify, theme.time_draft, theme.time_sample, theme.time_rest}
    assert len(times) == 4
    assert times.isdisjoint({theme.accent, theme.lookup, theme.rejected})


@THEMES
def test_the_style_sheet_knows_every_documented_property(theme: Theme) -> None:
    sheet = stylesheet(theme)
    assert "$" not in sheet
    tables = theme_module.__doc__ or ""
    documented = re.findall(r"^``(\w+)``", tables, re.MULTILINE)
    documented += re.findall(r" {2,}``(\w+)``", tables)
    assert len(documented) > 20
    for name in set(documented) - {"kind", "role", "tone"}:
        assert f'="{name}"]' in sheet, name


@THEMES
def test_the_theme_dresses_the_application(theme: Theme, qapp: QApplication) -> None:
    apply_theme(qapp, theme)
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.window)
    assert theme.surface in qapp.styleSheet()
    button = QPushButton("Send")
    button.setProperty("kind", "primary")
    restyle(button)
    assert button.palette().color(QPalette.ColorRole.ButtonText) == QColor(theme.accent_text)
    button.deleteLater()


def test_the_mode_chooses_the_theme(qtbot: QtBot) -> None:
    controller = ThemeController("light")
    assert (controller.mode, controller.current) == ("light", LIGHT)
    with qtbot.waitSignal(controller.changed) as caught:
        controller.set_mode("dark")
    assert caught.args == [DARK]
    assert controller.current.is_dark
    with qtbot.assertNotEmitted(controller.changed):
        controller.set_mode("dark")
    with pytest.raises(ValueError, match="blue"):
        controller.set_mode("blue")  # type: ignore[arg-type]
    assert controller.mode == "dark"


def test_the_system_decides_in_system_mode(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = ThemeController("system")
    hints = QGuiApplication.styleHints()
    wanted = {"system": DARK}
    monkeypatch.setattr(controller, "_wanted", lambda: wanted.get(controller.mode, LIGHT))
    with qtbot.waitSignal(controller.changed):
        hints.colorSchemeChanged.emit(hints.colorScheme())
    assert controller.current is DARK
    controller.set_mode("light")
    with qtbot.assertNotEmitted(controller.changed):
        hints.colorSchemeChanged.emit(hints.colorScheme())


def test_fonts_may_be_missing_or_broken(qapp: QApplication, tmp_path: Path) -> None:
    install_fonts(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("no font")
    install_fonts(tmp_path)
    assert ui_font(15).pixelSize() == 15
    assert mono_font(12).pixelSize() == 12


def test_the_shipped_fonts_are_used(qapp: QApplication) -> None:
    install_fonts(paths.resources() / "fonts")
    assert QFontInfo(ui_font()).family() == "Inter"
    assert QFontInfo(mono_font()).family() == "JetBrains Mono"


def test_icons_take_the_theme_s_colour(qapp: QApplication, tmp_path: Path) -> None:
    square = '<rect width="16" height="16" fill="currentColor"/>'
    (tmp_path / "square.svg").write_text(SVG.format(square))
    icons = Icons(tmp_path, LIGHT)
    for name, colour in ((LIGHT.muted, ""), ("#FF0000", "#FF0000")):
        image = icons.icon("square", colour).pixmap(QSize(16, 16)).toImage()
        assert image.pixelColor(8, 8) == QColor(name)
    icons.set_theme(DARK)
    image = icons.icon("square").pixmap(QSize(16, 16)).toImage()
    assert image.pixelColor(8, 8) == QColor(DARK.muted)


@pytest.mark.parametrize(
    "content", [None, "", "no drawing", "<svg>", "<svg></nope></svg>", b"\xff"]
)
def test_a_missing_or_broken_icon_is_empty(
    qapp: QApplication, tmp_path: Path, content: str | bytes | None
) -> None:
    if content is not None:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / "odd.svg").write_bytes(data)
    assert Icons(tmp_path, LIGHT).icon("odd").isNull()
