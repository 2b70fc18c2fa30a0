"""The three pages of the picker, as real widgets over made content."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from gui.fake_judge import CARD
from gui.test_picker_picks import DRAFT, PAIR, TARGET
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubChoice, HubFile, HubModel, HubRepository, SearchQuery
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.local.model_files import ModelFile
from paceline.gui.look.current import look
from paceline.gui.models.candidates import Candidate, Picks, candidate_facts, of_entry
from paceline.gui.models.lists.hub_controller import HubResults
from paceline.gui.models.lists.hub_page import TYPING_MS, HubPage
from paceline.gui.models.lists.installed_page import InstalledPage
from paceline.gui.models.lists.library import LibraryModel
from paceline.gui.models.lists.page import Page
from paceline.gui.models.lists.recommended_page import RecommendedPage, RecommendedPairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.models.lists.page import RowText

SPOKEN = Qt.ItemDataRole.AccessibleTextRole
MODEL = HubModel(
    "o/Wolf-GGUF", 184_000, 9, "", "open", "mit", 7_000_000_000, "llama", 8192, "o/Wolf"
)
CHOICES = (
    HubChoice("Q4_K_M", (HubFile("wolf-Q4_K_M.gguf", 4 * 10**9, ""),)),
    HubChoice("Q8_0", (HubFile("wolf-Q8_0.gguf", 8 * 10**9, ""),)),
    HubChoice("F16", (HubFile("wolf-F16-00001-of-00002.gguf", 8 * 10**9, ""),), is_complete=False),
)
REPOSITORY = HubRepository(MODEL, "c" * 40, CHOICES, "https://example.org/o/Wolf-GGUF")


def entry(
    name: str,
    vocabulary: str = "a",
    n_params: int = 10**9,
    source: str = "lm-studio",
    **fields: object,
) -> LibraryEntry:
    path = Path("/models") / f"{name}.gguf"
    card = replace(CARD, name=name, vocabulary=vocabulary, n_params=n_params)
    made = LibraryEntry(ModelFile(path, (path,), 1, n_params, 1, name, source), card)
    return replace(made, **fields)  # type: ignore[arg-type]


def rows(page: Page) -> list[RowText]:
    model = page.rows.model()
    return [page.row_text(model.index(row, 0)) for row in range(model.rowCount())]


@pytest.fixture
def host(qtbot: QtBot) -> Iterator[QWidget]:
    """A window around a page: the offscreen plug-in knows no smallest sizes of windows."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(620, 520)
    window.show()
    yield window
    window.close()


def hosted(host: QWidget, page: Page) -> None:
    page.setParent(host)
    page.resize(600, 500)
    page.show()


def press(page: Page, row: int, key: Qt.Key) -> None:
    page.rows.setCurrentIndex(page.rows.model().index(row, 0))
    QTest.keyClick(page.rows, key)


@pytest.fixture
def library() -> LibraryModel:
    model = LibraryModel()
    model.update(
        [
            entry("big", n_params=7 * 10**9),
            entry("small"),
            entry("stranger", vocabulary="b"),
            entry("broken", problem="2 of its 3 parts are missing.", card=None),
            entry("ours", source="paceline"),
        ]
    )
    return model


@pytest.fixture
def installed(host: QWidget, library: LibraryModel) -> InstalledPage:
    page = InstalledPage(library)
    hosted(host, page)
    page.show_picks(Picks())
    return page


def test_a_model_without_a_template_says_so() -> None:
    base = entry("base")
    assert base.card is not None
    base = replace(base, card=replace(base.card, has_template=False))
    assert candidate_facts(of_entry(base)).endswith("no chat template")
    assert "template" not in candidate_facts(of_entry(replace(base, card=None)))


