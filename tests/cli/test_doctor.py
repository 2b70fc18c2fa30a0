"""`paceline doctor` on this machine, and on broken ones."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

import make_pairs
from catalog.headers import gguf_bytes, sidecar_model
from cli.program import assert_one_clear_line, paceline, paceline_process
from integration.engine import Engine
from paceline import __version__
from paceline.cli import doctor, loading
from paceline.installation import gpu_starts
from paceline.messages import PairLoaded
from paceline.paths import Paths

posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


def options(*, json: bool) -> Namespace:
    return Namespace(json=json, last=False, build_kernels=False, kernels=None, rpc=[])


def test_the_report_as_json(paceline_home: Path, demo_pair: tuple[Path, Path]) -> None:
    result = paceline_process("doctor", "--json")
    assert result.code == 0
    assert result.err == ""
    report = json.loads(result.out)
    assert report["versions"]["paceline"] == __version__
    assert report["versions"]["python"] == platform.python_version()
    assert report["versions"]["llama-cpp-python"]
    assert report["versions"]["PySide6-Essentials"]
    assert report["installation"] == "checkout"
    assert report["library"]["system_info"]
    assert any(device["kind"] == "cpu" for device in report["devices"])
    process = report["engine_process"]
    assert set(process) == {"starts", "seconds", "error"}
    assert process["starts"] is True
    assert process["error"] == ""
    assert 0 < process["seconds"] < 30
    assert report["cores"]["default_threads"] == max((report["cores"]["physical"] or 2) - 1, 1)
    assert report["memory"]["total_bytes"] > report["memory"]["available_bytes"] > 0
    for folder in report["folders"].values():
        assert Path(folder["path"]).parent == paceline_home
        assert folder == {"path": folder["path"], "exists": False, "writable": True}
    assert report["states"] == {"path": str(paceline_home / "cache" / "states"), "bytes": 0}
    assert [model["path"] for model in report["demo_pair"].values()] == [str(p) for p in demo_pair]
    assert all(model["present"] for model in report["demo_pair"].values())
    assert isinstance(report["problems"], list)
    assert not paceline_home.exists(), "a doctor changes nothing"


@pytest.mark.usefixtures("asked_once")
def test_the_report_as_text() -> None:
    result = paceline("doctor")
    assert result.code == 0
    for word in (
        "paceline",
        __version__,
        "llama-cpp-python",
        "engine process: answers after ",
        "device CPU",
        "cores:",
        "demo target",
    ):
        assert word in result.out


@pytest.mark.usefixtures("asked_once")
def test_it_says_how_the_models_of_this_computer_take_drafts_back(paceline_home: Path) -> None:
    folder = Paths.from_environment().models_dir
    folder.mkdir(parents=True)
    for name in ("tiny-qwen35", "tiny-mamba", "tiny-swa"):
        shutil.copy(make_pairs.path(name), folder / f"{name}.gguf")
    (folder / "mtp-wolf.gguf").write_bytes(gguf_bytes(sidecar_model("mtp")))
    (folder / "broken.gguf").write_text("This is no model.")
    before = sorted(paceline_home.rglob("*"))
    report = doctor.collect()
    assert sorted(paceline_home.rglob("*")) == before, "a doctor changes nothing"
    ways = {Path(model["path"]).stem: model["way"] for model in report["models"]}
    assert {name: ways.get(name) for name in ("tiny-qwen35", "tiny-mamba", "tiny-swa")} == {
        "tiny-qwen35": "states", "tiny-mamba": "copies", "tiny-swa": "cells",
    }  # fmt: skip
    assert not {"mtp-wolf", "broken"} & set(ways), "models list says what is wrong with them"
    text = doctor.as_text(report)
    assert "tiny-qwen35.gguf: This model can take back 16 tokens: drafts end there." in text
    with Engine(folder / "tiny-mamba.gguf", n_ctx=0) as engine:
        assert isinstance(engine.loaded, PairLoaded)
        (said,) = [m["text"] for m in report["models"] if "mamba" in m["path"]]
        assert said in engine.loaded.notes, "the words of a load"


@pytest.mark.usefixtures("asked_once")
def test_it_says_how_much_is_kept_of_prompts() -> None:
    folder = Paths.from_environment().states_dir
    (folder / "key" / "one").mkdir(parents=True)
    (folder / "key" / "other").mkdir()
    file = folder / "key" / "one" / "block"
    file.write_bytes(bytes(1_200_000))
    (folder / "key" / "other" / "block").hardlink_to(file)
    report = doctor.collect()
    assert report["states"]["bytes"] == 1_200_000, "one file of two owners"
    assert f"states of prompts: {folder} (1 MB)" in doctor.as_text(report)


@pytest.mark.usefixtures("asked_once")
def test_a_locked_folder_is_reported(monkeypatch: pytest.MonkeyPatch, paceline_home: Path) -> None:
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    problems = [p for p in doctor.collect()["problems"] if p["code"] == "folder-not-writable"]
    assert len(problems) == 4
    assert all(str(paceline_home) in problem["text"] for problem in problems)


def test_a_library_that_does_not_load_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise OSError("libgomp.so.1: cannot open shared object file")

    def broken_too(*_: object) -> None:
        broken()

    monkeypatch.setattr("paceline.engine.native.llama_backend", broken)
    monkeypatch.setattr("paceline.workers.worker.ChildProcess", broken_too)
    assert doctor.run(options(json=True)) == 0
    report = json.loads(capsys.readouterr().out)
    assert "libgomp" in report["library"]["error"]
    assert "library-not-loaded" in [problem["code"] for problem in report["problems"]]
    assert doctor.run(options(json=False)) == 0
    text = capsys.readouterr().out
    assert "problem: The native library cannot be loaded" in text
    assert "remedy: " in text


def test_a_process_that_does_not_start_is_reported(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("reader of model files")

    def no_more(*_: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("paceline.workers.worker.ChildProcess", no_more)
    report = doctor.collect()
    assert report["engine_process"]["starts"] is False
    assert "temporarily unavailable" in report["engine_process"]["error"]
    assert report["library"]["version"], "it is asked within the program then"
    assert [p["code"] for p in report["problems"]].count("engine-process") == 1
    assert doctor.run(options(json=False)) == 0
    text = capsys.readouterr().out
    assert "engine process: does not answer (it cannot be started (Resource tempo" in text
    assert "remedy: Look whether a security program" in text


@posix
@pytest.mark.parametrize(
    ("main", "name", "is_native"),
    [("be_killed", "ended from outside", False), ("crash", "SIGILL", True)],
)
def test_a_library_that_crashes_does_not_take_the_doctor_along(
    monkeypatch: pytest.MonkeyPatch, main: str, name: str, is_native: bool
) -> None:
    monkeypatch.setattr("paceline.hosting.description.run_description", globals()[main])
    asked = loading.ask_engine()
    assert name in asked.process_error
    assert (asked.answer is None) == is_native
    assert (name in asked.library_error) == is_native


@posix
def test_a_process_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paceline.hosting.description.run_description", hang)
    monkeypatch.setattr(loading, "ANSWER_S", 1.0)
    began = time.monotonic()
    asked = loading.ask_engine()
    assert "has not answered" in asked.process_error
    assert asked.answer is not None
    assert time.monotonic() - began < 20


@posix
def test_a_driver_that_hangs_is_not_started_by_the_doctor_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    gpu_starts.noted_in().write_bytes(b"x")
    monkeypatch.setattr("paceline.hosting.description.run_description", hang)
    monkeypatch.setattr(loading, "ANSWER_S", 1.0)
    asked = loading.ask_engine()
    assert asked.answer is None
    assert "has not answered" in asked.library_error


def be_killed(*_arguments: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crash(*_arguments: object) -> None:
    os.kill(os.getpid(), signal.SIGILL)


def hang(*_arguments: object) -> None:
    time.sleep(60)


@pytest.mark.usefixtures("asked_once")
def test_missing_resources_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        "paceline.paths.demo_pair", lambda: (tmp_path / "t.gguf", tmp_path / "d.gguf")
    )
    report = doctor.collect()
    codes = [problem["code"] for problem in report["problems"]]
    assert codes.count("demo-pair-missing") == doctor.as_text(report).count("(MISSING)") == 2


def test_without_a_last_reply_it_says_how_to_get_one() -> None:
    for options in ([], ["--json"]):
        result = paceline("doctor", "--last", *options)
        assert result.code == 1
        codes = [each["error"]["code"] for each in result.objects]
        assert codes == ["no-last-run"] * len(options)
        assert_one_clear_line(result, "paceline chat --remember")
