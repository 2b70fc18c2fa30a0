"""The documents are short and speak of what is there."""

from __future__ import annotations

import re

import pytest

from architecture.measures import TREES
from architecture.source import APP, PACKAGE, REPOSITORY

PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "../tests/README.md")
LONGEST = 1650  # words; three ways through the program, prompts, devices and Auto have a part each
TESTS = REPOSITORY / "tests"
ENDINGS = ("py", "md", "h", "cpp", "toml")
CODE = (".py", ".h", ".cpp", ".toml")


def text_of(page: str) -> str:
    return (APP / page).read_text(encoding="utf-8")


def paths_in(text: str) -> set[str]:
    """Return what stands in backticks and looks like a file or a folder of the repository."""
    words = re.findall(r"`([\w./-]+)`", text)
    return {w for w in words if "/" in w or (w.rpartition(".")[2] in ENDINGS and w.count(".") == 1)}


def is_there(path: str) -> bool:
    return any((folder / path).exists() for folder in (REPOSITORY, APP, PACKAGE, TESTS))


def names_in(text: str) -> set[str]:
    """Return Python's names among what stands in backticks; a dotted one gives all of its parts."""
    words = {*re.findall(r"`([A-Za-z_][\w.]*)(?:\([^`]*\))?`", text)} - paths_in(text)
    return {name for word in words for name in word.split(".") if name}


def test_the_architecture_is_one_page() -> None:
    assert len(text_of("ARCHITECTURE.md").split()) <= LONGEST


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page: str) -> None:
    named = paths_in(text_of(page))
    assert len(named) > 10
    assert {path for path in named if not is_there(path)} == set()


def test_every_name_on_a_page_is_in_the_code() -> None:
    files = [file for tree in TREES for file in (REPOSITORY / tree).rglob("*")]
    code = [file for file in files if file.suffix in CODE] + [REPOSITORY / "pyproject.toml"]
    known = {word for file in code for word in re.findall(r"\w+", file.read_text("utf-8"))}
    for page in PAGES:
        named = names_in(text_of(page))
        assert len(named) > 10
        assert named - known == set(), page


def test_every_package_is_named() -> None:
    text = text_of("ARCHITECTURE.md")
    packages = {
        path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")
    }
    assert len(packages) > 20
    unnamed = {p for p in packages if not re.search(rf"(?<![\w/]){re.escape(p)}(?![\w/])", text)}
    assert unnamed - {"."} == set()


def test_a_path_that_is_not_there_is_noticed() -> None:
    assert paths_in("`engine/no_such.py`, `paceline bench`, `$small`, `settings.py`") == {
        "engine/no_such.py",
        "settings.py",
    }
    assert not is_there("engine/no_such.py")
    assert is_there("settings.py")
    assert names_in("`Rows.of`, `$small`, `a/b.py`, `own(n)`") == {"Rows", "of", "own"}
