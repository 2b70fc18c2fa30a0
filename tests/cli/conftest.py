"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from paceline.cli import doctor
from paceline.cli.findings import children
from paceline.cli.findings.children import ChildAnswer
from paceline.cli.loading import Asked

Answers = tuple[Asked, tuple[ChildAnswer, ...]]


@pytest.fixture(scope="session")
def children_answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """The answers of the engine's process and of the other children, which were really started."""
    with closing(children.TrialOfChildren(tmp_path_factory.mktemp("cache"))) as trial:
        asked = doctor.ask_engine()
        return asked, trial.answers(asked)


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch, children_answers: Answers) -> None:
    """A doctor whose child processes gave their answers before: they are not what is tested."""
    asked, answers = children_answers

    class Trial:
        def __init__(self, _cache_dir: Path) -> None:
            pass

        def answers(self, _asked: Asked) -> Sequence[ChildAnswer]:
            return answers

        def close(self) -> None:
            pass

    monkeypatch.setattr(doctor, "ask_engine", lambda _servers=(): asked)
    monkeypatch.setattr(children, "TrialOfChildren", Trial)
