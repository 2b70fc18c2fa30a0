"""No name that a repository thinks up leads out of the folder or onto a device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.catalog.download.names import (
    can_be_kept,
    file_name,
    file_names,
    inside,
    repository_folder,
)
from paceline.errors import UserError

FOLDER = Path(os.sep) / "chosen" / "folder"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("model-Q4_K_M.gguf", "model-Q4_K_M.gguf"),
        ("Q8_0/big-00001-of-00002.gguf", "big-00001-of-00002.gguf"),
        ("a/b/c/Some.Model+v2_(new)=1.gguf", "Some.Model+v2_(new)=1.gguf"),
        ("_hidden.gguf", "_hidden.gguf"),
        ("console.gguf", "console.gguf"),
        ("é 模-Q4_0.gguf", "é 模-Q4_0.gguf"),
        ("möðel.gguf", "möðel.gguf"),
        ("Q8 0/हिन्दी मॉडल, v2 [new].gguf", "हिन्दी मॉडल, v2 [new].gguf"),
    ],
)
def test_usual_names_are_kept(path: str, name: str) -> None:
    assert file_name(path) == name


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../model.gguf",
        "a/../../model.gguf",
        "/etc/passwd",
        "a//b.gguf",
        "a/",
        "C:\\model.gguf",
        "C:model.gguf",
        "\\\\server\\share\\model.gguf",
        "a\\..\\b.gguf",
        "model.gguf:stream",
        "nul",
        "NUL.gguf",
        "com1.gguf",
        "a/con/model.gguf",
        "model.gguf.",
        "model.gguf ",
        ".bashrc",
        "-rf",
        "model.gguf\n",
        "model\0.gguf",
        "model.part",
        "model.gguf.PART",
        " model.gguf",
        "folder /model.gguf",
        "a\u00a0b.gguf",
        "a\u2028b.gguf",
        "gguf.\u202ecod",
        "a\u200bb.gguf",
        "\ud800.gguf",
        "a`b`.gguf",
        "a|b.gguf",
        "模" * 67,
        "x" * 201,
    ],
)
def test_names_that_could_do_harm_are_refused(path: str) -> None:
    with pytest.raises(UserError) as error:
        file_name(path)
    assert error.value.code == "unsafe-name"
    assert error.value.hint


@given(st.text() | st.lists(st.sampled_from(["..", "a", "", "~", "CON", "b.gguf"])).map("/".join))
def test_whatever_is_accepted_lies_directly_in_the_folder(path: str) -> None:
    try:
        name = file_name(path)
    except UserError:
        return
    assert inside(FOLDER, name).parent == FOLDER
    assert Path(os.path.normpath(FOLDER / name)).parent == FOLDER
    assert path.endswith(name)


WORD = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=10)


@given(st.lists(st.lists(WORD, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3))
def test_words_of_any_language_with_blanks_are_names(parts: list[str]) -> None:
    path = "/".join(f"m {part}" for part in parts) + ".gguf"
    assert file_name(path) == path.rpartition("/")[2]
    assert can_be_kept(path)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", ".."])
def test_the_second_lock_holds_by_itself(name: str) -> None:
    with pytest.raises(UserError):
        inside(FOLDER, name)


def test_two_files_with_one_name_are_refused() -> None:
    assert file_names(["a/x.gguf", "a/y.gguf"]) == ("x.gguf", "y.gguf")
    with pytest.raises(UserError, match=r"both be called x\.gguf"):
        file_names(["a/x.gguf", "b/X.gguf"])
    with pytest.raises(UserError, match="both be called"):
        file_names(["a/\u00e9.gguf", "b/e\u0301.gguf"])
    with pytest.raises(UserError, match="No file"):
        file_names([])


def test_folder_of_a_repository() -> None:
    assert repository_folder(FOLDER, "Owner/Some.Model-GGUF") == FOLDER / "Owner/Some.Model-GGUF"
    for repo in ("owner", "owner/..", "../..", "a/b/c", "/owner/name", "owner/", "con/x", "a\\b/c"):
        with pytest.raises(UserError):
            repository_folder(FOLDER, repo)
