"""The library of rows in packages: what it is linked with, and the oldest system that loads it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from paceline.installation.rows_build import build
from packages import elf

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
