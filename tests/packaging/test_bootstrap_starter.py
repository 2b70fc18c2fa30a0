"""When the bootstrap has the first model brought: once for each home, and not where unwanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stand_ins import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def brought(checkout: Checkout) -> list[str]:
    return [line for line in checkout.calls.read_text().splitlines() if "starter" in line]


def test_it_is_brought_behind_the_kernels_and_kept_beside_the_wheels(checkout: Checkout) -> None:
    assert checkout.run("x").returncode == 7  # that of what was started
    (call,) = brought(checkout)
    assert f"--shelf {checkout.cache / 'starter'}" in call
    lines = checkout.calls.read_text()
    assert lines.index("kernel_build") < lines.index("paceline.starter")


def test_the_next_start_does_not_ask_again_but_another_home_does(checkout: Checkout) -> None:
    checkout.run("x")
    checkout.run("x")
    assert brought(checkout) == []
    checkout.run("x", PACELINE_HOME="/elsewhere")
    assert len(brought(checkout)) == 1
    checkout.run("x", PACELINE_HOME="/elsewhere")
    assert brought(checkout) == []


def test_what_was_deleted_stays_deleted_behind_a_new_installation(checkout: Checkout) -> None:
    checkout.run("x")
    project = checkout.root / "pyproject.toml"
    project.write_text(project.read_text().replace("[project]", "[project]\ndescription = 'x'"))
    checkout.run("x")
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
    result = checkout.run("x", FAKE_FAIL="paceline.starter")
    assert result.returncode == 7  # that of what was started
    assert len(brought(checkout)) == 1
    checkout.run("x")
    assert brought(checkout) == []
    stamp = checkout.venv / "paceline-stamp.json"
    content = json.loads(stamp.read_text())
    content["starters"] = {home: tried - 3601 for home, tried in content["starters"].items()}
    stamp.write_text(json.dumps(content))
    checkout.run("x")
    assert len(brought(checkout)) == 1
