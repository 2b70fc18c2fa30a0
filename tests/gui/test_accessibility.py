"""Whatever can be operated has a name and is reached by Tab: in the window and in its dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QTextEdit,
    QWidget,
)

from paceline.gui.kit.notices import Action
from paceline.gui.look.colours import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


OPERATED = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QTextEdit,
)
PARTS_OF_ANOTHER = (QAbstractSpinBox, QComboBox, QLineEdit, QTabBar)


def operated(top: QWidget) -> Iterator[QWidget]:
    """Everything below a widget that somebody operates; not the parts that Qt makes of them."""
    for widget in top.findChildren(QWidget):
        if not isinstance(widget, OPERATED) or isinstance(widget, QHeaderView):
            continue
        if widget.objectName().startswith("qt_"):
            continue
        above = widget.parentWidget()
        while above is not None and not isinstance(above, PARTS_OF_ANOTHER):
            above = above.parentWidget()
        if above is None:
            yield widget


def described(widget: QWidget) -> str:
    chain = []
    at: QWidget | None = widget
    while at is not None:
        name = type(at).__name__
        chain.append(f"{name}({at.objectName()})" if at.objectName() else name)
        at = at.parentWidget()
    return " < ".join(chain[:5])


def nameless(top: QWidget) -> list[str]:
    found = []
    for widget in operated(top):
        if widget.isHidden() and isinstance(widget, QAbstractButton):
            continue  # it gets its words when it is shown
        interface = QAccessible.queryAccessibleInterface(widget)
        if not interface.text(QAccessible.Text.Name).strip():
            found.append(described(widget))
    return found


def out_of_reach(top: QWidget) -> list[str]:
    # The rows of the palette are gone through from its field, where the keyboard stays.
    return [
        described(widget)
        for widget in operated(top)
        if not widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.objectName() != "palette_rows"
    ]


def opened(program: Program) -> Iterator[tuple[str, QWidget]]:
    """The window, then its dialogs one by one."""
    actions = program.window.actions_
    yield "window", program.window
    for name, action, owner in (
        ("settings", actions.settings, program.settings_controller),
        ("guide", actions.guide, program.help.guide),
        ("shortcuts", actions.shortcuts, program.help.shortcuts),
        ("about", actions.about, program.help.about),
        ("benchmark", actions.benchmark, program.bench),
    ):
        action.trigger()
        assert owner.dialog is not None
        yield name, owner.dialog
        owner.dialog.reject()


@pytest.fixture
def whole(program: Program, client: FakeClient) -> Program:
    """A window with two chats, one of which is shown."""
    program.chat.send("First?")
    client.reply("One **two**\n\n```python\nx = 1\n```\n")
    program.window.actions_.new_chat.trigger()
    program.chat.send("Second?")
    client.reply("Three")
    program.notices.error("It failed.", "Try again.", action=Action("Again", str))
    return program


def test_everything_that_is_operated_has_a_name_and_is_reached(whole: Program) -> None:
    missing, unreached = {}, {}
    for name, top in opened(whole):
        if found := nameless(top):
            missing[name] = found
        if found := out_of_reach(top):
            unreached[name] = found
    assert missing == {}
    assert unreached == {}


def test_tab_goes_through_the_settings_and_back_to_where_it_began(program: Program) -> None:
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    dialog.list.setCurrentRow(1)
    dialog.list.setFocus()
    seen: list[QWidget] = []
    for _ in range(60):
        focused = dialog.focusWidget()
        assert focused is not None
        if focused in seen:
            break
        seen.append(focused)
        assert dialog.focusNextPrevChild(True)
    shown = [w for w in operated(dialog) if w.isVisible() and w.isEnabled()]
    radio = set(dialog.looks.themes.pictures.values())  # the arrows go through these three
    missed = [described(w) for w in shown if w not in seen and w not in radio]
    assert missed == []
    assert radio & set(seen)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_what_has_the_keyboard_shows_a_ring(program: Program, theme: object, qtbot: QtBot) -> None:
    program.settings.set("theme", "dark" if theme is DARK else "light")
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    dialog.list.setCurrentRow(1)
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    elsewhere = dialog.search
    for widget in (
        *dialog.looks.themes.pictures.values(),
        dialog.looks.size_field.slider,
        dialog.reset,
        dialog.list,
    ):
        elsewhere.setFocus()
        before = widget.grab().toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        assert widget.hasFocus(), described(widget)
        assert widget.grab().toImage() != before, described(widget)
