"""A benchmark's passport, dropped on the window: its figures, and what it was made with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from bench.test_passport import made
from gui.test_exchange import drop
from paceline.bench.report import to_json
from paceline.gui.bench.dialog import PassportDialog

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.kit.notices import Notice
    from paceline.gui.program import Program

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("plain_windows"),
]


def dialogs(program: Program) -> list[PassportDialog]:
    return program.window.findChildren(PassportDialog)


def test_a_dropped_passport_is_shown(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot, appeared: list[str]
) -> None:
    file = tmp_path / "passport.json"
    file.write_text(json.dumps(to_json(made())), encoding="utf-8")
    drop(program, 100, file)
    qtbot.waitUntil(lambda: bool(dialogs(program)))
    (dialog,) = dialogs(program)
    assert dialog.windowTitle() == "Passport of target.gguf"
    assert dialog.isVisible()
    assert appeared == ["PassportDialog"], "no card of it was a window before"
    assert "is fastest: 2.00× as fast" in dialog.results.sentence.text()
    assert "Measured on 2026-11-23 08:15 UTC by Paceline 0.2.0." in dialog.results.details.text()
    assert [panel.title for panel in dialog.results.panels] == ["", "free"]
    facts = {card.title.text(): card.rows for card in dialog.cards}
    assert facts["Target"]["SHA-256"] == "a1"
    assert facts["Draft model"]["File"] == "draft.gguf"
    assert facts["Machine"]["Graphics"] == "A card"
    assert facts["Machine"]["Kernels"] == "own (Q8_0); llama.cpp's (F32)"
    assert facts["What a step takes"]["4 tokens"] == "15.0\u202fms, 1.50× of a plain step"
    accepted = facts["Accepted of all drafted tokens"]["free, temperature 0.8"]
    assert accepted == "Auto: suffix 8 of 16\nplugin.elsewhere:n_max=3: suffix 8 of 16"
    assert program.bench.report is None, "what was measured here is another thing"
    assert len(program.session.summaries) == 0, "nothing was imported"
    dialog.results.table.used.emit("draft:n_max=3")
    assert program.speculation.text == "draft:n_max=3"
    dialog.results.table.used.emit("plugin.elsewhere:n_max=3")
    assert program.speculation.text == "draft:n_max=3", "there is no such plug-in here"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialogs(program))


def test_a_damaged_one_is_told_and_the_good_one_beside_it_is_shown(
    program: Program, tmp_path: Path, qtbot: QtBot
) -> None:
    told: list[Notice] = []
    program.notices.posted.connect(told.append)
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    text = json.dumps(to_json(made()))
    good.write_text(text, encoding="utf-8")
    bad.write_text(text[:-100], encoding="utf-8")
    drop(program, 100, bad, good)
    qtbot.waitUntil(lambda: bool(dialogs(program)))
    assert told[-1].message == "“bad.json” is not whole: it is no JSON."
    (dialog,) = dialogs(program)
    dialog.close()
    qtbot.waitUntil(lambda: not dialogs(program))
