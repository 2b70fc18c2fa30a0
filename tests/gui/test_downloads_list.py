"""The list of downloads: what it says, its buttons, the keyboard, and what it keeps in place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import pytest
from PySide6.QtCore import Qt

from paceline.catalog.download.record import Download, DownloadedFile, DownloadRequest, Status
from paceline.gui.models.downloads.model import DownloadsModel, line, steps, title
from paceline.gui.models.downloads.panel import DownloadRow, DownloadsPanel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


GB = 10**9
REQUEST = DownloadRequest(
    "Qwen/Qwen2.5-7B-GGUF", ("sub/Qwen2.5-7B-Q4_K_M.gguf",), "main", "/models"
)
SPLIT = replace(REQUEST, files=("Big-Q8_0-00001-of-00002.gguf", "Big-Q8_0-00002-of-00002.gguf"))
HALF = 5 * GB // 2


def state(
    id_: str, status: Status = "running", n_done: int = 0, n_total: int = 0, **more: Any
) -> Download:
    etag = "e" if n_total else ""
    file = DownloadedFile(REQUEST.files[0], etag, n_total, n_here=n_done)
    return Download(id_, REQUEST, (file,), status, **more)


RUNNING = state("a", n_done=3_100_000_000, n_total=4_900_000_000, bytes_per_s=23e6)


@pytest.fixture
def model() -> DownloadsModel:
    return DownloadsModel()


@pytest.fixture
def panel(model: DownloadsModel, qtbot: QtBot) -> DownloadsPanel:
    panel = DownloadsPanel(model)
    qtbot.addWidget(panel)
    panel.resize(480, 600)
    panel.show()
    return panel


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (RUNNING, "3.1 of 4.9 GB, 23 MB/s, 1 min left"),
        (replace(RUNNING, bytes_per_s=0.0), "3.1 of 4.9 GB"),
        (state("a"), "Connecting…"),
        (replace(RUNNING, obstacle="No network."), "No network. Trying again…"),
        (state("a", "waiting"), "Waits for another download to end"),
        (state("a", "paused", n_done=GB, n_total=4 * GB), "Paused, 1.0 of 4.0 GB"),
        (state("a", "paused", n_done=GB), "Paused, 1.0 GB"),
        (state("a", "paused", problem="The disk is full.", hint="Make room."),
         "The disk is full. Make room."),
        (state("a", "verifying", n_done=GB, n_total=GB), "Checking 1.0 GB…"),
        (state("a", "done", n_done=GB, n_total=GB), "Downloaded, 1.0 GB"),
        (state("a", "failed", problem="The Hub is gone.", hint="Try again."),
         "The Hub is gone. Try again."),
        (state("a", "cancelled"), "Cancelled; what had arrived is deleted"),
    ],
)  # fmt: skip
def test_how_a_download_stands_in_one_line(shown: Download, text: str) -> None:
    assert line(shown) == text


def test_all_of_them_in_one_line(model: DownloadsModel) -> None:
    assert (model.summary, model.progress, model.n_under_way) == ("", 0, 0)
    model.show([RUNNING])
    assert model.summary == "Qwen2.5-7B-Q4_K_M: 3.1 of 4.9 GB, 23 MB/s, 1 min left"
    model.show(
        [
            RUNNING,
            state("b", n_done=GB, n_total=2 * GB, bytes_per_s=5e6),
            state("c", "done", n_done=GB, n_total=GB),
            state("d", "paused", n_done=GB, n_total=9 * GB),
            state("e", "waiting", n_done=GB),
        ]
    )
    assert model.summary == "3 downloads: 5.1 of 6.9 GB, 28 MB/s, 1 min left"
    assert (model.progress, model.n_under_way) == (594, 3)


# --------------------------------------------------------------------------------------- panel


def only(panel: DownloadsPanel) -> DownloadRow:
    (row,) = panel.rows
    return row


def shown_buttons(row: DownloadRow) -> list[str]:
    return [step for step, button in row.buttons.items() if button.isVisibleTo(row)]


@pytest.mark.parametrize("status", get_args(Status))
def test_what_can_be_done_depends_on_the_status(
    model: DownloadsModel, panel: DownloadsPanel, status: Status, qtbot: QtBot
) -> None:
    model.show([state("x", status)])
    row = only(panel)
    possible = steps(state("x", status))
    assert shown_buttons(row) == sorted(possible, key=list(row.buttons).index)
    assert len(possible) in (1, 2)
    for step in possible:
        with qtbot.waitSignal(panel.wanted) as wanted:
            row.buttons[step].click()
        assert wanted.args == [step, "x"]
    assert row.accessibleName() == "Qwen2.5-7B-Q4_K_M"
    assert row.accessibleDescription() == line(state("x", status))
    names = {button.accessibleName() for button in row.buttons.values()}
    assert len(names) == len(row.buttons)
    assert all("Qwen2.5-7B" in name for name in names)


def test_a_row_follows_its_download(model: DownloadsModel, panel: DownloadsPanel) -> None:
    assert panel.empty.isVisible()
    model.show([RUNNING])
    assert not panel.empty.isVisible()
    row = only(panel)
    assert (row.name.text(), row.repo.text()) == ("Qwen2.5-7B-Q4_K_M", "Qwen/Qwen2.5-7B-GGUF")
    assert (row.bar.value(), row.bar.maximum()) == (632, 1000)
    model.show([state("a", n_done=HALF, n_total=5 * GB)])
    assert only(panel) is row
    assert row.bar.value() == 500
    model.show([state("a", "failed", n_done=HALF, n_total=5 * GB, problem="The Hub is gone.")])
    assert row.line.property("role") == "danger"
    model.show([state("a", "done", n_done=5 * GB, n_total=5 * GB)])
    assert row.line.property("role") == "small"
    assert not row.bar.isVisibleTo(row)
    assert title(replace(RUNNING, request=SPLIT)) == "Big-Q8_0"
    head = replace(REQUEST, files=("mtp-gemma-4-12B-it.gguf",))
    assert steps(replace(state("x", "done"), request=head)) == ("forget",), "it is no model"
    model.show([])
    assert panel.empty.isVisible()


def test_the_keyboard_reaches_every_button_and_is_not_lost(
    model: DownloadsModel, panel: DownloadsPanel, qtbot: QtBot
) -> None:
    model.show([state("a"), state("b"), state("c")])
    panel.activateWindow()
    top, middle, bottom = panel.rows
    qtbot.waitUntil(lambda: all(row.isVisible() for row in panel.rows))
    top.focus_first()
    reached = []
    for _ in range(6):
        focused = panel.focusWidget()
        assert focused is not None
        reached.append((focused.parent(), focused.property("step")))
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert reached == [(row, step) for row in (top, middle, bottom) for step in ("pause", "cancel")]
    middle.focus_first()
    model.show([state("a"), state("b", "paused"), state("c")])
    assert panel.focusWidget() is middle.buttons["resume"]
    model.show([state("a"), state("c")])
    assert panel.focusWidget() is bottom.buttons["pause"]
    with qtbot.waitSignal(panel.wanted) as wanted:
        qtbot.keyClick(bottom.buttons["pause"], Qt.Key.Key_Space)
    assert wanted.args == ["pause", "a"]
