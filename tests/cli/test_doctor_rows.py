"""The line of `paceline doctor` about sampling, and the library in use that it names."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from cli.program import paceline
from paceline.cli.findings import rows
from paceline.engine.sample.drawing import RowSettings
from paceline.engine.sample.edits import Biases, Penalties
from paceline.engine.sample.native_rows import NativeRows, RowLibrary
from paceline.engine.sample.plain_rows import PlainRows
from paceline.engine.sample.sampling import drawers
from paceline.installation import library_build, rows_build, rows_files, sealed_library
from paceline.params import SamplingParams
from paceline.paths import Paths

compiled = pytest.mark.skipif(not library_build.has_compiler(), reason="there is no C++ compiler")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real library, in a folder of its own."""
    return rows_build.build(tmp_path_factory.mktemp("rows"), print)


@pytest.fixture
def places(paceline_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Paths:
    """The folders of a user in whose installation the library is not."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    return Paths.from_environment()


@compiled
def test_a_library_in_the_cache_is_reported_and_used(made: Path, places: Paths) -> None:
    assert drawers(str(places.data_dir)) is PlainRows, "the installation has none"
    (places.cache_dir / "kernels").mkdir(parents=True)
    library = Path(shutil.copy(made, places.cache_dir / "kernels"))
    report = rows.collect(places)
    isa = RowLibrary(library).isa
    assert report == {"choice": "native", "library": str(library), "isa": isa, "reason": ""}
    assert rows.as_line(report) == f"sampling: in native code, {isa} ({library})"
    params = SamplingParams()
    settings = RowSettings(params, 0, Biases(params, []), Penalties(params), -1)
    assert isinstance(drawers(str(places.cache_dir))(settings), NativeRows)


def test_without_a_library_there_is_a_remedy(
    places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    for has_compiler, words in ((True, "is not built."), (False, "there is no C++ compiler.")):
        monkeypatch.setattr(library_build, "has_compiler", lambda is_so=has_compiler: is_so)
        report = rows.collect(places)
        assert (report["choice"], report["library"], report["isa"]) == ("python", None, "")
        assert f"{words} `paceline doctor --build-kernels` builds" in report["reason"]
        assert rows.as_line(report).startswith("sampling: in Python, which is slower. Its library")


def test_a_damaged_library_is_reported(places: Paths) -> None:
    folder = places.cache_dir / "kernels"
    folder.mkdir(parents=True)
    (folder / rows_files.library_name(rows_files.key())).write_bytes(b"half")
    assert rows.collect(places)["reason"].startswith("Its library is damaged. `paceline doctor -")


def test_a_library_that_cannot_be_loaded_is_reported(places: Paths) -> None:
    folder = places.cache_dir / "kernels"
    folder.mkdir(parents=True)
    library = folder / rows_files.library_name(rows_files.key())
    library.write_bytes(sealed_library.sealed(b"no library at all"))
    report = rows.collect(places)
    assert (report["choice"], report["library"]) == ("python", str(library))
    assert report["reason"].startswith("Its library cannot be loaded (")
    assert drawers(str(places.cache_dir)) is PlainRows


@pytest.mark.usefixtures("asked_once")
def test_the_report_has_it_in_both_forms(paceline_home: Path) -> None:
    report = json.loads(paceline("doctor", "--json").out)["sampling"]
    assert set(report) == {"choice", "library", "isa", "reason"}
    assert rows.as_line(report) in paceline("doctor").out.splitlines()
