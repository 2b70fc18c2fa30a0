"""Groups of strategies, their lists, chains, and what a chain's settings become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QLabel

from gui.chat_help import settle
from gui.loading_world import LoadingWorld, loading_world
from paceline.chat.pair import Pair
from paceline.engine.draft import registry
from paceline.engine.draft.base import DrafterInfo, Parameter
from paceline.engine.draft.lookups.prompt_lookup import PromptLookup
from paceline.engine.draft.strategy import strategy_named, strategy_text
from paceline.gui.speculation.strategy_picker import StrategyPicker
from paceline.gui.state.speculation import GROUPS, USUAL_CHAINS, SpeculationModel, choice_of
from paceline.messages import LoadPair, ModelParams, StartTurn, Tune
from paceline.params import TargetHead
from strategies import strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.speculation.draft_settings import DraftSettings
    from paceline.gui.speculation.strategy_picker import StrategyMenu

CHAIN = "ngram-simple+prompt-lookup+draft"
TRIE = DrafterInfo(
    "plugin.trie", "Phrase trie", "Knows phrases.", "lookup",
    (Parameter("depth", "int", 2, 1, 9, "Depth", "How deep."),), PromptLookup,
)  # fmt: skip


def lookup(name: str) -> DrafterInfo:
    return DrafterInfo(name, name.title(), f"What {name} does.", "lookup", (), PromptLookup)


@pytest.fixture
def model(qapp: object) -> SpeculationModel:
    return SpeculationModel((*registry.available(), TRIE))


@pytest.fixture
def picker(model: SpeculationModel, qtbot: QtBot) -> Iterator[StrategyPicker]:
    picker = StrategyPicker(model)
    qtbot.addWidget(picker)
    picker.show()
    yield picker
    picker.menu.hide()
    picker.close()


def choose(menu: StrategyMenu, key: str) -> None:
    """Press Enter on a strategy of the open list; without one on the way to all."""
    menu.list.setCurrentRow(menu.listed().index(key))
    menu.list.itemActivated.emit(menu.list.currentItem())


def open_all(picker: StrategyPicker) -> None:
    picker.chooser.click()
    choose(picker.menu, "")
    assert picker.menu.isVisible()


def words(menu: StrategyMenu, key: str) -> str:
    item = menu.list.item(menu.listed().index(key))
    return str(item.data(Qt.ItemDataRole.AccessibleTextRole))


# ------------------------------------------------------------------------------------------ groups


def test_every_drafter_is_in_exactly_one_list(model: SpeculationModel) -> None:
    single = [c.name for g in ("auto", "draft", "lookup", "off") for c in model.choices(g)]
    assert "mtp" not in single
    model.set_drafter("mtp")
    single = [c.name for g in ("auto", "draft", "lookup", "off") for c in model.choices(g)]
    assert sorted(single) == sorted(info.id for info in model.infos)
    assert [c.name for c in model.choices("off")] == ["off"]
    assert all(c.summary and c.title for g in ("lookup", "mixed") for c in model.choices(g))


def test_chains_are_offered_as_far_as_their_members_are_there(qapp: object) -> None:
    some = [registry.find("off"), registry.find("draft"), lookup("ngram-mod")]
    names = [c.name for c in SpeculationModel(some).choices("mixed")]
    assert names == ["ngram-mod+draft"]
    everything = [*some, *map(lookup, ("suffix", "prompt-lookup", "ngram-cache"))]
    model = SpeculationModel(everything)
    heads = [name for name in USUAL_CHAINS if "mtp" in name]
    assert [c.name for c in model.choices("mixed")] == [n for n in USUAL_CHAINS if n not in heads]
    model = SpeculationModel([*everything, registry.find("mtp")])
    model.set_drafter("mtp")
    chains = [c.name for c in model.choices("mixed")]
    assert chains == ["suffix+ngram-mod", *heads]
    assert "No draft model" in model.obstacle("draft")
    model.set_drafter("")
    assert "No MTP head" in model.obstacle("suffix+mtp")
    assert (model.usual("mixed"), model.usual("lookup")) == ("suffix+draft", "suffix")


def test_the_first_list_has_four_entries_and_the_second_all(
    picker: StrategyPicker, model: SpeculationModel, qtbot: QtBot
) -> None:
    picker.chooser.click()
    menu = picker.menu
    assert menu.listed() == ["auto", "draft", "suffix", "off", ""]
    assert not menu.search.isVisible()
    assert not menu.own.isVisible()
    for key in ("auto", "draft", "suffix", "off"):
        assert words(menu, key).endswith(".")
    choose(menu, "suffix")
    assert model.current.name == "suffix"
    assert (picker.chooser.title.text(), picker.chooser.kind.text()) == ("Lookups", "")
    open_all(picker)
    assert menu.listed() == [choice.name for group in GROUPS for choice in model.choices(group)]
    qtbot.keyClicks(menu.search, "phrase trie")
    assert menu.listed() == ["plugin.trie"]
    qtbot.keyClick(menu.search, Qt.Key.Key_Return)
    assert model.members == (TRIE,)
    assert (picker.chooser.title.text(), picker.chooser.kind.text()) == ("Lookups", TRIE.title)
    assert not menu.isVisible()


def test_an_entry_remembers_what_was_used_of_it(
    picker: StrategyPicker, model: SpeculationModel
) -> None:
    model.choose("ngram-simple")
    model.choose(CHAIN)
    picker.chooser.click()
    assert picker.menu.listed() == ["auto", "draft", "ngram-simple", "off", ""]
    choose(picker.menu, "ngram-simple")
    assert model.current.name == "ngram-simple"


def test_the_list_is_used_by_keys_alone(
    picker: StrategyPicker, model: SpeculationModel, qtbot: QtBot
) -> None:
    model.choose("prompt-lookup")
    qtbot.keyClick(picker.chooser, Qt.Key.Key_Down)
    assert picker.menu.isVisible()
    qtbot.keyClick(picker.menu, Qt.Key.Key_Escape)
    assert not picker.menu.isVisible()
    open_all(picker)
    qtbot.keyClicks(picker.menu.search, "n-gram")
    found = picker.menu.listed()
    assert len(found) > 2
    qtbot.keyClick(picker.menu.search, Qt.Key.Key_Down)
    qtbot.keyClick(picker.menu.search, Qt.Key.Key_Escape)
    assert not picker.menu.isVisible()
    assert model.current.name == "prompt-lookup"
    open_all(picker)
    qtbot.keyClicks(picker.menu.search, "n-gram")
    qtbot.keyClick(picker.menu.search, Qt.Key.Key_Down)
    qtbot.keyClick(picker.menu.search, Qt.Key.Key_Return)
    assert model.current.name == found[1]


def test_the_list_gives_title_id_and_use_to_screen_readers(
    picker: StrategyPicker, model: SpeculationModel
) -> None:
    model.choose("prompt-lookup")
    open_all(picker)
    info = registry.find("prompt-lookup")
    assert words(picker.menu, info.id) == f"{info.title} (prompt-lookup). {info.summary}"
    assert picker.menu.list.currentRow() == picker.menu.listed().index(info.id)
    assert picker.chooser.accessibleName() == f"Drafts: Lookups {info.title}"


# -------------------------------------------------------------------------- without a draft model


def test_what_needs_a_draft_model_says_so_and_asks_for_one(
    picker: StrategyPicker, model: SpeculationModel
) -> None:
    wanted = QSignalSpy(picker.draft_wanted)
    model.choose(CHAIN)
    model.set_drafter("")
    picker.chooser.click()
    assert "No draft model is loaded" in words(picker.menu, "draft")
    assert "No draft model" not in words(picker.menu, "suffix")
    choose(picker.menu, "draft")
    assert model.current.name == CHAIN
    assert (wanted.count(), wanted.at(0)) == (1, ["draft"])
    open_all(picker)
    assert "No draft model is loaded" in words(picker.menu, "prompt-lookup+draft")
    choose(picker.menu, "prompt-lookup+draft")
    assert wanted.at(1) == ["prompt-lookup+draft"]
    model.set_drafter("draft")
    picker.chooser.click()
    assert "No draft model" not in words(picker.menu, "draft")
    choose(picker.menu, "draft")
    assert (model.current.name, wanted.count()) == ("draft", 2)


def test_a_draft_model_that_is_wanted_is_asked_for_and_then_used(
    program: Program, client: FakeClient
) -> None:
    """Open the file chooser, since there is no list of models; another pair drops the request."""
    actions = program.window.actions_
    opened = QSignalSpy(actions.open_draft.triggered)
    picker = program.window.panel.picker
    for is_chosen in (True, False):
        actions.no_draft.trigger()
        client.finish_load()
        program.speculation.choose("auto")
        n_opened = opened.count()
        picker.chooser.click()
        choose(picker.menu, "draft")
        assert opened.count() == n_opened + 1
        assert program.speculation.current.name == "auto"
        if not is_chosen:
            program.models.reload()
            client.finish_load()
        actions.demo_pair.trigger()
        client.finish_load()
        assert (program.speculation.current.name == "draft") is is_chosen


def test_an_entry_means_what_can_be_used(qtbot: QtBot) -> None:
    names = ("off", "draft", "prompt-lookup", "ngram-simple")
    model = SpeculationModel([registry.find(name) for name in names])
    picker = StrategyPicker(model)
    qtbot.addWidget(picker)
    model.set_drafter("")
    picker.chooser.click()
    assert picker.menu.listed() == ["draft", "prompt-lookup", "off", ""]
    picker.menu.hide()


@pytest.fixture
def own_window(make_program: Callable[..., Program], client: FakeClient) -> Program:
    """A window of its own: its lists keep the chains that were used."""
    program = make_program()
    client.finish_load()
    return program


@pytest.fixture
def world(qtbot: QtBot, tmp_path: Path, client: FakeClient) -> Iterator[LoadingWorld]:
    del qtbot
    yield from loading_world(tmp_path, client)


def test_a_head_takes_the_draft_models_part_and_gives_it_back(
    world: LoadingWorld, client: FakeClient
) -> None:
    world.speculation.choose(CHAIN)
    target, head = ModelParams("/models/target.gguf"), TargetHead(file="/models/mtp-target.gguf")
    world.models.load_models(Pair(target, head))
    client.finish_load()
    assert client.last(LoadPair).drafting == head
    assert world.saved_pairs.pair(0).drafting == head
    found = [world.speculation.current.name]
    for action in (world.actions.no_draft, world.actions.demo_pair):
        action.trigger()
        client.finish_load()
        found.append(world.speculation.current.name)
    without = "ngram-simple+prompt-lookup"
    assert found == [f"{without}+mtp", without, CHAIN]


# ---------------------------------------------------------------------------------------- chains


def test_a_chain_is_put_together_in_the_order_of_the_ticks(
    picker: StrategyPicker, model: SpeculationModel
) -> None:
    model.choose("prompt-lookup+draft")
    open_all(picker)
    picker.menu.own.click()
    dialog = picker.chain.dialog
    assert dialog is not None
    assert [name for name, box in dialog.boxes.items() if box.isChecked()] == [
        "prompt-lookup", "draft",
    ]  # fmt: skip
    assert {"auto", "off"}.isdisjoint(dialog.boxes)
    for name in ("prompt-lookup", "draft"):
        dialog.boxes[name].setChecked(False)
    assert not dialog.accept_button.isEnabled()
    for name in ("draft", "plugin.trie", "ngram-simple"):
        dialog.boxes[name].setChecked(True)
    assert dialog.preview.text() == "Phrase trie → N-gram, simple → Draft model"
    dialog.accept_button.click()
    assert model.current.name == "plugin.trie+ngram-simple+draft"
    assert picker.chain.dialog is None
    open_all(picker)
    assert "plugin.trie+ngram-simple+draft" in picker.menu.listed()


def test_a_chain_from_elsewhere_shows_and_comes_back(model: SpeculationModel) -> None:
    model.use(strategy_named("draft+ngram-simple:draft.n_max=4:ngram-simple.n=6"))
    assert model.current.name == "ngram-simple+draft"
    assert model.text == "ngram-simple+draft:ngram-simple.n=6:draft.n_max=4"
    assert "ngram-simple+draft" in [c.name for c in model.choices("mixed")]
    model.choose("prompt-lookup")
    again = SpeculationModel(registry.available(), model.saved())
    assert again.text == "prompt-lookup"
    assert "ngram-simple+draft" in [c.name for c in again.choices("mixed")]
    again.choose("ngram-simple+draft")
    assert again.text == "ngram-simple+draft:ngram-simple.n=6:draft.n_max=4"


@pytest.mark.parametrize(
    "text",
    ["draft:n_max=auto", "suffix+draft:draft.n_max=auto", "prompt-lookup:n_pred=auto",
     "suffix:max=auto:p_min=0.9", "auto:n_max=8"],
)  # fmt: skip
def test_automatic_lengths_are_kept(qapp: object, text: str) -> None:
    model = SpeculationModel(registry.available(), [strategy_named(text)])
    assert model.text == text
    assert model.is_controlled
    assert strategy_text(model.saved()[0]) == text


def test_the_chosen_texts_settings_count_before_the_others(qapp: object) -> None:
    saved = ("prompt-lookup+draft:draft.n_max=4", "draft:n_max=9", "prompt-lookup:n_pred=3")
    model = SpeculationModel(registry.available(), [strategy_named(text) for text in saved])
    assert model.value("draft", "n_max") == 4
    assert model.text == "prompt-lookup+draft:draft.n_max=4"
    model.choose("draft")
    assert model.text == "draft:n_max=4"


def _titles_in(settings: DraftSettings, titles: list[str]) -> list[str]:
    """Return those of these titles that are shown above settings, from the top."""
    shown = [label.text() for label in settings.findChildren(QLabel) if label.isVisibleTo(settings)]
    return [title for title in shown if title in titles]


def test_every_drafter_of_a_chain_has_its_section_and_a_long_title_is_not_cut(
    own_window: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program = own_window
    picker = program.window.panel.picker
    settle(qtbot)
    low, title = picker.chooser.height(), picker.chooser.title
    program.speculation.choose("ngram-map-k+ngram-simple+prompt-lookup+draft")
    qtbot.waitUntil(lambda: title.height() >= title.heightForWidth(title.width()))
    assert picker.chooser.height() > low
    program.speculation.choose(CHAIN)
    program.window.panel.open_only(("details",))
    settings = program.window.panel.draft_settings
    chain = [registry.find(name).title for name in CHAIN.split("+")]
    qtbot.waitUntil(lambda: _titles_in(settings, chain) == chain)
    program.chat.send("Hello?")
    assert client.last(StartTurn).strategy == strategy(CHAIN)
    client.start_turn()
    settings.fields["prompt-lookup.n_pred"].field.setValue(5)
    settings.fields["draft.n_max"].field.setValue(6)
    wanted = Tune(strategy(f"{CHAIN}:prompt-lookup.n_pred=5:draft.n_max=6"))
    qtbot.waitUntil(lambda: client.all(Tune) == [wanted])
    program.speculation.choose("draft")
    qtbot.waitUntil(lambda: _titles_in(settings, chain) == [])
    assert program.window.panel.draft_settings.fields["n_max"].value == 6


def test_choosing_the_same_again_is_a_choice_and_no_change(model: SpeculationModel) -> None:
    model.choose("prompt-lookup+draft")
    chosen, changed = QSignalSpy(model.drafter_changed), QSignalSpy(model.strategy_changed)
    model.choose("draft+prompt-lookup")
    model.choose("no-such-drafter+draft")
    assert (chosen.count(), changed.count()) == (1, 0)
    assert model.current == choice_of([registry.find("prompt-lookup"), registry.find("draft")])
