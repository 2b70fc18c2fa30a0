"""Larger text while the window is open: everything grows, and nothing that was shown is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QWidget

from paceline.conversation import Attachment
from paceline.gui.conversations.tags import TagBar
from paceline.gui.kit.fields import SliderField
from paceline.gui.look.scale import BASE_PX, font_px
from paceline.gui.models.picker.dialog import StepBar
from paceline.params import ReplySettings

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


def test_the_window_grows_with_its_text(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    program.chat.send("Hello?")
    client.reply("Some **words** and `code`.\n\n" * 40)
    window = program.window
    window.resize(1800, 900)
    composer, menus = window.chat_pane.composer, window.menus
    composer.edit.setPlainText("not sent yet")
    names = window.model_bar.target, window.model_bar.draft

    def sizes() -> tuple[int, ...]:
        height = composer.edit.fontMetrics().height()
        return height, window.panel.width(), window.sidebar.width(), composer.button.minimumWidth()

    before = sizes()
    write_at(program, qtbot, 20)
    assert all(large > small for large, small in zip(sizes(), before, strict=True))
    assert sizes()[-1] >= 1.4 * before[-1], "the button keeps its word"
    assert composer.edit.toPlainText() == "not sent yet"
    assert abs(window.state().panel_width - 356) <= 2  # kept as at scale 1
    qtbot.waitUntil(lambda: menus.width() >= menus.sizeHint().width())
    qtbot.waitUntil(lambda: all(name.shown_text == name.text() for name in names))
    write_at(program, qtbot, BASE_PX)
    assert all(abs(one - other) <= 2 for one, other in zip(sizes(), before, strict=True))
    qtbot.waitUntil(lambda: menus.minimumWidth() == menus.sizeHint().width())


def test_in_a_narrow_window_the_panes_give_way_to_larger_text(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    write_at(program, qtbot, 20)
    window = program.window
    window.resize(1280, 800)
    assert not window.panes.is_shown("sidebar")
    assert window.panes.is_shown("panel")
    window.resize(660, 600)
    assert not window.panes.is_shown("panel")
    assert window.state().sidebar_visible


@pytest.mark.qt_log_ignore("This plugin does not support")  # a dialog's sizes
def test_words_on_buttons_plots_sliders_and_tags_are_not_cut_off_by_another_size(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Some words.")
    window, sidebar = program.window, program.window.sidebar
    axis, tags = window.panel.plot.bars_canvas.axis, sidebar.findChild(TagBar)
    slider = window.panel.draft_settings.findChild(SliderField)
    assert isinstance(tags, TagBar)
    assert isinstance(slider, SliderField)
    tags.show_tags(["one", "two"], [])
    program.runs.open_last()
    dialog = program.runs.dialog
    assert dialog is not None
    figure = dialog.reply_page.figures.values[0]
    before, small = figure.fontInfo().pixelSize(), axis.width()
    tag, length = tags.buttons[0].width(), slider.slider.width()
    write_at(program, qtbot, 19)
    qtbot.waitUntil(lambda: axis.width() >= axis.sizeHint().width() > small)
    buttons = sidebar.new_button.sizeHint().width() + sidebar.new_menu_button.sizeHint().width()
    assert sidebar.minimumWidth() >= max(buttons + 24, 181)
    assert figure.fontInfo().pixelSize() > before
    first, second = tags.buttons
    qtbot.waitUntil(lambda: first.width() >= first.sizeHint().width() > tag)
    assert second.x() > first.geometry().right()
    tags.show_tags([], [])
    write_at(program, qtbot, BASE_PX)
    qtbot.waitUntil(lambda: slider.slider.width() == length)
    dialog.close()


@pytest.mark.qt_log_ignore("This plugin does not support")  # a dialog's sizes
def test_no_lower_neighbour_cuts_off_large_words_and_help_stays_within_the_screen(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    write_at(program, qtbot, 22)
    program.window.panel.sampling.use(ReplySettings(max_tokens=50))
    steps = StepBar()
    qtbot.addWidget(steps)
    steps.target.show_name("A model", is_picked=True)
    steps.show()
    for widget in (program.sampling.badge.open_button, steps.target.name):
        qtbot.waitUntil(lambda it=widget: it.height() >= it.sizeHint().height())  # type: ignore[misc]
    room = QGuiApplication.primaryScreen().availableSize()
    for open_dialog, owner in (
        (program.help.open_guide, program.help.guide),
        (program.help.open_shortcuts, program.help.shortcuts),
        (program.help.open_about, program.help.about),
    ):
        open_dialog()
        assert owner.dialog is not None
        size = owner.dialog.size()
        assert size.width() <= room.width(), owner.dialog
        assert size.height() < room.height(), owner.dialog  # Close can be reached
        owner.close()


def test_attached_files_are_seen_whole_after_another_theme_or_size(
    program: Program, qtbot: QtBot
) -> None:
    program.window.resize(1280, 800)
    files = program.window.chat_pane.composer.files
    files.add([Attachment(f"a_name_that_is_too_long_for_a_line_{n}.py", "x", 28) for n in (1, 2)])
    qtbot.waitUntil(lambda: files.chips[1].y() > files.chips[0].y())
    for name, value in (("theme", "dark"), ("theme", "light"), ("font_px", 19), ("font_px", 13)):
        program.settings.set(name, value)
        qtbot.wait(100)
        assert files.height() == files.chips[1].geometry().bottom() + 1


def cut(pane: QWidget) -> list[str]:
    """Name the buttons that are not whole."""
    return [
        button.accessibleName() or button.text()
        for button in pane.findChildren(QAbstractButton)
        if button.isVisible()
        and not pane.rect().contains(button.rect().translated(button.mapTo(pane, QPoint())))
    ]


def test_nothing_is_cut_in_the_smallest_window(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Hi")
    window, pane = program.window, program.window.chat_pane
    window.resize(640, 700)
    window.actions_.panel.trigger()
    qtbot.waitUntil(lambda: not cut(pane))
    assert window.panel.isVisible()
    window.resize(1600, 700)
    qtbot.waitUntil(lambda: not cut(pane))
    write_at(program, qtbot, 20)
    window.resize(640, 700)
    if window.panes.is_shown("panel"):
        window.actions_.panel.trigger()
    window.actions_.sidebar.trigger()
    qtbot.waitUntil(lambda: not cut(pane))
    window.actions_.panel.trigger()
    qtbot.waitUntil(lambda: window.panel.width() >= window.panel.minimumSizeHint().width())
    right = window.panel.mapTo(window, window.panel.rect().topRight())
    assert right.x() < window.width() == 640
    assert pane.isHidden()
    window.actions_.write.trigger()
    assert not pane.isHidden()
    assert window.focusWidget() is pane.composer.edit


def write_at(program: Program, qtbot: QtBot, size: int) -> None:
    """Choose a size of the text and wait until it is seen."""
    program.settings.set("font_px", size)
    qtbot.waitUntil(lambda: font_px() == size)
