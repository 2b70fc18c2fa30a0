"""The dialog that picks a pair: the real parts over made models and a Hub on loopback."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
)

from gui.conftest import deliver_deletes
from gui.picker_world import BIG, GIB, Q4_K, World, demo_repositories, make_library, write_model
from gui.test_accessibility import nameless
from hub_server import Fault, HubServer
from paceline import paths
from paceline.catalog.judge.pairing import Remedy
from paceline.chat.pair import Pair, PairState
from paceline.gui.kit.notices import Notice
from paceline.gui.look.current import look
from paceline.gui.models.candidates import Candidate
from paceline.gui.models.lists.offers import Offer
from paceline.gui.models.picker.dialog import PickerDialog
from paceline.gui.models.picker.pair_judgement import WAIT_MS
from paceline.params import ModelParams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("one_reader_for_all")
LIMIT_MS = 20_000


@pytest.fixture(scope="session")
def made_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    make_library(folder)
    return folder


@pytest.fixture
def make_world(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., World]]:
    made: list[World] = []

    def make(**options: object) -> World:
        world = World(tmp_path / "home", **options)  # type: ignore[arg-type]
        made.append(world)
        world.window.resize(1280, 800)
        world.window.show()
        return world

    yield make
    for world in made:
        world.close()
    made.clear()
    deliver_deletes()


@pytest.fixture
def world(make_world: Callable[..., World], made_models: Path) -> World:
    return make_world(own_folders=(made_models,))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HubServer]:
    demo_repositories(tmp_path / "hub")
    with HubServer(tmp_path / "hub") as made:
        yield made


def opened(qtbot: QtBot, world: World, step: int = 1) -> PickerDialog:
    world.picker.open(step)
    assert world.picker.dialog is not None
    qtbot.waitUntil(
        lambda: len(world.library.offers) > 1 and not world.library.is_busy, timeout=LIMIT_MS
    )
    return world.picker.dialog


def pick(dialog: PickerDialog, title: str, key: Qt.Key = Qt.Key.Key_Space) -> None:
    rows = dialog.installed.rows
    rows.show_row([title in offer.title for offer in rows.offers.rows].index(True))
    QTest.keyClick(rows, key)


def drop_on(dialog: PickerDialog, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    action, left, keys = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    enter = QDragEnterEvent(QPoint(9, 9), action, data, left, keys)
    QApplication.sendEvent(dialog, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(dialog, QDropEvent(QPointF(9, 9), action, data, left, keys))


def judged(qtbot: QtBot, world: World) -> None:
    judgement = world.picker.judgement
    qtbot.waitUntil(
        lambda: judgement.judgement.status == "failed" or judgement.judgement.plan is not None,
        timeout=LIMIT_MS,
    )


def test_a_pair_is_picked_by_keys_and_loaded(qtbot: QtBot, world: World, made_models: Path) -> None:
    loads: list[Pair] = []
    world.picker.load_requested.connect(loads.append)
    dialog = opened(qtbot, world)
    for page in (dialog.hub, dialog.installed):
        dialog.tabs.setCurrentIndex(dialog.tabs.indexOf(page))
        assert dialog.focusWidget() is page.search
    assert not dialog.main.isEnabled()
    assert dialog.steps.draft.isHidden()
    assert not dialog.steps.add.isEnabled(), "no model is picked"
    pick(dialog, "7B", Qt.Key.Key_Return)
    judged(qtbot, world)
    assert dialog.focusWidget() is dialog.main
    dialog.steps.add.click()
    assert world.picker.picks.step == 2
    assert dialog.steps.draft.isVisible()
    pick(dialog, "0.5B", Qt.Key.Key_Return)
    assert not dialog.main.isEnabled(), "it is being looked into"
    assert dialog.reason.text()
    judged(qtbot, world)
    assert dialog.focusWidget() is dialog.main
    QTest.keyClick(dialog.main, Qt.Key.Key_Return)
    assert world.picker.dialog is None
    (pair,) = loads
    target, draft = pair.target, pair.draft
    assert Path(target.path) == made_models / "Qwen2.5-7B-Instruct-Q4_K_M.gguf"
    assert draft is not None
    assert Path(draft.path) == made_models / "Qwen2.5-0.5B-Instruct-Q8_0.gguf"


def test_a_refused_pair_names_the_reason_and_the_remedy_is_one_click(
    qtbot: QtBot, world: World
) -> None:
    dialog = opened(qtbot, world)
    pick(dialog, "7B", Qt.Key.Key_Return)
    world.picker.open(2)
    pick(dialog, "Llama")
    judged(qtbot, world)
    assert not dialog.main.isEnabled()
    assert dialog.reason.text() == "", "it is said once, beside the list"
    assert dialog.main.toolTip().startswith("Token 259 ")
    dialog.pane.verdict.button.click()  # type: ignore[attr-defined]
    assert world.picker.picks.draft is not None
    assert "0.5B" in world.picker.picks.draft.title
    judged(qtbot, world)
    assert dialog.main.isEnabled()
    dialog.pane.remedy_taken.emit(Remedy("Use lookups.", strategy="suffix"))  # type: ignore[attr-defined]
    assert world.picker.picks.does_without
    judged(qtbot, world)
    assert dialog.focusWidget() is dialog.main, "not a slider, which an arrow key would change"


def test_a_plan_follows_the_free_memory_and_what_does_not_fit_can_be_tried(
    qtbot: QtBot, world: World
) -> None:
    dialog = opened(qtbot, world)
    pick(dialog, "7B")
    judged(qtbot, world)
    assert dialog.reason.text() == ""
    (bar,) = dialog.pane.memory.bars  # type: ignore[attr-defined]
    before, free = bar.figures.text(), world.n_free
    for step in (1, -2):
        world.n_free = free + step * GIB // 4
        world.devices.refresh()
        qtbot.wait(2 * WAIT_MS)
        assert bar.figures.text() == before, "figures stay while they are looked at"
    world.n_free = 2 * GIB
    world.devices.refresh()
    qtbot.waitUntil(lambda: bool(dialog.reason.text()), timeout=LIMIT_MS)
    assert dialog.main.isEnabled()
    assert dialog.problem.isHidden()
    world.notifications.warn("Only a warning.")
    assert dialog.problem.isHidden()
    world.notifications.error("“x” is loaded now.", "Load another model, then delete it.")
    assert dialog.problem.accessibleName().startswith("“x” is loaded now. Load another")
    assert dialog.problem.isVisible()


def test_a_dialog_begins_with_what_is_loaded_and_learns_of_it(
    qtbot: QtBot, make_world: Callable[..., World], made_models: Path
) -> None:
    world = make_world(own_folders=(made_models,), memory=8 * 2**30)
    target = next(file for file in made_models.iterdir() if "72" not in file.name)
    loaded = ModelParams(str(target), n_ctx=1024)
    world.pair.pair_changed(PairState(pair=Pair(loaded)))
    world.picker.open()
    dialog, picked = world.picker.dialog, world.picker.picks.target
    assert dialog is not None
    assert picked is not None
    assert not picked.n_bytes, "nothing was looked into yet"
    qtbot.waitUntil(lambda: bool(world.picker.picks.target.vocabulary), timeout=20_000)  # type: ignore[union-attr]
    assert world.picker.picks.target.n_bytes == target.stat().st_size  # type: ignore[union-attr]
    judged(qtbot, world)
    assert " GB" in dialog.pane.names.facts[0].text()  # type: ignore[attr-defined]
    assert dialog.pane.pair().target == loaded  # type: ignore[attr-defined]


def test_offline_is_said_once_and_ended_there(
    qtbot: QtBot, make_world: Callable[..., World], made_models: Path
) -> None:
    world = make_world(own_folders=(made_models,), offline=True)
    wished: list[bool] = []
    world.hub.online_wanted.connect(lambda: wished.append(True))
    dialog = opened(qtbot, world)
    assert dialog.offline.isVisible()

    def said() -> list[str]:
        labels = [each for each in dialog.findChildren(QLabel) if each.isVisible()]
        return [each.text() for each in labels if "ffline" in each.text()]

    assert len(said()) == 1
    dialog.show_page(dialog.recommended)
    pair = next(each for each in dialog.recommended.rows.offers.rows if each.role == "pair")
    dialog.recommended.picked.emit(pair)
    judged(qtbot, world)
    assert len(said()) == 1
    assert not dialog.main.isEnabled()
    assert dialog.main.toolTip()
    dialog.online.click()
    assert wished == [True]
    world.hub.set_offline(False)
    assert dialog.offline.isHidden()


def test_a_model_is_switched_by_typing(qtbot: QtBot, world: World, made_models: Path) -> None:
    wanted: list[str] = []
    world.picker.model_requested.connect(wanted.append)
    dialog = opened(qtbot, world)
    search = dialog.focusWidget()
    assert search is dialog.installed.search
    QTest.keyClicks(search, "72b")
    QTest.keyClick(search, Qt.Key.Key_Return)
    assert world.picker.dialog is None
    assert wanted == [str(made_models / "Qwen2.5-72B-Instruct-Q4_K_M.gguf")]


def test_enter_in_a_field_loads_nothing_and_esc_closes(qtbot: QtBot, world: World) -> None:
    loads: list[Pair] = []
    world.picker.load_requested.connect(loads.append)
    world.pair.pair_changed(PairState(pair=Pair(ModelParams(str(paths.demo_pair()[0])))))
    dialog = opened(qtbot, world)
    dialog.installed.search.setFocus()
    QTest.keyClick(dialog.installed.search, Qt.Key.Key_Return)
    assert world.picker.dialog is dialog
    assert not loads
    QTest.keyClicks(dialog.installed.search, "x")
    QTest.keyClick(dialog.installed.search, Qt.Key.Key_Escape)  # clears
    assert world.picker.dialog is dialog
    QTest.keyClick(dialog.installed.search, Qt.Key.Key_Escape)
    assert world.picker.dialog is None
    assert world.picker.judgement.judgement.status == "nothing"


def test_everything_that_is_operated_has_a_name(qtbot: QtBot, world: World) -> None:
    found = nameless(opened(qtbot, world))
    wordless = ("ErrorBar", "StatePanel")  # their buttons get words when they are shown
    assert [each for each in found if not any(part in each for part in wordless)] == []


def test_a_file_that_is_in_no_list_is_opened_or_dropped_for_the_step_that_is_shown(
    qtbot: QtBot, world: World, tmp_path: Path
) -> None:
    dialog = opened(qtbot, world)
    large, small, junk = (tmp_path / "other" / f"{name}.gguf" for name in ("7B", "1B", "junk"))
    for file in (large, small):
        write_model(file, file.stem, BIG, Q4_K)
    junk.write_bytes(b"junk")
    dialog.installed.open_button.click()
    (chooser,) = dialog.findChildren(QFileDialog)
    chooser.filesSelected.emit([str(large)])
    chooser.reject()
    qtbot.waitUntil(lambda: world.picker.picks.target is not None, timeout=LIMIT_MS)
    assert dialog.steps.target.name.text() == "7B"
    drop_on(dialog, large, small)
    assert dialog.problem.accessibleName(), "one at a time"
    world.picker.open(2)
    drop_on(dialog, small)
    qtbot.waitUntil(lambda: world.picker.picks.draft is not None, timeout=LIMIT_MS)
    drop_on(dialog, junk)
    qtbot.waitUntil(lambda: "junk" in dialog.problem.accessibleName(), timeout=LIMIT_MS)
    assert dialog.steps.draft.name.text() == "1B"
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "wolf.gguf").write_bytes(b"GGUF")
    drop_on(dialog, folder)
    assert world.settings.value("model_folders") == (str(folder),)


def test_a_dialog_is_built_before_it_is_wanted_and_used_once(qtbot: QtBot, world: World) -> None:
    def ready() -> list[PickerDialog]:
        return [each for each in world.window.findChildren(PickerDialog) if each.isHidden()]

    world.picker.prepare()
    qtbot.waitUntil(lambda: bool(ready()), timeout=LIMIT_MS)
    look.set_mode("dark")
    assert not ready(), "it had the other colours"
    qtbot.waitUntil(lambda: bool(ready()), timeout=LIMIT_MS)
    (first,) = ready()
    world.picker.open()
    assert world.picker.dialog is first
    assert first.isVisible()
    first.installed.search.setText("something")
    first.reject()
    assert world.picker.dialog is None
    world.picker.open()  # sooner than the next one is ready
    second = world.picker.dialog
    assert second is not None
    assert second is not first
    assert second.installed.search.text() == ""


# ------------------------------------------------------------------------------------ downloads


def shows_files(dialog: PickerDialog) -> bool:
    return dialog.hub.stack.currentWidget() is dialog.hub.card


def choose_remote(qtbot: QtBot, world: World) -> PickerDialog:
    """Pick both models of the demo pair on the Hub."""
    world.picker.open()
    dialog = world.picker.dialog
    assert dialog is not None
    dialog.show_page(dialog.hub)
    for step, role in ((1, "target"), (2, "draft")):
        world.picker.open(step)
        dialog.hub.drafts.setChecked(False)
        dialog.hub.open_repository(f"paceline/demo-{role}-GGUF")
        qtbot.waitUntil(partial(shows_files, dialog), timeout=LIMIT_MS)
        QTest.keyClick(dialog.hub.card.files, Qt.Key.Key_Space)
    judged(qtbot, world)
    return dialog


def test_a_pair_that_arrives_after_the_dialog_was_closed_is_offered(
    qtbot: QtBot, make_world: Callable[..., World], server: HubServer
) -> None:
    world = make_world(endpoint=server.endpoint)
    loads: list[Pair] = []
    world.picker.load_requested.connect(loads.append)
    dialog = choose_remote(qtbot, world)
    assert dialog.main.text() == "Download and load (21 MB)"
    server.add(Fault("*target*.gguf", bytes_per_s=40_000_000))
    dialog.main.click()
    assert dialog.main.text() == "Downloading…"
    assert dialog.cancel.text() == "Close"
    qtbot.waitUntil(dialog.strip.isVisible, timeout=LIMIT_MS)
    assert dialog.strip.line.text() == world.states.summary != ""
    dialog.installed.without.click()
    assert dialog.main.text().startswith("Download and load"), "another pair may be picked"
    dialog.cancel.click()
    assert world.picker.dialog is None

    def offers() -> list[Notice]:
        notices = [notice for notice in world.notices if isinstance(notice, Notice)]
        return [each for each in notices if each.action and each.action.text == "Load pair"]

    qtbot.waitUntil(lambda: bool(offers()), timeout=LIMIT_MS)
    assert not loads
    (action,) = [offer.action for offer in offers() if offer.action]
    action.run()
    assert world.notices[-1] == offers()[0]  # not hidden by “… is downloaded. Use it”
    (pair,) = loads
    target, draft = pair.target, pair.draft
    for params, original in zip((target, draft), paths.demo_pair(), strict=True):
        assert Path(params.path).is_relative_to(world.models.models_folder)
        assert Path(params.path).read_bytes() == original.read_bytes()
    action.run()
    assert len(loads) == 1


def test_a_failed_download_is_reported_and_can_be_tried_again(
    qtbot: QtBot, make_world: Callable[..., World], server: HubServer
) -> None:
    world = make_world(endpoint=server.endpoint)
    loads: list[Pair] = []
    world.picker.load_requested.connect(loads.append)
    dialog = choose_remote(qtbot, world)
    server.add(Fault("*target*.gguf", status=404))
    dialog.main.click()
    qtbot.waitUntil(dialog.main.isEnabled, timeout=LIMIT_MS)
    assert dialog.reason.text()
    assert not loads
    server.clear()
    dialog.main.click()
    qtbot.waitUntil(lambda: bool(loads), timeout=LIMIT_MS)
    assert world.picker.dialog is None


def test_a_row_that_leads_to_a_repository_opens_it(
    qtbot: QtBot, make_world: Callable[..., World], server: HubServer
) -> None:
    world = make_world(endpoint=server.endpoint)
    world.picker.open()
    dialog = world.picker.dialog
    assert dialog is not None
    leads = Offer("x", "x", role="repository", repo="paceline/demo-draft-GGUF")
    dialog.show_page(dialog.recommended)
    dialog.recommended.picked.emit(leads)
    assert dialog.page is dialog.recommended, "a click on a row goes nowhere"
    assert dialog.main.text() == "Show its files"
    dialog.main.click()
    assert dialog.page is dialog.hub
    qtbot.waitUntil(partial(shows_files, dialog), timeout=LIMIT_MS)
    dialog.reject()
    world.picker.open()
    assert world.picker.dialog is not None
    world.picker.dialog.show_page(world.picker.dialog.hub)
    qtbot.waitUntil(lambda: bool(world.hub.models), timeout=LIMIT_MS)
    assert not world.hub.repo, "another dialog begins anew"


def test_the_picked_model_stays_while_another_row_is_looked_at(qtbot: QtBot, world: World) -> None:
    dialog = opened(qtbot, world)
    row = Offer("x", "x", role="repository", repo="paceline/demo-draft-GGUF")
    for title in ("", "target"):
        if title:
            pick(dialog, title)
        picked = world.picker.picks.target
        dialog.show_page(dialog.recommended)
        dialog.recommended.picked.emit(row)
        assert dialog.main.isEnabled()
        assert world.picker.picks.target == picked
        assert not row.is_picked(world.picker.picks)
        dialog.show_page(dialog.installed)
        assert not row.is_open(world.picker.picks), "it is left with its page"
        offers = dialog.installed.rows.offers
        marked = [each.model for each in offers.rows if each.is_picked(offers.picks)]
        assert marked == ([picked] if title else [])
        if title:
            judged(qtbot, world)
        assert dialog.main.isEnabled() == bool(title)


def test_a_head_is_no_target_and_says_so(qtbot: QtBot, world: World) -> None:
    dialog = opened(qtbot, world)
    head = Candidate("/m/mtp.gguf", "mtp", problem="It is an MTP head.", head="mtp")
    row = Offer("x", "x", model=head)
    dialog.hub.confirmed.emit(row)
    assert dialog.problem.accessibleName().startswith("It is an MTP head.")
    assert (world.picker.picks.target, world.picker.picks.step) == (None, 1)
    world.picker.open(2)
    dialog.hub.picked.emit(row)
    assert world.picker.picks.draft == head
