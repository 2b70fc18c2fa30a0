#!/usr/bin/env python3
"""Checks the list of curated pairs against the Hub.

``python packaging/check_curated.py [--endpoint URL] [--write] [--list FILE]`` looks whether the
repositories and files of every entry are there and open, compares the size, fetches the headers of
both models and judges the pair. It prints a table and exits with 1 if an entry is wrong. With
``--write`` what was found out is put into the list: the draft's file where none was named, the
sizes of files that are named, and whether the vocabularies fit. Claims and their sources are never
touched.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from paceline.catalog.hub.values import HubChoice, HubRepository
from paceline.catalog.judge.curated import (
    CuratedPair,
    curated_pairs_path,
    load_curated,
    words_of,
)
from paceline.catalog.judge.draft_search import best_for_drafting
from paceline.catalog.judge.pairing import judge, reads_alike
from paceline.catalog.models import Models
from paceline.cli.output import in_columns
from paceline.errors import UserError
from paceline.files import write_whole
from paceline.paths import Paths

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_SIZES = ("target_bytes", "draft_bytes")
_ABOUT = 0.2  # relative error that an estimated size may have
_FILE = re.compile(r"[A-Za-z0-9][\w. -]*(/[A-Za-z0-9][\w. -]*)*\.gguf", re.ASCII)


def faults(pair: CuratedPair) -> Iterator[str]:
    """Yield the faults of an entry that can be found without the Hub."""
    names = pair.target_repo or pair.target_file or pair.target_words or pair.draft_repo
    if pair.kind != "lookup":
        yield from _faults_of_models(pair)
    elif names or pair.draft_file or pair.target_params is None:
        yield "an entry of kind “lookup” has target_params and names no model"
    low, high = pair.target_params or (1, 1)
    if not 0 < low <= high:
        yield "target_params is no smallest and largest number of weights"
    if set(pair.about) - {name for name in _SIZES if getattr(pair, name)}:
        yield "about names what is no size of it"
    for name in ("active", "acceptance"):
        share = getattr(pair, name)
        if share is not None and not 0 < share <= 1:
            yield f"{name} is no share"
    if pair.draft_bytes is not None and (pair.draft_bytes <= 0 or pair.draft_file is None):
        yield "draft_bytes is no size of a file that is named"
    if pair.gain is not None and pair.evidence is None:
        yield "a gain needs evidence"
    if pair.evidence is not None:
        url, day = pair.evidence.url, pair.evidence.date
        if not url.startswith("https://"):
            yield f"evidence.url {url!r:.60} is no https address"
        if day is not None and not _is_date(day):
            yield f"evidence.date {day!r:.60} is no ISO day or month"


def _faults_of_models(pair: CuratedPair) -> Iterator[str]:
    for name, repo, file in (
        ("target", pair.target_repo, pair.target_file),
        ("draft", pair.draft_repo, pair.draft_file),
    ):
        is_inside = name == "draft" and pair.is_headed and not (repo or file)
        if not (is_inside or _REPO.fullmatch(repo)):
            yield f"{name}_repo {repo!r:.60} is no OWNER/NAME"
        if file is not None and not _FILE.fullmatch(file):
            yield f"{name}_file {file!r:.60} is no path of a GGUF file"
    words = pair.target_words
    if not words or any(words_of(word) != {word} for word in words):
        yield "target_words is no list of single words in lower case"
    if pair.least_memory is None or pair.least_memory <= 0:
        yield "least_memory is no number of bytes"


def _is_date(text: str) -> bool:
    day = text if len(text) == 10 else f"{text}-01"
    try:
        return date.fromisoformat(day).isoformat() == day
    except ValueError:
        return False


@dataclass(frozen=True)
class Finding:
    """The Hub's facts about one entry.

    Attributes:
        draft_file: The draft model's file, or None if unknown.
        n_bytes: Its size, or None if unknown.
        n_target: Size of the target's file, or None if the list names none.
        fits: True if the vocabularies are compatible, or None if unknown.
        gate: Access to the files of target and draft, e.g. ``open, manual``.
        verdict: The verdict on the pair.
        problems: Faults of the entry.
    """

    draft_file: str | None = None
    n_bytes: int | None = None
    n_target: int | None = None
    fits: bool | None = None
    gate: str = ""
    verdict: str = ""
    problems: tuple[str, ...] = ()


def check(models: Models, pair: CuratedPair) -> Finding:
    """Return the findings on an entry; if the Hub cannot be asked, that is a problem, too."""
    problems: list[str] = [*faults(pair)]
    pages: list[HubRepository] = []
    for repo in filter(None, (pair.target_repo, pair.draft_repo)):
        try:
            pages.append(models.hub.repository(repo))
        except UserError as error:
            problems.append(error.message)
    if problems or pair.kind == "lookup":
        return Finding(verdict="names no models", problems=tuple(problems))
    gate = ", ".join(page.model.gate for page in pages)
    target = _choice(pages[0], pair.target_file, problems)
    n_target = target.n_bytes if target is not None and pair.target_file else None
    problems.extend(_wrong_size(pair, "target_bytes", n_target))
    if pair.kind != "draft":
        sidecars = [each for page in pages[1:] for each in page.sidecars]
        found = next((each for each in sidecars if each.path == pair.draft_file), None)
        if pair.draft_file and found is None:
            problems.append(f"{pair.draft_repo} has no drafter “{pair.draft_file}”")
        n_bytes = found.n_bytes if found else None
        problems.extend(_wrong_size(pair, "draft_bytes", n_bytes))
        return Finding(pair.draft_file, n_bytes, n_target, None, gate, pair.kind, tuple(problems))
    draft = _choice(pages[1], pair.draft_file, problems)
    if draft is None or target is None:
        return Finding(n_target=n_target, gate=gate, problems=tuple(problems))
    problems.extend(_wrong_size(pair, "draft_bytes", draft.n_bytes))
    file = pair.draft_file or draft.path
    try:
        ours = models.examine(f"hf:{pair.target_repo}:{target.path}")
        theirs = models.examine(f"hf:{pair.draft_repo}:{file}")
    except UserError as error:
        problems.append(error.message)
        return Finding(file, draft.n_bytes, n_target, None, gate, problems=tuple(problems))
    card = ours.card
    if not pair.is_for(card.name, card.architecture, card.n_params):
        problems.append(
            f"the target says it is “{card.name}” ({card.architecture}, "
            f"{card.n_params} weights), which this entry is not for"
        )
    verdict = judge(ours, theirs)
    fits = reads_alike(ours, theirs)
    if not fits:
        problems.append(verdict.reasons[0].text)
    if pair.vocabulary_checked not in (None, fits):
        problems.append(f"the list says that the vocabulary {_said(pair.vocabulary_checked)}")
    words = verdict.gain if fits else "does not fit"
    return Finding(file, draft.n_bytes, n_target, fits, gate, words, tuple(problems))


def _wrong_size(pair: CuratedPair, name: str, n_bytes: int | None) -> Iterator[str]:
    said: int | None = getattr(pair, name)
    tolerance = _ABOUT if name in pair.about else 0.0
    if said and n_bytes and abs(said - n_bytes) > tolerance * n_bytes:
        yield f"the {name.removesuffix('_bytes')} has {n_bytes} bytes, not {said}"


def _choice(page: HubRepository, file: str | None, problems: list[str]) -> HubChoice | None:
    """Return the model that an entry names, or one to look at where it names none."""
    if file is None:
        choice = best_for_drafting(page.choices)
        if choice is None:
            problems.append(f"{page.model.repo} has no complete GGUF file")
        return choice
    for choice in page.choices:
        if file in {each.path for each in choice.files}:
            return choice
    problems.append(f"{page.model.repo} has no file “{file}”")
    return None


def _said(fits: bool | None) -> str:
    return "fits" if fits else "does not fit"


def table(pairs: Sequence[CuratedPair], findings: Sequence[Finding]) -> str:
    """Return all findings as lines, problems below the entry that has them."""
    rows = [("pair", "draft file", "bytes", "vocabulary", "gate", "verdict")]
    for pair, found in zip(pairs, findings, strict=True):
        vocabulary = "not checked" if found.fits is None else _said(found.fits)
        size = str(found.n_bytes) if found.n_bytes else "not checked"
        file = found.draft_file or "not checked"
        rows.append((pair.title, file, size, vocabulary, found.gate, found.verdict))
    first, *lines = in_columns(rows, right=(2,)).splitlines()
    out = [first]
    for line, found in zip(lines, findings, strict=True):
        out += [line, *(f"    ! {problem}" for problem in found.problems)]
    return "\n".join(out)


def with_findings(data: dict[str, Any], findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the list with the findings added, and otherwise unchanged."""
    for entry, found in zip(data["pairs"], findings, strict=True):
        if found.n_bytes is not None:
            entry |= {"draft_file": found.draft_file, "draft_bytes": found.n_bytes}
        if found.n_target is not None:
            entry["target_bytes"] = found.n_target
        counted = {"draft_bytes": found.n_bytes, "target_bytes": found.n_target}
        entry["about"] = [name for name in entry["about"] if counted[name] is None]
        if found.fits is not None:
            entry["vocabulary_checked"] = found.fits
    return data


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the list; returns the exit code."""
    parser = argparse.ArgumentParser(description="Check the curated pairs against the Hub.")
    parser.add_argument("--endpoint", default="", help="address of a Hub (default: HF_ENDPOINT)")
    parser.add_argument("--write", action="store_true", help="put what was found into the list")
    parser.add_argument("--list", type=Path, help="default: the one that is shipped")
    options = parser.parse_args(arguments)
    path = options.list or curated_pairs_path()
    try:
        pairs = load_curated(path)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        models = Models(Paths.below(Path(folder)), endpoint=options.endpoint, environ={})
        try:
            for pair in pairs:
                print(f"{pair.title} …", file=sys.stderr)
                findings.append(check(models, pair))
        finally:
            models.close()
    print(table(pairs, findings))
    if options.write:
        data = with_findings(json.loads(path.read_bytes()), findings)
        write_whole(path, f"{json.dumps(data, indent=1, ensure_ascii=False)}\n".encode())
    return 1 if any(found.problems for found in findings) else 0


if __name__ == "__main__":
    raise SystemExit(main())
