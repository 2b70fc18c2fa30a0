"""The check of the curated pairs, against a Hub on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import check_curated
import make_pairs
from hub_server import Fault, HubServer, Repository
from paceline.catalog.judge.curated import load_curated

pytestmark = pytest.mark.usefixtures("one_reader_for_all")

DRAFT = make_pairs.DEMO_DRAFT
N_BYTES = DRAFT.stat().st_size
N_TARGET = make_pairs.DEMO_TARGET.stat().st_size


@pytest.fixture
def hub() -> Iterator[HubServer]:
    repositories = [
        Repository("demo/target", {"target.gguf": make_pairs.DEMO_TARGET}),
        Repository("demo/draft", {"draft-F16.gguf": DRAFT, "draft-Q8_0.gguf": DRAFT}),
        Repository("demo/words", {"words.gguf": make_pairs.path("tiny-other-vocab")}),
        Repository("demo/gated", {"x.gguf": DRAFT}, {"gated": "manual"}),
        Repository("demo/empty", {"README.md": b"soon"}),
    ]
    with HubServer({each.id: each for each in repositories}) as server:
        yield server


def entry(draft: str = "demo/draft", file: str | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "title": "Demo",
        "kind": "draft",
        "machine": "any",
        "least_memory": 10**6,
        "target_repo": "demo/target",
        "target_file": "target.gguf",
        "target_bytes": None,
        "target_words": ["paceline", "target"],
        "target_architecture": "llama",
        "target_params": None,
        "draft_repo": draft,
        "draft_file": file,
        "draft_bytes": None,
        "about": [],
        "active": None,
        "acceptance": None,
        "gain": {"claim": "Much", "texts": None, "temperature": None},
        "evidence": {"url": "https://example.com", "date": None},
        "vocabulary_checked": None,
        **changes,
    }


def run(hub: HubServer, folder: Path, *entries: dict[str, Any], write: bool = False) -> int:
    path = folder / "pairs.json"
    path.write_text(json.dumps({"pairs": entries}))
    arguments = ["--endpoint", hub.endpoint, "--list", str(path)]
    return check_curated.main([*arguments, *(["--write"] if write else [])])


def test_a_right_entry(hub: HubServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = entry(file="draft-Q8_0.gguf", draft_bytes=N_BYTES, vocabulary_checked=True)
    assert run(hub, tmp_path, right) == 0
    titles, line = capsys.readouterr().out.splitlines()
    assert titles.split() == ["pair", "draft", "file", "bytes", "vocabulary", "gate", "verdict"]
    for word in ("Demo", "draft-Q8_0.gguf", str(N_BYTES), " fits", "open, open", "Expect"):
        assert word in line


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (entry("demo/none"), "has no repository “demo/none”"),
        (entry(file="gone.gguf"), "demo/draft has no file “gone.gguf”"),
        (entry(target_file="gone.gguf"), "demo/target has no file “gone.gguf”"),
        (entry("demo/empty"), "demo/empty has no complete GGUF file"),
        (entry("demo/words"), "Token 8191 is"),
        (entry("demo/gated"), "demo/gated"),
        (entry(file="draft-Q8_0.gguf", draft_bytes=5), f"{N_BYTES} bytes, not 5"),
        (entry(target_bytes=2 * N_TARGET, about=["target_bytes"]), f"{N_TARGET} bytes, not"),
        (entry(vocabulary_checked=False), "the list says that the vocabulary does not fit"),
        (entry(target_architecture="qwen2"), "which this entry is not for"),
        (entry(target_words=["wolf"]), "which this entry is not for"),
    ],
)
def test_what_is_wrong_is_named(
    hub: HubServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    wrong: dict[str, Any],
    problem: str,
) -> None:
    assert run(hub, tmp_path, wrong) == 1
    problems = [line for line in capsys.readouterr().out.splitlines() if "    ! " in line]
    assert any(problem in line for line in problems), problems


@pytest.mark.parametrize(
    ("file", "code"), [("mtp-target.gguf", 0), ("mtp-other.gguf", 1), ("target.gguf", 1)]
)
def test_an_mtp_head_is_looked_for_among_the_sidecars(tmp_path: Path, file: str, code: int) -> None:
    files: dict[str, bytes | Path] = {
        "target.gguf": make_pairs.DEMO_TARGET,
        "mtp-target.gguf": b"GGUF",
    }
    with HubServer({"demo/target": Repository("demo/target", files)}) as server:
        assert run(server, tmp_path, entry("demo/target", file, kind="mtp")) == code
        assert run(server, tmp_path, entry("", kind="mtp")) == 0


def test_what_was_found_is_written_and_nothing_else(hub: HubServer, tmp_path: Path) -> None:
    entries = [entry(), entry("demo/words"), entry("demo/none"), entry("demo/gated")]
    assert run(hub, tmp_path, *entries, write=True) == 1
    path = tmp_path / "pairs.json"
    found, misfit, gone, gated = json.loads(path.read_bytes())["pairs"]
    assert (found["draft_file"], found["draft_bytes"]) == ("draft-Q8_0.gguf", N_BYTES)
    assert found["target_bytes"] == N_TARGET
    assert found["about"] == gone["about"] == []
    assert found["vocabulary_checked"] is True
    assert misfit["vocabulary_checked"] is False
    assert gone == entries[2]
    assert gated["vocabulary_checked"] is None
    for new, old in zip((found, misfit), entries, strict=False):
        names = ("target_bytes", "draft_file", "draft_bytes", "vocabulary_checked")
        written = {name: new[name] for name in names}
        assert {**old, **written} == new
    assert len(load_curated(path)) == 4
    assert run(hub, tmp_path, found) == 0, "what was written is right"


def test_a_size_that_was_not_counted_may_be_a_little_off(hub: HubServer, tmp_path: Path) -> None:
    about = ["target_bytes", "draft_bytes"]
    sizes = {"target_bytes": round(0.9 * N_TARGET), "draft_bytes": round(1.1 * N_BYTES)}
    derived = entry(file="draft-Q8_0.gguf", about=about, **sizes)
    assert run(hub, tmp_path, derived, write=True) == 0
    (counted,) = load_curated(tmp_path / "pairs.json")
    assert (counted.target_bytes, counted.draft_bytes) == (N_TARGET, N_BYTES)
    assert counted.about == ()
    assert counted.download == (N_TARGET + N_BYTES, True)


def test_a_hub_that_cannot_be_asked_leaves_the_list_alone(hub: HubServer, tmp_path: Path) -> None:
    hub.add(Fault(status=503))
    assert run(hub, tmp_path, entry(), write=True) == 1
    assert json.loads((tmp_path / "pairs.json").read_bytes())["pairs"] == [entry()]


def test_a_list_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.json"
    path.write_text("{}")
    assert check_curated.main(["--list", str(path)]) == 1
    assert "pairs.json" in capsys.readouterr().err
