"""The doctor tries every child process that the program has, and says which one does not answer."""

from __future__ import annotations

import ast
import importlib
import subprocess
from functools import cache
from pathlib import Path

import pytest

import paceline
from paceline.cli import doctor
from paceline.cli.findings import children, known_problems
from paceline.cli.findings.children import CHILDREN, DESCRIPTION
from paceline.workers import process, start

APP = Path(paceline.__file__).parent


@cache
def names_in_sources() -> frozenset[str]:
    """Return the names of all children: the first argument of each `Language(…)`."""
    found = set()
    for file in APP.rglob("*.py"):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "Language(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Language":
                name = node.args[0]
                if isinstance(name, ast.Constant):
                    found.add(str(name.value))
                else:
                    module = ".".join(("paceline", *file.relative_to(APP).with_suffix("").parts))
                    found.add(getattr(importlib.import_module(module), ast.unparse(name)))
    return frozenset(found)


def test_the_list_has_every_child_of_the_sources() -> None:
    assert process.Language.__name__ == "Language"
    assert {DESCRIPTION, *(child.name for child in CHILDREN)} == names_in_sources()


@pytest.mark.usefixtures("paceline_home")
def test_each_starts_and_answers() -> None:
    report = doctor.collect()
    tried = {each["name"]: each for each in report["children"]}
    expected = names_in_sources()
    if not report["kernels"]["available"]:
        expected -= {"paceline-prover"}
    assert set(tried) == expected
    for each in tried.values():
        assert (each["starts"], each["error"]) == (True, ""), each
        assert 0 < each["seconds"] < 10 * children.LIMIT_S
    line = children.as_line(report["children"])
    assert line == f"child processes: {len(tried)} of {len(tried)} answer"
    assert line in doctor.as_text(report)


@pytest.mark.usefixtures("paceline_home")
@pytest.mark.parametrize("silent", ["paceline-templates", "paceline-engine"])
def test_one_that_cannot_start_is_named(monkeypatch: pytest.MonkeyPatch, silent: str) -> None:
    popen = start.subprocess.Popen

    def refused(words: list[str], **options: object) -> subprocess.Popen[bytes]:
        if silent in words:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return popen(words, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(start.subprocess, "Popen", refused)
    report = doctor.collect()
    tried = {each["name"]: each for each in report["children"]}
    assert [name for name, each in tried.items() if not each["starts"]] == [silent]
    assert "temporarily unavailable" in tried[silent]["error"]
    assert f"{silent} does not (" in doctor.as_text(report)
    (problem,) = [each for each in report["problems"] if each["code"] == "child-process"]
    assert silent in problem["text"]
    assert problem["remedy"].startswith("Look whether a security program")


def test_where_nothing_can_be_loaded_that_alone_is_the_problem() -> None:
    facts = known_problems.ReportFacts(
        python=(3, 11, 7),
        installed={"PySide6-Essentials": "6.11.3"},
        library_error="libgomp is missing",
        process_error="libgomp is missing",
        silent={"paceline-engine": "libgomp is missing"},
    )
    assert [problem.code for problem in known_problems.find(facts)] == ["library-not-loaded"]
