"""The library of rows: its key, its places, and its build by one command."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import build_kernels
from kernel_stand_ins import Kit, write_script
from paceline.installation import rows_files, sealed_library
from paceline.installation.library_build import BuildError, find_compiler, has_compiler
from paceline.installation.rows_build import build

ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll", "freebsd14": ".so"}
LIBRARY = sealed_library.sealed(b"a library")
posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    return Kit(tmp_path / "kit", monkeypatch)


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "into"


# ------------------------------------------------------------------------------ key and places


def test_the_checkout_has_the_sources() -> None:
    folder = rows_files.sources_folder()
    assert folder == Path(rows_files.__file__).parents[2] / "kernels" / "rows"
    assert folder.is_dir()


def test_the_key_is_of_the_sources_and_the_system(kit: Kit) -> None:
    keys = [rows_files.key()]
    (kit.sources / "rows" / "draw.h").write_text("int x;\n")
    keys.append(rows_files.key())
    (kit.sources / "rows" / "rows.cpp").write_text("int y;\n")
    keys.append(rows_files.key())
    for system in ("darwin", "win32", "freebsd14"):
        kit.monkeypatch.setattr(sys, "platform", system)
        keys.append(rows_files.key())
    assert len(set(keys)) == len(keys)
    (kit.sources / "matmul.cpp").write_text("// another library's\n")
    (kit.sources / "rows" / "README.md").write_text("text")
    assert rows_files.key() == keys[-1]


@pytest.mark.skipif(not hasattr(os, "uname"), reason="the system has no uname")
def test_the_key_is_of_the_kind_of_processor_that_runs(kit: Kit) -> None:
    keys = set()
    for machine in ("x86_64", "arm64"):
        kit.monkeypatch.setattr(os, "uname", lambda m=machine: os.uname_result(("",) * 4 + (m,)))
        keys.add(rows_files.key())
    assert len(keys) == 2


def test_without_sources_there_is_no_library(kit: Kit, tmp_path: Path) -> None:
    (kit.sources / "rows" / "rows.cpp").unlink()
    assert rows_files.key() == ""
    assert rows_files.find(tmp_path) is None
    assert not rows_files.is_damaged(tmp_path)
    with pytest.raises(BuildError, match=r"sources for sampling cannot be found\. Install it"):
        build(tmp_path, kit.say)


@pytest.mark.parametrize("system", ENDINGS)
def test_each_system_has_its_file_and_its_flags(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert rows_files.library_name("0123") == f"libpaceline_rows-0123{ENDINGS[system]}"
    flags = rows_files.flags()
    assert {"-shared", "-ffp-contract=off", "-fvisibility=hidden"} <= set(flags)
    assert ("-fPIC" in flags) == (system != "win32"), "Clang refuses it for Windows"
    named = any("install_name,@rpath" in flag for flag in flags)
    assert named == (system == "darwin"), "else the folder of the build would be its name"


def test_the_first_whole_library_is_taken(kit: Kit, tmp_path: Path) -> None:
    kit.monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    cache, name = tmp_path / "cache", rows_files.library_name(rows_files.key())
    assert rows_files.find(cache) is None
    assert not rows_files.is_damaged(cache)
    shared, own = sealed_library.places(cache)[1:]
    for folder in (own, shared):
        folder.mkdir(parents=True)
        (folder / rows_files.library_name("0123456789abcdef")).write_bytes(LIBRARY)
        (folder / name).write_bytes(LIBRARY)
        assert rows_files.find(cache) == folder / name
    for content in (b"", LIBRARY[:-1], b"x" + LIBRARY[1:]):
        (shared / name).write_bytes(content)
        assert rows_files.find(cache) == own / name, "a damaged one is passed by"
        assert rows_files.find() is None
    (own / name).write_bytes(b"")
    assert rows_files.find(cache) is None
    assert rows_files.is_damaged(cache)


# ----------------------------------------------------------------------------------- the build


@posix
def test_one_command_builds_it(kit: Kit, into: Path) -> None:
    into.mkdir()
    for name in ("libpaceline_rows-0123456789abcdef.so", "libpaceline_kernels-1.so"):
        (into / name).touch()
    library = build(into, kit.say)
    names = {path.name for path in into.iterdir()}
    assert names == {library.name, "libpaceline_kernels-1.so"}, "kernels are another library"
    assert library.name == rows_files.library_name(rows_files.key())
    assert sealed_library.is_whole(library)
    assert library.stat().st_mode & 0o777 == 0o755
    (call,) = [line for line in kit.called("") if line != "--version"]
    assert call.startswith(" ".join(rows_files.flags()))
    assert call.endswith(str(kit.sources / "rows" / "rows.cpp"))
    assert not kit.said


@posix
def test_the_compiler_s_complaint_is_reported(kit: Kit, into: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    kit.monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    kit.use_compiler("rows.cpp", "rows.cpp:1:1: error: nonsense")
    with pytest.raises(BuildError, match=r"sampling cannot be compiled: rows\.cpp:1:1: error: n"):
        build(into, kit.say)
    assert kit.said == ["  | rows.cpp:1:1: error: nonsense"]
    assert not [*into.iterdir(), *scratch.iterdir()]


@posix
def test_sources_that_change_meanwhile_get_no_library(kit: Kit, into: Path) -> None:
    text = f'#!/bin/sh\n[ "$1" = --version ] || echo "int z;" > "{kit.sources}/rows/draw.h"\n'
    text += 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo x > "$2"; shift; done; exit 0\n'
    kit.monkeypatch.setenv("CXX", str(write_script(kit.folder / "slow", text)))
    with pytest.raises(BuildError, match="changed during the build"):
        build(into, kit.say)
    assert not list(into.iterdir())
    assert build(into, kit.say).is_file(), "the second time they are the same"


@posix
def test_a_folder_that_cannot_be_written_is_reported_before_the_work(
    kit: Kit, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BuildError, match=r"Native code cannot be put into .*Not a directory.*HOME"):
        build(tmp_path / "file" / "into", kit.say)
    assert not kit.called("rows.cpp")


def test_a_frozen_program_does_not_try(kit: Kit, into: Path) -> None:
    kit.monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(BuildError, match="builds no kernels"):
        build(into, kit.say)


@posix
def test_windows_takes_clang_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PROGRAMFILES", str(tmp_path / "programs"))
    monkeypatch.delenv("CXX", raising=False)
    for name in ("c++", "g++", "cl"):
        write_script(tmp_path / name, "#!/bin/sh\necho 'g++ (MinGW) 13.2'\n")
    assert not has_compiler()
    with pytest.raises(BuildError, match=r"Install Clang, .* neither Visual Studio's cl nor GCC"):
        find_compiler()
    monkeypatch.setenv("CXX", "g++")
    with pytest.raises(BuildError, match="Install Clang"):
        find_compiler()
    clang = tmp_path / "programs" / "LLVM" / "bin" / "clang++.exe"
    clang.parent.mkdir(parents=True)
    write_script(clang, "#!/bin/sh\necho 'clang version 20.1'\n")
    assert has_compiler()
    assert find_compiler() == [str(clang)]
    own = tmp_path / "my own" / "clang++"
    own.parent.mkdir()
    monkeypatch.setenv("CXX", str(write_script(own, "#!/bin/sh\necho 'clang version 21'\n")))
    assert find_compiler() == [str(own)], "a path is one word"


def test_a_mac_gets_advice_on_its_own_tools(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(BuildError, match=r"by `xcode-select --install`\. Then call `paceline doc"):
        find_compiler()


# --------------------------------------------------------------------------------- the real one


@pytest.mark.skipif(not has_compiler(), reason="there is no C++ compiler")
def test_the_program_builds_the_real_library_once(into: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-I", build_kernels.__file__, "rows", "--into", str(into)]
    first = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert first.returncode == 0, first.stderr
    library = Path(first.stdout.strip())
    assert library == into / rows_files.library_name(rows_files.key())
    assert ctypes.CDLL(str(library)).paceline_rows_interface() > 0
    made = library.stat().st_mtime_ns
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")
    assert library.stat().st_mtime_ns == made
