"""Fingerprints of the loaded pair come from the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gui.fake_client import model_info
from paceline.catalog.local.fingerprint import fingerprint_of
from paceline.chat.pair import PairState
from paceline.gui.kit.background import Background
from paceline.gui.run.hashes import ModelHashes
from paceline.gui.state.pair import PairModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def background(qtbot: QtBot) -> Iterator[Background]:
    made = Background()
    yield made
    assert made.close()
    made.deleteLater()


def ready(*paths: Path) -> PairState:
    target, draft = [model_info(str(path)) for path in paths]
    return PairState("ready", target=target, draft=draft)


def test_both_models_are_known_soon_after_the_load(
    background: Background, qtbot: QtBot, target_path: Path, draft_path: Path
) -> None:
    pair = PairModel(background)
    prints = ModelHashes(pair, background, background)
    assert prints.fingerprint_of(str(target_path)) == ""
    found: list[str] = []
    prints.found.connect(found.append)
    pair.pair_changed(ready(target_path, draft_path))
    pair.pair_changed(ready(target_path, draft_path))
    qtbot.waitUntil(lambda: len(found) == 2)
    assert prints.fingerprint_of(str(target_path)) == fingerprint_of(target_path)
    assert prints.fingerprint_of(str(draft_path)) == fingerprint_of(draft_path)
    assert sorted(found) == sorted([str(target_path), str(draft_path)])


def test_a_file_that_is_another_one_is_looked_at_again(
    background: Background, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    pair = PairModel(background)
    prints = ModelHashes(pair, background, background)
    pair.pair_changed(ready(tmp_path / "gone.gguf", path))
    qtbot.waitUntil(lambda: prints.fingerprint_of(str(path)) != "")
    assert prints.fingerprint_of(str(tmp_path / "gone.gguf")) == ""
    before = prints.fingerprint_of(str(path))
    path.write_bytes(b"another")
    pair.pair_changed(PairState("loading"))
    pair.pair_changed(ready(path, path))
    qtbot.waitUntil(lambda: prints.fingerprint_of(str(path)) != before)


def test_a_hash_can_be_cancelled_and_begun_again_and_a_failure_is_reported(
    background: Background, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "large.gguf"
    with path.open("wb") as file:
        file.truncate(300 << 20)
    hashes = ModelHashes(PairModel(background), background, background)
    ended: list[str] = []
    percents: list[int] = []
    hashes.ended.connect(ended.append)
    hashes.progressed.connect(lambda _, percent: percents.append(percent))
    hashes.start(str(path))
    hashes.start(str(path))
    hashes.cancel()
    qtbot.waitUntil(lambda: len(ended) == 1)
    assert hashes.sha256_of(str(path)) == ""
    with path.open("r+b") as file:
        file.truncate(3 << 20)
    hashes.start(str(path))
    qtbot.waitUntil(lambda: hashes.sha256_of(str(path)) != "")
    assert percents[-1] == 100
    assert percents.count(0) >= 2
    with qtbot.waitSignal(hashes.failed) as caught:
        hashes.start(str(tmp_path / "gone.gguf"))
    assert "gone.gguf" in str(caught.args[0])
