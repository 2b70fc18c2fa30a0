"""Facts outlive the program, and their file may be lost or broken at any time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine import facts as facts_module
from paceline.engine.facts import Facts

FACTS = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "deep"


def written(folder: Path) -> Any:
    return json.loads((folder / "facts.json").read_text("utf-8"))


@given(st.dictionaries(st.text(max_size=20), FACTS, max_size=3))
def test_any_fact_survives(tmp_path_factory: pytest.TempPathFactory, facts: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("facts")
    keeper = Facts(str(folder))
    for key, fact in facts.items():
        keeper.put(key, fact)
    again = Facts(str(folder))
    assert {key: again.get(key) for key in facts} == facts


def test_a_fact_can_be_measured_again(folder: Path) -> None:
    facts = Facts(str(folder))
    facts.put("k", 1)
    facts.put("other", 5)
    facts.put("k", 2)
    assert facts.get("k") == 2
    assert written(folder) == {"k": 2, "other": 5}


def test_without_a_folder_they_live_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    facts = Facts("")
    facts.put("k", True)
    assert facts.get("k") is True
    assert Facts("").get("k") is None
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_before_there_is_a_fact(folder: Path) -> None:
    Facts(str(folder)).get("k")
    assert not folder.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1, 2]",
        b"null",
        b"\xff\xfe\0",
        b'{"a": 1',
        b"\0" * 100,
        b'"text"',
        b"[" * 200_000,
    ],
    ids=lambda content: repr(content[:10]),
)
def test_a_broken_file_counts_as_none_and_is_replaced(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "facts.json").write_bytes(content)
    facts = Facts(str(folder))
    assert facts.get("a") is None
    facts.put("b", 2)
    assert written(folder) == {"b": 2}


def test_values_of_other_kinds_are_dropped(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "facts.json").write_text('{"list": [1], "none": null, "map": {}, "ok": 1}')
    facts = Facts(str(folder))
    assert [facts.get(k) for k in ("list", "none", "map", "ok")] == [None, None, None, 1]


@pytest.mark.parametrize("broken", ["mkstemp", "fdopen", "replace"])
def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    facts = Facts(str(folder))
    facts.put("old", 1)

    def fail(*args: object, **options: object) -> None:
        if broken == "fdopen":
            os.close(args[0])  # type: ignore[arg-type]
        raise OSError(28, "No space left on device")

    owner = {
        "mkstemp": "tempfile.mkstemp",
        "fdopen": "os.fdopen",
        "replace": "pathlib.Path.replace",
    }
    monkeypatch.setattr(owner[broken], fail)
    facts.put("new", 2)
    assert facts.get("new") == 2
    assert written(folder) == {"old": 1}
    assert [p.name for p in folder.iterdir()] == ["facts.json"]


def test_a_reader_never_sees_half_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts(str(folder))
    facts.put("old", 1)
    seen = []

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def look_and_call(*args: Any, **options: Any) -> Any:
            seen.append(written(folder))
            return call(*args, **options)

        return look_and_call

    monkeypatch.setattr(os, "fdopen", watched(os.fdopen))  # the writing begins
    monkeypatch.setattr(Path, "replace", watched(Path.replace))  # and has ended
    facts.put("new", 2)
    assert seen == [{"old": 1}, {"old": 1}]
    assert written(folder) == {"old": 1, "new": 2}


def test_two_programs_keep_each_others_facts(tmp_path: Path) -> None:
    window, command = Facts(str(tmp_path)), Facts(str(tmp_path))
    window.put("rows|m", "apart")
    command.put("threads|m", 3)
    assert command.get("rows|m") == "apart"
    window.forget("threads|")
    command.put("costs|m", "{}")
    assert Facts(str(tmp_path)).below("") == {"rows|m": "apart", "costs|m": "{}"}


def test_facts_that_could_not_be_written_are_not_lost_to_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the folder's place", "utf-8")
    facts = Facts(str(tmp_path / "cache"))
    facts.put("a", 1)
    facts.put("b", 2)
    assert facts.below("") == {"a": 1, "b": 2}


def test_facts_that_could_not_be_written_outlive_those_that_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = Facts(str(folder))
    facts.put("a", 1)
    monkeypatch.setattr(facts_module, "write_whole", full)
    facts.put("b", 2)
    facts.put("c", 3)
    assert facts.below("") == {"a": 1, "b": 2, "c": 3}
    monkeypatch.undo()
    facts.put("d", 4)
    assert Facts(str(folder)).below("") == {"a": 1, "b": 2, "c": 3, "d": 4}


def full(path: Path, content: bytes) -> None:
    raise OSError(28, "No space left on device")
