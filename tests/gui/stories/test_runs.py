"""Runs that a person looks into: one that failed, and one whose check is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gui.stories.person import Person
from gui.test_run_dialog import is_filled
from paceline.gui.look.colours import DARK, LIGHT
from paceline.messages import StartTurn, TurnFailed

if TYPE_CHECKING:
    from gui.fake_client import FakeClient
    from paceline.gui.run.dialog import RunDialog


def opened(person: Person) -> RunDialog:
    """Open the run of the last reply, and wait until everything is shown."""
    person.program.window.actions_.run.trigger()
    dialog = person.program.runs.dialog
    assert dialog is not None
    person.wait(lambda: is_filled(dialog))
    return dialog


def test_a_reply_that_failed_reports_its_known_figures(person: Person, client: FakeClient) -> None:
    person.write("Hello?")
    client.start_turn()
    client.step("He", 0)
    client.step("llo", 1)
    client.emit(TurnFailed("decode-failed", "It broke.", "Try again."))
    dialog = opened(person)
    page = dialog.reply_page
    assert person.sees("It broke. Try again.", page)
    assert page.figures.values[5].text() == "4"
    assert page.metrics.whole.tokens_accepted == 2
    assert not page.figures.plain.isVisible()
    dialog.close()


def test_an_open_run_follows_the_theme_and_its_check_gives_way_to_the_next_message(
    person: Person, client: FakeClient
) -> None:
    person.write("Hello?")
    client.reply("Hello")
    dialog = opened(person)
    for theme in (DARK, LIGHT):
        person.program.window.actions_.flip_theme.trigger()
        assert dialog.reply_page.plot.by_model.opts["brush"] == theme.accent
    dialog.verify.click()
    check = client.last(StartTurn)
    person.write("And now?")
    assert check in client.cancelled
    assert not dialog.verify.isEnabled()
    dialog.close()
