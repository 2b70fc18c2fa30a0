"""The bootstrap brings the first model once for each home, and not where it is unwanted."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest
from stand_ins import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def brought(checkout: Checkout) -> list[str]:
    return [line for line in checkout.calls.read_text().splitlines() if "starter" in line]


def test_it_is_brought_after_the_kernels_and_kept_beside_the_wheels(checkout: Checkout) -> None:
    assert checkout.run("x").returncode == 7  # that of what was started
    (call,) = brought(checkout)
    assert f"--shelf {checkout.cache / 'starter'}" in call
    lines = checkout.calls.read_text()
    assert lines.index("build_kernels.py") < lines.index("bring_starter.py")


def test_the_next_start_does_not_ask_again_but_another_home_does(checkout: Checkout) -> None:
    checkout.run("x")
    checkout.run("x")
    assert brought(checkout) == []
    checkout.run("x", PACELINE_HOME="/elsewhere")
    assert len(brought(checkout)) == 1
    checkout.run("x", PACELINE_HOME="/elsewhere")
    assert brought(checkout) == []


def test_what_was_deleted_stays_deleted_after_a_new_installation(checkout: Checkout) -> None:
    checkout.run("x")
    project = checkout.root / "pyproject.toml"
    project.write_text(project.read_text().replace("[project]", "[project]\ndescription = 'x'"))
    checkout.run("x")
    assert checkout.pip_calls()
    assert brought(checkout) == []
    checkout.start("--python", str(checkout.python), "--rebuild", "run", "x")
    assert checkout.pip_calls()
    assert brought(checkout) == []


@pytest.mark.parametrize("variables", [{"PACELINE_STARTER": "0"}, {}])
def test_it_can_be_left_out(checkout: Checkout, variables: dict[str, str]) -> None:
    words = ("--python", str(checkout.python), *(() if variables else ("--no-starter",)))
    assert (
        checkout.start(*words, "run", "x", **variables).returncode == 7
    )  # that of what was started
    assert brought(checkout) == []


def test_checks_do_not_need_it(checkout: Checkout) -> None:
    checkout.start("--python", str(checkout.python), "test")
    assert brought(checkout) == []


def test_one_that_cannot_be_fetched_costs_no_start_and_is_tried_an_hour_later(
    checkout: Checkout,
) -> None:
    result = checkout.run("x", FAKE_FAIL="bring_starter.py")
    assert result.returncode == 7  # that of what was started
    assert len(brought(checkout)) == 1
    checkout.run("x")
    assert brought(checkout) == []
    marks = checkout.cache / "starter" / "homes.json"
    known = json.loads(marks.read_text())
    marks.write_text(json.dumps({home: tried - 3601 for home, tried in known.items()}))
    checkout.run("x")
    assert len(brought(checkout)) == 1


def test_a_place_that_cannot_be_written_costs_no_start(checkout: Checkout) -> None:
    checkout.run("x", PACELINE_STARTER="0")
    (checkout.cache / "starter").write_text("in the way")
    result = checkout.run("x")
    assert result.returncode == 7, result.stderr
    assert "Going on without the first model" in result.stderr


def test_two_at_once_do_not_stand_in_each_others_way(checkout: Checkout) -> None:
    checkout.run("x", PACELINE_STARTER="0")
    folder = checkout.cache / "starter"
    folder.mkdir()
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = checkout.run("x")
    assert result.returncode == 7, result.stderr
    assert brought(checkout) == []
    checkout.run("x")
    assert len(brought(checkout)) == 1
