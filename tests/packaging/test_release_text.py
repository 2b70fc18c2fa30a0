"""The text of a release is the changelog's section, and how packages are installed."""

from __future__ import annotations

import pytest

import release_text
from architecture.source import REPOSITORY

CHANGELOG = """# Changelog

## [Unreleased]

### Added

- Later.

## [0.2.0] - 2026-12-01

### Added

- A window.

## [0.1.0] - 2026-11-01

- A start.
"""
README = """# Paceline

## Install

### Download

One file.

#### Which one

That one.

### From a wheel

Other words.
"""


def test_it_is_of_that_version_alone() -> None:
    text = release_text.text_of("v0.2.0", "0.2.0", CHANGELOG, README)
    added = "### Added\n\n- A window."
    assert text == f"{added}\n\n## Install\n\nOne file.\n\n#### Which one\n\nThat one.\n"


@pytest.mark.parametrize(
    ("tag", "version", "words"),
    [
        ("v0.2.0", "0.3.0", "The tag v0.2.0 is not that of version 0.3.0"),
        ("0.2.0", "0.2.0", "tag v0.2.0"),
        ("v0.3.0", "0.3.0", "The changelog has no section of 0.3.0"),
        ("v0.2.0", "0+2.0", "The tag v0.2.0 is not"),
    ],
)
def test_what_does_not_fit_together_is_refused(tag: str, version: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        release_text.text_of(tag, version, CHANGELOG, README)


def test_the_last_section_continues_to_the_end() -> None:
    assert release_text.section(CHANGELOG, r"\[0\.1\.0\].*") == "- A start."
    with pytest.raises(LookupError):
        release_text.section(CHANGELOG, "Nothing")


def test_the_readme_says_how_packages_are_installed() -> None:
    words = release_text.section((REPOSITORY / "README.md").read_text("utf-8"), "Download")
    for ending in (".deb", ".tar.gz", ".AppImage", ".exe", ".zip", ".dmg"):
        assert f"{ending}`" in words
    assert "**Run anyway**" in words
    assert "**Open Anyway**" in words
    assert "SHA256SUMS" in words


def test_a_tag_of_another_version_ends_with_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert release_text.main(["v99.0.0"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "v99.0.0 is not that of version" in err
