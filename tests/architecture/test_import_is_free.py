"""Importing a module does nothing: no Qt outside gui, no file, no folder, no socket, no thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from architecture.source import APP, modules

if TYPE_CHECKING:
    from pathlib import Path

# Imports every module twice and reports, by module, what the interpreter's audit hooks saw. The
# second time each one comes behind those that it needs, so it is run by itself; of two that need
# each other, the one that came second comes first.
WATCH = """
import importlib, json, os, sys, threading
from importlib.machinery import SourceFileLoader
current, seen, has_qt, finished = None, {}, False, []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND

def note(what):
    if current is not None:
        seen.setdefault(current, []).append(what)

def hook(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & WRITING and args[0] != os.devnull:
        note(f"opens {args[0]!r} for writing")
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "tempfile.mkstemp"):
        note(event)
    elif event.startswith("socket.") and event not in ("socket.gethostname",):
        note(event)
    elif event in ("subprocess.Popen", "os.fork", "os.exec"):
        note(event)

def start(self, _start=threading.Thread.start):  # no audit event tells of threads before 3.12
    note("starts a thread")
    _start(self)

def run(self, module, _run=SourceFileLoader.exec_module):
    _run(self, module)
    finished.append(module.__name__)

def import_all(names):
    global current, has_qt
    for loaded in [m for m in sys.modules if m.split(".")[0] == "paceline"]:
        del sys.modules[loaded]
    for current in names:
        importlib.import_module(current)
        if "PySide6" in sys.modules and not has_qt:
            has_qt = True  # it cannot be loaded twice, so only the first one is told
            note("loads PySide6")
    current = None

sys.addaudithook(hook)
threading.Thread.start = start
SourceFileLoader.exec_module = run
wanted = set(sys.argv[1:])
import_all(sys.argv[1:])
import_all([name for name in finished if name in wanted])
print(json.dumps(seen))
"""


def side_effects(folder: Path, names: list[str], cwd: Path) -> dict[str, list[str]]:
    result = subprocess.run(
        [sys.executable, "-c", WATCH, *names],
        cwd=cwd,
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(cwd / "home"),
            "PACELINE_HOME": str(cwd / "paceline-home"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    seen: dict[str, list[str]] = json.loads(result.stdout)
    return seen


def test_importing_any_module_outside_gui_does_nothing(tmp_path: Path) -> None:
    names = [module.name for module in modules() if not module.place.startswith("gui/")]
    assert len(names) > 30
    assert side_effects(APP, names, tmp_path) == {}
    assert list(tmp_path.iterdir()) == []


def test_importing_the_window_does_nothing_either(tmp_path: Path) -> None:
    names = [module.name for module in modules() if module.place.startswith("gui/")]
    seen = side_effects(APP, names, tmp_path)
    effects = {what for whats in seen.values() for what in whats}
    assert effects <= {"loads PySide6"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import PySide6.QtCore", "PySide6"),
        ("open('notes.txt', 'w').close()", "notes.txt"),
        ("import pathlib; pathlib.Path('folder').mkdir(exist_ok=True)", "os.mkdir"),
        ("import socket; socket.socket().close()", "socket"),
        ("import threading; threading.Thread(target=print, daemon=True).start()", "thread"),
        ("import subprocess, sys; subprocess.run([sys.executable, '-c', ''])", "subprocess"),
    ],
)
def test_work_at_import_is_noticed(tmp_path: Path, code: str, found: str) -> None:
    package = tmp_path / "lib" / "paceline"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "example.py").write_text(code)
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    seen = side_effects(tmp_path / "lib", ["paceline.example"], cwd)
    assert any(found in what for what in seen["paceline.example"]), seen


def test_the_engine_starts_without_the_rest_of_llama_cpp_python_and_plugins_have_it() -> None:
    code = """
import sys, paceline.engine.llama
from paceline.engine.llama.library import start
assert not {"jinja2", "diskcache"} & {*sys.modules}
lines = []
start().listener = lines.append
from llama_cpp import Llama
import llama_cpp.llama
assert llama_cpp.llama.Llama is Llama
llama_cpp.llama_model_load_from_file(b"nowhere", llama_cpp.llama_model_default_params())
assert lines, "the log is still the engine's"
try:
    llama_cpp.nothing
except AttributeError:
    pass
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
