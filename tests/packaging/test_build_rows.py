"""The library of rows in packages: what it is linked with, and the oldest system that loads it."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bootstrap import Environment, Runner
from paceline.installation.rows_build import build
from packages import elf, environment
from packages.native import Native

PROMISED = (2, 35)  # the glibc that the README names
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]


@pytest.mark.skipif(sys.platform != "linux", reason="facts of Linux' libraries")
@pytest.mark.skipif(not shutil.which("objdump"), reason="there is no objdump")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_needs_the_c_library_alone(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", compiler)
    library = build(tmp_path, print)
    facts = elf.facts(library)
    assert set(facts.needed) <= {"libc.so.6", "libm.so.6"}
    assert facts.glibc <= PROMISED
    assert not facts.search
    content = library.read_bytes()
    for folder in (tmp_path, Path(__file__).parents[2]):
        assert str(folder).encode() not in content, "a package would name this machine's folders"


class Noting(Runner):
    """Notes what it would run."""

    def __init__(self, log: Path) -> None:
        super().__init__(log)
        self.done: list[tuple[list[str], dict[str, str]]] = []

    def run(self, task: str, command: Sequence[str], **variables: str) -> None:
        self.done.append((list(command), variables))


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_packages_of_every_system_bring_it(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Environment(tmp_path)
    made.version = platform.python_version()
    runner = Noting(tmp_path / "log")
    monkeypatch.setattr(sys, "platform", system)
    environment.add_native_code(
        made, Native(tmp_path / "shelf" / "lib", tmp_path / "sdist"), runner
    )
    (rows, variables), *kernels = runner.done
    into = environment.site_packages(made) / "paceline" / "_kernels"
    assert rows[-3:] == ["rows", "--into", str(into)]
    oldest = {"MACOSX_DEPLOYMENT_TARGET": "13.0"} if system == "darwin" else {}
    assert variables == oldest, "else it would ask for the macOS of the machine that builds"
    assert len(kernels) == (system == "linux")
