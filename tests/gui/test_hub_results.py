"""Searching the Hub from the window: rows, states, late answers, and an end within a second."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from hub_server import Fault, HubServer, Repository
from paceline.catalog.hub.client import Hub, TokenSource
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubModel, SearchQuery
from paceline.catalog.inspect.inspector import Inspector
from paceline.errors import UserError
from paceline.gui.kit.rows import ROW as ROW_ROLE
from paceline.gui.models.lists.hub_controller import HubController, HubResults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

ROW = HubModel("a/b", 1200, 3, "", "manual", "mit", 7_000_000_000, "llama", 4096, "")
WAIT_MS = 20_000


@pytest.fixture
def server() -> Iterator[HubServer]:
    found = {
        f"owner/model-{i:03}": Repository(
            f"owner/model-{i:03}",
            {"m-Q4_K_M.gguf": b"GGUF" + bytes(100), "m-F16.gguf": b"GGUF" + bytes(1000)},
            {"downloads": 1000 - i, "gguf": {"total": 10**9, "architecture": "llama"}},
        )
        for i in range(70)
    }
    found["other/gated"] = Repository("other/gated", {"x.gguf": b"GGUF"}, {"gated": "auto"})
    with HubServer(found, page_size=25) as running:
        yield running
    from huggingface_hub.utils import close_session

    close_session()


@pytest.fixture
def hub(server: HubServer, tmp_path: Path) -> Hub:
    return Hub(endpoint=server.endpoint, tokens=TokenSource({"HF_HOME": str(tmp_path)}))


@pytest.fixture
def controller(hub: Hub) -> Iterator[HubController]:
    made = HubController(hub)
    yield made
    assert any(made.close() for _ in range(10))


@pytest.fixture
def results(controller: HubController, qtmodeltester: ModelTester) -> HubResults:
    qtmodeltester.check(controller.results)
    return controller.results


def until(qtbot: QtBot, results: HubResults, *states: str) -> None:
    qtbot.waitUntil(lambda: results.state in states, timeout=WAIT_MS)


# ------------------------------------------------------------------------------------- the rows


def test_rows_and_what_is_said_of_them(results: HubResults) -> None:
    results.begin()
    assert results.state == "searching"
    results.append([ROW])
    index = results.index(0)
    assert index.data() == "a/b"
    assert index.data(ROW_ROLE) == ROW
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "a/b, 7B parameters, 1200 downloads, mit, must be asked for"
    assert results.state == "results"


def test_a_repository_is_shown_once(results: HubResults) -> None:
    results.begin()
    results.append([ROW])
    results.append([ROW])
    assert results.rows == (ROW,)


def test_states(results: HubResults) -> None:
    seen: list[str] = []
    results.state_changed.connect(lambda: seen.append(results.state))
    error, offline = UserError("timed-out", "x"), UserError("offline", "x")
    results.begin()
    results.end(has_more=False)
    results.begin()
    results.fail(error)
    assert results.error is error
    results.begin()
    assert results.error is None
    results.fail(offline)
    results.begin()
    results.append([ROW])
    results.end(has_more=True)
    assert results.has_more
    results.fail(error)
    assert (results.state, results.error, results.has_more) == ("results", error, False)
    assert seen == [
        "searching", "empty", "searching", "failed", "searching", "offline", "searching",
        "results", "results", "results",
    ]  # fmt: skip


# --------------------------------------------------------------------------------- the searches


def test_a_search_and_more_of_it(
    qtbot: QtBot, controller: HubController, results: HubResults, server: HubServer
) -> None:
    assert results.state == "idle"
    controller.search(SearchQuery("model", "downloads", limit=30))
    assert results.state == "searching"
    qtbot.waitUntil(lambda: results.has_more, timeout=WAIT_MS)
    assert results.rowCount() == 30
    assert results.rows[0].repo == "owner/model-000"
    assert len(server.requests) == 2
    controller.more()
    controller.more()
    qtbot.waitUntil(lambda: results.has_more, timeout=WAIT_MS)
    assert results.rowCount() == 60
    controller.more()
    qtbot.waitUntil(lambda: results.rowCount() == 70, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not controller._is_asking, timeout=WAIT_MS)
    assert not results.has_more
    controller.more()
    assert len(server.requests) == 3
    assert [m.downloads for m in results.rows] == list(range(1000, 930, -1))


def test_nothing_found(qtbot: QtBot, controller: HubController, results: HubResults) -> None:
    controller.search(SearchQuery("unheard-of"))
    until(qtbot, results, "empty")


def test_offline_and_online_again(
    qtbot: QtBot, controller: HubController, results: HubResults, server: HubServer
) -> None:
    controller.set_offline(True)
    controller.search(SearchQuery("model"))
    until(qtbot, results, "offline")
    assert results.error is not None
    assert results.error.hint
    assert not server.requests
    controller.set_offline(False)
    controller.search(SearchQuery("model"))
    until(qtbot, results, "results")


def test_a_failure(
    qtbot: QtBot, controller: HubController, results: HubResults, server: HubServer
) -> None:
    server.add(Fault(status=429, retry_after=40))
    controller.search(SearchQuery("model"))
    until(qtbot, results, "failed")
    assert isinstance(results.error, HubError)
    assert "40 s" in results.error.hint


def test_a_failure_after_the_first_page_leaves_the_rows(
    qtbot: QtBot, controller: HubController, results: HubResults, server: HubServer
) -> None:
    server.add(Fault(skip=1, status=500))
    controller.search(SearchQuery("model", limit=50))
    qtbot.waitUntil(lambda: results.error is not None, timeout=WAIT_MS)
    assert results.state == "results"
    assert results.rowCount() == 25


def test_a_late_answer_is_dropped(
    qtbot: QtBot, controller: HubController, results: HubResults, server: HubServer
) -> None:
    server.add(Fault(latency_s=0.5, times=1))
    controller.search(SearchQuery("gated"))
    qtbot.waitUntil(lambda: len(server.requests) == 1, timeout=WAIT_MS)
    controller.search(SearchQuery("model-001"))
    until(qtbot, results, "results")
    qtbot.wait(150)
    assert [model.repo for model in results.rows] == ["owner/model-001"]


def test_the_window_is_never_kept_waiting(
    qtbot: QtBot, controller: HubController, results: HubResults, server: HubServer
) -> None:
    server.add(Fault(silent=True))
    began = time.monotonic()
    for i in range(20):
        controller.search(SearchQuery(f"model-{i}"))
        controller.open_repository("owner/model-001")
    assert time.monotonic() - began < 1
    controller.stop()
    qtbot.wait(50)
    assert results.state == "searching"


def test_closing_takes_less_than_a_second(qtbot: QtBot, hub: Hub, server: HubServer) -> None:
    server.add(Fault(silent=True))
    controller = HubController(hub)
    controller.search(SearchQuery("model"))
    controller.open_repository("owner/model-001")
    qtbot.waitUntil(lambda: len(server.requests) == 2, timeout=WAIT_MS)
    began = time.monotonic()
    assert controller.close()
    assert time.monotonic() - began < 1
    controller.search(SearchQuery("model"))
    controller.open_repository("owner/model-001")
    controller.set_token("hf_x")
    qtbot.wait(50)
    assert len(server.requests) == 2


def test_closing_after_an_answer_that_was_not_taken_yet(
    qtbot: QtBot, hub: Hub, server: HubServer
) -> None:
    """It lies in the queue of a thread that is about to delete who it is for."""
    for _ in range(10):
        server.requests.clear()
        controller = HubController(hub)
        controller.search(SearchQuery("model"))
        controller.open_repository("owner/model-001")
        while len(server.requests) < 2:
            time.sleep(0.01)
        assert any(controller.close() for _ in range(10))
        del controller


# ------------------------------------------------------------------------------ the repositories


def test_a_repository_with_a_recommendation(qtbot: QtBot, controller: HubController) -> None:
    with qtbot.waitSignal(controller.repository_ready, timeout=WAIT_MS) as caught:
        controller.open_repository("owner/model-001", n_free=1 << 30)
    assert caught.args is not None
    page, best = caught.args
    assert page.model.repo == "owner/model-001"
    assert best.quantisation == "Q4_K_M"
    with qtbot.waitSignal(controller.repository_ready, timeout=WAIT_MS) as caught:
        controller.open_repository("owner/model-001")
    assert caught.args is not None
    assert caught.args[1] is None, "nothing is known of this machine"


def test_a_newer_repository_has_no_recommendation(
    qtbot: QtBot, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspector = Inspector()
    monkeypatch.setattr(inspector, "what_is_unknown", "unknown model architecture: '{}'".format)
    controller = HubController(hub, inspector=inspector)
    with qtbot.waitSignal(controller.repository_ready, timeout=WAIT_MS) as caught:
        controller.open_repository("owner/model-001", n_free=1 << 30)
    assert caught.args is not None
    page, best = caught.args
    assert (page.newer, best) == ("unknown model architecture: 'llama'", None)
    assert any(controller.close() for _ in range(10))
    inspector.close()


def test_a_repository_that_is_not_there(qtbot: QtBot, controller: HubController) -> None:
    with qtbot.waitSignal(controller.repository_failed, timeout=WAIT_MS) as caught:
        controller.open_repository("owner/none")
    assert caught.args is not None
    assert caught.args[0].code == "not-found"


def test_only_the_last_repository_counts(
    qtbot: QtBot, controller: HubController, server: HubServer
) -> None:
    server.add(Fault("*model-001*", latency_s=0.4))
    seen: list[str] = []
    controller.repository_ready.connect(lambda page, _best: seen.append(page.model.repo))
    controller.repository_failed.connect(lambda error: seen.append(error.code))
    controller.open_repository("owner/model-001")
    qtbot.waitUntil(lambda: len(server.requests) == 1, timeout=WAIT_MS)
    controller.open_repository("owner/model-002")
    qtbot.waitUntil(lambda: bool(seen), timeout=WAIT_MS)
    qtbot.wait(100)
    assert seen == ["owner/model-002"]


# ------------------------------------------------------------------------------------- the token


def test_a_token_is_kept_off_the_main_thread(
    qtbot: QtBot, controller: HubController, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    keep = hub.tokens.set_token

    def watched(token: str) -> None:
        threads.append(threading.current_thread())
        keep(token)

    monkeypatch.setattr(hub.tokens, "set_token", watched)
    with qtbot.waitSignal(controller.token_kept, timeout=WAIT_MS):
        controller.set_token("hf_new")
    assert hub.tokens.token() == "hf_new"
    assert threads[0] is not threading.main_thread()
    with qtbot.waitSignal(controller.token_failed, timeout=WAIT_MS) as caught:
        controller.set_token("no token")
    assert caught.args is not None
    assert caught.args[0].code == "bad-token"


def test_a_bug_is_told_and_not_swallowed(
    qtbot: QtBot, controller: HubController, results: HubResults, hub: Hub,
    monkeypatch: pytest.MonkeyPatch, allow_warnings: Any,
) -> None:  # fmt: skip
    allow_warnings("a job in the background failed")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("bug")

    monkeypatch.setattr(hub, "repository", broken)
    with qtbot.waitSignal(controller.repository_failed, timeout=WAIT_MS) as caught:
        controller.open_repository("owner/model-001")
    assert caught.args is not None
    assert caught.args[0].code == "internal"
    monkeypatch.setattr(hub, "search", lambda *_: map(broken, [1]))
    controller.search(SearchQuery("model"))
    until(qtbot, results, "failed")
    assert results.error is not None
    assert results.error.code == "internal"