def test_installed_models_say_what_they_are_and_where(installed: InstalledPage) -> None:
    first = rows(installed)[0]
    assert first.title == "big"
    assert first.facts == "7B · Q4_K_M · 32k context"
    assert first.size == "7.0 GB"
    assert [badge.text for badge in first.badges] == ["LM Studio"]
    assert rows(installed)[-1].problem == "2 of its 3 parts are missing."
    model = installed.rows.model()
    heard = [model.index(row, 0).data(SPOKEN) for row in (0, model.rowCount() - 1)]
    assert heard[0] == "big, 7B · Q4_K_M · 32k context, 7.0 GB, LM Studio"
    assert "2 of its 3 parts are missing" in heard[1]


def test_enter_picks_and_goes_on_and_space_only_picks(
    qtbot: QtBot, installed: InstalledPage
) -> None:
    picked, confirmed = [], []
    installed.picked.connect(picked.append)
    installed.confirmed.connect(lambda: confirmed.append(True))
    press(installed, 0, Qt.Key.Key_Space)
    assert [c.title for c in picked] == ["big"]
    assert not confirmed
    press(installed, 1, Qt.Key.Key_Return)
    assert [c.title for c in picked] == ["big", "ours"]
    assert confirmed == [True]
    press(installed, 4, Qt.Key.Key_Return)  # the broken one
    assert len(picked) == 2
    assert len(confirmed) == 1


