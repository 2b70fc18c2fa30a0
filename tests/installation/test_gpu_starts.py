"""Drivers that end the program where they are started: after two such ends they are left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paceline.installation import gpu_starts

START = """
import os, sys
from paceline.installation import gpu_starts
with gpu_starts.guarded() as has_gpus:
    print(has_gpus, flush=True)
    if sys.argv[1] == "waits":
        sys.stdin.readline()
    elif sys.argv[1] == "dies":
        os._exit(9)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which starts are noted."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def start(how: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START, how], capture_output=True, text=True, check=False
    )
    assert done.returncode == (9 if how == "dies" else 0), done.stderr
    return done.stdout.strip()


def test_gpus_are_left_out_after_two_lost_starts_in_a_row() -> None:
    assert start("dies") == "True"
    assert gpu_starts.n_lost() == 1
    assert start("dies") == "True"
    assert [start("ends"), start("ends")] == ["False", "False"]
    assert gpu_starts.n_lost() == gpu_starts.MAX_FAILED_STARTS
    gpu_starts.noted_in().unlink()
    assert start("ends") == "True"


def test_one_lost_start_is_forgotten_after_one_that_comes_back() -> None:
    for how in ("dies", "ends", "dies"):
        assert start(how) == "True"
    assert gpu_starts.n_lost() == 1


def test_a_start_beside_another_is_not_noted() -> None:
    command = [sys.executable, "-c", START, "waits"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "True\n"
        assert start("dies") == "True"
        assert gpu_starts.n_lost() == 1  # the one that is under way
        first.communicate("\n")
    assert gpu_starts.n_lost() == 0


def test_an_error_in_the_program_is_no_lost_start_for_good() -> None:
    with pytest.raises(OSError, match="loading"), gpu_starts.guarded():
        raise OSError("loading")
    assert gpu_starts.n_lost() == 0


def test_where_nothing_can_be_written_gpus_are_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "missing"))
    assert start("dies") == "True"
    assert gpu_starts.n_lost() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_the_place_of_the_file_is_not_followed(folder: Path) -> None:
    other = folder / "other"
    other.write_text("mine", "utf-8")
    gpu_starts.noted_in().symlink_to(other)
    assert start("dies") == "True"
    assert gpu_starts.n_lost() == 0
    assert other.read_text("utf-8") == "mine"
