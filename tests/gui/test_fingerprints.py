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


def test_both_models_are_known_soon_after_the_load_and_looked_at_again(
    background: Background, qtbot: QtBot, tmp_path: Path, target_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    pair = PairModel(background)
    prints = ModelHashes(pair, background, background)
    found: list[str] = []
    prints.found.connect(found.append)
    for _ in range(2):
        pair.pair_changed(ready(target_path, path))
    qtbot.waitUntil(lambda: len(found) == 2)
    assert sorted(found) == sorted([str(target_path), str(path)])
    for each in (target_path, path):
        assert prints.fingerprint_of(str(each)) == fingerprint_of(each)
    path.write_bytes(b"another")
    pair.pair_changed(PairState("loading"))
    pair.pair_changed(ready(tmp_path / "gone.gguf", path))
    qtbot.waitUntil(lambda: prints.fingerprint_of(str(path)) == fingerprint_of(path))
    assert prints.fingerprint_of(str(tmp_path / "gone.gguf")) == ""


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
