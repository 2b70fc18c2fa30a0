"""The three pages of the picker, as real widgets over made content."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from gui.fake_hub import FakeHub, HeldBackground
from gui.library_help import DRAFT, PAIR, TARGET, card, entry
from gui.test_offers import CHOICES, MODEL, REPOSITORY
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import SearchQuery
from paceline.catalog.local.library import Library
from paceline.gui.kit.notices import Notifications
from paceline.gui.models.candidates import MachineFacts, Picks
from paceline.gui.models.lists import hub_search
from paceline.gui.models.lists.hub_page import HubPage
from paceline.gui.models.lists.hub_search import HubSearch
from paceline.gui.models.lists.installed_page import InstalledPage
from paceline.gui.models.lists.library import LibraryController
from paceline.gui.models.lists.recommended_page import RecommendedPage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytestqt.qtbot import QtBot

    from paceline.catalog.card import ModelCard
    from paceline.catalog.judge.curated import CuratedPair
    from paceline.catalog.local.library import LibraryEntry
    from paceline.gui.models.lists.offers import Offer
    from paceline.gui.models.lists.page import Page

GB = 10**9


class Said:
    """Signals that a page has sent."""

    def __init__(self, page: Page) -> None:
        self.picked: list[str] = []
        self.confirmed: list[str] = []
        page.picked.connect(self._on_picked)
        page.confirmed.connect(self._on_confirmed)

    def _on_picked(self, offer: Offer) -> None:
        self.picked.append(offer.title)

    def _on_confirmed(self, offer: Offer) -> None:
        self.confirmed.append(offer.title)


def titles(page: Page) -> list[str]:
    return [offer.title for offer in page.rows.offers.rows]


def press(page: Page, row: int, key: Qt.Key) -> None:
    page.rows.show_row(row)
    QTest.keyClick(page.rows, key)


def show(page: Page, picks: Picks, n_free: int = 16 * GB) -> None:
    page.show_picks(picks, MachineFacts(n_free, has_gpu=True))


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
    show(page, Picks())


# ---------------------------------------------------------------------------- on this computer


class NoReader:
    """Is never asked."""

    def card(self, path: Path, parts: Sequence[Path] = ()) -> ModelCard:
        raise NotImplementedError


@pytest.fixture
def library(host: QWidget) -> Iterator[LibraryController]:
    empty = Library(NoReader(), places=lambda: [], cache_file=None)
    made = LibraryController(empty, Notifications(host), host)
    yield made
    made.close()


ENTRIES = (
    entry("big", card(n_params=7 * GB), n_bytes=7 * GB),
    entry("small", card(n_params=GB)),
    entry("broken", problem="2 of its 3 parts are missing."),
    entry("ours", card(n_params=GB), source="paceline"),
)


@pytest.fixture
def installed(host: QWidget, library: LibraryController) -> InstalledPage:
    library.update(ENTRIES)
    page = InstalledPage(library)
    hosted(host, page)
    return page


def test_enter_continues_and_space_and_a_click_only_pick(
    qtbot: QtBot, installed: InstalledPage
) -> None:
    said = Said(installed)
    press(installed, 0, Qt.Key.Key_Space)
    press(installed, 1, Qt.Key.Key_Return)
    where = installed.rows.visualRect(installed.rows.offers.index(2, 0)).center()
    qtbot.mouseClick(installed.rows.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert (said.picked, said.confirmed) == (["big", "small"], ["ours"])


def test_the_second_step_offers_what_needs_no_draft_model(installed: InstalledPage) -> None:
    said = Said(installed)
    assert installed.without.isHidden()
    target = replace(TARGET, has_head=True)
    show(installed, Picks(2, target))
    for option in (installed.inside, installed.without):
        assert option.isVisible()
        option.click()
    assert said.picked == ["MTP head inside", "No draft model: lookups only"]
    show(installed, Picks(2, target).with_draft(None))
    assert (installed.inside.isChecked(), installed.without.isChecked()) == (False, True)


def test_enter_takes_the_first_model_with_the_words(installed: InstalledPage) -> None:
    chosen: list[str] = []
    installed.chosen.connect(lambda offer: chosen.append(offer.title))
    QTest.keyClick(installed.search, Qt.Key.Key_Return)
    assert not chosen, "nothing was typed"
    QTest.keyClicks(installed.search, "ou")
    assert titles(installed) == ["ours"]
    QTest.keyClick(installed.search, Qt.Key.Key_Return)
    assert chosen == ["ours"]


def test_words_of_the_first_step_do_not_stay_in_the_second(installed: InstalledPage) -> None:
    QTest.keyClicks(installed.search, "big")
    show(installed, Picks(2, TARGET))
    assert installed.search.text() == ""
    assert len(titles(installed)) == len(ENTRIES)
    QTest.keyClicks(installed.search, "small")
    show(installed, Picks(2, TARGET, DRAFT))
    assert titles(installed) == ["small"], "to pick is no other step"


def test_another_step_goes_to_what_is_picked_and_a_change_leaves_it(
    installed: InstalledPage, library: LibraryController
) -> None:
    small = library.offers[Path("/models/small.gguf")].model
    show(installed, Picks(2, TARGET, small))
    assert installed.rows.current is not None
    assert installed.rows.current.title == "small"
    library.update([entry("another", card(n_params=GB)), entry("small", card(n_params=2 * GB))])
    assert "another" in titles(installed)
    assert installed.rows.current.title == "small"


def test_search_order_and_empty_lists(installed: InstalledPage) -> None:
    installed.search.setText("sma")
    assert titles(installed) == ["small"]
    installed.search.setText("no such thing")
    assert installed.stack.currentWidget() is installed.state
    installed.state.button.click()
    assert installed.search.text() == ""
    assert installed.stack.currentWidget() is installed.rows
    installed.sort.setCurrentIndex(2)
    assert titles(installed)[2:] == ["big", "broken"]
    installed.search.setFocus()
    QTest.keyClick(installed.search, Qt.Key.Key_Down)
    assert installed.rows.currentIndex().row() == 0


def test_a_computer_without_models_is_shown_the_way(
    qtbot: QtBot, host: QWidget, library: LibraryController
) -> None:
    page = InstalledPage(library)
    hosted(host, page)
    library.refresh()
    assert page.state.bar.isVisibleTo(page)
    qtbot.waitUntil(lambda: not library.is_busy)
    assert not page.state.bar.isVisibleTo(page)
    with qtbot.waitSignal(page.recommended_wanted):
        page.state.button.click()


def test_what_can_be_done_with_a_file(
    host: QWidget, library: LibraryController, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed: list[LibraryEntry] = []
    monkeypatch.setattr(library, "delete", doomed.append)
    library.update(ENTRIES)
    page = InstalledPage(library)
    hosted(host, page)
    for name in ("small", "ours"):
        page.rows.show_row(titles(page).index(name))
        page.copy_path.trigger()
        assert Path(QGuiApplication.clipboard().text()).stem == name
        page.trash.trigger()
    assert [each.file.name for each in doomed] == ["ours"], "others' files are theirs"


# -------------------------------------------------------------------------------- recommended


def recommended(host: QWidget, *pairs: CuratedPair) -> RecommendedPage:
    page = RecommendedPage(pairs)
    hosted(host, page)
    return page


def click(qtbot: QtBot, page: Page, row: int) -> None:
    where = page.rows.visualRect(page.rows.offers.index(row, 0)).topLeft() + QPoint(30, 20)
    qtbot.mouseClick(page.rows.viewport(), Qt.MouseButton.LeftButton, pos=where)


def heights(page: Page) -> list[int]:
    """The heights of the rows as they are laid out."""
    rows = page.rows
    count = len(rows.offers.rows)
    return [rows.visualRect(rows.offers.index(at, 0)).height() for at in range(count)]


def test_the_row_that_is_gone_to_opens_in_its_place_and_is_picked(
    qtbot: QtBot, host: QWidget
) -> None:
    page = recommended(host, *(replace(PAIR, title=f"Wolf {n}B") for n in range(4)))
    said = Said(page)
    page.rows.setFocus()
    assert page.rows.current is None, "to have the keyboard opens nothing"
    (closed,) = set(heights(page))
    click(qtbot, page, 2)
    assert [height > closed for height in heights(page)] == [False, False, True, False]
    QTest.keyClick(page.rows, Qt.Key.Key_Down)
    assert [height > closed for height in heights(page)] == [False, False, False, True]
    click(qtbot, page, 0)
    page.show_pair(replace(PAIR, title="Wolf 1B"))
    assert page.rows.currentIndex().row() == 1
    wanted = ["Wolf 2B", "Wolf 3B", "Wolf 0B", "Wolf 1B"]
    assert said.picked == wanted, "Load means the open row"
    assert page.stack.currentWidget() is page.rows


def test_the_source_of_the_open_row_can_be_opened(
    host: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: seen.append(url.toString()))
    page = recommended(host, PAIR, replace(PAIR, title="Wolf 8B", evidence=None))
    assert not page.source_button.isEnabled()
    page.rows.show_row(0)
    page.source_button.click()
    assert seen == ["https://example.org/wolf"]
    page.rows.show_row(1)
    assert not page.source_button.isEnabled()


def test_another_target_has_other_draft_models_or_none(host: QWidget) -> None:
    page = recommended(host, PAIR, replace(PAIR, title="Bear 7B", target_words=("bear",)))
    said = Said(page)
    wolf = replace(TARGET, title="Wolf-7B", architecture="llama")
    show(page, Picks(2, wolf))
    assert "Wolf-7B" in page.intro.text()
    press(page, 0, Qt.Key.Key_Return)
    assert said.confirmed == ["Wolf-0.5B-Q8_0"]
    show(page, Picks(2, replace(wolf, title="Bear-7B")))
    assert titles(page) == ["Wolf-0.5B-Q8_0"]
    show(page, Picks(2, replace(wolf, title="Fox-7B")))
    assert page.stack.currentWidget() is page.state


def test_what_is_picked_elsewhere_closes_the_open_row_and_free_memory_does_not(
    host: QWidget,
) -> None:
    page = recommended(host, PAIR, replace(PAIR, title="Wolf 8B", target_file="Wolf-8B.gguf"))
    page.rows.show_row(1)
    assert page.rows.current is not None
    picks = page.rows.current.picked(Picks())
    assert picks is not None
    show(page, picks)
    show(page, picks, 3 * GB)
    assert page.rows.current is not None
    assert page.rows.current.title == "Wolf 8B"
    show(page, picks.with_target(TARGET), 3 * GB)
    assert page.rows.current is None


# --------------------------------------------------------------------------------- on the Hub


class OnHub:
    """The page of the Hub, and what it asked for."""

    def __init__(self, host: QWidget) -> None:
        self.hub = FakeHub(pages={MODEL.repo: REPOSITORY})
        self.queries: list[SearchQuery] = []
        self.search = HubSearch(self.hub, host)  # type: ignore[arg-type]
        self.page = HubPage(self.search)
        self.said = Said(self.page)
        self.search.changed.connect(self._on_changed)
        jobs = self.search.findChild(HeldBackground)
        assert jobs is not None
        self.jobs = jobs
        hosted(host, self.page)

    def _on_changed(self) -> None:
        query = self.search.query
        if query is not None and self.queries[-1:] != [query]:
            self.queries.append(query)

    @property
    def front(self) -> QWidget:
        return self.page.stack.currentWidget()

    def open(self) -> None:
        self.page.open_repository(MODEL.repo)
        self.jobs.carry_out_all()
        assert self.front is self.page.card


@pytest.fixture
def on_hub(host: QWidget, monkeypatch: pytest.MonkeyPatch) -> OnHub:
    monkeypatch.setattr(hub_search, "Background", HeldBackground)
    return OnHub(host)


def test_the_fields_make_a_query(qtbot: QtBot, on_hub: OnHub) -> None:
    page, asked = on_hub.page, on_hub.queries
    page.begin(takes_focus=True)
    assert page.search.hasFocus()
    assert asked == [SearchQuery()]
    page.sort.setCurrentIndex(1)
    page.license.setCurrentIndex(1)
    page.fits.setChecked(True)
    assert (asked[-1].sort, asked[-1].license) == ("downloads", "apache-2.0")
    assert 20e9 < asked[-1].max_params < 30e9
    n_asked = len(asked)
    QTest.keyClicks(page.search, "wolf")
    qtbot.waitUntil(lambda: asked[-1].text == "wolf")
    assert len(asked) == n_asked + 1, "typing asks once"
    QTest.keyClicks(page.search, "s")
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    assert asked[-1].text == "wolfs"


def test_drafts_are_looked_for_by_architecture_and_size(on_hub: OnHub) -> None:
    page, target = on_hub.page, replace(TARGET, architecture="qwen2", n_params=8 * GB)
    page.begin(takes_focus=False)
    show(page, Picks(2, target), 0)
    assert on_hub.queries[-1] == SearchQuery(architecture="qwen2", max_params=2 * GB)
    page.drafts.setChecked(False)
    assert page.query() == SearchQuery()
    page.drafts.setChecked(True)
    show(page, Picks(1, target), 0)
    assert on_hub.queries[-1] == SearchQuery()


def test_an_address_in_the_field_opens_its_repository(on_hub: OnHub) -> None:
    page = on_hub.page
    on_hub.hub.found[MODEL.repo] = [MODEL]
    page.fits.setChecked(True)
    page.search.setText("https://huggingface.co/o/Wolf-GGUF/resolve/main/wolf-Q8_0.gguf")
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    assert on_hub.queries[-1] == SearchQuery(text=MODEL.repo), "behind it, whatever its size"
    on_hub.jobs.carry_out_all()
    assert on_hub.front is page.card
    page.card.back_button.click()
    assert on_hub.front is page.rows
    page.search.setText("https://example.com/o/Wolf-GGUF")
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    assert not on_hub.search.repo, "an address that leads elsewhere is words"


def test_what_is_typed_before_a_repository_is_opened_is_searched_for_after_it(
    on_hub: OnHub,
) -> None:
    on_hub.hub.found["wolf"] = [MODEL]
    on_hub.page.search.setText("wolf")
    on_hub.open()
    assert on_hub.queries == [SearchQuery("wolf")]
    show(on_hub.page, Picks(), 0)
    assert on_hub.front is on_hub.page.card
    on_hub.page.card.back_button.click()
    assert titles(on_hub.page) == ["o/Wolf-GGUF"]


def test_the_states_of_a_search(on_hub: OnHub) -> None:
    page, hub, state = on_hub.page, on_hub.hub, on_hub.page.state
    online = []
    on_hub.search.online_wanted.connect(lambda: online.append(True))

    def search() -> str:
        page.search_now()
        assert state.title.text() == "Searching…"
        on_hub.jobs.carry_out_all()
        return state.title.text()

    assert search() == "Nothing found"
    hub.error = HubError("no-network", "No network.", "Check it.")
    assert search() == "Nothing is found while offline", "the dialog says why, for all pages"
    assert on_hub.search.out_of_reach == "no-network"
    hub.error = HubError("http", "It is broken.", "Come back.")
    assert search() == "Hugging Face did not answer as it should"
    assert state.text.text() == "It is broken. Come back."
    assert not on_hub.search.out_of_reach
    hub.offline = True
    state.button.click()
    on_hub.jobs.carry_out_all()
    assert on_hub.search.out_of_reach == "offline"
    hub.offline, hub.error, hub.found = False, None, {"": [MODEL]}
    on_hub.search.go_online()
    on_hub.jobs.carry_out_all()
    assert online == [True]
    assert on_hub.front is page.rows
    press(page, 0, Qt.Key.Key_Return)
    assert on_hub.search.repo == "o/Wolf-GGUF"
    assert on_hub.said.picked == on_hub.said.confirmed == []


def test_a_repository_takes_the_place_of_the_results(on_hub: OnHub) -> None:
    page, card = on_hub.page, on_hub.page.card
    on_hub.hub.pages[MODEL.repo] = replace(REPOSITORY, choices=CHOICES[1::-1])
    page.open_repository(MODEL.repo)
    assert "Looking" in page.state.title.text()
    on_hub.jobs.carry_out_all()
    assert not page.sort.isVisible(), "it says nothing about its files"
    assert card.files.hasFocus()
    assert card.files.currentIndex().row() == 1, "the recommended one"
    QTest.keyClick(card.files, Qt.Key.Key_Space)
    assert on_hub.said.picked == ["Q4_K_M"]
    page.open_repository("o/gone")
    on_hub.jobs.carry_out_all()
    assert "There is no such repository." in page.state.text.text()
    card.back_button.click()
    assert page.sort.isVisible()


def test_access_is_asked_for_and_a_token_given(
    on_hub: OnHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: urls.append(url.toString()))
    gated = replace(REPOSITORY, model=replace(MODEL, gate="manual"), has_access=False)
    on_hub.hub.pages[MODEL.repo] = gated
    on_hub.open()
    card = on_hub.page.card
    assert card.gate.isVisible()
    card.ask_button.click()
    assert urls == ["https://example.org/o/Wolf-GGUF"]
    assert card.token.echoMode() == card.token.EchoMode.Password
    assert not card.token_button.isEnabled()
    QTest.keyClicks(card.token, "hf_secret")
    show(on_hub.page, Picks(), 3 * GB)
    assert card.token.text() == "hf_secret", "free memory that changes empties no field"
    on_hub.hub.pages[MODEL.repo] = replace(gated, has_access=True)
    QTest.keyClick(card.token, Qt.Key.Key_Return)
    assert card.token.text() == ""
    on_hub.jobs.carry_out_all()
    assert on_hub.hub.kept == ["hf_secret"]
    assert card.gate.isHidden()
    assert card.pill.text() == "access granted"
