"""A packaged program advises nothing that it does not have: no pip, no compiler, no bootstrap."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from cli.test_known_problems import HEALTHY
from paceline import paths
from paceline.cli import doctor, main
from paceline.cli.findings import known_problems, rows
from paceline.cli.findings.known_problems import ReportFacts
from paceline.cli.usage import Parser
from paceline.engine.facts import Facts as KeptFacts
from paceline.engine.llama.newer import newer_model
from paceline.engine.model import own_kernels
from paceline.engine.model.own_kernels import mark_path, write_mark
from paceline.engine.model.placement import devices_for
from paceline.errors import UserError
from paceline.hosting.exit_reasons import describe_death
from paceline.installation import (
    kernel_build,
    kernel_files,
    package,
    remedies,
    rows_build,
    rows_files,
)
from paceline.params import ModelParams
from paceline.workers.ends import End

ABSENT = re.compile(
    r"\bpip[x]?\b|\buv\b|compil|CMAKE_ARGS|bootstrap|build-kernels|llama-cpp-python|\bbuild of\b"
    r"|virtual environment|site-packages",
    re.IGNORECASE,
)
KEY = "0123456789abcdef"
APP = Path(package.__file__).parents[1]


@pytest.fixture(autouse=True)
def _packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)


def refusal(call: Callable[[], object]) -> str:
    """Return what an error says, with its remedy."""
    with pytest.raises(UserError) as raised:
        call()
    return f"{raised.value.message} {raised.value.hint}"


def remedy(call: Callable[[], object]) -> str:
    """Return an error's remedy; its message may speak of llama.cpp's build."""
    with pytest.raises(UserError) as raised:
        call()
    return raised.value.hint


def test_all_remedies() -> None:
    said = {
        remedies.library_again(),
        remedies.library_with("-DGGML_RPC=ON"),
        remedies.library_for_this_processor(),
        remedies.newer_library(),
        remedies.gpu(),
        remedies.nvidia(),
        remedies.kernels_built(),
        remedies.kernels_tested_again(Path("/home/me/facts.json")),
        remedies.kernels_tested_again(None),
        remedies.package_of_python("PySide6-Essentials"),
        remedies.program_again(),
        remedies.window_again(ImportError("libGL.so.1: cannot open shared object file")),
        remedies.window_again(ImportError("No module named 'PySide6'")),
    }
    assert not [text for text in said if ABSENT.search(text)]
    assert any("/home/me/facts.json" in text for text in said)
    choices = {name for name, each in vars(remedies).items() if _is_choice(each)}
    assert len(choices) == 11, "a new remedy is told here, too"


def _is_choice(each: object) -> bool:
    """Return True where this is a function that returns a remedy."""
    return (
        callable(each)
        and getattr(each, "__module__", "") == remedies.__name__
        and getattr(each, "__annotations__", {}).get("return") == "Sentence"
    )


def test_every_known_problem() -> None:
    facts: dict[str, tuple[object, ...]] = {
        "installed": ({}, {"llama-cpp-python": "0.1", "PySide6-Essentials": "6.12.0"}),
        "library_error": ("", "libgomp is missing"),
        "process_error": ("", "it was ended"),
        "system_info": ("CPU : SSE3 = 1 |", "CPU : AVX2 = 1 | AMX_INT8 = 1 |"),
        "has_nvidia": (False, True),
    }
    found = {}
    for values in product(*facts.values()):
        made: ReportFacts = replace(
            HEALTHY,
            locked_folders=("/x",),
            missing_models=("t.gguf",),
            **dict(zip(facts, values, strict=True)),  # type: ignore[arg-type]
        )
        found |= {problem.code: problem for problem in known_problems.find(made)}
    assert set(found) >= {"library-not-loaded", "engine-process", "no-pyside", "gpu-unused"}
    assert not {"amx", "no-avx2"} & set(found), "a package has a library for every processor"
    assert not [each for each in found.values() if ABSENT.search(each.remedy)]
    assert "Vulkan" in found["gpu-unused"].remedy


def test_kernels_that_failed_name_a_file_that_is_there(tmp_path: Path) -> None:
    cache = str(tmp_path)
    write_mark(cache, KEY, "q4_K")
    said = refusal(lambda: own_kernels.check_mark(cache, KEY))
    mark = mark_path(cache, KEY)
    assert mark is not None
    assert mark.exists()
    assert f"once the file {mark} is deleted" in said
    assert not ABSENT.search(said)
    mark.unlink()
    own_kernels.check_mark(cache, KEY)
    facts = KeptFacts(cache)
    facts.put("a fact", 1)
    assert facts.path is not None
    assert facts.path.exists()


def test_kernels_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_files, "find", lambda *_: None)
    for is_possible, key in product((True, False), ("", KEY)):
        monkeypatch.setattr(kernel_files, "is_possible", lambda is_so=is_possible: is_so)
        monkeypatch.setattr(kernel_files, "key", lambda key=key: key)
        assert not ABSENT.search(remedy(lambda: own_kernels.find_library("")))


def test_errors_of_models() -> None:
    for why in ("unknown model architecture: 'new'", "tensor 'a' of type 45 (TYPE_MAX 42)"):
        error = newer_model("m.gguf", why)
        assert error is None or not ABSENT.search(error.hint)
    for params in (ModelParams("m", n_gpu_layers=9), ModelParams("m", split_mode="row")):
        assert not ABSENT.search(remedy(lambda params=params: devices_for(params, ())))  # type: ignore[misc]
    assert not ABSENT.search(describe_death(End(-4)).hint)


def test_doctor_builds_nothing_forgets_failures_and_says_so(
    paceline_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = paceline_home / "cache"
    monkeypatch.setattr(kernel_files, "key", lambda: KEY)
    monkeypatch.setattr(kernel_files, "find", lambda *_: Path("/there/kernels.so"))
    write_mark(str(cache), KEY)
    KeptFacts(str(cache)).put(own_kernels.fact_name(KEY, "q8_0"), "wrong")
    monkeypatch.setattr(kernel_files, "is_possible", lambda: True)
    monkeypatch.setattr(rows_files, "find", lambda *_: Path("/there/rows.so"))
    assert main.run(["doctor", "--build-kernels"], _no, _no, _no) == 0
    printed = capsys.readouterr()
    assert "builds no kernels" in printed.err
    assert printed.out == (
        "The installation has the library for sampling already: /there/rows.so\n"
        "The installation has the kernels already: /there/kernels.so\n"
    )
    assert not list(cache.rglob("*.crashed"))
    assert KeptFacts(str(cache)).below("") == {}
    for files in (kernel_files, rows_files):
        with monkeypatch.context() as patch:
            patch.setattr(files, "find", lambda *_: None)
            assert main.run(["doctor", "--build-kernels"], _no, _no, _no) == 1
        assert "Install Paceline again." in capsys.readouterr().err
    assert not ABSENT.search(refusal(lambda: kernel_build.build(cache, None, print)))
    assert not ABSENT.search(refusal(lambda: rows_build.build(cache, print)))


def test_sampling_in_python(paceline_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_files, "find", lambda *_: None)
    for is_damaged in (True, False):
        monkeypatch.setattr(rows_files, "is_damaged", lambda *_, is_so=is_damaged: is_so)
        reason = rows.collect(paths.Paths.from_environment())["reason"]
        assert not ABSENT.search(reason)
        assert reason.endswith("Install Paceline again.")


def _no(*_: object) -> int:
    raise AssertionError


def test_no_help_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser()
    doctor.add(parser)
    assert not ABSENT.search(parser.format_help())
    for command in ("", "chat", "serve", "bench", "calibrate", "models", "cache", "rpc-server"):
        with pytest.raises(SystemExit):
            main.run([*filter(None, [command]), "--help"], _no, _no, _no)
        assert not ABSENT.search(capsys.readouterr().out), command


@pytest.mark.parametrize("name", ["guide.md", "guide.de.md"])
def test_the_guide_names_none(name: str) -> None:
    text = (paths.resources() / "guide" / name).read_text("utf-8")
    assert not ABSENT.findall(text)


MAY_SAY_IT = {
    "installation/remedies.py": "chooses by how the program came here",
    "installation/kernel_build.py": "runs outside of packages alone",
    "installation/library_build.py": "runs outside of packages alone",
    "installation/rows_build.py": "runs outside of packages alone",
    "cli/findings/rows.py": "says it outside of packages alone",
    "cli/doctor.py": "names distributions; the option's help is a checkout's and a wheel's",
    "engine/model/own_kernels.py": "names the library whose sources are missing",
    "engine/model/placement.py": "a message, not a remedy",
    "gui/help/about.py": "says that Qt may be replaced by another build",
    "gui/run/run_words.py": "a name for how a device is used",
    "engine/llama": "messages of what llama.cpp lacks, not remedies",
}
"""Modules whose texts have such words, and why they may."""


def test_no_other_module_has_such_words() -> None:
    found = set()
    for file in APP.rglob("*.py"):
        place = file.relative_to(APP).as_posix()
        tree = ast.parse(file.read_text("utf-8"))
        plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in plain:
                continue
            if isinstance(node.value, str) and " " in node.value and ABSENT.search(node.value):
                found.add(place)
    allowed = tuple(MAY_SAY_IT)
    assert {place for place in found if not place.startswith(allowed)} == set()
    assert {each for each in allowed if not any(place.startswith(each) for place in found)} == set()
