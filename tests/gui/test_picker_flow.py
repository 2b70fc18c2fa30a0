"""A search, a download and a first reply with the whole window, a local Hub and the real engine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gui.picker_world import demo_repositories
from hub_server import HubServer
from paceline import paths
from paceline.catalog.models import Models
from paceline.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.models.lists.hub_page import HubPage
    from paceline.gui.models.picker.dialog import PickerDialog
    from paceline.gui.program import Program

LIMIT_MS = 60_000


def find_and_take(qtbot: QtBot, dialog: PickerDialog, words: str) -> None:
    """Search by typing, open the only result, take its only file; all by keys."""
    hub = dialog.hub
    hub.search.setFocus()
    hub.search.selectAll()
    QTest.keyClicks(hub.search, words)
    qtbot.waitUntil(partial(_found, dialog, f"paceline/{words}-GGUF"), timeout=LIMIT_MS)
    qtbot.waitUntil(partial(_goes_down, hub), timeout=LIMIT_MS)
    QTest.keyClick(hub.rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: hub.stack.currentWidget() is hub.card, timeout=LIMIT_MS)
    QTest.keyClick(hub.card.files, Qt.Key.Key_Return)


def _goes_down(hub: HubPage) -> bool:
    """Press Down; where a filter was set meanwhile, the list comes after another search."""
    if not hub.rows.hasFocus():
        QTest.keyClick(hub.search, Qt.Key.Key_Down)
    return hub.rows.hasFocus() and hub.rows.isVisible()


def _found(dialog: PickerDialog, repo: str) -> bool:
    return [offer.title for offer in dialog.hub.rows.offers.rows] == [repo]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_search_judge_download_chat(
    qtbot: QtBot, make_real: Callable[..., Program], paceline_home: Path, tmp_path: Path
) -> None:
    references = demo_repositories(tmp_path / "hub")
    with HubServer(tmp_path / "hub") as server:
        models = Models(
            Paths.below(paceline_home), endpoint=server.endpoint, environ={}, home=tmp_path / "home"
        )
        program = make_real("thread", models=models)
        assert program.catalogue is not None
        program.start()
        qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=LIMIT_MS)
        picker = program.catalogue.picker
        program.window.actions_.choose_models.trigger()
        dialog = picker.dialog
        assert dialog is not None
        dialog.show_page(dialog.hub)
        find_and_take(qtbot, dialog, "demo-target")
        dialog.steps.group.idClicked.emit(2)
        find_and_take(qtbot, dialog, "demo-draft")
        picks = (picker.picks.target, picker.picks.draft)
        assert tuple(pick.reference for pick in picks if pick) == references
        qtbot.waitUntil(lambda: picker.judgement.judgement.plan is not None, timeout=LIMIT_MS)
        verdict = picker.judgement.judgement.verdict
        assert verdict is not None
        assert verdict.ok
        originals = paths.demo_pair()
        assert server.n_bytes_sent() < sum(path.stat().st_size for path in originals) / 2
        assert dialog.main.text() == "Download and load (21 MB)"
        assert dialog.focusWidget() is dialog.main
        QTest.keyClick(dialog.main, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: picker.dialog is None, timeout=LIMIT_MS)
        qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=LIMIT_MS)
        pair = program.pair.state.pair
        assert pair is not None
        assert pair.draft is not None
        for params, original, reference in zip(
            (pair.target, pair.draft), originals, references, strict=True
        ):
            assert Path(params.path).is_relative_to(models.models_folder)
            assert Path(params.path).read_bytes() == original.read_bytes()
            assert models.local_path(reference) == params.path
        program.window.panel.sampling.max_tokens.setValue(24)
        with qtbot.waitSignal(program.signals.ended, timeout=LIMIT_MS) as ended:
            program.chat.send("How do I open a file?")
        assert ended.args is not None
        reply = ended.args[0]
        assert reply.error is None
        assert reply.text.strip()
        program.window.close()
