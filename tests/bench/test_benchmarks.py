"""The benchmarks of `packaging`: each is listed, and backs a sentence that is there."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from architecture.source import REPOSITORY
from benchmarks import many_chats
from benchmarks.__main__ import BENCHMARKS, FOLDER, main, overview
from paceline.storage.archive import Archive


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_can_be_run_and_backs_a_sentence(name: str) -> None:
    benchmark = BENCHMARKS[name]
    assert callable(importlib.import_module(benchmark.module).main)
    assert benchmark.sentence in (REPOSITORY / benchmark.page).read_text("utf-8")
    assert benchmark.measures in overview()


def test_every_program_of_the_folder_is_listed() -> None:
    programs = {path.stem for path in FOLDER.glob("[!_]*.py") if "\ndef main(" in path.read_text()}
    listed = {benchmark.module.rpartition(".")[2] for benchmark in BENCHMARKS.values()}
    assert programs <= listed


@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), ([], 2), (["nothing"], 2)])
def test_the_list_is_printed(
    arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    assert "versus_server" in capsys.readouterr().out


def test_a_database_of_many_chats(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "chats.db")
    archive.open()
    many_chats.build(archive, many_chats.Texts(), 5, 40)
    chats = [archive.load(summary.conversation_id) for summary in archive.summaries()]
    archive.close()
    assert sorted(len(chat.messages) for chat in chats) == [5, 5, 5, 5, 20]
