"""Lists of the Hub: repositories that a search finds, and the models of one.

`HfApi.list_models` gives up the whole search when one entry cannot be read, and follows a link to
the next page wherever it leads; so pages are fetched here, by the library's session.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from paceline.catalog.card import bits_per_weight, quantisation_in_name
from paceline.catalog.hub import errors
from paceline.catalog.hub.errors import host_of, origin
from paceline.catalog.hub.values import (
    Gate,
    HubChoice,
    HubFile,
    HubModel,
    HubReference,
    HubRepository,
    SearchQuery,
    Sort,
)
from paceline.catalog.local.model_files import BY_PRODUCT
from paceline.catalog.sidecar import sidecar_in_path
from paceline.engine.model.model_file import PART

_WEIGHTS_SHARE = 0.85
"""The share of the free memory that weights may fill; context and buffers need the rest."""
_MIN_USUAL_BITS = 4.4
"""Bits per weight below which models get noticeably worse. Q4_0, IQ4_XS and Q4_K_M are above."""
_MAX_USUAL_BITS = 7.0
"""Bits per weight above which models hardly get better, and every token takes longer: Q6_K is
below, Q8_0 and F16 are above."""
_MAX_SMALL_BYTES = 2 << 30
"""Largest file for which Q8_0 is recommended: small models suffer more from few bits and are
fast."""


def get_repository(endpoint: str, repo: str, revision: str) -> HubRepository:
    """Fetch a repository's page; for the thread of an errand.

    One request, and for a gated repository one more that finds out whether it may be read.

    Raises:
        HubError: See `errors`.
    """
    from paceline.catalog.hub.session import get_json

    url = f"{endpoint}/api/models/{quote(repo)}/revision/{quote(revision, safe='')}"
    said, _ = get_json(url, {"blobs": "true"})
    model = hub_model(said)
    if model is None:
        raise errors.bad_answer(host_of(endpoint), "a repository's page was expected")
    files = _files(said.get("siblings"))
    choices = grouped(files)
    has_access = True
    if model.gate != "open" and choices:
        has_access = _may_read(endpoint, model.repo, choices[0].path, revision)
    link = _text(_object(said.get("cardData")).get("license_link"))
    return HubRepository(
        model=model,
        commit=_text(said.get("sha")),
        choices=choices,
        url=f"{endpoint}/{model.repo}",
        license_url=link if link.startswith(("https://", "http://")) else "",
        has_access=has_access,
        sidecars=grouped(files, sidecars=True),
    )


def grouped(files: Iterable[HubFile], *, sidecars: bool = False) -> tuple[HubChoice, ...]:
    """Return the models among files: parts grouped, by-products left out, the smallest first.

    Args:
        files: All of a repository.
        sidecars: Whether the sidecars are wanted in place of the models.
    """
    singles: list[HubChoice] = []
    splits: dict[tuple[str, int], dict[int, HubFile]] = {}
    for file in files:
        name = PurePosixPath(file.path).name
        if not name.lower().endswith(".gguf") or BY_PRODUCT.search(name[: -len(".gguf")]):
            continue
        if (sidecar_in_path(file.path) is not None) is not sidecars:
            continue
        part = PART.search(file.path)
        if part is None:
            singles.append(HubChoice(_quantisation(file.path), (file,)))
        else:
            key = file.path[: part.start()], int(part[2])
            splits.setdefault(key, {})[int(part[1])] = file
    for (_, count), parts in splits.items():
        ordered = tuple(parts[number] for number in sorted(parts))
        is_complete = sorted(parts) == list(range(1, count + 1))
        singles.append(HubChoice(_quantisation(ordered[0].path), ordered, is_complete))
    return tuple(sorted(singles, key=lambda choice: (choice.n_bytes, choice.path)))


def recommended(choices: Sequence[HubChoice], n_free: int) -> HubChoice | None:
    """Return the quantisation to take for a machine.

    The best that fits, but not more than Q6_K: below four bits a model gets noticeably worse, above
    six hardly better, while each token costs time in proportion to the bytes. Q8_0 only where the
    file is small. When nothing from four bits on fits, the most bits that do fit; files without a
    quantisation in their name, and 16 bits, come last.

    Args:
        choices: The models that a repository offers.
        n_free: Bytes of memory that a model may take, all devices together.

    Returns:
        None when nothing fits.
    """
    # Without a size it is unknown whether it fits, and an empty file is no model.
    offered = [c for c in choices if c.is_complete and c.can_be_kept]
    fitting = [c for c in offered if 0 < c.n_bytes <= _WEIGHTS_SHARE * n_free]
    usual = [c for c in fitting if _MIN_USUAL_BITS <= _bits(c) <= _most_bits(c)]
    if usual:
        return max(usual, key=_by_quality)
    fewer = [c for c in fitting if 0 < _bits(c) < _MIN_USUAL_BITS]
    if fewer:
        return max(fewer, key=_by_quality)
    return min(fitting, key=lambda choice: choice.n_bytes, default=None)


def choice_for(reference: HubReference, repository: HubRepository, n_free: int) -> HubChoice:
    """Return the model of a repository that a reference names.

    Args:
        reference: With a file, any part of a split one; with a quantisation; or with neither.
        repository: Its page.
        n_free: Bytes of memory for a model, where the reference leaves the choice.

    Raises:
        HubError: "not-found": there is none.
    """
    wanted = reference.path
    choices = repository.choices
    if reference.names_file:
        found = [c for c in choices if any(file.path == wanted for file in c.files)]
    elif wanted:
        found = [c for c in choices if c.quantisation.upper() == wanted.upper()]
    else:
        one = recommended(choices, n_free) or next((c for c in choices if c.is_complete), None)
        found = [one] if one else []
    if not found:
        raise errors.HubError(
            "not-found",
            "The repository {repo} has no model “{wanted}”."
            if wanted
            else "The repository {repo} has no model in GGUF format.",
            "`paceline hub files {repo}` lists what it has.",
            repo=reference.repo,
            wanted=wanted,
        )
    return found[0]


def _by_quality(choice: HubChoice) -> tuple[float, int]:
    return _bits(choice), choice.n_bytes


def _bits(choice: HubChoice) -> float:
    return bits_per_weight(choice.quantisation)


def _most_bits(choice: HubChoice) -> float:
    return 9.0 if choice.n_bytes <= _MAX_SMALL_BYTES else _MAX_USUAL_BITS


def _quantisation(path: str) -> str:
    """Return the quantisation in the file's name, or in that of its parts' folder."""
    parts = PurePosixPath(path).parts
    for name in (parts[-1].removesuffix(".gguf"), *parts[-2:-1]):
        if found := quantisation_in_name(name):
            return found
    return ""


def _files(siblings: object) -> list[HubFile]:
    """Return the files of a repository's JSON; entries that cannot be read are left out."""
    found = []
    for item in map(_object, _list(siblings)):
        lfs = _object(item.get("lfs"))
        if isinstance(path := item.get("rfilename"), str):
            n_bytes = _whole(lfs.get("size", item.get("size")))
            found.append(HubFile(path, n_bytes, _text(lfs.get("sha256"))))
    return found


