"""The words and variables that a child is started with, from sources and in a package."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from paceline.workers import start

SET_BY_THE_USER = {
    "PYTHONPATH": "/of/another/python",
    "PYTHONHOME": "/of/another/python",
    "PYTHONSTARTUP": "/of/the/user.py",
}


class Started(Exception):  # noqa: N818
    """A process would have been started."""

    def __init__(self, words: list[str], env: Mapping[str, str]) -> None:
        super().__init__(words)
        self.words, self.env = words, env


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Any:
    def popen(words: list[str], *, env: Mapping[str, str], **_: object) -> None:
        raise Started(words, env)

    for name, value in SET_BY_THE_USER.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(subprocess, "Popen", popen)

    def call() -> Started:
        here, there = socket.socketpair()
        with here, there, pytest.raises(Started) as raised:
            start.start("paceline-test", there, 1)
        return raised.value

    return call


def test_from_sources_a_child_finds_the_same_modules(started: Any) -> None:
    found = started()
    assert found.words[-3:] == [start.CHILD, "paceline-test", str(os.getpid())]
    assert found.words[-6:-3] == ["-P", "-m", "paceline"]
    assert found.env["PYTHONPATH"].split(os.pathsep) == [each for each in sys.path if each]
    assert "HF_TOKEN" not in found.env


def test_in_a_package_a_child_is_the_program_itself(
    started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/one/paceline")
    monkeypatch.setattr(sys, "path", ["/opt/one/_internal/base_library.zip", "/opt/one/_internal"])
    found = started()
    assert found.words == ["/opt/one/paceline", start.CHILD, "paceline-test", str(os.getpid())]
    assert {name: found.env[name] for name in SET_BY_THE_USER} == SET_BY_THE_USER
    assert not [each for each in found.env.values() if "/opt/one" in each], "no path of the package"
