"""The file with the last reply's figures."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from message_samples import sample
from paceline.chat.last_run import FILE_NAME, LastRun, load_last_run, save_last_run
from paceline.figures import Reread
from paceline.messages import ModelInfo, TurnFinished, TurnStats

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = LastRun("draft:n_max=4", "target.gguf", "draft.gguf", sample(TurnStats), 1.75e9)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    save_last_run(folder, RUN)
    assert load_last_run(folder) == RUN
    later = replace(RUN, draft=None, stats=structs.replace(RUN.stats, plain_tokens_per_s=None))
    save_last_run(folder, later)
    assert load_last_run(folder) == later
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


@pytest.mark.skipif(sys.platform == "win32", reason="no file modes there")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    save_last_run(tmp_path, RUN)
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_it_holds_no_word_and_no_token_of_the_reply(tmp_path: Path) -> None:
    reply = structs.replace(
        sample(TurnFinished), text="a secret", tokens=(424242,), seed=313131, strategy="off"
    )
    info = structs.replace(sample(ModelInfo), path="/home/somebody/models/m.gguf")
    reread = Reread("line", 99, "99 tokens were read again, since line 1 changed: “a secret”.")
    run = LastRun.of(reply.strategy, structs.replace(reply.stats, reread=reread), info, None)
    save_last_run(tmp_path, run)
    text = (tmp_path / FILE_NAME).read_text()
    for private in ("secret", "424242", "313131", "somebody"):
        assert private not in text
    assert (run.target, run.draft, run.strategy) == ("m.gguf", None, "off")
    assert run.stats == structs.replace(reply.stats, reread=None)
    assert load_last_run(tmp_path) == run


def test_a_folder_that_cannot_be_made_is_logged_and_no_more(
    tmp_path: Path, allow_warnings: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    allow_warnings("figures of the last reply")
    (tmp_path / "file").write_text("")
    save_last_run(tmp_path / "file", RUN)
    assert len(caplog.records) == 1
    assert load_last_run(tmp_path / "file") is None


def test_a_file_that_cannot_be_replaced_leaves_no_other(
    tmp_path: Path, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("figures of the last reply")
    (tmp_path / FILE_NAME / "inside").mkdir(parents=True)
    save_last_run(tmp_path, RUN)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def change(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: data.update(changes)


def change_stats(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: data["stats"].update(changes)


@pytest.mark.parametrize(
    "damage",
    [
        change(version=2),
        change(strategy=None),
        change(when=-1.0),
        change_stats(n_steps=10**400),
        change_stats(tokens_per_s=float("nan")),
        lambda data: data.pop("stats"),
    ],
)
def test_a_damaged_file_counts_as_missing(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object]
) -> None:
    save_last_run(tmp_path, RUN)
    path = tmp_path / FILE_NAME
    data = json.loads(path.read_text())
    damage(data)
    path.write_text(json.dumps(data))
    assert load_last_run(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b" " * 1_000_001])
def test_garbage_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert load_last_run(tmp_path) is None
