"""The JSON part of the Hub's protocol: from a request to an answer, without sockets."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from hub_server.repositories import RepoFile, Repository

Query = Mapping[str, Sequence[str]]

_BRIEF = (
    "_id", "id", "modelId", "likes", "downloads", "trendingScore", "private", "tags",
    "pipeline_tag", "library_name", "createdAt",
)  # fmt: skip
"""Fields of each model in a list, unless a request asks for others."""
_POINTER = 135
"""Bytes of the small file that stands in git for one kept by LFS."""


@dataclass(frozen=True)
class Answer:
    """Status, headers and body of a small answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(value: Any, **headers: str) -> Answer:
    """Return an answer with a JSON body; underscores in header names become hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Answer(200, json.dumps(value).encode(), kind | named)


def failure(status: int, code: str = "", message: str = "") -> Answer:
    """Return an error as the Hub words it."""
    headers = {"Content-Type": "application/json; charset=utf-8"}
    if code:
        headers["X-Error-Code"] = code
    if message:
        headers["X-Error-Message"] = message
    return Answer(status, json.dumps({"error": message or code}).encode(), headers)


def models(all_models: Sequence[Repository], query: Query, endpoint: str, page_size: int) -> Answer:
    """Answer a search."""
    found = [model for model in all_models if _is_wanted(model, query)]
    sort = _one(query, "sort") or "trendingScore"
    said = {model.id: model.described() for model in found}
    if any(sort not in entry for entry in said.values()):
        return failure(400, message=f"Invalid sort: {sort}")
    found.sort(key=lambda model: said[model.id][sort], reverse=True)
    limit = min(int(_one(query, "limit") or page_size), page_size)
    cursor = _one(query, "cursor")
    start = int(base64.urlsafe_b64decode(cursor)) if cursor else 0
    page = found[start : start + limit]
    listed = [_chosen(said[model.id], query, _BRIEF) for model in page]
    if start + limit >= len(found):
        return as_json(listed)
    following = {
        **query,
        "cursor": [base64.urlsafe_b64encode(str(start + limit).encode()).decode()],
    }
    link = f'<{endpoint}/api/models?{urlencode(following, doseq=True)}>; rel="next"'
    return as_json(listed, Link=link)


def model(repository: Repository, query: Query) -> Answer:
    """Answer with a repository's page."""
    said = repository.described()
    if _one(query, "blobs") in ("1", "true", "True"):
        said["siblings"] = [_sibling(file) for file in repository.all_files()]
    asked = _chosen(said, query, tuple(said))
    return as_json({key: value for key, value in asked.items() if value is not None})


def tree(repository: Repository, folder: str, query: Query) -> Answer:
    """Answer with the files, and the folders, below one."""
    is_deep = _one(query, "recursive") in ("1", "true", "True")
    prefix = f"{folder}/" if folder else ""
    entries: dict[str, dict[str, Any]] = {}
    for file in repository.all_files():
        if not file.path.startswith(prefix):
            continue
        parts = file.path.removeprefix(prefix).split("/")
        for depth in range(1, len(parts) if is_deep else min(2, len(parts))):
            path = prefix + "/".join(parts[:depth])
            entries[path] = {"type": "directory", "oid": "0" * 40, "size": 0, "path": path}
        if is_deep or len(parts) == 1:
            entries[file.path] = entry(file)
    if folder and not entries:
        return failure(404, "EntryNotFound", f"{folder} does not exist")
    return as_json(list(entries.values()))


def paths_info(repository: Repository, paths: Sequence[str]) -> Answer:
    """Answer with chosen files; unknown ones are left out, as the Hub does."""
    files = [repository.file(path) for path in paths]
    return as_json([entry(file) for file in files if file])


def entry(file: RepoFile) -> dict[str, Any]:
    """Return a file as the tree has it."""
    said: dict[str, Any] = {
        "type": "file", "oid": file.oid, "size": file.n_bytes, "path": file.path,
    }  # fmt: skip
    if file.is_large:
        said["lfs"] = {"oid": file.sha256, "size": file.n_bytes, "pointerSize": _POINTER}
    return said


def _sibling(file: RepoFile) -> dict[str, Any]:
    said: dict[str, Any] = {"rfilename": file.path, "size": file.n_bytes, "blobId": file.oid}
    if file.is_large:
        said["lfs"] = {"sha256": file.sha256, "size": file.n_bytes, "pointerSize": _POINTER}
    return said


def _is_wanted(model: Repository, query: Query) -> bool:
    details = model.details
    name = model.id.lower()
    words = " ".join(query.get("search", ())).lower().split()
    tags = {tag.lower() for tag in model.tags()}
    wanted = {part.lower() for text in query.get("filter", ()) for part in text.split(",") if part}
    gated = _one(query, "gated").lower()
    total = (details.get("gguf") or {}).get("total", 0)
    low, high = _limits(_one(query, "num_parameters"))
    return (
        not details.get("private")
        and all(word in name for word in words)
        and wanted <= tags
        and _one(query, "author").lower() in ("", name.split("/")[0])
        and _one(query, "pipeline_tag") in ("", details.get("pipeline_tag", "text-generation"))
        and (not gated or (gated == "true") == bool(model.gated))
        and (not _one(query, "num_parameters") or low <= total <= high)
    )


def _limits(text: str) -> tuple[float, float]:
    """Return what ``min:1B,max:8B`` says."""
    said = dict(part.split(":", 1) for part in text.split(",") if ":" in part)
    return _count(said.get("min", "0")), _count(said.get("max", "inf"))


def _count(text: str) -> float:
    units = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
    unit = text[-1:].upper()
    return float(text[:-1]) * units[unit] if unit in units else float(text)


def _chosen(said: Mapping[str, Any], query: Query, usual: Sequence[str]) -> dict[str, Any]:
    asked = [*query.get("expand", ()), *query.get("expand[]", ())]
    names = {"_id", "id", *asked} if asked else set(usual)
    if _one(query, "full") in ("1", "true", "True"):
        names |= {"sha", "lastModified", "gated", "author", "siblings"}
    if _one(query, "cardData") in ("1", "true", "True"):
        names.add("cardData")
    return {key: value for key, value in said.items() if key in names}


def _one(query: Query, name: str) -> str:
    return (query.get(name) or [""])[0]
