"""Releases, made in git repositories of their own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import release
from paceline import __version__
from release import APPSTREAM, CHANGELOG, VERSION, ReleaseError, numbers, unreleased

REPOSITORY = Path(release.__file__).resolve().parents[1]
TODAY = str(datetime.now(UTC).date())
CHANGES = """# Changelog

Words.

## [Unreleased]

### Added

- A thing.

## [0.1.0] - 2026-01-02

- The first.
"""
METAINFO = """<component>
  <releases>
    <release version="0.1.0" date="2026-01-02"/>
  </releases>
</component>
"""


class Checkout:
    """A repository with the three files, a commit on main, and a stamp that says it was tested."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "person@example.org")
        self.git("config", "commit.gpgsign", "false")
        self.git("config", "tag.gpgsign", "false")
        (root / ".gitignore").write_text(".venv/\n")
        for path, text in (
            (VERSION, '"""Words."""\n\n__version__ = "0.1.0"\n'),
            (CHANGELOG, CHANGES),
            (APPSTREAM, METAINFO),
        ):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        self.commit()

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.root), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def commit(self) -> None:
        """Commit everything, and say that it was tested."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Words")
        (self.root / ".venv").mkdir(exist_ok=True)
        tree = self.git("rev-parse", "HEAD^{tree}").strip()
        (self.root / ".venv" / "paceline-stamp.json").write_text(json.dumps({"tested": tree}))

    def edit(self, path: Path, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert old in text
        (self.root / path).write_text(text.replace(old, new))

    def release(self, *words: str) -> int:
        return release.main(words, self.root)

    @property
    def state(self) -> tuple[str, ...]:
        return (
            self.git("log", "--format=%H %s"),
            self.git("tag"),
            self.git("status", "--porcelain"),
            *(
                text.read_text()
                for text in map(self.root.joinpath, (VERSION, CHANGELOG, APPSTREAM))
            ),
        )


pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    return Checkout(tmp_path)


def test_a_release_is_committed_and_tagged(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checkout.release("0.2.0") == 0
    assert '__version__ = "0.2.0"' in (checkout.root / VERSION).read_text()
    heading = f"## [Unreleased]\n\n## [0.2.0] - {TODAY}\n\n### Added\n\n- A thing.\n"
    assert heading in (checkout.root / CHANGELOG).read_text()
    entries = re.findall(r'version="(.*?)" date="(.*?)"', (checkout.root / APPSTREAM).read_text())
    assert entries == [("0.2.0", TODAY), ("0.1.0", "2026-01-02")]
    assert checkout.git("log", "-1", "--format=%s").strip() == "Release 0.2.0"
    assert checkout.git("status", "--porcelain") == ""
    assert checkout.git("cat-file", "-t", "v0.2.0").strip() == "tag"
    assert checkout.git("rev-parse", "v0.2.0^{commit}") == checkout.git("rev-parse", "HEAD")
    told = capsys.readouterr().err
    assert "nothing is pushed" in told
    assert "git push origin main v0.2.0" in told


def test_the_first_release_has_the_version_that_stands_there(checkout: Checkout) -> None:
    checkout.edit(CHANGELOG, "## [0.1.0] - 2026-01-02\n\n- The first.\n", "")
    checkout.commit()
    assert checkout.release("0.1.0") == 0
    assert "0.1.0" in checkout.git("log", "-1", "--format=%s")
    entries = re.findall(r'version="(.*?)" date="(.*?)"', (checkout.root / APPSTREAM).read_text())
    assert entries == [("0.1.0", TODAY)]


def test_a_dry_run_reports_the_same_and_changes_nothing(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = checkout.state
    assert checkout.release("1.0.0", "--dry-run") == 0
    assert checkout.state == before
    told = capsys.readouterr().out
    assert '-__version__ = "0.1.0"\n+__version__ = "1.0.0"' in told
    assert f"+## [1.0.0] - {TODAY}" in told
    assert f'+    <release version="1.0.0" date="{TODAY}"/>' in told
    assert "$ git tag --annotate v1.0.0" in told

    # Its diff is what the release then changes.
    (checkout.root / ".git" / "steps.diff").write_text(told.partition("$ ")[0])
    checkout.git("apply", "--unidiff-zero", ".git/steps.diff")
    applied = checkout.state[3:]
    checkout.git("checkout", "--quiet", ".")
    assert checkout.release("1.0.0") == 0
    assert checkout.state[3:] == applied


def _dirty(checkout: Checkout) -> None:
    (checkout.root / "stray.txt").write_text("")


def _on_a_branch(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--create", "other")


def _tagged(checkout: Checkout) -> None:
    checkout.git("tag", "v0.2.0")


def _nothing_new(checkout: Checkout) -> None:
    checkout.edit(CHANGELOG, "- A thing.\n", "")
    checkout.commit()


def _untested(checkout: Checkout) -> None:
    stamp = (checkout.root / ".venv" / "paceline-stamp.json").read_text()
    checkout.edit(VERSION, "Words", "Other words")
    checkout.commit()
    (checkout.root / ".venv" / "paceline-stamp.json").write_text(stamp)


def _never_tested(checkout: Checkout) -> None:
    (checkout.root / ".venv" / "paceline-stamp.json").unlink()


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (_dirty, "not committed"),
        (_on_a_branch, "The branch is not main"),
        (_tagged, "There is a tag v0.2.0 already"),
        (_nothing_new, "has nothing under “Unreleased”"),
        (_untested, "These files are not tested"),
        (_never_tested, "These files are not tested"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_stands_in_the_way_is_said(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], prepare: object, words: str
) -> None:
    assert callable(prepare)
    prepare(checkout)
    before = checkout.state
    for more in ((), ("--dry-run",)):
        assert checkout.release("0.2.0", *more) == 1
        (said,) = capsys.readouterr().err.splitlines()
        assert words in said
    assert checkout.state == before


@pytest.mark.parametrize("version", ["0.0.9", "0.1.0"])
def test_versions_grow(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], version: str
) -> None:
    assert checkout.release(version) == 1
    assert f"{version} does not come after 0.1.0" in capsys.readouterr().err


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0rc1", "01.0.0", ""])
def test_a_version_has_three_numbers(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], version: str
) -> None:
    assert checkout.release(version) == 1
    assert f"“{version}” is no version" in capsys.readouterr().err


def test_where_git_refuses_the_files_are_as_they_were(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = checkout.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    before = checkout.state
    assert checkout.release("0.2.0") == 1
    assert "not today" in capsys.readouterr().err
    assert checkout.state == before


def test_where_the_tag_is_refused_there_is_no_commit_either(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.git("config", "tag.gpgsign", "true")
    checkout.git("config", "gpg.program", str(checkout.root / "missing"))
    before = checkout.state
    assert checkout.release("0.2.0") == 1
    assert "git tag failed" in capsys.readouterr().err
    assert checkout.state == before


def test_a_release_that_was_killed_before_its_tag_says_how_to_take_it_back(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = checkout.state
    assert checkout.release("0.2.0") == 0
    checkout.git("tag", "--delete", "v0.2.0")
    assert checkout.release("0.2.0") == 1
    assert "git reset --hard HEAD~1" in capsys.readouterr().err
    checkout.git("reset", "--quiet", "--hard", "HEAD~1")
    assert checkout.state == before


def test_a_file_of_another_form_is_reported_and_nothing_changes(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.edit(APPSTREAM, "<releases>", "<others>")
    checkout.commit()
    before = checkout.state
    assert checkout.release("0.2.0") == 1
    assert "metainfo.xml has 0 places" in capsys.readouterr().err
    assert checkout.state == before


def test_the_version_stands_in_one_place() -> None:
    """Check that only files that a release writes contain the version besides."""
    told = release.git(REPOSITORY, "grep", "-lIwF", "-e", __version__)
    places = {Path(name) for name in told.splitlines()}
    written = {VERSION, CHANGELOG, APPSTREAM}
    others = {place for place in places - written if place.parts[0] != "tests"}
    assert {place for place in others if _tells_it(place)} == set()


def _tells_it(place: Path) -> bool:
    """Return True where a text means Paceline's version, rather than another number."""
    text = (REPOSITORY / place).read_text("utf-8", "replace")
    return bool(re.search(rf"(?<![\d.]){re.escape(__version__)}(?![\d.]*\d)", text))


def test_this_repository_can_be_released() -> None:
    now = Path(REPOSITORY)
    major, minor, fix = numbers(release.current_version(now))
    planned = release.Release(now, f"{major}.{minor}.{fix + 1}", datetime.now(UTC).date())
    assert set(planned.changed()) == {VERSION, CHANGELOG, APPSTREAM}
    changes, _ = unreleased((REPOSITORY / CHANGELOG).read_text("utf-8"))
    assert changes.strip()
    with pytest.raises(ReleaseError):
        numbers("1.2")
