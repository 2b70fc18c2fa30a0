"""The trial of the wheel notices what is wrong, by a program that is a shell script."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from package_trials import wheel
from package_trials.report import TrialError
from package_trials.wheel import Lack, Newcomer, says_so

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
ADVICE = "paceline: It is missing. Install it again: `pip install it`."


@pytest.fixture
def place(tmp_path: Path) -> Newcomer:
    """An environment whose Python says the words of a file among its packages."""
    made = Newcomer(tmp_path / "environment", tmp_path / "home")
    packages = made.environment / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "part").write_text("all is well")
    made.python.parent.mkdir()
    made.python.write_text(
        '#!/bin/sh\nhere=$(dirname "$0")/../lib/python3.11/site-packages\n'
        'if [ -e "$here/part" ]; then echo fine; exit 0; fi\n'
        'cat "$here/words" >&2; exit 1\n'
    )
    made.python.chmod(0o755)
    return made


def without_part(place: Newcomer) -> None:
    (place.packages / "part").unlink()


def lack(words: str) -> Lack:
    def take_away(place: Newcomer) -> None:
        without_part(place)
        (place.packages / "words").write_text(words)

    return Lack("a part", take_away, ("chat",), re.escape(ADVICE))


def test_one_sentence_with_the_remedy_passes(place: Newcomer, tmp_path: Path) -> None:
    assert says_so(place, tmp_path, lack(f"{ADVICE}\n")) == ADVICE
    assert (place.packages / "part").read_text() == "all is well", "the original stays"
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize(
    "words",
    ["", "paceline: It is missing.", f"Traceback:\n  line 1\n{ADVICE}\n", f"{ADVICE}\n{ADVICE}\n"],
)
def test_anything_else_fails(place: Newcomer, tmp_path: Path, words: str) -> None:
    with pytest.raises(TrialError, match="exit code 1"):
        says_so(place, tmp_path, lack(words))


def test_what_is_not_missed_fails(place: Newcomer, tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="exit code 0"):
        says_so(place, tmp_path, Lack("nothing", lambda _: None, ("chat",), "."))


def test_every_lack_says_what_is_to_be_done() -> None:
    names = [each.name for each in (*wheel.LACKS, wheel.NO_GLIBC, wheel.NO_COMPILER)]
    assert len(names) == len(set(names)) >= 10
    assert all(re.compile(each.says) for each in wheel.LACKS)
