"""`paceline doctor --build-kernels`, and what `doctor` says about kernels."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.program import Result, assert_one_clear_line, paceline
from kernel_stand_ins import Kit
from paceline.cli import doctor, main
from paceline.engine.facts import Facts
from paceline.engine.model import own_kernels
from paceline.engine.model.own_kernels import mark_path, write_mark
from paceline.installation import kernel_files, rows_files, sealed_library

linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernels are made for Linux")


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    return Kit(tmp_path / "kit", monkeypatch)


Build = Callable[..., Result]


@pytest.fixture
def build(kit: Kit, capsys: pytest.CaptureFixture[str]) -> Build:
    def build(*options: str) -> Result:
        words = ["doctor", "--build-kernels", *options]
        code = main.run(words, lambda _: 9, lambda _: 9, lambda *_: 9)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return build


@pytest.fixture
def cache(paceline_home: Path) -> Path:
    return paceline_home / "cache"


@linux
def test_they_are_built_into_the_cache(kit: Kit, cache: Path, build: Build) -> None:
    write_mark(str(cache), kernel_files.key())
    kit.use_pip(f'cp {kit.sdist} "$2"')
    mark = mark_path(str(cache), kernel_files.key())
    other = mark_path(str(cache), "0123456789abcdef")
    assert mark is not None
    assert other is not None
    other.touch()
    failed = own_kernels.fact_name(kernel_files.key(), "q8_0")
    Facts(str(cache)).put(failed, "crashed, SIGKILL")
    Facts(str(cache)).put("another fact", 1)

    result = build()
    assert result.code == 0
    library = kernel_files.find(cache)
    assert library is not None
    assert library.parent == cache / "kernels"
    rows = rows_files.find(cache)
    assert rows is not None
    assert rows.parent == library.parent
    assert result.out == (
        f"The library for sampling is built: {rows}\nThe kernels are built: {library}\n"
    )
    lines = result.err.splitlines()
    assert lines[0].startswith("paceline: Fetching ")
    assert "[4/4]" in lines[-1]
    assert not mark.exists(), "the user wants another try"
    assert other.exists()
    assert Facts(str(cache)).below("") == {"another fact": 1}

    again = build("--json")
    assert json.loads(again.out) == {
        **{"library": str(library), "built": True},
        "rows": {"library": str(rows), "built": True},
    }
    assert len(kit.called("-shared")) == 4


@linux
def test_those_of_the_installation_are_not_built_again(kit: Kit, cache: Path, build: Build) -> None:
    shared = sealed_library.places()[1]
    shared.mkdir(parents=True)
    library = shared / kernel_files.library_name(kernel_files.key())
    rows = shared / rows_files.library_name(rows_files.key())
    for file in (library, rows):
        file.write_bytes(sealed_library.sealed(b"a library"))
    write_mark(str(cache), kernel_files.key())
    result = build("--json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {
        **{"library": str(library), "built": False},
        "rows": {"library": str(rows), "built": False},
    }
    assert not list((cache / "kernels").iterdir())
    assert build().out == (
        f"The installation has the library for sampling already: {rows}\n"
        f"The installation has the kernels already: {library}\n"
    )


@linux
def test_a_build_that_is_ended_leaves_nothing(
    kit: Kit, cache: Path, tmp_path: Path, build: Build
) -> None:
    (tmp_path / "scratch").mkdir()
    kit.monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    kit.use_pip("touch $2/half && kill -TERM $PPID && exec sleep 60")
    handler = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit, match="143"):
            build()
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert not list((tmp_path / "scratch").iterdir())
    assert list((cache / "kernels").iterdir()) == [rows_files.find(cache)]


@linux
def test_a_failed_build_keeps_the_mark(kit: Kit, cache: Path, build: Build) -> None:
    write_mark(str(cache), kernel_files.key())
    kit.use_pip(f'cp {kit.sdist} "$2"')
    kit.use_compiler("matmul.cpp", "error: nonsense")
    assert build().code == 1
    mark = mark_path(str(cache), kernel_files.key())
    assert mark is not None
    assert mark.exists()


@linux
def test_another_processor_has_the_library_for_sampling_alone(
    kit: Kit, cache: Path, build: Build
) -> None:
    kit.monkeypatch.setattr(kernel_files, "is_possible", lambda: False)
    result = build()
    rows = rows_files.find(cache)
    assert result.out == f"The library for sampling is built: {rows}\n"
    assert (result.code, result.err) == (0, f"paceline: {kernel_files.NOT_HERE}\n")
    again = json.loads(build("--json").out)
    assert again == {"library": None, "built": False, "rows": {"library": str(rows), "built": True}}


@linux
def test_rows_that_cannot_be_compiled_leave_the_kernels_their_build(
    kit: Kit, cache: Path, build: Build
) -> None:
    kit.use_pip(f'cp {kit.sdist} "$2"')
    kit.use_compiler("rows.cpp", "error: nonsense")
    result = build()
    assert (result.code, result.out) == (1, "")
    assert result.err.splitlines()[-1] == (
        "paceline: The library for sampling cannot be compiled: error: nonsense. "
        "Name another compiler in the variable CXX. Then call `paceline doctor --build-kernels`."
    )
    assert kernel_files.find(cache) is not None


def test_a_cache_that_cannot_be_written(kit: Kit, cache: Path, build: Build) -> None:
    cache.parent.mkdir()
    cache.touch()
    result = build()
    assert (result.code, result.out) == (1, "")
    assert_one_clear_line(result, "Set PACELINE_HOME to a folder that you can write to.")


def test_a_mark_that_cannot_be_removed(kit: Kit, cache: Path, build: Build) -> None:
    mark = mark_path(str(cache), kernel_files.key())
    assert mark is not None
    kit.use_pip(f'cp {kit.sdist} "$2"')
    mark.mkdir(parents=True)
    result = build()
    assert result.code == 1
    assert "cannot be removed" in result.err.splitlines()[-1]


@pytest.mark.skipif(
    not kernel_files.is_possible(), reason="there are no kernels for this processor"
)
def test_no_compiler_in_the_real_program(tmp_path: Path) -> None:
    (tmp_path / "libggml-cpu.so.0").write_bytes(b"a build that no kernels fit")
    environ = {"LLAMA_CPP_LIB_PATH": str(tmp_path), "PATH": str(tmp_path), "CXX": ""}
    result = paceline("doctor", "--build-kernels", environ=environ)
    assert (result.code, result.out) == (1, "")
    assert_one_clear_line(result, "No C++ compiler was found")


def test_the_two_ways_of_leaving_the_report_exclude_each_other() -> None:
    assert paceline("doctor", "--last", "--build-kernels").code == 2


@pytest.mark.usefixtures("asked_once")
def test_the_report_says_whether_there_are_kernels(kit: Kit, cache: Path) -> None:
    kernels = doctor.collect()["kernels"]
    assert set(kernels) == {
        "choice", "available", "library", "isa", "proved", "refused", "reason",
    }  # fmt: skip
    assert kernels["available"] is False
    assert kernels["library"] is None
    assert "paceline doctor --build-kernels" in kernels["reason"]

    folder = cache / "kernels"
    folder.mkdir(parents=True)
    library = folder / kernel_files.library_name(kernel_files.key())
    library.write_bytes(sealed_library.sealed(b"a library"))
    assert doctor.collect()["kernels"]["library"] == str(library)


@pytest.mark.usefixtures("asked_once")
def test_the_report_as_text_has_a_line_about_them(
    kit: Kit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["doctor"], lambda _: 9, lambda _: 9, lambda *_: 9) == 0
    (line,) = [x for x in capsys.readouterr().out.splitlines() if x.startswith("CPU kernels: ")]
    assert "`paceline doctor --build-kernels`" in line
