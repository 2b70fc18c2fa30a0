"""Names of models on the Hub."""

from __future__ import annotations

import contextlib
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


AB = "https://huggingface.co/a/b"
PAGE = "https://huggingface.co/Qwen/Qwen3-8B-GGUF"


@pytest.mark.parametrize(
    ("address", "reference"),
    [
        (PAGE, HubReference("Qwen/Qwen3-8B-GGUF", "")),
        (f" {PAGE}/ ", HubReference("Qwen/Qwen3-8B-GGUF", "")),
        (PAGE.replace("https", "http"), HubReference("Qwen/Qwen3-8B-GGUF", "")),
        ("huggingface.co/a/b", HubReference("a/b", "")),
        ("https://hf.co/a/b:Q4_K_M", HubReference("a/b", "Q4_K_M")),
        ("hf.co/a/b#files", HubReference("a/b", "")),
        (f"{PAGE}/tree/main", HubReference("Qwen/Qwen3-8B-GGUF", "")),
        (f"{PAGE}/tree/main/x-Q8_0", HubReference("Qwen/Qwen3-8B-GGUF", "Q8_0")),
        (
            f"{PAGE}/tree/v2?show_file_info=a.gguf",
            HubReference("Qwen/Qwen3-8B-GGUF", "a.gguf", "v2"),
        ),
        (f"{PAGE}?show_file_info=a.gguf", HubReference("Qwen/Qwen3-8B-GGUF", "a.gguf")),
        (f"{PAGE}/discussions/3", HubReference("Qwen/Qwen3-8B-GGUF", "")),
        (f"{AB}/resolve/main/x.gguf?download=true", HubReference("a/b", "x.gguf")),
        (f"{AB}/blob/main/Q8_0/x%20%C3%A9.gguf", HubReference("a/b", "Q8_0/x é.gguf")),
        (f"{AB}/blob/refs%2Fpr%2F3/x.gguf", HubReference("a/b", "x.gguf", "refs/pr/3")),
        (f"{AB}/resolve/refs/pr/3/x.gguf", HubReference("a/b", "x.gguf", "refs/pr/3")),
    ],
)
def test_what_an_address_names(address: str, reference: HubReference) -> None:
    assert is_reference(address)
    assert parse_reference(address) == reference


def test_an_address_of_the_mirror_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://mirror.example:8443/a/b/resolve/main/x.gguf"
    with pytest.raises(HubError, match="not one of the Hub"):
        parse_reference(address)
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example:8443")
    assert parse_reference(address) == HubReference("a/b", "x.gguf")


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/a/b/x.gguf", "https://huggingface.co", "https://huggingface.co/a",
        "https://huggingface.co/datasets/a/b", "https://huggingface.co/spaces/a/b", "https://[",
        "https://huggingface.co/a/b/resolve/main/../../x.gguf",
        "https://huggingface.co/a/b/resolve/%2E%2E/x.gguf",
        "https://huggingface.co/a/b/blob/main/%2E%2E%2Fx.gguf", "https://huggingface.co.evil/a/b",
        "https://huggingface.co@evil.example/a/b", "https://user@huggingface.co/a/b",
    ],
)  # fmt: skip
def test_an_address_that_leads_elsewhere(address: str) -> None:
    assert is_reference(address), "and is no file"
    with pytest.raises(HubError) as caught:
        parse_reference(address)
    assert (caught.value.code, bool(caught.value.hint)) == ("bad-reference", True)


NAME = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._]{0,20}", fullmatch=True).filter(
    lambda name: ".." not in name
)
PLACE = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters='\\:*?"<>|/'), min_size=1
).filter(lambda part: part not in (".", ".."))


@given(
    NAME.map("a1".__add__),  # an owner, not a page of the Hub such as "docs"
    NAME,
    st.sampled_from(["resolve", "blob", "raw"]),
    NAME,
    st.lists(PLACE, min_size=1, max_size=3),
)
def test_every_address_of_a_file_names_it(
    owner: str, name: str, kind: str, revision: str, places: list[str]
) -> None:
    places[-1] += ".gguf"
    path = "/".join(places)
    address = f"https://huggingface.co/{owner}/{name}/{kind}/{revision}/{quote(path)}?download=true"
    if revision == "refs":
        return
    reference = parse_reference(address)
    assert reference == HubReference(f"{owner}/{name}", path, revision)
    assert parse_reference(str(reference)) == reference


@given(st.text() | st.text().map("https://huggingface.co/".__add__))
def test_any_text_is_a_reference_or_refused(text: str) -> None:
    with contextlib.suppress(HubError):
        reference = parse_reference(text)
        assert is_repo(reference.repo)
        assert parse_reference(str(reference)) == reference


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
