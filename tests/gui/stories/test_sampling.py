"""Settings of replies: a preset is used, changed, kept under a name, deleted and wished back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gui.stories.person import Person
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from gui.fake_client import FakeClient


def choose(person: Person, words: str) -> None:
    """Choose an entry in the menu of presets by its first words."""
    menu = person.program.sampling.card_button.menu_
    menu.fill()
    (found,) = (action for action in menu.actions() if action.text().startswith(words))
    found.trigger()


def undo(person: Person) -> None:
    """Click the button of the notice."""
    errors = person.program.window.chat_pane.errors
    person.click(errors.action.text(), errors)
    person.wait(errors.isHidden)


def test_own_values_come_back_when_a_preset_took_their_place(
    person: Person, client: FakeClient
) -> None:
    card = person.program.window.panel.sampling
    choose(person, "Creative")
    assert person.notice == "", "nothing was lost"
    card.sliders["temperature"].field.setValue(1.7)
    card.stops.add("###")
    choose(person, "Precise")
    person.write("Hello?")
    assert client.last(StartTurn).sampling.temperature == 0.2
    client.reply("Hi")
    undo(person)
    person.write("Again?")
    turn = client.last(StartTurn)
    assert (turn.sampling.temperature, turn.stop) == (1.7, ("###",))
    client.reply("Hi")
    assert person.program.sampling.presets.chosen == ":creative"


def test_a_preset_is_saved_updated_renamed_deleted_and_wished_back(person: Person) -> None:
    program, sampling = person.program, person.program.window.panel.sampling
    presets = program.sampling.presets

    def name_it(text: str) -> None:
        dialog = program.sampling.dialog
        assert dialog is not None
        QTest.keyClicks(dialog.field, text)
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)

    sampling.sliders["temperature"].field.setValue(1.7)
    choose(person, "Save as")
    name_it("precise")
    assert program.sampling.dialog is not None, "there is one of this name"
    assert presets.own == ()
    name_it(" but wild")
    assert program.sampling.dialog is None
    assert presets.title == "precise but wild"
    sampling.sliders["temperature"].field.setValue(1.8)
    choose(person, "Update")
    assert presets.own[0].settings.sampling.temperature == 1.8
    choose(person, "Rename")
    name_it("wild")
    assert [preset.name for preset in presets.own] == ["wild"]
    choose(person, "Delete")
    assert presets.own == ()
    sampling.sliders["temperature"].field.setValue(0.9)
    undo(person)
    assert [preset.name for preset in presets.own] == ["wild"]
    assert presets.chosen == "wild"
    assert sampling.sliders["temperature"].value == 0.9, "only the list was changed"