def test_a_click_picks_and_the_row_shows_it(qtbot: QtBot, installed: InstalledPage) -> None:
    picked = []
    installed.picked.connect(picked.append)
    where = installed.rows.visualRect(installed.rows.model().index(2, 0)).center()
    qtbot.mouseClick(installed.rows.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert [c.title for c in picked] == ["small"]
    installed.show_picks(Picks(1, picked[0]))
    assert [row.title for row in rows(installed) if row.is_picked] == ["small"]


def test_models_that_may_draft_come_first_in_the_second_step(
    installed: InstalledPage, library: LibraryModel
) -> None:
    big = library.entry_of(Path("/models/big.gguf"))
    assert big is not None
    assert installed.without.isHidden()
    installed.show_picks(Picks(2, of_entry(big)))
    assert [(row.title, row.is_dimmed) for row in rows(installed)] == [
        ("ours", False),
        ("small", False),
        ("big", True),
        ("stranger", True),
        ("broken", True),
    ]
    badges = {row.title: [badge.text for badge in row.badges] for row in rows(installed)}
    assert badges["stranger"][0] == "other vocabulary"
    assert badges["big"][0] == "not smaller"
    assert not installed.without.isHidden()
    picked = []
    installed.picked.connect(picked.append)
    installed.without.click()
    assert picked == [None]
    installed.show_picks(Picks(2, of_entry(big), None, is_decided=True))
    assert installed.without.isChecked()


def test_search_order_and_empty_lists(qtbot: QtBot, installed: InstalledPage) -> None:
    installed.search.setText("strang")
    assert [row.title for row in rows(installed)] == ["stranger"]
    installed.search.setText("no such thing")
    assert installed.stack.currentWidget() is installed.state
    installed.state.button.click()
    assert installed.search.text() == ""
    assert installed.stack.currentWidget() is installed.rows
    installed.sort.setCurrentIndex(1)
    assert rows(installed)[0].title == "big"
    installed.sort.setCurrentIndex(2)
    assert rows(installed)[3].title == "big"
    installed.search.setFocus()
    QTest.keyClick(installed.search, Qt.Key.Key_Down)
    assert installed.rows.currentIndex().row() == 0


def test_a_computer_without_models_is_shown_the_way(qtbot: QtBot, host: QWidget) -> None:
    page = InstalledPage(LibraryModel())
    hosted(host, page)
    page.show_looking(True)
    assert page.state.bar.isVisibleTo(page)
    page.show_looking(False)
    with qtbot.waitSignal(page.recommended_wanted):
        page.state.button.click()


def test_only_our_own_files_go_to_the_trash(installed: InstalledPage) -> None:
    doomed = []
    installed.trash_requested.connect(doomed.append)
    press(installed, 2, Qt.Key.Key_Down)
    installed.rows.setCurrentIndex(installed.rows.model().index(2, 0))  # "small", of LM Studio
    installed.trash.trigger()
    installed.copy_path.trigger()
    assert not doomed
    assert Path(QGuiApplication.clipboard().text()).stem == "small"
    installed.rows.setCurrentIndex(installed.rows.model().index(1, 0))
    installed.trash.trigger()
    assert [e.file.name for e in doomed] == ["ours"]


def test_a_recommended_row_stands_for_a_pair_then_for_a_draft_model(host: QWidget) -> None:
    nameless = replace(PAIR, title="Wolf 8B", target_file=None, gain=None, evidence=None)
    page = RecommendedPage(RecommendedPairs((PAIR, nameless)))
    hosted(host, page)
    page.show_picks(Picks(), 16 * 2**30, has_gpu=True)
    assert [row.title for row in rows(page)] == ["Wolf 7B", "Wolf 8B"]
    pairs, wanted, drafts = [], [], []
    page.pair_picked.connect(lambda target, draft: pairs.append((target, draft)))
    page.repository_wanted.connect(wanted.append)
    page.picked.connect(drafts.append)
    press(page, 0, Qt.Key.Key_Return)
    assert [(t.title, d.title) for t, d in pairs] == [("Wolf-7B-Q4_K_M", "Wolf-0.5B-Q8_0")]
    press(page, 1, Qt.Key.Key_Return)
    assert wanted == ["o/Wolf-7B-GGUF"]
    unknown = (page.gain, page.checked, page.source_button)
    assert all(widget.isHidden() for widget in unknown)
    assert not page.source.text()
    wolf = replace(TARGET, title="Wolf-7B", architecture="llama")
    page.show_picks(Picks(2, wolf), 16 * 2**30, has_gpu=True)
    assert [row.title for row in rows(page)] == ["Wolf-0.5B-Q8_0"]
    press(page, 0, Qt.Key.Key_Space)
    assert [d.reference for d in drafts] == ["hf:o/Wolf-0.5B-GGUF:Wolf-0.5B-Q8_0.gguf"]
    page.show_picks(Picks(2, replace(wolf, title="Fox-7B")), 16 * 2**30, has_gpu=True)
    assert page.stack.currentWidget() is page.state


def test_a_low_window_shows_two_recommended_rows(host: QWidget) -> None:
    page = RecommendedPage(RecommendedPairs((PAIR,) * 9))
    hosted(host, page)
    page.show_picks(Picks(), 16 * 2**30, has_gpu=True)
    page.resize(700, page.minimumSizeHint().height())
    assert page.rows.viewport().height() >= 2 * page.rows.sizeHintForRow(0)


def test_a_pair_for_a_gpu_is_not_praised_where_there_is_none(host: QWidget) -> None:
    for_gpu = replace(PAIR, title="Wolf 8B", machine="gpu")
    page = RecommendedPage(RecommendedPairs((for_gpu, PAIR)))
    hosted(host, page)
    page.show_picks(Picks(), 16 * 2**30, has_gpu=True)
    assert [[b.text for b in row.badges] for row in rows(page)] == [["fits the memory"]] * 2
    page.show_picks(Picks(), 16 * 2**30, has_gpu=False)
    assert [(row.title, row.badges[0].text, row.badges[0].tone) for row in rows(page)] == [
        ("Wolf 7B", "fits the memory", "accent"),
        ("Wolf 8B", "for a GPU", "lookup"),
    ]
    model = page.rows.model()
    assert model.index(1, 0).data(SPOKEN).endswith("for a GPU")
    page.show_picks(Picks(), 2**30, has_gpu=False)
    assert {row.badges[0].text for row in rows(page)} == {"needs more memory"}


def test_a_head_inside_is_shown_on_this_computer_and_on_the_hub(
    hub: HubPage, results: HubResults
) -> None:
    with_head = entry("head")
    assert with_head.card is not None
    with_head = replace(with_head, card=replace(with_head.card, n_heads=1))
    assert candidate_facts(of_entry(with_head)).endswith("MTP head inside")
    assert "MTP" not in candidate_facts(of_entry(entry("none")))
    named = HubChoice("Q4_K_M", (HubFile("wolf-MTP-Q4_K_M.gguf", 4 * 10**9, ""),))
    opened(hub, results, replace(REPOSITORY, choices=(named, *CHOICES)))
    texts = [hub.card.row_text(hub.card.files.model().index(row, 0)) for row in range(2)]
    assert [text.facts for text in texts] == [
        "wolf-MTP-Q4_K_M.gguf · MTP head inside", "wolf-Q4_K_M.gguf",
    ]  # fmt: skip


def test_what_is_no_pair_to_load_is_shown_as_what_it_is(host: QWidget) -> None:
    head = replace(PAIR, title="Wolf 7B, network", kind="dflash", least_memory=10**9)
    lookups = replace(
        PAIR, title="Small ones", kind="lookup", target_repo="", target_file=None, target_words=(),
        target_architecture=None, target_params=(1, 8 * 10**9), draft_repo="", draft_file=None,
    )  # fmt: skip
    page = RecommendedPage(RecommendedPairs((head, lookups, PAIR)))
    hosted(host, page)
    page.show_picks(Picks(), 16 * 2**30, has_gpu=True)
    shown = rows(page)
    assert [row.title for row in shown] == ["Wolf 7B", "Wolf 7B, network", "Small ones"]
    assert "this version cannot use it yet" in shown[1].facts
    assert shown[1].badges == ()
    pairs, wanted, picked = [], [], []
    page.pair_picked.connect(lambda target, draft: pairs.append((target, draft)))
    page.repository_wanted.connect(wanted.append)
    page.picked.connect(picked.append)
    for row in (1, 2):
        press(page, row, Qt.Key.Key_Return)
    assert (pairs, wanted, picked) == ([], [head.target_repo], [])
    page.show_picks(Picks(2, replace(TARGET, title="Wolf-7B")), 16 * 2**30, has_gpu=True)
    assert [row.title for row in rows(page)] == ["No draft model", "Wolf-0.5B-Q8_0"]
    press(page, 0, Qt.Key.Key_Space)
    assert picked == [None]


@pytest.fixture
def results() -> HubResults:
    return HubResults()


@pytest.fixture
def hub(host: QWidget, results: HubResults) -> HubPage:
    page = HubPage(results)
    hosted(host, page)
    page.show_picks(Picks(), 24 * 2**30)
    return page


def test_the_fields_make_a_query(qtbot: QtBot, hub: HubPage) -> None:
    asked: list[SearchQuery] = []
    hub.search_requested.connect(asked.append)
    hub.begin()
    hub.begin()  # nothing has changed
    assert asked == [SearchQuery()]
    hub.sort.setCurrentIndex(1)
    hub.license.setCurrentIndex(1)
    hub.fits.setChecked(True)
    assert (asked[-1].sort, asked[-1].license) == ("downloads", "apache-2.0")
    assert 30e9 < asked[-1].max_params < 45e9
    n_asked = len(asked)
    with qtbot.waitSignal(hub.search_requested):
        QTest.keyClicks(hub.search, "wolf")
    assert asked[-1].text == "wolf"
    assert len(asked) == n_asked + 1, "typing asks once"
    QTest.keyClicks(hub.search, "s")
    QTest.keyClick(hub.search, Qt.Key.Key_Return)
    assert asked[-1].text == "wolfs"
    n_asked = len(asked)
    QTest.keyClicks(hub.search, "!")
    hub.sort.setCurrentIndex(2)
    qtbot.wait(TYPING_MS + 50)
    assert [query.text for query in asked[n_asked:]] == ["wolfs!"], "asked for already"


@pytest.mark.parametrize(
    "typed",
    [
        "https://huggingface.co/o/Wolf-GGUF",
        "https://huggingface.co/o/Wolf-GGUF/resolve/main/wolf-Q8_0.gguf?download=true",
        "hf.co/o/Wolf-GGUF",
        "hf:o/Wolf-GGUF:wolf-Q8_0.gguf",
    ],
)
def test_an_address_in_the_field_opens_its_repository(
    qtbot: QtBot, hub: HubPage, results: HubResults, typed: str
) -> None:
    asked: list[SearchQuery] = []
    opened_: list[str] = []
    hub.search_requested.connect(asked.append)
    hub.repository_requested.connect(opened_.append)
    hub.fits.setChecked(True)
    hub.search.setText(typed)
    QTest.keyClick(hub.search, Qt.Key.Key_Return)
    assert opened_ == ["o/Wolf-GGUF"]
    assert asked[-1] == SearchQuery(text="o/Wolf-GGUF"), "behind it, whatever its size"
    hub.show_repository(REPOSITORY, CHOICES[0])
    assert hub.stack.currentWidget() is hub.card
    results.begin()
    results.append([REPOSITORY.model])
    hub.card.back_button.click()
    assert hub.stack.currentWidget() is hub.rows
    hub.search.setText("https://example.com/o/Wolf-GGUF")
    QTest.keyClick(hub.search, Qt.Key.Key_Return)
    assert opened_ == ["o/Wolf-GGUF"], "an address that leads elsewhere is words"


def test_what_cannot_be_had_of_a_repository_is_marked(hub: HubPage, results: HubResults) -> None:
    odd = HubChoice("Q2_K", (HubFile("con.gguf", 10**9, ""),))
    good = HubChoice("Q4_0", (HubFile("é 模-Q4_0.gguf", 2 * 10**9, ""),))
    opened(hub, results, replace(REPOSITORY, choices=(odd, good)))
    card = hub.card

    def problems() -> list[str]:
        model = card.files.model()
        return [card.row_text(model.index(row, 0)).problem for row in range(model.rowCount())]

    assert ["name" in problem for problem in problems()] == [True, False]
    newer = replace(REPOSITORY, choices=(good,), newer="unknown model architecture: 'wolf9'")
    hub.show_repository(newer, None)
    assert problems() == ["It is newer than this llama.cpp (unknown model architecture: 'wolf9')."]
    picked: list[Candidate] = []
    hub.picked.connect(picked.append)
    card.files.setCurrentIndex(card.files.model().index(0, 0))
    QTest.keyClick(card.files, Qt.Key.Key_Return)
    assert not picked


def test_drafts_are_looked_for_by_architecture_and_size(hub: HubPage) -> None:
    target = replace(TARGET, architecture="qwen2", n_params=8_000_000_000)
    hub.show_picks(Picks(2, target), 0)
    assert hub.query() == SearchQuery(architecture="qwen2", max_params=2_000_000_000)
    hub.drafts.setChecked(False)
    assert hub.query() == SearchQuery()
    hub.drafts.setChecked(True)
    hub.show_picks(Picks(1, target), 0)
    assert hub.query() == SearchQuery()


def test_the_states_of_a_search(hub: HubPage, results: HubResults) -> None:
    results.begin()
    assert hub.state.title.text() == "Searching…"
    results.end(has_more=False)
    assert hub.state.title.text() == "Nothing found"
    results.fail(HubError("no-network", "No network.", "Check it."))
    assert hub.state.title.text() == "Hugging Face cannot be reached"
    assert hub.state.text.text() == "No network. Check it."
    again = []
    hub.search_requested.connect(again.append)
    hub.state.button.click()
    assert len(again) == 1
    online = []
    hub.online_requested.connect(lambda: online.append(True))
    results.begin()
    results.fail(HubError("offline", "Offline.", "Go online."))
    assert hub.state.title.text() == "Offline mode is on"
    hub.state.button.click()
    assert online == [True]
    results.begin()
    results.append([MODEL, replace(MODEL, repo="o/Gated-GGUF", gate="manual")])
    results.end(has_more=False)
    assert hub.stack.currentWidget() is hub.rows
    assert rows(hub)[0].facts == "7B · llama · 8k context · mit"
    assert [badge.text for badge in rows(hub)[1].badges] == ["gated"]


def opened(hub: HubPage, results: HubResults, repository: HubRepository) -> None:
    results.begin()
    results.append([repository.model])
    press(hub, 0, Qt.Key.Key_Return)
    assert "Looking" in hub.state.title.text()
    hub.show_repository(repository, CHOICES[0])


def test_a_repository_offers_its_files(hub: HubPage, results: HubResults) -> None:
    asked, picked = [], []
    hub.repository_requested.connect(asked.append)
    hub.picked.connect(picked.append)
    opened(hub, results, REPOSITORY)
    assert asked == ["o/Wolf-GGUF"]
    card = hub.card
    assert hub.stack.currentWidget() is card
    assert card.files.currentIndex().row() == 0
    texts = [card.row_text(card.files.model().index(row, 0)) for row in range(3)]
    assert [text.title for text in texts] == ["Q4_K_M", "Q8_0", "F16"]
    assert [badge.text for badge in texts[0].badges] == ["recommended"]
    assert texts[2].problem
    QTest.keyClick(card.files, Qt.Key.Key_Return)
    assert [c.reference for c in picked] == ["hf:o/Wolf-GGUF:wolf-Q4_K_M.gguf"]
    card.mark(picked[0].reference)
    assert card.row_text(card.files.model().index(0, 0)).is_picked
    card.files.setCurrentIndex(card.files.model().index(2, 0))
    QTest.keyClick(card.files, Qt.Key.Key_Return)
    assert len(picked) == 1
    card.back_button.click()
    assert hub.stack.currentWidget() is hub.rows


def test_a_recommended_head_is_a_pair_to_load(host: QWidget) -> None:
    inside = replace(PAIR, title="Inside", kind="mtp", draft_repo="", draft_file=None)
    beside = replace(PAIR, title="Beside", kind="mtp", draft_file="mtp-wolf.gguf")
    page = RecommendedPage(RecommendedPairs((inside, beside)))
    hosted(host, page)
    page.show_picks(Picks(), 0, has_gpu=True)
    pairs: list[tuple[Candidate, Candidate | None]] = []
    heads: list[bool] = []
    page.pair_picked.connect(lambda target, draft: pairs.append((target, draft)))
    page.head_picked.connect(lambda: heads.append(True))
    for row in (0, 1):
        press(page, row, Qt.Key.Key_Return)
    assert [target.has_head for target, _ in pairs] == [True, False]
    assert [draft and draft.is_head for _, draft in pairs] == [None, True]
    assert [row.is_dimmed for row in rows(page)] == [False, False]
    page.show_picks(Picks(2, replace(TARGET, title="Wolf-7B")), 0, has_gpu=True)
    assert [row.title for row in rows(page)] == ["MTP head inside", "mtp-wolf"]
    press(page, 0, Qt.Key.Key_Return)
    assert heads == [True]


def test_heads_beside_a_model_can_be_picked_and_other_sidecars_not(
    hub: HubPage, qtbot: QtBot
) -> None:
    hub.open_repository(MODEL.repo)
    head = HubChoice("Q4_0", (HubFile("mtp-wolf-Q4_0.gguf", 10**8, ""),))
    hub.show_repository(replace(REPOSITORY, sidecars=(head,)), CHOICES[1])
    first = hub.card.files.model().index(len(CHOICES), 0)
    assert (hub.card.row_text(first).is_dimmed, hub.card.row_text(first).problem) == (False, "")
    with qtbot.waitSignal(hub.card.picked) as picked:
        hub.card.files.picked.emit(first)
    assert picked.args[0].is_head
    sidecar = HubChoice("Q4_0", (HubFile("dflash-wolf-Q4_0.gguf", 10**8, ""),))
    hub.show_repository(replace(REPOSITORY, sidecars=(sidecar,)), CHOICES[1])
    files = hub.card.files
    last = files.model().index(len(CHOICES), 0)
    text = hub.card.row_text(last)
    assert (text.title, text.is_dimmed) == ("dflash-wolf-Q4_0", True)
    assert text.problem.startswith("Drafter of wolf (DFlash)")
    assert text.problem in last.data(SPOKEN)
    with qtbot.assertNotEmitted(hub.card.picked):
        files.picked.emit(last)


def test_a_repository_that_comes_too_late_is_dropped(hub: HubPage, results: HubResults) -> None:
    opened(hub, results, REPOSITORY)
    hub.card.back_button.click()
    hub.show_repository(REPOSITORY, None)
    assert hub.stack.currentWidget() is hub.rows
    hub.show_repository_failed(HubError("not-found", "Gone.", ""))
    assert hub.stack.currentWidget() is hub.rows


def test_words_typed_before_a_repository_is_opened_are_searched_for_behind_it(
    qtbot: QtBot, hub: HubPage, results: HubResults
) -> None:
    asked: list[SearchQuery] = []
    hub.search_requested.connect(asked.append)
    hub.search_requested.connect(results.begin)
    opened(hub, results, REPOSITORY)
    hub.show_results()
    asked.clear()
    hub.search.setText("wolf")
    press(hub, 0, Qt.Key.Key_Return)
    hub.show_repository(REPOSITORY, None)
    qtbot.wait(TYPING_MS + 100)
    assert hub.stack.currentWidget() is hub.card
    hub.show_picks(Picks(), 0)
    assert hub.stack.currentWidget() is hub.card
    assert [query.text for query in asked] == ["wolf"]
    hub.card.back_button.click()
    assert hub.state.title.text() == "Searching…"


def test_gated_files_cannot_be_picked_before_access_is_granted(
    qtbot: QtBot, hub: HubPage, results: HubResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: urls.append(url.toString()))
    gated = replace(REPOSITORY, model=replace(MODEL, gate="manual"), has_access=False)
    picked = []
    hub.picked.connect(picked.append)
    opened(hub, results, gated)
    card = hub.card
    assert card.gate.isVisibleTo(card)
    QTest.keyClick(card.files, Qt.Key.Key_Return)
    assert not picked
    card.ask_button.click()
    assert urls == ["https://example.org/o/Wolf-GGUF"]
    assert card.token.echoMode() == card.token.EchoMode.Password
    assert not card.token_button.isEnabled()
    QTest.keyClicks(card.token, "hf_secret")
    with qtbot.waitSignal(card.token_given) as given:
        QTest.keyClick(card.token, Qt.Key.Key_Return)
    assert given.args == ["hf_secret"]
    assert card.token.text() == ""
    asked = []
    hub.repository_requested.connect(asked.append)
    hub.look_again()
    assert asked == ["o/Wolf-GGUF"]
    hub.show_repository(replace(gated, has_access=True), None)
    assert card.gate.isHidden()
    assert card.pill.text() == "access granted"
    press_first = card.files.model().index(0, 0)
    card.files.setCurrentIndex(press_first)
    QTest.keyClick(card.files, Qt.Key.Key_Return)
    assert len(picked) == 1


def test_rows_are_painted_in_both_themes(installed: InstalledPage) -> None:
    installed.show_picks(Picks(2, TARGET, DRAFT, is_decided=True))
    light = installed.grab().toImage()
    look.set_mode("dark")
    dark = installed.grab().toImage()
    assert light != dark
    installed.rows.setCurrentIndex(QModelIndex())
