"""The entry point: who is called, and what is left unloaded."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from cli.program import assert_one_clear_line, paceline_process
from paceline import __main__ as program
from paceline import __version__
from paceline.cli import main, output
from paceline.errors import UserError
from paceline.hosting.exit_reasons import AGAIN
from paceline.sentence import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAVY = {"PySide6", "pyqtgraph", "llama_cpp", "numpy", "huggingface_hub", "jinja2"}


def never(_files: object = ()) -> int:
    raise AssertionError("the window must stay closed")


def never_smoke(_out: Path) -> int:
    return never()


def no_chart(_report: object, _path: Path) -> int:
    return never()


def test_version() -> None:
    result = paceline_process("--version")
    assert (result.code, result.out, result.err) == (0, f"paceline {__version__}\n", "")


def loaded_by(arguments: list[str]) -> set[str]:
    code = (
        "import sys\nfrom paceline.__main__ import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stderr.split()) & HEAVY


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["bench", "--help"], ["chat", "--top-k", "x"]],
)
def test_what_needs_no_engine_loads_none(arguments: list[str]) -> None:
    assert loaded_by(arguments) == set()


def test_the_window_runs_with_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is off while the window is imported, and would let memory grow if it stayed off."""
    seen: list[bool] = []
    window = SimpleNamespace(run=lambda _begun, _files: seen.append(gc.isenabled()) or 0)
    first = SimpleNamespace(begin=lambda _arguments, _files: object())
    monkeypatch.setitem(sys.modules, "paceline.gui.beginning", first)
    monkeypatch.setitem(sys.modules, "paceline.gui.app", window)
    assert program.main([]) == 0
    assert seen == [True]


CHAT = ["chat", "--prompt", "Hi", "--max-tokens", "2"]


@pytest.mark.grid(short=3)
@pytest.mark.parametrize(
    ("arguments", "has_library"),
    [
        (CHAT, True),
        ([*CHAT, "--host", "process"], False),
        ([*CHAT, "--host", "process", "--strategy", "mtp"], False),  # for which there is no head
        (["doctor"], False),
    ],
    ids=["chat", "chat in a process", "a head in a process", "doctor"],
)
def test_commands_load_no_qt(arguments: list[str], has_library: bool) -> None:
    loaded = loaded_by(arguments)
    assert ("llama_cpp" in loaded) == has_library  # the doctor asks a process of its own
    assert not loaded & {"PySide6", "pyqtgraph", "huggingface_hub"}


def test_without_arguments_the_window_opens() -> None:
    assert main.run([], lambda files: 7 + len(files), never_smoke, no_chart) == 7


def test_files_are_opened_in_the_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(tmp_path / name) for name in ("model.gguf", "chats.json")]
    assert main.run(names, never, never_smoke, no_chart) == 2  # they are not there
    assert "model.gguf" in capsys.readouterr().err
    for name in names:
        Path(name).touch()
    seen: list[Path] = []

    def opened(files: Sequence[Path]) -> int:
        seen.extend(files)
        return 5

    assert main.run(names, opened, never_smoke, no_chart) == 5
    assert seen == [Path(name) for name in names]
    assert main.run([str(tmp_path)], never, never_smoke, no_chart) == 2  # a folder
    assert main.run([names[0], "--json"], never, never_smoke, no_chart) == 2


def test_the_smoke_test_gets_its_path() -> None:
    seen: list[Path] = []

    def smoke(out: Path) -> int:
        seen.append(out)
        return 3

    assert main.run(["--smoke-test", "out.png"], never, smoke, no_chart) == 3
    assert seen == [Path("out.png")]


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UserError("x", "It broke.", "Mend it."), 1, "paceline: It broke. Mend it.\n"),
        (UserError("x", "Two\nlines.", ""), 1, "paceline: Two lines.\n"),
        (
            UserError("x", "It ended.", sentence("{again} Or mend it.", again=AGAIN)),
            1,
            "paceline: It ended. Run the command again. Or mend it.\n",
        ),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_errors_become_exit_codes(
    error: BaseException,
    code: int,
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_files: object) -> int:
        raise error

    monkeypatch.setattr("paceline.cli.output.discard_stdout", lambda: None)
    assert main.run([], fail, never_smoke, no_chart) == code
    assert capsys.readouterr().err == text


def test_ctrl_c_in_the_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "run", interrupt)
    assert program.main([]) == 130


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_files: object) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        main.run([], fail, never_smoke, no_chart)


def test_remarks_go_nowhere_when_stderr_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    output.remark("for people")
    output.ProgressLine().show("for people")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("closed", ["1", "2"])
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_closed_stdout_or_stderr_is_survived(closed: str) -> None:
    script = f'"$0" -m paceline chat --prompt Hi --max-tokens 3 {closed}>&-'
    command = ["sh", "-c", script, sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_window_without_its_libraries_says_so(tmp_path: Path) -> None:
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "__init__.py").write_text(
        "raise ImportError('libEGL.so.1: cannot open shared object file')"
    )
    result = paceline_process(environ={"PYTHONPATH": str(tmp_path)})
    assert_one_clear_line(result, "libEGL", "paceline chat", code=1)
