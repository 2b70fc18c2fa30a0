"""The pieces of the script that sets a checkout up.

This folder has no `__init__.py` because a package of its name would hide the one that pip and
pytest use.
"""

from __future__ import annotations

import ast
import fcntl
import os
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import ModuleType

import pytest
from stand_ins import (
    PYPROJECT,
    REPOSITORY,
    SCRIPT,
    Checkout,
    load_script,
    sentence,
    write_script,
)


@pytest.fixture
def bootstrap() -> ModuleType:
    return load_script()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_it_parses_on_old_pythons() -> None:
    ast.parse(SCRIPT.read_text("utf-8"), feature_version=(3, 6))


def test_it_needs_the_standard_library_only() -> None:
    for script, beside in ((SCRIPT, {"backends"}), (SCRIPT.with_name("backends.py"), set())):
        nodes = list(ast.walk(ast.parse(script.read_text("utf-8"))))
        names = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        names |= {str(n.module) for n in nodes if isinstance(n, ast.ImportFrom)}
        assert {name.split(".")[0] for name in names} - sys.stdlib_module_names == beside


def test_an_old_python_gets_a_sentence(checkout: Checkout) -> None:
    result = checkout.start("run", prelude="sys.version_info = (3, 9, 18, 'final', 0)")
    assert "needs Python 3.11 or newer, not 3.9" in sentence(result)


@pytest.mark.parametrize("words", [[], ["dance"], ["--colour", "run"], ["--python"]])
def test_wrong_usage_is_2(checkout: Checkout, words: list[str]) -> None:
    assert checkout.start(*words).returncode == 2


def test_the_readme_and_ci_name_the_commands() -> None:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    ci = REPOSITORY / ".ci" / "run"
    for verb in ("run", "test"):
        assert f"python3 packaging/bootstrap.py {verb}" in readme
    assert "python3 packaging/bootstrap.py test" in ci.read_text("utf-8")
    assert os.access(ci, os.X_OK)


def test_a_kernel_update_does_not_change_the_processor(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(bootstrap, "Path", lambda *_: info)
    info.write_text("model name\t: X\nflags\t\t: fpu sse4_2 avx2 amx_int8 ssbd\n")
    features = bootstrap.cpu_features()
    assert features == "amx_int8 avx2 sse4_2"
    info.write_text("model name\t: X\nflags\t\t: fpu its_no avx2 sse4_2 amx_int8 ssbd\n")
    assert bootstrap.cpu_features() == features
    info.write_text("Features\t: fp asimd sve\n")
    assert bootstrap.cpu_features() == "fp asimd sve"


def test_debian_packages_count_under_both_names(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    listing = "libegl1 installed\\nlibglib2.0-0t64 installed\\nlibgl1 config-files\\n"
    write_script(tmp_path / "dpkg-query", f"#!/bin/sh\nprintf '{listing}'\nexit 1\n")
    wanted = ["libegl1", "libglib2.0-0", "libgl1", "libdbus-1-3"]
    assert bootstrap.missing_packages(wanted) == ["libgl1", "libdbus-1-3"]


def test_only_what_matters_changes_the_key(
    bootstrap: ModuleType, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    file = checkout.root / "pyproject.toml"
    environment = bootstrap.Environment(checkout.venv)

    def key() -> str:
        return str(environment.key(bootstrap.Project.read(checkout.root)))

    first = key()
    file.write_text(PYPROJECT + "\n[tool.ruff]\nline-length = 80 # wide\n")
    assert key() == first
    file.write_text(PYPROJECT.replace("numpy", "numpy>=2"))
    assert key() != first
    file.write_text(PYPROJECT)
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_CUDA=on")
    assert key() != first
    monkeypatch.delenv("CMAKE_ARGS")
    environment.build = bootstrap.Build("vulkan")
    assert key() != first
    environment.build = bootstrap.Build("cpu", (), is_auto=True)
    assert key() == first, "who chose it does not matter"
    environment.version = "3.13.1"
    assert key() != first
    environment.version = None
    (checkout.root / "app" / "paceline" / "__init__.py").write_text("__version__ = '2'\n")
    assert key() != first


def test_an_unreadable_stamp_says_nothing(bootstrap: ModuleType, tmp_path: Path) -> None:
    environment = bootstrap.Environment(tmp_path)
    for text in ("", "{", "[1]", "7", "\0"):
        environment.stamp.write_text(text)
        assert environment.read_stamp() == {}
    environment.write_stamp(key="k")
    build = {"backend": "cpu", "flags": [], "is_auto": False}
    assert environment.read_stamp() == {"folder": str(tmp_path), "build": build, "key": "k"}


def test_progress_is_read_from_the_tools(bootstrap: ModuleType) -> None:
    read = bootstrap.progress
    assert read("  [3/127] c++ -c x", 9.0) == "3 of 127 compile steps after 9 s"
    assert (
        read("[30/120] c++", 60.0)
        == "30 of 120 compile steps after 1 min 00 s, about 3 min 00 s left"
    )
    assert read("Collecting numpy<3", 1.0) == "Collecting numpy<3"
    assert read("nothing", 1.0) is None


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("c++: fatal error: Killed signal terminated program cc1plus", "PARALLEL_LEVEL=1"),
        ("Temporary failure in name resolution", "network"),
        ("ReadTimeoutError: Read timed out. (read timeout=15)", "network"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "certificate"),
        ("ERROR: No matching distribution found for PySide6-Essentials", "--python"),
        ("ERROR: Could not install: [Errno 13] Permission denied: '/x'", "may not be written"),
        ("something else", None),
    ],
)
def test_known_causes(bootstrap: ModuleType, words: str, cause: str | None) -> None:
    found = bootstrap.cause_of(words)
    assert cause in found if cause else found is None


TELL = """
import sys
from bootstrap import Progress
told = Progress()
told.pause = -1.0
for text in sys.argv[1:]:
    told.show(text)
told.clear()
print("done", file=sys.stderr)
"""


def seen(columns: int, *texts: str) -> list[str]:
    """The lines on a terminal of this width, each as the states that it had."""
    screen, other_end = os.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-c", TELL, *texts]
    subprocess.run(command, cwd=SCRIPT.parent, stderr=other_end, timeout=30, check=True)
    shown = os.read(screen, 65536).decode()
    os.close(other_end)
    os.close(screen)
    return shown.split("\r")


def test_progress_on_a_terminal_is_one_line_that_is_rewritten() -> None:
    states = seen(40, "3 of 87 compile steps after 9 s, about 52 s left", "Collecting x")
    assert "".join(states).count("\n") == 1, "that of the last word"
    assert states[0] == ""
    assert states[1] == "  3 of 87 compile steps after 9 s, about"[:39]
    assert states[2] == "  Collecting x".ljust(39), "nothing of the longer text stays"
    assert states[3].strip() == ""
    assert states[4:] == ["done", "\n"]


def test_progress_elsewhere_is_a_line_now_and_then() -> None:
    command = [sys.executable, "-c", TELL, "1 of 2", "2 of 2"]
    told = subprocess.run(command, cwd=SCRIPT.parent, stderr=subprocess.PIPE, check=True)
    assert told.stderr == b"  1 of 2\n  2 of 2\ndone\n"
