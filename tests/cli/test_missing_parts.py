"""Programs of which something is missing or damaged say so in one sentence, with a remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.program import Result, assert_one_clear_line, paceline_process

COMMANDS = [
    ["chat", "--prompt", "hi", "--max-tokens", "2"],
    ["chat", "--prompt", "hi", "--max-tokens", "2", "--host", "process"],
    ["serve", "--port", "0"],
    ["rpc-server", "--port", "0"],
    ["calibrate"],
]


@pytest.fixture
def broken_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of llama.cpp's libraries whose files are cut off, for processes alone."""
    for name in ("libllama.so", "libllama.dylib", "llama.dll"):
        (tmp_path / name).write_bytes(b"\x7fELF")
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))


@pytest.mark.usefixtures("broken_library")
@pytest.mark.grid(short=3)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_damaged_library_is_one_sentence(arguments: list[str]) -> None:
    result = paceline_process(*arguments)
    assert result.code == 1
    assert_that_it_says_what_to_do(result)


def assert_that_it_says_what_to_do(result: Result) -> None:
    (line,) = result.err.splitlines()
    assert line.startswith("paceline: llama.cpp's library cannot be loaded: libllama"), line
    assert "Compile it again: `python3 " in line
    assert "Traceback" not in line


@pytest.mark.usefixtures("broken_library")
def test_the_doctor_and_the_list_of_models_continue_without_the_library() -> None:
    report = json.loads(paceline_process("doctor", "--json").out)
    assert report["library"]["error"].startswith("libllama")
    problems = {problem["code"]: problem for problem in report["problems"]}
    assert "bootstrap.py" in problems["library-not-loaded"]["remedy"]
    listed = paceline_process("models", "list")
    assert listed.code == 0
    assert "llama.cpp's library cannot be loaded: libllama" in listed.out


def test_a_damaged_package_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('libm.so.6: version is too old')")
    result = paceline_process("models", "list", environ={"PYTHONPATH": str(tmp_path)})
    assert_one_clear_line(
        result,
        "A part of Paceline is missing or damaged: libm.so.6: version is too old.",
        "bootstrap.py",
        code=1,
    )