def _may_read(endpoint: str, repo: str, path: str, revision: str) -> bool:
    from paceline.catalog.hub.session import file_metadata

    try:
        file_metadata(endpoint, repo, path, revision)
    except errors.HubError as error:
        if error.code in ("gated", "unauthorized"):
            return False
        raise
    return True


_SORTS: Mapping[Sort, str] = {
    "trending": "trendingScore", "downloads": "downloads", "likes": "likes",
    "recent": "lastModified",
}  # fmt: skip
_EXPAND = ("gguf", "downloads", "likes", "gated", "tags", "lastModified")
_PER_PAGE = 100
_MAX_PAGES = 20
"""Upper bound of the pages of a search, for filters that hardly anything passes."""
_MAX_COUNT = 1 << 63
"""Upper bound of a count of the Hub."""
_USUAL_HOSTS = ("https://huggingface.co", "https://hf.co")


Page = tuple[list[object], str]
"""The entries of one page of results, and the address of the next page, or empty if there is
none."""


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
    for _ in range(max(_MAX_PAGES, math.ceil(query.limit / _PER_PAGE))):
        items, next_url = get(url, params)
        for item in items:
            model = hub_model(item)
            if model is None or not _is_wanted(model, query):
                continue
            yield model
            n_found += 1
            if n_found >= query.limit:
                return
        if not next_url:
            return
        url, params = _on_this_hub(next_url, endpoint), {}


def get_page(url: str, params: Mapping[str, object]) -> Page:
    """Fetch a page; for the thread of an errand.

    Raises:
        HubError: See `errors`.
    """
    from paceline.catalog.hub.session import get_json

    items, response = get_json(url, dict(params))
    if not isinstance(items, list):
        raise errors.bad_answer(host_of(url), "a list of models was expected")
    return items, response.links.get("next", {}).get("url", "")


def hub_model(item: object) -> HubModel | None:
    """Return a repository as the Hub describes it; None when it cannot be read.

    Args:
        item: An object of a search's JSON, or of a repository's page.
    """
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or "/" not in item["id"]:
        return None
    gguf, card = _object(item.get("gguf")), _object(item.get("cardData"))
    tags = [tag for tag in _list(item.get("tags")) if isinstance(tag, str)]
    return HubModel(
        repo=item["id"],
        downloads=_whole(item.get("downloads")),
        likes=_whole(item.get("likes")),
        modified=_text(item.get("lastModified")),
        gate=_gate(item.get("gated")),
        license=_tagged(tags, "license:") or _text(card.get("license")),
        n_params=_whole(gguf.get("total")),
        architecture=_text(gguf.get("architecture")),
        n_ctx_train=_whole(gguf.get("context_length")),
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
    """Return an architecture and its dense variant, which can draft for a mixture of experts."""
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


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _first_text(value: object) -> str:
    return _text(value[0]) if isinstance(value, list) and value else _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    """Return a count; 0 for any other value."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return min(max(0, value), _MAX_COUNT) if is_whole else 0
