from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QGuiApplication,
    QIcon,
    QPalette,
    QRawFont,
    QTextLayout,
)
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from paceline import paths
from paceline.gui.look import scale
from paceline.gui.look import style as style_module
from paceline.gui.look.colours import DARK, LIGHT, Theme
from paceline.gui.look.current import Look, look
from paceline.gui.look.theme import apply_theme, install_fonts, mono_font, restyle, ui_font

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot


THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


_ICON = re.compile(r'(?:look\.icon|IconButton)\(\s*"([\w-]+)"')
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">{}</svg>'


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
    controller = Look()
    assert (controller.mode, controller.theme) == ("light", LIGHT)
    with qtbot.waitSignal(controller.changed) as caught:
        controller.set_mode("dark")
    assert caught.args == [DARK]
    assert controller.theme.is_dark
    with qtbot.assertNotEmitted(controller.changed):
        controller.set_mode("dark")
    with pytest.raises(ValueError, match="blue"):
        controller.set_mode("blue")  # type: ignore[arg-type]
    assert controller.mode == "dark"


def test_the_system_decides_in_system_mode(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = Look()
    controller.start(paths.resources(), "system")
    hints = QGuiApplication.styleHints()
    wanted = {"system": DARK}
    monkeypatch.setattr(controller, "_wanted", lambda: wanted.get(controller.mode, LIGHT))
    with qtbot.waitSignal(controller.changed):
        hints.colorSchemeChanged.emit(hints.colorScheme())
    assert controller.theme is DARK
    controller.set_mode("light")
    with qtbot.assertNotEmitted(controller.changed):
        hints.colorSchemeChanged.emit(hints.colorScheme())


def test_fonts_may_be_missing_or_broken(qapp: QApplication, tmp_path: Path) -> None:
    install_fonts(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("no font")
    install_fonts(tmp_path)
    assert ui_font(15).pixelSize() == 15
    assert mono_font(12).pixelSize() == 12


@pytest.fixture
def _scale_1(qapp: QApplication) -> Iterator[None]:
    yield
    apply_theme(qapp, LIGHT)


@pytest.mark.usefixtures("_scale_1")
def test_everything_follows_the_size_of_the_text(qapp: QApplication) -> None:
    assert [scale.px(size) for size in (11, 14, 28)] == [11, 14, 28]
    apply_theme(qapp, LIGHT, 21)
    assert [scale.px(size) for size in (scale.SMALL, 14, 28)] == [18, 21, 42]
    assert ui_font().pixelSize() == qapp.font().pixelSize() == 21
    assert mono_font(12).pixelSize() == 18
    sizes = re.findall(r"font-size: (\w+)", qapp.styleSheet())
    assert {"16px", "18px", "42px"} <= set(sizes)
    assert {"11px", "12px"}.isdisjoint(sizes)
    label = QLabel("12345678")
    label.setProperty("role", "small")
    label.ensurePolished()
    assert label.fontInfo().pixelSize() == 18
    label.deleteLater()


def test_no_style_has_a_size_of_its_own() -> None:
    package = Path(style_module.__file__ or "").parent
    for file in package.rglob("*.py"):
        found = re.findall(r"font-size: ?\d+", file.read_text(encoding="utf-8"))
        assert not found, f"{file.name} has {found}; use the type scale"


def test_the_shipped_fonts_are_used(qapp: QApplication) -> None:
    install_fonts(paths.resources() / "fonts")
    assert QFontInfo(ui_font()).family() == "Inter"
    assert QFontInfo(mono_font()).family() == "JetBrains Mono"


@pytest.mark.parametrize("font_of", [ui_font, mono_font])
def test_signs_are_drawn_as_they_are_written(font_of: Callable[[], QFont]) -> None:
    install_fonts(paths.resources() / "fonts")
    font = font_of()
    for text in ("-->", "!=", "::=", "1x2"):
        layout = QTextLayout(text, font)
        layout.beginLayout()
        layout.createLine()
        layout.endLayout()
        drawn = [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]
        assert drawn == list(QRawFont.fromFont(font).glyphIndexesForString(text)), text


def test_icons_take_the_theme_s_colour(qapp: QApplication, tmp_path: Path) -> None:
    square = '<rect width="16" height="16" fill="currentColor"/>'
    (tmp_path / "square.svg").write_text(SVG.format(square))
    look.use_icons(tmp_path)
    muted, accent = look.icon("square"), look.icon("square", "accent")
    for mode, theme in (("light", LIGHT), ("dark", DARK)):
        look.set_mode(mode)  # type: ignore[arg-type]  # the literals are lost on the way
        for icon, colour in ((muted, theme.muted), (accent, theme.accent)):
            image = icon.pixmap(QSize(16, 16)).toImage()
            assert image.pixelColor(8, 8) == QColor(colour)
        image = muted.pixmap(QSize(16, 16), QIcon.Mode.Disabled).toImage()
        assert image.pixelColor(8, 8) == QColor(theme.faint)


def test_icons_are_sharp_at_every_scale(qapp: QApplication, tmp_path: Path) -> None:
    square = '<rect width="16" height="16" fill="currentColor"/>'
    (tmp_path / "square.svg").write_text(SVG.format(square))
    look.use_icons(tmp_path)
    for ratio in (1.0, 1.25, 1.5, 2.0):
        pixmap = look.icon("square").pixmap(QSize(16, 16), ratio)
        assert pixmap.size() == QSize(16, 16) * ratio
        assert pixmap.devicePixelRatio() == ratio


@pytest.mark.parametrize(
    "content", [None, "", "no drawing", "<svg>", "<svg></nope></svg>", b"\xff"]
)
def test_a_missing_or_broken_icon_is_empty(
    qapp: QApplication, tmp_path: Path, content: str | bytes | None
) -> None:
    if content is not None:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / "odd.svg").write_bytes(data)
    look.use_icons(tmp_path)
    assert look.icon("odd").isNull()


def test_every_icon_that_is_asked_for_is_shipped() -> None:
    gui = Path(style_module.__file__).parents[1]
    texts = [file.read_text(encoding="utf-8") for file in gui.rglob("*.py")]
    asked = {name for text in texts for name in _ICON.findall(text)}
    shipped = {file.stem for file in (paths.resources() / "icons").glob("*.svg")}
    assert len(asked) >= 20
    assert asked <= shipped
