"""The workflows are valid, ask for little, and call what there is with options that it takes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import build
from architecture.source import REPOSITORY
from architecture.test_documented_commands import problem

FOLDER = REPOSITORY / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
SYSTEMS = {"linux": "linux", "windows": "win32", "macos": "darwin"}
"""Values of `sys.platform` by job of `packages.yml`."""
PINNED = re.compile(r"^ *(?:- )?uses: ([\w./-]+)@([0-9a-f]{40})  # v\d+\.\d+\.\d+$")


def read(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text("utf-8")))


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every job with its name, as "release.yml: draft"."""
    for file in FILES:
        for name, job in read(file)["jobs"].items():
            yield f"{file.name}: {name}", job


def scripts(job: dict[str, Any]) -> Iterator[str]:
    """The scripts of a job's steps, each command on one line."""
    for step in job.get("steps", ()):
        yield re.sub(r"\\\n\s*", "", step.get("run", ""))


def ours(job: dict[str, Any]) -> Iterator[str]:
    """The commands of a job that call Python with a script of ours or a module."""
    for script in scripts(job):
        for line in script.splitlines():
            if found := re.match(r"\s*python3? (packaging/|-m )[^|>]*", line):
                yield found[0].strip()


def test_there_are_workflows() -> None:
    assert [file.name for file in FILES] == ["packages.yml", "release.yml", "test.yml"]


def test_they_fit_the_forges_schema() -> None:
    pytest.importorskip("check_jsonschema", reason="it comes with the packages for development")
    words = ["--builtin-schema", "vendor.github-workflows", *map(str, FILES)]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_others_actions_are_pinned_by_their_commits() -> None:
    for file in FILES:
        for line in file.read_text("utf-8").splitlines():
            if "uses: " in line:
                local = re.match(r" *uses: \./(\S+)$", line)
                assert PINNED.match(line) or (local and (REPOSITORY / local[1]).is_file()), line


def test_an_action_has_one_version() -> None:
    lines = [line for file in FILES for line in file.read_text("utf-8").splitlines()]
    versions = {(found[1], found[2]) for line in lines if (found := PINNED.match(line))}
    assert len(versions) == len({name for name, _ in versions})


def test_only_the_draft_may_write() -> None:
    assert all(read(file)["permissions"] == {"contents": "read"} for file in FILES)
    more = {name: job["permissions"] for name, job in jobs() if "permissions" in job}
    assert more == {
        "release.yml: draft": {"contents": "write", "id-token": "write", "attestations": "write"}
    }


def test_every_job_ends() -> None:
    endless = [name for name, job in jobs() if "uses" not in job and "timeout-minutes" not in job]
    assert not endless


def test_a_draft_waits_for_every_test() -> None:
    release = read(FOLDER / "release.yml")["jobs"]
    assert release["test"]["uses"].endswith("/test.yml")
    assert release["draft"]["needs"] == "test"
    tests = read(FOLDER / "test.yml")["jobs"]
    assert tests["packages"]["uses"].endswith("/packages.yml")
    assert [*scripts(tests["checks"])][-1] == ".ci/run"


@pytest.mark.parametrize(("name", "job"), [*jobs()], ids=[name for name, _ in jobs()])
def test_commands_call_what_is_there(name: str, job: dict[str, Any]) -> None:
    problems = {command: text for command in ours(job) if (text := problem(command))}
    assert not problems


def test_formats_exist_and_reach_the_release() -> None:
    made = read(FOLDER / "packages.yml")["jobs"]
    for name, system in SYSTEMS.items():
        (command,) = (command for command in ours(made[name]) if "packaging/build.py" in command)
        words = shlex.split(command)
        formats = words[words.index("--formats") + 1].split(",")
        assert set(formats) == set(build.FORMATS[system]), "a release has every format"
        uploads = [step["with"] for step in made[name]["steps"] if "path" in step.get("with", {})]
        patterns = uploads[-1]["path"].split()
        assert all(pattern.startswith("dist/*") for pattern in patterns)
        assert uploads[-1]["name"].startswith("packages-")
        wheel = "dist/*.whl" in patterns
        assert len(patterns) == len(set(formats) - {"folder", "app"}) + wheel
