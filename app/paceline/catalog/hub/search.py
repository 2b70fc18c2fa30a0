"""Searching the Hub for GGUF models, page by page.

`HfApi.list_models` gives up the whole search when one entry cannot be read, and follows a link to
the next page wherever it leads; so the pages are fetched here, by the library's session.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from paceline.catalog.hub import errors
from paceline.catalog.hub.values import Gate, HubModel, SearchQuery, Sort, host_of, origin

_SORTS: Mapping[Sort, str] = {
    "trending": "trendingScore", "downloads": "downloads", "likes": "likes",
    "recent": "lastModified",
}  # fmt: skip
_EXPAND = ("gguf", "downloads", "likes", "gated", "tags", "lastModified")
_PER_PAGE = 100
_MOST_PAGES = 20
"""A search ends after this many pages, where hardly anything passes the filters."""
_MOST = 1 << 63
"""More than any count of the Hub; above it floats are not exact."""
_USUAL_HOSTS = ("https://huggingface.co", "https://hf.co")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results.

    Attributes:
        items: The entries as the Hub sent them.
        next_url: Address of the next page; empty: this is the last one.
    """

    items: list[object]
    next_url: str


def models(
    query: SearchQuery, endpoint: str, get: Callable[[str, Mapping[str, object]], Page]
) -> Iterator[HubModel]:
    """Yield what matches a query.

    The Hub cannot filter by what a header says, such as the architecture: that is done here.

    Args:
        query: The filters.
        endpoint: The Hub's address.
        get: Fetches a page.
    """
    url, params = f"{endpoint}/api/models", _params(query)
    n_found = 0
    for _ in range(max(_MOST_PAGES, math.ceil(query.limit / _PER_PAGE))):
        page = get(url, params)
        for item in page.items:
            model = hub_model(item)
            if model is None or not _is_wanted(model, query):
                continue
            yield model
            n_found += 1
            if n_found >= query.limit:
                return
        if not page.next_url:
            return
        url, params = _on_this_hub(page.next_url, endpoint), {}


def get_page(url: str, params: Mapping[str, object]) -> Page:
    """Fetch a page; for the thread of an errand.

    Raises:
        HubError: See `errors`.
    """
    from paceline.catalog.hub.session import get_json

    items, response = get_json(url, dict(params))
    if not isinstance(items, list):
        raise errors.bad_answer(host_of(url), "a list of models was expected")
    return Page(items, response.links.get("next", {}).get("url", ""))


def hub_model(item: object) -> HubModel | None:
    """Return a repository as the Hub describes it; None when it cannot be read.

    Args:
        item: An object of a search's JSON, or of a repository's page.
    """
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or "/" not in item["id"]:
        return None
    gguf = item.get("gguf") if isinstance(item.get("gguf"), dict) else {}
    assert isinstance(gguf, dict)
    tags = [tag for tag in _list(item.get("tags")) if isinstance(tag, str)]
    card = item.get("cardData") if isinstance(item.get("cardData"), dict) else {}
    assert isinstance(card, dict)
    return HubModel(
        repo=item["id"],
        downloads=whole(item.get("downloads")),
        likes=whole(item.get("likes")),
        modified=_text(item.get("lastModified")),
        gate=_gate(item.get("gated")),
        license=_tagged(tags, "license:") or _text(card.get("license")),
        n_params=whole(gguf.get("total")),
        architecture=_text(gguf.get("architecture")),
        n_ctx_train=whole(gguf.get("context_length")),
        base_model=_base_model(tags) or _first_text(card.get("base_model")),
    )


def _params(query: SearchQuery) -> dict[str, object]:
    filters = ["gguf", *([f"license:{query.license}"] if query.license else [])]
    is_filtered_here = bool(query.architecture)
    params: dict[str, object] = {
        "filter": filters,
        "sort": _SORTS[query.sort],
        "limit": _PER_PAGE if is_filtered_here else min(query.limit, _PER_PAGE),
        "expand": list(_EXPAND),
    }
    if query.text.strip():
        params["search"] = query.text.strip()
    limits = []
    if query.min_params:
        limits.append(f"min:{query.min_params // 10**6}M")
    if query.max_params:
        limits.append(f"max:{-(-query.max_params // 10**6)}M")
    if limits:
        params["num_parameters"] = ",".join(limits)
    return params


def _is_wanted(model: HubModel, query: SearchQuery) -> bool:
    return (
        (not query.license or model.license.lower() == query.license.lower())
        and (not query.min_params or model.n_params >= query.min_params)
        and (not query.max_params or 0 < model.n_params <= query.max_params)
        and (not query.architecture or model.architecture in _kin(query.architecture))
    )


def _kin(architecture: str) -> tuple[str, str]:
    """Return an architecture and its dense variant: a dense Qwen3 drafts for Qwen3's mixture."""
    return architecture, architecture.removesuffix("moe")


def _on_this_hub(url: str, endpoint: str) -> str:
    """Return the address of a next page; a mirror may name the Hub that it mirrors.

    Raises:
        HubError: It leads elsewhere.
    """
    if origin(url) in map(origin, _USUAL_HOSTS):
        parts = urlsplit(url)
        return f"{endpoint}{parts.path}?{parts.query}"
    if url.startswith("/"):
        url = urljoin(endpoint, url)
    if origin(url) != origin(endpoint):
        raise errors.bad_answer(host_of(endpoint), "the next page is on another host")
    return url


def _gate(value: object) -> Gate:
    if value == "manual":
        return "manual"
    return "auto" if value else "open"


def _base_model(tags: list[str]) -> str:
    """Return the original repository: tags say ``base_model:quantized:OWNER/NAME``."""
    for tag in tags:
        if tag.startswith("base_model:"):
            return tag.rsplit(":", 1)[1]
    return ""


def _tagged(tags: list[str], prefix: str) -> str:
    return next((tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)), "")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _first_text(value: object) -> str:
    return _text(value[0]) if isinstance(value, list) and value else _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def whole(value: object) -> int:
    """Return a count; 0 for a value that is none."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return min(max(0, value), _MOST) if is_whole and isinstance(value, int) else 0
