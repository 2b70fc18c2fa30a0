"""Searching: filters, order, paging, and entries that cannot be read."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from hub_server import Fault, HubServer, Repository
from paceline.catalog.hub import listing
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.listing import hub_model
from paceline.catalog.hub.values import HubModel, SearchQuery


def names(hub: Hub, **query: Any) -> list[str]:
    return [model.repo.split("/")[1] for model in hub.search(SearchQuery(**query))]


def test_what_a_row_says(hub: Hub) -> None:
    (model,) = hub.search(SearchQuery("model-3"))
    assert model == HubModel(
        repo="owner/model-3-GGUF",
        downloads=30,
        likes=97,
        modified="2026-01-04T00:00:00.000Z",
        gate="open",
        license="mit",
        n_params=3 * 10**9,
        architecture="qwen2",
        n_ctx_train=4096,
        base_model="owner/model-3",
    )
    (gated,) = hub.search(SearchQuery("gated"))
    assert gated.gate == "manual"


def test_pages_are_fetched_when_they_are_needed(hub: Hub, server: HubServer) -> None:
    rows = hub.search(SearchQuery(sort="downloads"))
    first = [model.downloads for model in itertools.islice(rows, 3)]
    assert first == [60, 50, 40]
    assert len(server.requests) == 1
    assert [model.downloads for model in rows] == [30, 20, 10, 0, 0]
    assert len(server.requests) == 3


def test_orders(hub: Hub) -> None:
    assert names(hub, sort="likes", limit=2) == ["model-0-GGUF", "model-1-GGUF"]
    assert names(hub, sort="recent", text="model", limit=2) == ["model-6-GGUF", "model-5-GGUF"]
    assert names(hub, sort="trending", limit=1) in (["model-2-GGUF"], ["model-5-GGUF"])


def test_filters(hub: Hub) -> None:
    assert names(hub, license="mit", sort="downloads") == [f"model-{i}-GGUF" for i in (5, 3, 1)]
    assert names(hub, min_params=4 * 10**9, max_params=5 * 10**9, sort="downloads") == [
        "model-5-GGUF",
        "model-4-GGUF",
    ]
    assert names(hub, architecture="qwen2", limit=2, sort="likes") == [
        "model-1-GGUF",
        "model-3-GGUF",
    ]
    assert names(hub, text="no such thing") == []


def test_a_server_that_ignores_limits_on_weights_is_checked(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = server.answer

    def ignoring(request: Any, *rest: Any) -> Any:
        path = request.path.replace("num_parameters", "ignored")
        return answer(replace(request, path=path), *rest)

    monkeypatch.setattr(server, "answer", ignoring)
    assert names(hub, max_params=2 * 10**9, sort="downloads") == ["model-2-GGUF", "model-1-GGUF"]
    assert server.asked("num_parameters")


def test_a_mixture_of_experts_takes_dense_drafts(hub: Hub) -> None:
    assert names(hub, architecture="qwen2moe", limit=1, sort="likes") == ["model-1-GGUF"]


@pytest.mark.parametrize(
    "item", [None, 7, "text", [], {}, {"id": None}, {"id": 3}, {"id": "no-owner"}], ids=repr
)
def test_what_is_no_repository(item: object) -> None:
    assert hub_model(item) is None


def test_odd_fields_count_as_unknown() -> None:
    model = hub_model(
        {
            "id": "a/b",
            "downloads": "many",
            "likes": -3,
            "gated": "auto",
            "tags": [None, 3, {"x": 1}, "license:mit"],
            "gguf": {"total": True, "architecture": ["llama"], "context_length": 1.5},
            "lastModified": 12,
            "cardData": "none",
        }
    )
    assert model == HubModel("a/b", 0, 0, "", "auto", "mit", 0, "", 0, "")


def test_broken_entries_are_left_out(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = server.answer

    def broken(*args: Any) -> Any:
        said = answer(*args)
        assert not hasattr(said, "file")
        rows = [None, {"id": 5}, *json.loads(said.body), {"no": "id"}]
        return replace(said, body=json.dumps(rows).encode())

    monkeypatch.setattr(server, "answer", broken)
    assert len(names(hub, text="model")) == 7


@pytest.mark.parametrize("body", [b'[{"id": "a/b"', b"", b'{"error": "no"}', b"\xff\xfe"])
def test_an_answer_that_is_no_list(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    answer = server.answer
    monkeypatch.setattr(server, "answer", lambda *args: replace(answer(*args), body=body))  # type: ignore[type-var]
    with pytest.raises(HubError) as caught:
        list(hub.search(SearchQuery()))
    assert caught.value.code == "bad-answer"


def test_a_page_that_fails_leaves_the_rows_before(hub: Hub, server: HubServer) -> None:
    server.add(Fault("/api/models", skip=1, status=503))
    rows = hub.search(SearchQuery(sort="downloads"))
    assert [model.downloads for model in itertools.islice(rows, 3)] == [60, 50, 40]
    with pytest.raises(HubError, match="503") as caught:
        next(rows)
    assert caught.value.code == "server-error"
    assert len(server.requests) == 2, "the library would have tried six times"


def with_links_to(place: str, server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server's links to further pages begin with `place`, or be paths if it is empty."""
    answer = server.answer

    def elsewhere(*args: Any) -> Any:
        said = answer(*args)
        assert not hasattr(said, "file")
        headers = {
            name: text.replace(server.endpoint, place) for name, text in said.headers.items()
        }
        return replace(said, headers=headers)

    monkeypatch.setattr(server, "answer", elsewhere)


def test_the_next_page_must_be_on_the_same_host(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_links_to(server.cdn_endpoint, server, monkeypatch)
    with pytest.raises(HubError, match="another host"):
        list(hub.search(SearchQuery()))
    assert {request.host for request in server.requests} == {"hub"}


@pytest.mark.parametrize("place", ["https://huggingface.co", ""])
def test_a_next_page_may_be_named_by_its_path_or_at_the_hub_that_is_mirrored(
    hub: Hub, server: HubServer, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    with_links_to(place, server, monkeypatch)
    assert len(names(hub)) == 8


def test_a_search_for_what_is_rare_comes_to_an_end(
    server: HubServer, hub: Hub, repositories: dict[str, Repository]
) -> None:
    for i in range(100):
        said = {"gguf": {"total": 1, "architecture": "llama"}}
        repositories[f"many/{i}"] = Repository(f"many/{i}", {"a.gguf": b"GGUF"}, said)
    assert names(hub, architecture="mamba") == []
    assert len(server.requests) == 20


def test_as_many_are_found_as_are_asked_for(
    hub: Hub, repositories: dict[str, Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_MAX_PAGES", 2)
    monkeypatch.setattr(listing, "_PER_PAGE", 3)
    for i in range(20):
        repositories[f"many/{i}"] = Repository(f"many/{i}", {"a.gguf": b"GGUF"}, {})
    assert len(names(hub, limit=15)) == 15
