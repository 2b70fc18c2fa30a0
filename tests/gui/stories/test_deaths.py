"""Deaths of a scripted engine: the person sees what is kept and how to continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

from gui.stories.person import Person
from paceline.engine.model.model_file import OVERWRITTEN
from paceline.gui.kit.labels import without_soft_breaks
from paceline.hosting.exit_reasons import NOT_STARTED
from paceline.messages import EngineDied, LoadFailed, LoadProgressed, TurnFailed, Unloaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from gui.fake_client import FakeClient
    from paceline.gui.chat.messages.reply_view import ReplyView
    from paceline.gui.program import Program

DEATH = EngineDied("The engine was killed.", "It starts again with the next message.")


def state_of_models(program: Program) -> str:
    return program.window.model_bar.pill.text()


def words(view: ReplyView) -> str:
    """Everything that is written in and around a reply."""
    return " ".join(without_soft_breaks(label.text()) for label in view.findChildren(QLabel))


def test_an_engine_that_dies_in_a_reply_leaves_its_text_and_is_started_by_a_click(
    person: Person, client: FakeClient
) -> None:
    person.write("Hello?")
    client.start_turn()
    client.step("Half a", 0)
    client.emit(DEATH)
    assert person.replies == ["Half a"]
    assert "What was written before is kept." in words(person.views[-1])
    assert "The engine was killed." in person.notice
    assert state_of_models(person.program) == "engine ended"
    person.click("Start it again")
    client.finish_load()
    assert (state_of_models(person.program), person.notice) == ("ready", "")
    person.write("And now?")
    client.reply("It works.")
    assert person.replies == ["Half a", "It works."]


def test_an_engine_that_starts_again_by_itself_asks_for_no_click(
    person: Person, client: FakeClient
) -> None:
    person.write("Hello?")
    client.emit(DEATH)
    assert state_of_models(person.program).startswith("restarting")
    assert "The engine was killed." in person.notice
    assert "next message" not in person.notice
    assert not person.sees("Start it again")
    client.emit(LoadProgressed("target", 0.1))
    assert "The engine was killed." in person.notice
    client.finish_load()
    assert person.notice == ""
    assert person.program.window.actions_.stop.isEnabled(), "the message is answered now"
    client.reply("There.")
    assert person.replies == ["There."]


def test_what_offers_to_start_it_goes_when_it_is_started_otherwise(
    person: Person, client: FakeClient
) -> None:
    name = person.program.pair.target_name
    client.emit(DEATH)
    assert person.program.pair.target_name == name != ""
    assert person.sees("Start it again")
    person.write("Hello?")
    assert person.notice == ""
    client.finish_load()
    client.start_turn()
    person.program.window.actions_.demo_pair.trigger()  # waits for the reply
    client.emit(DEATH)
    assert person.notice != ""
    client.emit(LoadProgressed("target", 0.1))
    assert person.notice == "", "the models load that were waiting"


def test_a_refused_start_says_when_to_try_again_in_the_notice_alone(
    person: Person, client: FakeClient
) -> None:
    client.emit(DEATH)
    person.write("Hello?")
    client.emit(LoadFailed(NOT_STARTED, "Not started yet.", "Wait 50 seconds."))
    assert "Wait 50 seconds." in person.notice
    assert "Not started yet." in words(person.views[-1])
    assert "50 seconds" not in words(person.views[-1]), "they would stand there for ever"


def test_models_whose_file_was_written_to_load_again_by_themselves(
    person: Person, client: FakeClient
) -> None:
    person.write("Hello?")
    client.emit(Unloaded())
    client.emit(TurnFailed(OVERWRITTEN, "It was written to.", "Send it again."))
    assert state_of_models(person.program).startswith("loading")
    assert person.notice == ""
    assert "written to" not in words(person.views[-1])
    client.finish_load()
    assert person.program.window.actions_.stop.isEnabled()
    client.reply("There.")
    assert state_of_models(person.program) == "ready"
    assert person.replies == ["There."]


def test_text_that_is_shown_late_does_not_hide_that_the_reply_is_stopping(
    person: Person, client: FakeClient
) -> None:
    person.write("Hello?")
    client.start_turn()
    client.step("A", 0)
    person.wait(lambda: person.replies == ["A"])
    client.step("B", 1)
    person.program.session.stop()
    person.wait(lambda: person.replies == ["AB"])
    assert person.views[-1].status_text == "Stopping…"
    client.emit(DEATH)
    assert person.views[-1].status_text == ""


def test_the_first_load_is_waited_for_and_the_window_goes_before_the_engine_is_waited_for(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program()
    program.chat.send("Hello?")  # waits for the first load
    client.finish_load()
    assert program.window.actions_.stop.isEnabled()
    client.emit(DEATH)
    client.finish_load()
    assert program.window.actions_.stop.isEnabled(), "whatever came before"
    client.reply("There.")
    assert not program.window.actions_.stop.isEnabled()
    was_visible: list[bool] = []
    close = client.close

    def wait_long() -> bool:
        was_visible.append(program.window.isVisible())
        return close()

    client.close = wait_long  # type: ignore[method-assign]
    program.window.close()
    assert was_visible == [False]
