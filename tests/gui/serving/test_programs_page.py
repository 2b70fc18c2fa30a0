"""The page of settings about other programs: what it shows, copies, resets and is found by."""

from __future__ import annotations

import ast
import json
import shlex
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox

from paceline.gui.serving.page import ProgramsPage
from paceline.gui.serving.recipes import EndpointAccess, recipes
from paceline.settings import SERVER_PORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.serving.conftest import Asker
    from paceline.gui.program import Program

    Serve = Callable[[Program], None]


def opened(program: Program) -> ProgramsPage:
    """The page, as the light opens it while the switch is off."""
    if program.serving.status == "off":
        program.light.click()
    else:
        program.settings_controller.open_page(ProgramsPage)
    dialog = program.settings_controller.dialog
    assert dialog is not None
    page = dialog.pages[dialog.list.currentRow()]
    assert isinstance(page, ProgramsPage)
    return page


def box(page: ProgramsPage, words: str) -> QCheckBox:
    (found,) = (b for b in page.findChildren(QCheckBox) if words in b.text())
    return found


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def test_the_switch_shows_where_programs_can_ask(program: Program, port: int, qtbot: QtBot) -> None:
    program.settings.set("serving_port", port)
    page = opened(program)
    assert (page.state.pill.text(), page.state.words.text()) == ("off", "")
    assert page.state.copy.isHidden()
    assert not page.key.copy.isEnabled(), "a key is made when it is needed"
    switch = box(page, "Serve other programs")
    switch.click()
    qtbot.waitUntil(lambda: page.state.words.text() == f"http://127.0.0.1:{port}")
    assert page.state.pill.text() == "on"
    assert program.window.actions_.serve.isChecked()
    page.state.copy.click()
    assert clipboard() == f"http://127.0.0.1:{port}"
    program.window.actions_.serve.trigger()
    assert not switch.isChecked()
    qtbot.waitUntil(lambda: page.state.pill.text() == "off")


def test_the_key_is_hidden_until_it_is_asked_for(
    program: Program, serve: Serve, asker: Asker
) -> None:
    serve(program)
    page = opened(program)
    field, recipe = page.key.field, page.recipes.text
    assert field.echoMode() == field.EchoMode.Password
    assert field.text() == asker.key
    assert field.cursorPosition() == 0, "its beginning is shown"
    assert asker.key not in recipe.toPlainText()
    page.recipes.copy.click()
    assert asker.key in clipboard(), "what is copied works"
    page.key.show_button.click()
    assert field.echoMode() == field.EchoMode.Normal
    assert asker.key in recipe.toPlainText()
    page.key.renew.click()
    page.key.copy.click()
    assert clipboard() == program.settings.value("serving_key") != asker.key
    assert clipboard() in recipe.toPlainText()
    box(page, "Programs need a key").click()
    assert not page.key.copy.isEnabled()
    assert clipboard() not in recipe.toPlainText()


def test_the_page_is_reset_and_the_reset_undone(program: Program, port: int) -> None:
    page = opened(program)
    program.settings.update(serving_port=port, serving_needs_key=False, serving_key="kept")
    box(page, "Draft for them from your chats").click()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    dialog.reset.click()
    value = program.settings.value
    names = ("serving_port", "serving_needs_key", "serving_remembers", "serving_key")
    assert [value(name) for name in names] == [SERVER_PORT, True, False, "kept"]
    dialog.undo.click()
    assert [value(name) for name in names] == [port, False, True, "kept"]


def test_the_page_is_found_by_the_names_of_programs(program: Program, qtbot: QtBot) -> None:
    page = opened(program)
    dialog = program.settings_controller.dialog
    assert dialog is not None
    qtbot.keyClicks(dialog.search, "aider")
    qtbot.waitUntil(lambda: all(each.is_built for each in dialog.pages))
    assert dialog.list.currentItem().text() == "Other programs"
    assert page.recipes.isVisible()
    assert not page.key.isVisible()


@pytest.mark.parametrize("model", ["demo", 'it\'s "a" model: größe #1'])
@pytest.mark.parametrize("key", ["", "k-1_x"])
def test_ready_made_settings_hold_what_a_program_needs(model: str, key: str) -> None:
    access = EndpointAccess("http://127.0.0.1:8642", key, model, 8192)
    texts = {recipe.id: recipe.write(access) for recipe in recipes()}
    given = key or "none"

    calls = [node for node in ast.walk(ast.parse(texts["openai"])) if isinstance(node, ast.Call)]
    given_to = (each for call in calls for each in call.keywords)
    found = {e.arg: e.value.value for e in given_to if isinstance(e.value, ast.Constant)}
    assert found["base_url"] == f"{access.url}/v1"
    assert (found["api_key"], found["model"]) == (given, model)

    words = shlex.split(texts["curl"].replace("\\\n", ""))
    assert words[:2] == ["curl", f"{access.url}/v1/chat/completions"]
    assert json.loads(words[-1])["model"] == model
    assert (f"Authorization: Bearer {key}" in words) == bool(key)

    def exported(text: str) -> dict[str, str]:
        pairs = [line.split("=", 1) for line in text.splitlines() if line.startswith("export ")]
        return {name.removeprefix("export "): shlex.split(value)[0] for name, value in pairs}

    claude = exported(texts["claude"])
    assert claude["ANTHROPIC_BASE_URL"] == access.url
    assert (claude["ANTHROPIC_AUTH_TOKEN"], claude["ANTHROPIC_MODEL"]) == (given, model)
    aider = exported(texts["aider"])
    assert aider == {"OPENAI_API_BASE": f"{access.url}/v1", "OPENAI_API_KEY": given}
    assert shlex.split(texts["aider"].splitlines()[-1])[-1] == f"openai/{model}"

    zed = json.loads(texts["zed"])
    provider = zed["language_models"]["openai_compatible"]["Paceline"]
    assert provider["api_url"] == f"{access.url}/v1"
    assert provider["available_models"][0] == {
        "name": model, "display_name": model, "max_tokens": 8192
    }  # fmt: skip
    rows = dict(
        line.strip().removeprefix("- ").split(": ", 1)
        for line in texts["continue"].splitlines()
        if ": " in line
    )
    assert json.loads(rows["model"]) == model
    assert (rows["apiBase"], json.loads(rows["apiKey"])) == (f"{access.url}/v1", given)


def test_ready_made_settings_name_the_loaded_model(program: Program) -> None:
    page = opened(program)
    page.recipes.choice.buttons["zed"].click()
    assert '"paceline-demo-target-q8_0"' in page.recipes.text.toPlainText()
    assert "settings.json" in page.recipes.where.text()


def test_expressions_are_added_checked_and_removed(program: Program) -> None:
    field = opened(program).ignored
    assert not field.add.isEnabled()
    field.field.setText("(")
    field.add.click()
    assert "is no regular expression" in field.problem.text()
    assert program.settings.value("serving_ignored") == ()
    field.field.setText("^date: ")
    assert field.problem.isHidden(), "it is of what was there before"
    field.add.click()
    assert program.settings.value("serving_ignored") == ("^date: ",)
    assert (field.field.text(), [row.name.text() for row in field.rows]) == ("", ["^date: "])
    field.rows[0].remove.click()
    assert program.settings.value("serving_ignored") == ()
