"""Speculation while a reply is written: the strategy is changed, judged, advised and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gui.fake_client import STATS, undrafted
from gui.stories.person import Person
from paceline.messages import DrafterStats, StartTurn, Tune

if TYPE_CHECKING:
    from gui.fake_client import FakeClient

DRAFTER = DrafterStats("draft", 1, 90, 40, 0.0021, 0.41, 1.25, 40, 31, 120, 30, (20, 8, 2))
POOR = structs.replace(
    STATS, n_drafted=120, n_accepted=30, n_discarded=0, acceptance_rate=0.25, n_steps=90,
    by_drafter=(DRAFTER,),
)  # fmt: skip
"""Three of four guesses were wrong."""


def test_the_strategy_is_changed_while_a_reply_is_written(
    person: Person, client: FakeClient
) -> None:
    person.write("Hello?")
    assert client.last(StartTurn).strategy == person.program.speculation.strategy
    client.start_turn()
    client.step("Hel", 0)
    person.program.speculation.choose("suffix")
    person.wait(lambda: bool(client.all(Tune)))
    assert client.last(Tune).strategy == person.program.speculation.strategy
    client.step("lo", 1, drafter="suffix")
    client.finish_turn("Hello")
    assert person.replies == ["Hello"]
    person.write("Again?")
    assert client.last(StartTurn).strategy == client.last(Tune).strategy, "the next one has it"
    client.reply("Yes")


def test_the_gain_of_a_reply_is_shown_with_it(person: Person, client: FakeClient) -> None:
    panel = person.program.window.panel
    person.write("Hello?")
    client.reply("Hi there")
    person.wait(lambda: person.sees("41.2", panel))
    assert person.sees("1.9×", panel.headline)
    person.program.shown.new()
    assert not person.sees("41.2", panel), "it is that of the shown chat"


def test_what_costs_more_than_it_gives_is_advised_against_and_applied_by_a_click(
    person: Person, client: FakeClient
) -> None:
    panel = person.program.window.panel
    person.write("Hello?")
    client.reply("Hi", stats=undrafted())
    assert panel.advice.isHidden()
    person.write("Hello?")
    client.reply("Hi", stats=POOR)
    person.wait(panel.advice.isVisible)
    before = person.program.speculation.strategy
    person.click("Apply", panel.advice)
    assert person.program.speculation.strategy != before
    person.write("Hello?")
    assert client.last(StartTurn).strategy == person.program.speculation.strategy
    client.reply("Hi")
