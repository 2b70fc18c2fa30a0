"""A repository's page: its models, their sizes, and whether they may be downloaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from paceline.catalog.card import bits_per_weight, quantisation_in_name
from paceline.catalog.hub import errors
from paceline.catalog.hub.search import hub_model, whole
from paceline.catalog.hub.values import HubChoice, HubFile, HubRepository, host_of
from paceline.catalog.local.model_files import BY_PRODUCT, PART
from paceline.catalog.sidecar import sidecar_in_path

_ROOM = 0.85
"""The share of the free memory that weights may fill; context and buffers need the rest."""
_USUAL_LEAST = 4.4
"""Bits per weight; below, models get noticeably worse. Q4_0, IQ4_XS and Q4_K_M are above."""
_USUAL_MOST = 7.0
"""Q6_K is below; Q8_0 and F16 are hardly better, and every token takes longer."""
_SMALL = 2 << 30
"""Up to this file size Q8_0 is taken: small models suffer more from few bits and are fast."""


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
    card = said.get("cardData")
    link = card.get("license_link") if isinstance(card, dict) else ""
    return HubRepository(
        model=model,
        commit=said["sha"] if isinstance(said.get("sha"), str) else "",
        choices=choices,
        url=f"{endpoint}/{model.repo}",
        license_url=link
        if isinstance(link, str) and link.startswith(("https://", "http://"))
        else "",
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
    six hardly better, while each token costs time in proportion to the bytes. Q8_0 only where
    the file is small. When nothing from four bits on fits, the most bits that do fit; files whose
    name tells nothing, and 16 bits, come last.

    Args:
        choices: What a repository offers.
        n_free: Bytes of memory that a model may take, all devices together.

    Returns:
        None when nothing fits.
    """
    # Without a size it is unknown whether it fits, and an empty file is no model.
    fitting = [c for c in choices if c.is_complete and 0 < c.n_bytes <= _ROOM * n_free]
    usual = [c for c in fitting if _USUAL_LEAST <= _bits(c) <= _most_bits(c)]
    if usual:
        return max(usual, key=_by_quality)
    fewer = [c for c in fitting if 0 < _bits(c) < _USUAL_LEAST]
    if fewer:
        return max(fewer, key=_by_quality)
    return min(fitting, key=lambda choice: choice.n_bytes, default=None)


def _by_quality(choice: HubChoice) -> tuple[float, int]:
    return _bits(choice), choice.n_bytes


def _bits(choice: HubChoice) -> float:
    return bits_per_weight(choice.quantisation)


def _most_bits(choice: HubChoice) -> float:
    return 9.0 if choice.n_bytes <= _SMALL else _USUAL_MOST


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
    for item in siblings if isinstance(siblings, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("rfilename"), str):
            continue
        lfs = item["lfs"] if isinstance(item.get("lfs"), dict) else {}
        sha256 = lfs.get("sha256")
        found.append(
            HubFile(
                path=item["rfilename"],
                n_bytes=whole(lfs.get("size", item.get("size"))),
                sha256=sha256 if isinstance(sha256, str) else "",
            )
        )
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
