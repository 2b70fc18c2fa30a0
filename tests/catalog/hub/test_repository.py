"""A repository's page: files as models, access, and which one to recommend."""

from __future__ import annotations

import pytest

from hub_server import Fault, HubServer, Repository
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.listing import grouped, recommended
from paceline.catalog.hub.values import HubChoice, HubFile

GIB = 1 << 30


def test_a_page(hub: Hub, server: HubServer) -> None:
    page = hub.repository("owner/model-3-GGUF")
    assert page.model.n_params == 3 * 10**9
    assert len(page.commit) == 40
    assert page.url == f"{server.endpoint}/owner/model-3-GGUF"
    assert page.has_access
    (choice,) = page.choices
    assert choice.quantisation == "Q4_K_M"
    assert choice.n_bytes == 3_072_004
    assert len(choice.files[0].sha256) == 64
    assert len(server.requests) == 1


def test_a_renamed_repository(hub: Hub, server: HubServer) -> None:
    server.moved["old/name"] = "owner/model-1-GGUF"
    assert hub.repository("old/name").model.repo == "owner/model-1-GGUF"


def test_a_gated_one_without_and_with_access(hub: Hub, hub_with_token: Hub) -> None:
    assert not hub.repository("other/gated").has_access
    page = hub_with_token.repository("other/gated")
    assert page.has_access
    assert page.model.gate == "manual"


def test_a_licence_link_must_be_a_web_address(
    hub: Hub, repositories: dict[str, Repository]
) -> None:
    class Linked(Repository):
        def described(self) -> dict[str, object]:
            said = super().described()
            return {**said, "cardData": {"license_link": self.details["link"]}}

    links = {"https://example.org/licence": True, "javascript:alert(1)": False, "LICENSE": False}
    for link, is_taken in links.items():
        repositories["a/b"] = Linked("a/b", {"b.gguf": b"GGUF"}, {"link": link})
        assert hub.repository("a/b").license_url == (link if is_taken else "")


@pytest.mark.parametrize(
    ("repo", "revision", "text"),
    [("no/such", "main", "no repository “no/such”"), ("owner/model-1-GGUF", "v9", "revision “v9”")],
)
def test_what_is_not_there(hub: Hub, repo: str, revision: str, text: str) -> None:
    with pytest.raises(HubError, match=text) as caught:
        hub.repository(repo, revision)
    assert caught.value.code == "not-found"


def test_a_web_page_instead_of_an_answer(hub: Hub, server: HubServer) -> None:
    server.add(Fault(html=True))
    with pytest.raises(HubError) as caught:
        hub.repository("owner/model-1-GGUF")
    assert caught.value.code == "bad-answer"


def files(*names: str) -> list[HubFile]:
    return [HubFile(name, 10 + i, "") for i, name in enumerate(names)]


def test_parts_are_one_model_and_by_products_are_none() -> None:
    choices = grouped(
        files(
            "Q8_0/big-00002-of-00002.gguf",
            "Q8_0/big-00001-of-00002.gguf",
            "big-IQ3_XXS.gguf",
            "mmproj-big-F16.gguf",
            "big-imatrix.gguf",
            "README.md",
            "big.imatrix",
            "cut-Q4_0-00001-of-00003.gguf",
            "cut-Q4_0-00003-of-00003.gguf",
            "big.gguf.part",
        )
    )
    assert [(c.path, c.quantisation, len(c.files), c.is_complete) for c in choices] == [
        ("big-IQ3_XXS.gguf", "IQ3_XXS", 1, True),
        ("Q8_0/big-00001-of-00002.gguf", "Q8_0", 2, True),
        ("cut-Q4_0-00001-of-00003.gguf", "Q4_0", 2, False),
    ]


def test_files_with_equal_names_in_two_folders_stay_apart() -> None:
    choices = grouped(files("a/x-Q4_0-00001-of-00001.gguf", "b/x-Q4_0-00001-of-00001.gguf"))
    assert len(choices) == 2


def choice(quantisation: str, n_bytes: int, *, is_complete: bool = True) -> HubChoice:
    name = f"{quantisation or 'x'}.gguf"
    return HubChoice(quantisation, (HubFile(name, n_bytes, ""),), is_complete)


LARGE = (
    choice("IQ1_M", 2 * GIB),
    choice("Q2_K", 3 * GIB),
    choice("Q4_K_M", 5 * GIB),
    choice("Q5_K_M", 6 * GIB),
    choice("Q6_K", 7 * GIB),
    choice("Q8_0", 9 * GIB),
    choice("F16", 16 * GIB),
)


@pytest.mark.parametrize(
    ("n_free", "expected"),
    [(64, "Q6_K"), (8, "Q5_K_M"), (6, "Q4_K_M"), (4, "Q2_K"), (3, "IQ1_M"), (1, None)],
)
def test_the_best_that_fits(n_free: int, expected: str | None) -> None:
    found = recommended(LARGE, n_free * GIB)
    assert (found.quantisation if found else None) == expected


def test_a_small_model_may_have_eight_bits() -> None:
    small = (choice("Q4_K_M", GIB // 2), choice("Q8_0", GIB), choice("F16", 2 * GIB))
    found = recommended(small, 16 * GIB)
    assert found is not None
    assert found.quantisation == "Q8_0"


def test_what_is_not_complete_or_not_known_comes_last() -> None:
    cut = choice("Q6_K", GIB, is_complete=False)
    nameless, half = choice("", GIB), choice("F16", 3 * GIB)
    assert recommended((cut,), 64 * GIB) is None
    assert recommended((choice("Q8_0", 0),), 64 * GIB) is None
    assert recommended((nameless, half), 64 * GIB) == nameless
    assert recommended((nameless, choice("IQ2_M", 2 * GIB)), 64 * GIB) != nameless
