"""`paceline chat --remember`: later chats find drafts in what earlier ones have left."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from cli.program import chat, paceline
from paceline.cli import chat_run
from paceline.cli.chat_run import FILE_NAME, add_texts, load_texts
from paceline.settings import SETTINGS_FILE, peek_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REPLY = (
    "--strategy", "suffix", "--max-tokens", "60", "--temperature", "0", "--seed", "1",
    "--ignore-eog",
)  # fmt: skip


def n_accepted(*options: str) -> int:
    result = chat(*REPLY, *options)
    assert result.code == 0, result.err
    n: int = result.finished["stats"]["n_accepted"]
    return n


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("host", ["inline", "process"])
def test_a_later_chat_is_drafted_from_an_earlier_one(paceline_home: Path, host: str) -> None:
    alone = n_accepted("--host", host)
    assert not (paceline_home / "data" / FILE_NAME).exists(), "nothing is stored unasked"
    assert n_accepted("--host", host, "--remember") == alone
    assert n_accepted("--host", host, "--remember") > alone + 20
    if host == "inline":
        assert n_accepted("--host", host) == alone
        assert paceline("cache", "clear").code == 0
        assert n_accepted("--host", host, "--remember") == alone


def test_what_is_kept_are_the_texts(paceline_home: Path) -> None:
    old = paceline_home / "data" / "drafts" / "0123456789abcdef"
    old.mkdir(parents=True)
    (old / "ngram-mod-24.pool").write_bytes(bytes(64))
    result = chat("--remember", "--system", "Be brief.", prompt="What is a set?")
    file = paceline_home / "data" / FILE_NAME
    assert [json.loads(line) for line in file.read_text().splitlines()] == [
        ["Be brief.", "What is a set?", result.finished["text"]]
    ]
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o777 == 0o600
    assert not old.parent.exists(), "what old versions kept goes"


def test_how_the_switch_was_left_is_not_forgotten(paceline_home: Path) -> None:
    old = paceline_home / "data" / "drafts" / "0123456789abcdef" / "chats"
    old.mkdir(parents=True)
    load_texts(paceline_home / "data")
    assert old.exists(), "the window has not seen it yet"
    assert paceline("cache", "clear").code == 0
    assert not old.exists()
    assert not peek_settings(paceline_home / "config" / SETTINGS_FILE).learns_from_chats


def test_the_newest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_run, "MAX_REMEMBERED_BYTES", 40)
    for n in range(5):
        add_texts(tmp_path, [f"question {n}"])  # 16 bytes each
    assert load_texts(tmp_path) == ("question 3", "question 4")
    add_texts(tmp_path, ["x" * 100])
    assert load_texts(tmp_path) == ()


def test_damaged_lines_are_left_out(tmp_path: Path, allow_warnings: Callable[[str], None]) -> None:
    assert load_texts(tmp_path / "nowhere") == ()
    (tmp_path / FILE_NAME).write_bytes(b'["a", 1]\n{"b": 2}\n\xff["c"]\n["d"')
    assert load_texts(tmp_path) == ("a",)
    allow_warnings("This chat is not remembered")
    (tmp_path / "file").write_text("")
    add_texts(tmp_path / "file", ["a"])
