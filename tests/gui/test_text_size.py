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
from paceline.gui.look.scale import font_px
from paceline.gui.models.picker.dialog import StepBar
from paceline.params import ReplySettings
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


def test_the_window_grows_with_its_text(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    program.chat.send("Hello?")
    client.reply("Some **words** and `code`.\n\n" * 40)
    window = program.window
    composer = window.chat_pane.composer.edit
    composer.setPlainText("not sent yet")
    before = composer.fontMetrics().height(), window.panel.width(), window.sidebar.width()
    program.settings.set("font_px", 17)
    qtbot.waitUntil(lambda: font_px() == 17)
    after = composer.fontMetrics().height(), window.panel.width(), window.sidebar.width()
    assert all(large > small for large, small in zip(after, before, strict=True))
    assert composer.toPlainText() == "not sent yet"
    state = window.state()
    assert abs(state.panel_width - 356) <= 2  # kept as at scale 1
    program.settings.set("font_px", 14)
    qtbot.waitUntil(lambda: font_px() == 14)
    again = composer.fontMetrics().height(), window.panel.width(), window.sidebar.width()
    assert all(abs(one - other) <= 2 for one, other in zip(again, before, strict=True))


def test_in_a_narrow_window_the_panes_give_way_to_larger_text(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program(Settings(font_px=20))
    client.finish_load()
    window = program.window
    window.resize(1280, 800)
    assert not window.panes.is_shown("sidebar")
    assert window.panes.is_shown("panel")
    window.resize(660, 600)
    assert not window.panes.is_shown("panel")
    assert window.state().sidebar_visible


def test_the_last_reply_is_copied_and_a_private_chat_begun(
    program: Program, client: FakeClient
) -> None:
    actions = program.window.actions_
    actions.copy_reply.trigger()  # there is none, and that is no error
    program.chat.send("Hello?")
    client.reply("The **answer**.")
    actions.copy_reply.trigger()
    assert QGuiApplication.clipboard().text() == "The **answer**."
    actions.new_private.trigger()
    assert program.shown.conversation.private


def test_menus_and_the_send_button_keep_room_for_their_words(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    client.finish_load()
    window = program.window
    window.resize(1300, 800)
    menus, button = window.menus, window.chat_pane.composer.button
    small = button.minimumWidth()
    program.settings.set("font_px", 20)
    qtbot.waitUntil(lambda: font_px() == 20)
    qtbot.waitUntil(lambda: menus.width() >= menus.sizeHint().width())
    assert button.minimumWidth() >= 1.4 * small
    program.settings.set("font_px", 14)
    qtbot.waitUntil(lambda: font_px() == 14)
    qtbot.waitUntil(lambda: menus.minimumWidth() == menus.sizeHint().width())


@pytest.mark.qt_log_ignore("This plugin does not support")  # a dialog's sizes
def test_words_on_buttons_and_plots_are_not_cut_off_by_another_size(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Some words.")
    window = program.window
    axis = window.panel.plot.bars_canvas.axis
    program.runs.open_last()
    dialog = program.runs.dialog
    assert dialog is not None
    figure = dialog.reply_page.figures.values[0]
    before, small = figure.fontInfo().pixelSize(), axis.width()
    program.settings.set("font_px", 19)
    qtbot.waitUntil(lambda: font_px() == 19)
    qtbot.waitUntil(lambda: axis.width() >= axis.sizeHint().width() > small)
    sidebar = window.sidebar
    buttons = sidebar.new_button.sizeHint().width() + sidebar.new_menu_button.sizeHint().width()
    assert sidebar.minimumWidth() >= buttons + 24
    assert sidebar.minimumWidth() > 180
    assert figure.fontInfo().pixelSize() > before
    dialog.close()


def test_names_of_models_have_room_in_larger_text(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    client.finish_load()
    program.window.resize(1800, 900)
    names = program.window.model_bar.target, program.window.model_bar.draft
    qtbot.waitUntil(lambda: all(name.shown_text == name.text() for name in names))
    program.settings.set("font_px", 20)
    qtbot.waitUntil(lambda: font_px() == 20)
    qtbot.waitUntil(lambda: all(name.shown_text == name.text() for name in names))


def test_sliders_are_as_long_again_when_the_text_is_as_small_again(
    program: Program, qtbot: QtBot
) -> None:
    field = program.window.panel.draft_settings.findChild(SliderField)
    assert isinstance(field, SliderField)
    before, size = field.slider.width(), font_px()
    for px_ in (size + 4, size):
        program.settings.set("font_px", px_)
        qtbot.waitUntil(lambda wanted=px_: font_px() == wanted)  # type: ignore[misc]
        qtbot.wait(50)
    qtbot.waitUntil(lambda: field.slider.width() == before)


def test_tags_have_room_for_their_words_in_another_size(program: Program, qtbot: QtBot) -> None:
    tags = program.window.sidebar.findChild(TagBar)
    assert isinstance(tags, TagBar)
    tags.show_tags(["one", "two"], [])
    before, size = tags.buttons[0].width(), font_px()
    program.settings.set("font_px", size + 5)
    qtbot.waitUntil(lambda: font_px() == size + 5)
    first, second = tags.buttons
    qtbot.waitUntil(lambda: first.width() >= first.sizeHint().width() > before)
    assert second.x() > first.geometry().right()
    tags.show_tags([], [])


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


@pytest.mark.qt_log_ignore("This plugin does not support")  # a dialog's sizes
def test_no_lower_neighbour_cuts_off_large_words(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program(Settings(font_px=22))
    client.finish_load()
    program.window.panel.sampling.use(ReplySettings(max_tokens=50))
    steps = StepBar()
    qtbot.addWidget(steps)
    steps.target.show_name("A model", is_picked=True)
    steps.show()
    for widget in (program.sampling.badge.open_button, steps.target.name):
        qtbot.waitUntil(lambda it=widget: it.height() >= it.sizeHint().height())  # type: ignore[misc]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_help_stays_within_the_screen_at_the_largest_text(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program(Settings(font_px=22))
    client.finish_load()
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


def cut(pane: QWidget) -> list[str]:
    """Name the buttons that are not whole."""
    return [
        button.accessibleName() or button.text()
        for button in pane.findChildren(QAbstractButton)
        if button.isVisible()
        and not pane.rect().contains(button.rect().translated(button.mapTo(pane, QPoint())))
    ]


def test_the_actions_of_a_reply_are_whole_beside_the_panel_in_the_smallest_window(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Hi")
    program.window.resize(640, 700)
    program.window.actions_.panel.trigger()
    qtbot.waitUntil(lambda: not cut(program.window.chat_pane))
    assert program.window.panel.isVisible()
    program.window.resize(1600, 700)
    qtbot.waitUntil(lambda: not cut(program.window.chat_pane))


def test_nothing_is_cut_in_the_smallest_window_with_the_largest_text(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program(Settings(font_px=20, was_welcomed=True))
    client.finish_load()
    program.chat.send("Hello?")
    client.reply("Hi")
    window, pane = program.window, program.window.chat_pane
    window.resize(640, 700)
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
