"""The form in which the program came here: frozen, a wheel or a checkout, and its build."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from paceline.installation import package
from paceline.installation.package import BUILD_FILE, PARTS, BuildRecord

BUILD = BuildRecord(date(2026, 11, 29), "0.1.0", "37b1be27")
APP = Path(package.__file__).parents[2]


def test_a_checkout_is_no_package() -> None:
    assert not package.is_packaged()
    assert package.kind() == "checkout"
    assert package.parts_file() is None


def test_the_installation_is_shown_with_its_date(monkeypatch: pytest.MonkeyPatch) -> None:
    assert package.installed_as() == "checkout"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert package.installed_as() == "package"
    monkeypatch.setattr(package, "built_at", lambda: BUILD.day)
    assert package.installed_as() == "package, built 2026-11-29"


def test_a_frozen_program_is_a_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert package.is_packaged()
    assert package.kind() == "package"
    assert package.parts_file() is None
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert package.parts_file() is None
    (tmp_path / PARTS).parent.mkdir()
    (tmp_path / PARTS).write_text("{}")
    assert package.parts_file() == tmp_path / PARTS


def test_a_wheel_and_its_build_are_known_by_the_files_beside_the_modules(tmp_path: Path) -> None:
    inside = tmp_path / "paceline"
    (inside / "installation").mkdir(parents=True)
    (inside / "_resources").mkdir()
    (inside / "__init__.py").write_text("")
    (inside / "installation" / "__init__.py").write_text("")
    for name in ("installation/package.py", "sentence.py", "sizes.py"):
        (inside / name).write_bytes((APP / "paceline" / name).read_bytes())
    package.write_build(inside, BUILD)
    code = (
        "from paceline.installation import package as p; "
        "print(p.kind(), p.built_at(), p.this_build().commit)"
    )
    said = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["wheel", "2026-11-29", "37b1be27"]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    for build in (BUILD, BuildRecord(date(2027, 1, 1), "1.0.0")):
        package.write_build(tmp_path, build)
        assert package.read_build(tmp_path) == build


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b'{"day": 20261129, "version": "0.1.0"}',
        b'{"day": "2026-13-01", "version": "0.1.0"}',
        b'{"day": "2026-11-29"}',
        b'{"day": "2026-11-29", "version": 1}',
        b'{"day": "2026-11-29", "version": "0.1.0", "commit": null}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / BUILD_FILE).write_bytes(content)
    assert package.read_build(tmp_path) is None


def test_no_file_says_nothing_and_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    assert package.read_build(tmp_path) is None
    said = {"day": "2026-11-29", "version": "0.1.0", "later": [1]}
    (tmp_path / BUILD_FILE).write_text(json.dumps(said))
    assert package.read_build(tmp_path) == BuildRecord(date(2026, 11, 29), "0.1.0")


def test_it_needs_nothing_but_python() -> None:
    code = "import sys; import paceline.installation.package; print('msgspec' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=APP, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"
