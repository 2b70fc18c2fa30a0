"""Names of models on the Hub."""

from __future__ import annotations

import pytest

from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.listing import choice_for, grouped
from paceline.catalog.hub.values import (
    HubFile,
    HubModel,
    HubReference,
    HubRepository,
    is_reference,
    is_repo,
    parse_reference,
)

GIB = 1 << 30


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("hf:a/b:c.gguf", HubReference("a/b", "c.gguf")),
        ("hf:Qwen/Qwen3-8B.x_y:Q8_0/x y.gguf", HubReference("Qwen/Qwen3-8B.x_y", "Q8_0/x y.gguf")),
        ("hf:a/b@v1.0:c.gguf", HubReference("a/b", "c.gguf", "v1.0")),
        ("hf:a/b@refs/pr/3:c.gguf", HubReference("a/b", "c.gguf", "refs/pr/3")),
        ("hf:a/b", HubReference("a/b", "")),
        ("hf:a/b:Q4_K_M", HubReference("a/b", "Q4_K_M")),
    ],
)  # fmt: skip
def test_what_a_reference_says(text: str, reference: HubReference) -> None:
    assert parse_reference(text) == reference
    assert str(reference) == text
    assert is_reference(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "a/b:c.gguf", "hf:", "hf:a", "hf:a/b/c:d.gguf", "hf:../b:c.gguf", "hf:a/..:c.gguf",
        "hf:a/b:../c.gguf", "hf:a/b:/etc/passwd", "hf:a/b:x/../c.gguf", "hf:a/b:x//c.gguf",
        "hf:a/b:./c.gguf", "hf:a/b:c\\d.gguf", "hf:a/b:C:d.gguf", "hf:a/b:c\n.gguf",
        "hf:a/b@:c.gguf", "hf:a/b@../x:c.gguf", "hf:a b/c:d.gguf", "hf:-a/b:c.gguf",
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    with pytest.raises(HubError) as caught:
        parse_reference(text)
    assert caught.value.code == "bad-reference"
    assert caught.value.hint


def test_a_path_is_no_reference() -> None:
    assert not is_reference("/models/a.gguf")
    assert not is_reference("C:\\hf\\a.gguf")


def test_repository_names() -> None:
    assert is_repo("bartowski/Llama-3.2-1B_x.y-GGUF")
    for text in ("a", "a/b/c", "a/../b", "/a/b", "a/b/", "a/.b", "a--b/c", "a/b\n"):
        assert not is_repo(text), text


def page() -> HubRepository:
    names = ("x-Q4_0.gguf", "x-Q6_K-00001-of-00002.gguf", "x-Q6_K-00002-of-00002.gguf")
    choices = grouped(HubFile(name, 3 * GIB, "") for name in names)
    return HubRepository(HubModel("a/b", 0, 0, "", "open", "", 0, "", 0, ""), "", choices, "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("x-Q4_0.gguf", "x-Q4_0.gguf"),
        ("x-Q6_K-00002-of-00002.gguf", "x-Q6_K-00001-of-00002.gguf"),
        ("q4_0", "x-Q4_0.gguf"),
        ("Q6_K", "x-Q6_K-00001-of-00002.gguf"),
        ("", "x-Q6_K-00001-of-00002.gguf"),
    ],
)
def test_which_model_is_meant(path: str, expected: str) -> None:
    assert choice_for(HubReference("a/b", path), page(), 64 * GIB).path == expected


def test_the_memory_decides_where_nothing_else_does() -> None:
    assert choice_for(HubReference("a/b", ""), page(), 4 * GIB).path == "x-Q4_0.gguf"
    # Nothing fits: the smallest, and the plan of the memory says the rest.
    assert choice_for(HubReference("a/b", ""), page(), GIB).path == "x-Q4_0.gguf"


@pytest.mark.parametrize("path", ["y.gguf", "Q8_0", "X-Q4_0.gguf"])
def test_what_a_repository_does_not_have(path: str) -> None:
    with pytest.raises(HubError, match="a/b") as caught:
        choice_for(HubReference("a/b", path), page(), 64 * GIB)
    assert caught.value.code == "not-found"
