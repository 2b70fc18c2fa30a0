"""`paceline models list`: a table for people, JSON for programs, problems in both."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from cli.program import Result, assert_one_clear_line, paceline
from paceline.catalog.local.library import Library
from paceline.cli import models as command
from paceline.settings import Settings, save_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("one_reader_for_all")

KEYS = [
    "path", "name", "architecture", "n_params", "quantisation", "n_ctx_train", "size",
    "vocabulary", "license", "source", "problem", "sidecar", "mtp_head",
]  # fmt: skip


@pytest.fixture
def models(tmp_path: Path) -> Callable[..., Result]:
    """Runs the command where no other program has models."""
    home = tmp_path / "home"
    home.mkdir()
    environ = {
        "HOME": str(home), "USERPROFILE": str(home), "XDG_CACHE_HOME": str(home / "cache"),
        "HF_HOME": "", "HF_HUB_CACHE": "", "LLAMA_CACHE": "", "OLLAMA_MODELS": str(home / "none"),
    }  # fmt: skip
    return lambda *arguments: paceline("models", *arguments, environ=environ)


@pytest.fixture
def folder(tmp_path: Path, draft_path: Path) -> Path:
    folder = tmp_path / "disk"
    (folder / "deep").mkdir(parents=True)
    shutil.copy(draft_path, folder / "deep" / "Small.gguf")
    (folder / "broken.gguf").write_text("This is no model.")
    return folder


def by_name(result: Result) -> dict[str, dict[str, Any]]:
    return {record["name"]: record for record in json.loads(result.out)}


def test_as_json(models: Callable[..., Result], folder: Path) -> None:
    result = models("list", "--json", "--folder", folder)
    assert (result.code, result.err) == (0, "")
    found = by_name(result)
    assert list(found) == [
        "broken", "paceline-demo-draft-q8_0", "paceline-demo-target-q8_0", "Small",
    ]  # fmt: skip
    assert all(list(record) == KEYS for record in found.values())
    small, broken = found["Small"], found["broken"]
    assert small["path"] == str(folder / "deep" / "Small.gguf")
    assert small["size"] == (folder / "deep" / "Small.gguf").stat().st_size
    assert (small["quantisation"], small["source"], small["problem"]) == ("Q8_0", "folder", None)
    assert small["n_params"] > 1_000_000
    assert small["n_ctx_train"] > 0
    assert small["vocabulary"] == found["paceline-demo-target-q8_0"]["vocabulary"]
    assert found["paceline-demo-target-q8_0"]["source"] == "built-in"
    assert "broken.gguf" in broken["problem"]
    assert (broken["n_params"], broken["architecture"], broken["size"]) == (None, None, 17)


def test_as_a_table(models: Callable[..., Result], folder: Path) -> None:
    result = models("list", "--folder", folder, "--folder", folder / "deep")
    assert (result.code, result.err) == (0, "")
    title, *lines = result.out.splitlines()
    assert title.split() == [
        "name", "parameters", "quantisation", "context", "size", "place", "path",
    ]  # fmt: skip
    assert len(lines) == 5, "four models and a problem"
    (small,) = [line for line in lines if line.startswith("Small ")]
    assert "Q8_0" in small
    assert "1.8 MB" not in small, "tenths of a megabyte help nobody"
    assert "2 MB" in small
    assert small.index("folder") == title.index("place")
    assert small.endswith(str(folder / "deep" / "Small.gguf"))
    at = next(at for at, line in enumerate(lines) if line.startswith("broken "))
    assert "“broken.gguf” is" in lines[at + 1]


def test_the_folders_of_the_settings(
    models: Callable[..., Result], folder: Path, paceline_home: Path
) -> None:
    save_settings(
        paceline_home / "config" / "settings.json", Settings(model_folders=(str(folder),))
    )
    assert "Small" in by_name(models("list", "--json"))


def test_settings_that_cannot_be_used_stay_as_they_are(
    models: Callable[..., Result], paceline_home: Path
) -> None:
    file = paceline_home / "config" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    assert models("list", "--json").code == 0
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_folder_that_is_missing(models: Callable[..., Result], tmp_path: Path) -> None:
    result = models("list", "--folder", tmp_path / "missing")
    assert (result.code, result.out) == (1, "")
    assert_one_clear_line(result, "missing")


@pytest.mark.parametrize("arguments", [[], ["list", "--folder"], ["delete"], ["list", "more"]])
def test_wrong_usage(models: Callable[..., Result], arguments: list[str]) -> None:
    result = models(*arguments)
    assert (result.code, result.out) == (2, "")
    assert_one_clear_line(result)


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_ctrl_c_ends_the_search(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refresh(_self: Library, _on_entry: object, is_stopped: Callable[[], bool]) -> tuple[()]:
        os.kill(os.getpid(), signal.SIGINT)
        until = time.monotonic() + 5
        while not is_stopped() and time.monotonic() < until:
            time.sleep(0.01)
        assert is_stopped()
        return ()

    monkeypatch.setattr(Library, "refresh", refresh)
    assert command.run(argparse.Namespace(action="list", folder=[], json=True)) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_name_keeps_to_its_line(models: Callable[..., Result], folder: Path) -> None:
    (folder / "two\nlines\x1b[31m.gguf").write_text("This is no model.")
    result = models("list", "--folder", folder)
    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) == 1 + 5 + 2, "a title, five models, two problems"
    assert "two lines [31m" in result.out
    assert "two\nlines\x1b[31m" in by_name(models("list", "--json", "--folder", folder))
