"""Files without an end, options that look like their end, outputs without room."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.program import COMMAND, assert_one_clear_line, paceline, running
from paceline.engine.draft.lookups import lookup_cache
from paceline.files import open_ordinary

if TYPE_CHECKING:
    from collections.abc import Callable

ZERO, FULL = Path("/dev/zero"), Path("/dev/full")
HI = ("--prompt", "Hi")
READERS: dict[str, Callable[[Path], tuple[str | Path, ...]]] = {
    "messages": lambda path: ("chat", "--messages", path),
    "prompt tokens": lambda path: ("chat", "--prompt-tokens", path),
    "grammar": lambda path: ("chat", *HI, "--grammar", path),
    "schema": lambda path: ("chat", *HI, "--json-schema", path),
    "template": lambda path: ("chat", *HI, "--template", path),
    "lookup cache": lambda path: ("chat", *HI, "--strategy", "ngram-cache", "--lookup-cache", path),
    "workload": lambda path: ("bench", "--workload", path),
    "merge": lambda path: ("cache", "merge", "--out", path.parent / "out.bin", path),
    "stats": lambda path: ("cache", "stats", path),
}


@pytest.mark.skipif(sys.platform == "win32", reason="has no such things among its files")
@pytest.mark.parametrize("name", READERS)
def test_what_has_no_end_is_not_read(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"  # opening it waits for ever
    os.mkfifo(pipe)
    for endless in (ZERO, pipe):
        result = paceline(*READERS[name](endless))
        assert result.code == 1
        assert str(endless) in result.err
        assert_one_clear_line(result)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such things among its files")
def test_a_text_or_a_sidecar_without_an_end_is_not_read(
    tmp_path: Path, demo_pair: tuple[Path, Path]
) -> None:
    cache, pipe = tmp_path / "one.bin", tmp_path / "pipe"
    lookup_cache.write(lookup_cache.count([1, 2, 3, 4], (2,)), cache)
    os.mkfifo(pipe)
    result = paceline("cache", "stats", cache, pipe, "--model", demo_pair[0])
    assert result.code == 1
    assert "no ordinary file" in result.err
    os.mkfifo(lookup_cache.sidecar(cache))
    assert paceline("cache", "stats", cache).code == 1


def test_ordinary_files_and_links_to_them_are_opened(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"abc")
    link.symlink_to(file)
    for path in (file, link):
        with open_ordinary(path) as opened:
            assert opened.read() == b"abc"
    with pytest.raises(IsADirectoryError), open_ordinary(tmp_path):
        pass


def test_a_prompt_larger_than_any_context_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.cli.chat.MAX_PROMPT_BYTES", 50_000)
    path = tmp_path / "messages.json"
    path.write_text(json.dumps([{"role": "user", "content": "x" * 50_000}]))
    result = paceline("chat", "--messages", path)
    assert result.code == 2
    assert "larger than 50 kB" in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chat", *HI, "--target=--"), "--"),
        (("chat", *HI, "--strategy=--"), "--"),
        (("chat", *HI, "--seed=--"), "must be a whole number"),
        (("chat", *HI, "--grammar=--"), "-- cannot be read"),
        (("chat", *HI, "--host=--"), "invalid choice"),
        (("bench", "--strategies=--"), "--"),
        (("models", "list", "--folder=--"), "--"),
        (("cache", "build", "x.txt", "--model=x.gguf", "--out=--"), "x.txt"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_two_dashes_are_a_value(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    result = paceline(*arguments, cwd=tmp_path)
    assert result.code in (1, 2)
    assert words in result.err
    assert "fault of Paceline" not in result.err
    assert_one_clear_line(result)


def test_two_dashes_can_be_said() -> None:
    said = paceline("chat", "--prompt=--", "--stop=--", "--system=--", "--max-tokens", "2")
    assert said.code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("cache", "stats", "none.bin", "--json"),
        ("pairs", "check", "none.gguf", "--json"),
        ("calibrate", "--target", "none.gguf", "--json"),
        ("bench", "--target", "none.gguf", "--json", "-"),
        ("bench", "--target", "none.gguf", "--json=-"),
        ("models", "list", "--nothing", "--json"),
    ],
    ids=" ".join,
)
def test_a_failure_is_an_object_where_results_are(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    result = paceline(*arguments, cwd=tmp_path)
    assert result.code in (1, 2)
    (found,) = result.objects
    assert set(found) == {"error"}
    assert set(found["error"]) == {"code", "message", "hint"}
    assert found["error"]["message"] in result.err
    assert_one_clear_line(result)


def test_a_report_in_a_file_leaves_stdout_alone(tmp_path: Path) -> None:
    result = paceline("bench", "--target", "none.gguf", "--json", "out.json", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("chat", "--help")])
def test_help_that_cannot_be_written(arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
@pytest.mark.parametrize("delay_ms", range(0, 120, 24))
def test_ctrl_c_while_the_program_starts_shows_nothing_of_it(delay_ms: int) -> None:
    """Work of Python itself before the program's first line is out of its reach."""
    with running("chat", *HI) as process:
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode
    assert f"paceline{os.sep}" not in err


def test_ctrl_c_in_the_making_of_a_class_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:  # as Python 3.11 does where a class is made
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr("paceline.cli.main.run", interrupted)
    assert paceline("--version").code == 130


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_ctrl_c_that_was_held_back_while_python_started_is_heard() -> None:
    def hold_back() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.kill(os.getpid(), signal.SIGINT)

    done = subprocess.run(
        [*COMMAND, "chat", *HI], preexec_fn=hold_back, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_nothing_is_loaded_out_of_reach_of_ctrl_c() -> None:
    before = {"paceline", "paceline.__main__", "__future__"}
    program = (
        "import os, sys; before = set(sys.modules); import paceline.__main__; "
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= before


def test_a_name_in_an_error_turns_nothing_around(tmp_path: Path) -> None:
    said = paceline("chat", "--target", tmp_path / "a\u202efug.gguf", "--prompt", "Hi")
    assert said.code == 1
    assert "a�fug.gguf" in said.err
    assert "\u202e" not in said.err
