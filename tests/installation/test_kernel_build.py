"""Building the kernels: headers from archives, files in their places, and every known failure."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import build_kernels
from kernel_stand_ins import HEADERS, TOP, VERSION, Kit, write_archive
from paceline.installation import kernel_files, sealed_library
from paceline.installation.kernel_build import build
from paceline.installation.library_build import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable

OTHER = "libpaceline_kernels-0123456789abcdef.so"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernels are made for Linux")


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    return Kit(tmp_path / "kit", monkeypatch)


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "into"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


# ------------------------------------------------------------------------------ the good ways


def test_a_build_is_found_and_takes_the_place_of_others(kit: Kit, into: Path) -> None:
    into.mkdir()
    for name in (OTHER, "unrelated.so", "0123456789abcdef.crashed"):
        (into / name).touch()
    library = build(into, kit.sdist, kit.say)
    assert library == into / kernel_files.library_name(kernel_files.key())
    assert names(into) == sorted([library.name, "unrelated.so", "0123456789abcdef.crashed"])
    assert library.stat().st_mode & 0o777 == 0o755
    kit.monkeypatch.setattr(kernel_files, "places", lambda _cache=None: [into])
    assert kernel_files.find() == library


def test_the_very_version_is_fetched_by_pip(kit: Kit, into: Path) -> None:
    kit.use_pip(f'cp {kit.sdist} "$2"')
    build(into, None, kit.say)
    (call,) = kit.called("pip")
    assert call.startswith("-I -m pip ")
    assert " download " in call
    assert call.endswith(f" llama-cpp-python=={VERSION}")
    assert kit.said[0].startswith("Fetching ")
    assert kit.called("ggml-cpu"), "the headers are given to the compiler"


def test_a_local_version_has_the_sources_of_the_public_one(kit: Kit, into: Path) -> None:
    kit.monkeypatch.setattr(metadata, "version", lambda _name: f"{VERSION}+cu124")
    assert build(into, kit.sdist, kit.say).is_file()


def test_the_shelf_keeps_headers_and_library(kit: Kit, into: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    first = build(into, kit.sdist, kit.say, shelf)
    assert names(shelf) == sorted([f"ggml-headers-{VERSION}.tar.gz", first.name])
    with tarfile.open(shelf / f"ggml-headers-{VERSION}.tar.gz") as tar:
        kept = {info.name for info in tar if info.isreg()}
    assert kept == {f"{TOP}/{name}" for name in HEADERS}

    n_calls = len(kit.called(""))
    second = build(tmp_path / "second", None, kit.say, shelf)
    assert second.read_bytes() == first.read_bytes()
    assert len(kit.called("")) == n_calls, "neither pip nor the compiler was called"

    kit.use_pip("exit 1")
    (shelf / first.name).write_bytes(b"damaged")
    build(tmp_path / "second", None, kit.say, shelf)
    assert sealed_library.is_whole(second)
    assert sealed_library.is_whole(shelf / first.name)

    (kit.sources / "matmul.cpp").write_text("int changed;\n")
    third = build(into, None, kit.say, shelf)
    assert third.name != first.name
    assert not kit.called("pip"), "the headers were at hand"
    assert len(names(shelf)) == 3


def test_damaged_headers_on_the_shelf_are_fetched_again(
    kit: Kit, into: Path, tmp_path: Path
) -> None:
    kept = tmp_path / f"ggml-headers-{VERSION}.tar.gz"
    kept.write_bytes(kit.sdist.read_bytes()[:60])
    kit.use_pip(f'cp {kit.sdist} "$2"')
    build(into, None, kit.say, tmp_path)
    assert len(kit.called("pip")) == 1
    with tarfile.open(kept) as tar:
        assert len([info for info in tar if info.isreg()]) == len(HEADERS)


def test_the_shelf_keeps_a_few_libraries(kit: Kit, into: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    for i in range(7):
        (kit.sources / "matmul.cpp").write_text(f"int number_{i};\n")
        newest = build(into, kit.sdist, kit.say, shelf)
        for library in shelf.glob("*.so"):
            stat = library.stat()
            os.utime(library, (stat.st_atime, stat.st_mtime - 10))
    libraries = sorted(shelf.glob("*.so"), key=lambda path: path.stat().st_mtime)
    assert len(libraries) == 4
    assert libraries[-1].name == newest.name
    assert names(into) == [newest.name]


def test_a_shelf_that_cannot_be_written_is_harmless(kit: Kit, into: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert build(into, kit.sdist, kit.say, file / "shelf").is_file()


# ---------------------------------------------------------------------------------- archives


def test_hostile_members_are_passed_by(kit: Kit, into: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.h"
    ggml = f"{TOP}/include/ggml.h"
    strange: dict[str, str | tarfile.TarInfo] = {
        f"{TOP}/include/../../../../../../../../outside.h": "x",
        str(outside): "x",
        "../outside.h": "x",
        f"{TOP}/src/ggml-cpu/../evil.h": "x",
        f"{TOP}/include/link.h": member(f"{TOP}/include/link.h", tarfile.SYMTYPE, str(outside)),
        f"{TOP}/include/hard.h": member(f"{TOP}/include/hard.h", tarfile.LNKTYPE, ggml),
        f"{TOP}/include/pipe.h": member(f"{TOP}/include/pipe.h", tarfile.FIFOTYPE),
        f"{TOP}/include/folder.h": member(f"{TOP}/include/folder.h", tarfile.DIRTYPE),
        f"{TOP}/include/line\nbreak.h": "x",
        f"{TOP}/include/huge.h": "x" * (2**23 + 1),
        f"{TOP}/src/ggml.c": "x",
        f"{TOP}/src/deep/er/ggml.h": "x",
        f"other/{TOP}/include/other.h": "x",
    }
    good = {f"{TOP}/{name}": text for name, text in HEADERS.items()}
    archive = write_archive(tmp_path / "hostile.tar.gz", strange | good)
    shelf = tmp_path / "shelf"
    build(into, archive, kit.say, shelf)
    with tarfile.open(shelf / f"ggml-headers-{VERSION}.tar.gz") as tar:
        assert {info.name for info in tar if not info.isdir()} == set(good)
    assert not outside.exists()
    assert not [path for path in tmp_path.rglob("*") if path.name in {"outside.h", "evil.h"}]


def damaged(kit: Kit) -> Iterable[tuple[bytes, str]]:
    whole = kit.sdist.read_bytes()
    return (
        (b"", "is damaged"),
        (b"<html>Not found</html>", "is damaged"),
        (whole[: len(whole) // 2], "is damaged"),
        (whole[:40] + bytes(len(whole) - 40), "is damaged"),
    )


def test_damaged_archives_are_reported(kit: Kit, into: Path, tmp_path: Path) -> None:
    for i, (content, expected) in enumerate(damaged(kit)):
        archive = tmp_path / f"{i}.tar.gz"
        archive.write_bytes(content)
        with pytest.raises(BuildError, match=expected):
            build(into, archive, kit.say)


def test_the_sources_of_another_version_are_refused(kit: Kit, into: Path, tmp_path: Path) -> None:
    other = {f"{TOP.replace(VERSION, '0.0.1')}/{name}": text for name, text in HEADERS.items()}
    archive = write_archive(tmp_path / "other.tar.gz", other)
    with pytest.raises(BuildError, match=f"no headers of llama-cpp-python {VERSION}"):
        build(into, archive, kit.say)
    with pytest.raises(BuildError, match=r"none\.tar\.gz: No such file"):
        build(into, tmp_path / "none.tar.gz", kit.say)


# ---------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("NewConnectionError: [Errno 101] unreachable", r"the network cannot be reached\. Check"),
        ("SSLError: CERTIFICATE_VERIFY_FAILED", r"global\.cert"),
        ("/usr/bin/python3: No module named pip", "this Python has no pip. Install"),
        ("ERROR: No matching distribution found for x", "No matching distribution found for x"),
    ],
)
def test_what_pip_cannot_do_is_reported(kit: Kit, into: Path, words: str, expected: str) -> None:
    kit.use_pip(f"echo '{words}' && exit 1")
    with pytest.raises(BuildError, match=expected) as raised:
        build(into, None, kit.say)
    assert raised.value.message.startswith("The headers of llama.cpp cannot be fetched: ")
    assert not kit.called("matmul")


def test_without_a_compiler_nothing_is_fetched(kit: Kit, into: Path) -> None:
    kit.use_pip("exit 1")
    kit.monkeypatch.delenv("CXX")
    kit.monkeypatch.setenv("PATH", "")
    with pytest.raises(BuildError, match=r"No C\+\+ compiler was found"):
        build(into, None, kit.say)
    assert not kit.called("pip")


def test_other_systems_are_reported_in_one_sentence(kit: Kit, into: Path) -> None:
    kit.monkeypatch.setattr(kernel_files, "is_possible", lambda: False)
    with pytest.raises(BuildError, match="need Linux and an x86-64 processor with AVX2"):
        build(into, kit.sdist, kit.say)
    assert not into.exists()


def test_a_frozen_program_does_not_try(kit: Kit, into: Path) -> None:
    kit.monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(BuildError, match="builds no kernels"):
        build(into, kit.sdist, kit.say)


def test_a_missing_llama_is_reported(kit: Kit, into: Path) -> None:
    (kit.ggml / "libggml-cpu.so.0").unlink()
    with pytest.raises(BuildError, match="libggml-cpu of llama-cpp-python cannot be found"):
        build(into, kit.sdist, kit.say)
    kit.monkeypatch.setattr(kernel_files, "sources_folder", lambda: None)
    with pytest.raises(BuildError, match="sources of the kernels cannot be found"):
        build(into, kit.sdist, kit.say)


def test_sources_that_change_during_the_build_get_no_library(kit: Kit, into: Path) -> None:
    def change(line: str) -> None:
        if line.startswith("[1/"):
            (kit.sources / "matmul.cpp").write_text("int changed;\n")

    with pytest.raises(BuildError, match="changed during the build"):
        build(into, kit.sdist, change)
    assert names(into) == []


def test_a_folder_that_cannot_be_written_is_reported_before_the_work(kit: Kit, into: Path) -> None:
    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system", str(into))

    kit.monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(BuildError, match=r"\(.*into: Read-only file system\)\. .*PACELINE_H"):
        build(into, kit.sdist, kit.say)
    assert not kit.called("")
    with pytest.raises(BuildError, match="Not a directory"):
        build(kit.sdist / "into", kit.sdist, kit.say)


def test_a_failure_at_the_end_leaves_what_was_there(kit: Kit, into: Path) -> None:
    library = build(into, kit.sdist, kit.say)
    library.write_bytes(b"old")
    (into / OTHER).touch()

    def refuse(_path: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    with kit.monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        with pytest.raises(BuildError, match="No space left"):
            build(into, kit.sdist, kit.say)
    assert library.read_bytes() == b"old"
    assert names(into) == sorted([library.name, OTHER])


def test_drafts_of_ended_builds_go_and_those_of_others_stay(kit: Kit, into: Path) -> None:
    into.mkdir()
    ages = {f"{OTHER}-old": 7200, f"{OTHER}-new": 60}
    for name, age in ages.items():
        (into / name).touch()
        os.utime(into / name, (time.time() - age,) * 2)
    library = build(into, kit.sdist, kit.say)
    assert names(into) == sorted([f"{OTHER}-new", library.name])


def test_nothing_is_left_in_the_temporary_folder(kit: Kit, into: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    kit.monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    build(into, kit.sdist, kit.say)
    kit.use_compiler("matmul.cpp")
    with pytest.raises(BuildError):
        build(into, kit.sdist, kit.say)
    assert names(scratch) == []


# ------------------------------------------------------------------------------- the program


def program(kit: Kit, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", build_kernels.__file__, *map(str, words)],
        env={**os.environ, "LLAMA_CPP_LIB_PATH": str(kit.ggml)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(
    not kernel_files.is_possible(), reason="there are no kernels for this processor"
)
def test_the_program_builds_once(kit: Kit, into: Path) -> None:
    first = program(kit, "kernels", "--into", into, "--sdist", kit.sdist)
    assert first.returncode == 0, first.stderr
    assert Path(first.stdout.strip()).parent == into
    assert Path(first.stdout.strip()).is_file()
    n_calls = len(kit.called(""))
    again = program(kit, "kernels", "--into", into)
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")
    assert len(kit.called("")) == n_calls


@pytest.mark.skipif(
    not kernel_files.is_possible(), reason="there are no kernels for this processor"
)
def test_the_program_says_why_in_its_last_line(kit: Kit, into: Path) -> None:
    kit.use_compiler("matmul.cpp", "x.cpp:1:1: error: nonsense")
    result = program(kit, "kernels", "--into", into, "--sdist", kit.sdist)
    assert (result.returncode, result.stdout) == (1, "")
    assert "error: nonsense. Name another compiler" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_kernels_for_variants_leave_open_which_one_they_are_linked_with(
    kit: Kit, tmp_path: Path
) -> None:
    (kit.ggml / "libggml-cpu.so.0").rename(kit.ggml / "libggml-cpu-haswell.so")
    library = build(tmp_path, kit.sdist, kit.say)
    (link,) = kit.called("-shared")
    assert "--no-undefined" not in link
    assert "libggml-cpu" not in link
    assert library.name == kernel_files.library_name(kernel_files.key())
