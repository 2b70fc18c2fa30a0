"""Searching the Hub from the window: any order of wishes and answers, and a quick end."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gui.fake_hub import MODEL, FakeHub, HeldBackground, page_of
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import SearchQuery
from paceline.gui.models.lists import hub_search
from paceline.gui.models.lists.hub_search import HubSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.catalog.hub.values import HubModel

WAIT_MS = 20_000
WORDS = {"many": 70, "few": 3, "nothing": 0}
REPOS = ("o/here", "o/gone")


def _found(word: str, n: int) -> list[HubModel]:
    """Results of which every tenth stands on two pages."""
    models = [replace(MODEL, repo=f"{word}/{at:03}") for at in range(n)]
    return [each for at, model in enumerate(models) for each in [model] * (1 + (at % 10 == 9))]


class Wishes(RuleBasedStateMachine):
    """Any order of wishes, and of the answers to them."""

    def __init__(self) -> None:
        super().__init__()
        self.hub = FakeHub({word: _found(word, n) for word, n in WORDS.items()})
        self.hub.pages["o/here"] = page_of("o/here")
        with patch.object(hub_search, "Background", HeldBackground):
            self.search = HubSearch(self.hub)  # type: ignore[arg-type]
        jobs = self.search.findChild(HeldBackground)
        assert jobs is not None
        self.jobs = jobs
        self.n_wanted = 0
        self.repo = ""

    @rule(word=st.sampled_from(sorted(WORDS)), limit=st.integers(1, 30))
    def search_for(self, word: str, limit: int) -> None:
        self.search.search(SearchQuery(word, limit=limit))
        self.n_wanted = limit
        assert self.search.models == ()
        assert self.search.is_searching

    @rule()
    def ask_for_more(self) -> None:
        if self.search.has_more and self.search.query is not None:
            self.n_wanted = len(self.search.models) + self.search.query.limit
        self.search.more()

    @rule(repo=st.sampled_from(REPOS))
    def look_at(self, repo: str) -> None:
        self.search.open_repository(repo)
        self.repo = repo

    @rule()
    def go_back(self) -> None:
        self.search.leave_repository()
        self.repo = ""

    @rule()
    def ask_again(self) -> None:
        self.search.ask_again()
        if not self.repo and self.search.query is not None:
            self.n_wanted = self.search.query.limit

    @rule()
    def close_the_dialog(self) -> None:
        self.search.stop()
        self.repo = ""
        assert self.search.query is None

    @rule(is_broken=st.booleans())
    def break_the_hub(self, is_broken: bool) -> None:
        self.hub.error = HubError("timed-out", "No answer.", "") if is_broken else None

    @precondition(lambda self: self.jobs.jobs)
    @rule(data=st.data(), is_late=st.booleans())
    def answer(self, data: st.DataObject, is_late: bool) -> None:
        at = data.draw(st.integers(0, len(self.jobs.jobs) - 1))
        (self.jobs.compute if is_late else self.jobs.carry_out)(at)

    @rule()
    def answer_all(self) -> None:
        self.jobs.carry_out_all()
        search, query = self.search, self.search.query
        assert not search.is_searching
        assert not search.repo or search.repository or search.repo_error
        if query is not None and search.error is None:
            n_all = WORDS[query.text]
            assert len(search.models) >= min(self.n_wanted, n_all)
            assert search.has_more or len(search.models) == n_all
            assert not (search.has_more and self.n_wanted > n_all)

    @invariant()
    def only_what_was_asked_for_last_is_shown(self) -> None:
        search = self.search
        word = search.query.text if search.query is not None else ""
        wanted = [f"{word}/{at:03}" for at in range(len(search.models))]
        assert [model.repo for model in search.models] == wanted
        assert len(wanted) <= self.n_wanted
        assert search.repo == self.repo
        if search.repository is not None:
            assert search.repository.model.repo == self.repo == "o/here"
        if search.repo_error is not None:
            assert self.repo == "o/gone"
        assert not (search.is_searching and (search.has_more or search.error))


TestWishes = Wishes.TestCase


def test_a_token_is_kept_and_what_was_asked_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_search, "Background", HeldBackground)
    hub, failed = FakeHub(), list[object]()
    search = HubSearch(hub)  # type: ignore[arg-type]
    search.token_failed.connect(failed.append)
    jobs = search.findChild(HeldBackground)
    assert jobs is not None
    search.open_repository("o/gated")
    jobs.carry_out_all()
    assert search.repo_error is not None
    hub.pages["o/gated"] = page_of("o/gated")
    search.set_token("hf_new")
    jobs.carry_out_all()
    assert hub.kept == ["hf_new"]
    assert search.repository == hub.pages["o/gated"]
    search.set_token("no token")
    jobs.carry_out_all()
    assert len(failed) == 1


def test_what_was_found_before_a_failure_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_search, "Background", HeldBackground)
    hub = FakeHub({"many": _found("many", 30)})
    search = HubSearch(hub)  # type: ignore[arg-type]
    jobs = search.findChild(HeldBackground)
    assert jobs is not None
    search.search(SearchQuery("many", limit=20))
    jobs.carry_out_all()
    found = search.models
    hub.error = HubError("rate-limited", "Too many requests.", "Wait 40 s.")
    search.more()
    jobs.carry_out_all()
    assert search.error is hub.error
    assert search.models[: len(found)] == found != ()


class SilentHub(FakeHub):
    """A Hub that answers no search until it is stopped."""

    n_asked = 0

    def search(
        self, query: SearchQuery, is_stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[HubModel]:
        self.n_asked += 1
        while not is_stopped():
            time.sleep(0.005)
        yield from super().search(query, is_stopped)


def test_an_end_does_not_wait_for_a_silent_hub(qtbot: QtBot) -> None:
    hub = SilentHub({"many": _found("many", 3)})
    search = HubSearch(hub)  # type: ignore[arg-type]
    search.search(SearchQuery("many"))
    qtbot.waitUntil(lambda: hub.n_asked == 1)
    assert search.close()
    search.search(SearchQuery("many"))
    search.open_repository("o/here")
    assert not search.is_searching
    assert hub.n_asked == 1
