#!/usr/bin/env python3
"""Checks the list of curated pairs against the Hub.

``python packaging/check_curated.py [--endpoint URL] [--write] [--list FILE]`` looks whether the
repositories and files of every entry are there and open, compares the size, fetches the headers of
both models and judges the pair. It prints a table and exits with 1 if an entry is wrong. With
``--write`` what was found out is put into the list: the draft's file where none was named, its
size, and whether the vocabularies fit. Claims and their sources are never touched.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.catalog.hub.values import HubChoice, HubRepository
from paceline.catalog.judge.curated import CuratedPair, curated_pairs_path, load_curated
from paceline.catalog.judge.draft_search import best_for_drafting
from paceline.catalog.judge.pairing import judge, reads_alike
from paceline.catalog.models import Models
from paceline.cli.output import in_columns
from paceline.errors import UserError
from paceline.files import write_whole
from paceline.paths import Paths


@dataclass(frozen=True)
class Finding:
    """What the Hub says about one entry.

    Attributes:
        draft_file: The draft model's file; None: not known.
        n_bytes: Its size; None: not known.
        fits: Whether the vocabularies fit; None: not known.
        gate: Whether files must be asked for, of target and draft, e.g. ``open, manual``.
        verdict: What the pair is judged to be.
        problems: What is wrong with the entry.
    """

    draft_file: str | None = None
    n_bytes: int | None = None
    fits: bool | None = None
    gate: str = ""
    verdict: str = ""
    problems: tuple[str, ...] = ()


def check(models: Models, pair: CuratedPair) -> Finding:
    """Return what the Hub says about an entry; a Hub that cannot be asked is a problem of it."""
    problems: list[str] = []
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
    if pair.kind != "draft":
        sidecars = [each for page in pages[1:] for each in page.sidecars]
        found = next((each for each in sidecars if each.path == pair.draft_file), None)
        if pair.draft_file and found is None:
            problems.append(f"{pair.draft_repo} has no drafter “{pair.draft_file}”")
        n_bytes = found.n_bytes if found else None
        return Finding(pair.draft_file, n_bytes, None, gate, pair.kind, tuple(problems))
    draft = _choice(pages[1], pair.draft_file, problems)
    if draft is None or target is None:
        return Finding(gate=gate, problems=tuple(problems))
    if pair.draft_bytes not in (None, draft.n_bytes):
        problems.append(f"the draft has {draft.n_bytes} bytes, not {pair.draft_bytes}")
    file = pair.draft_file or draft.path
    try:
        ours = models.examine(f"hf:{pair.target_repo}:{target.path}")
        theirs = models.examine(f"hf:{pair.draft_repo}:{file}")
    except UserError as error:
        problems.append(error.message)
        return Finding(file, draft.n_bytes, None, gate, problems=tuple(problems))
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
    return Finding(file, draft.n_bytes, fits, gate, words, tuple(problems))


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
    """Return the list's content with what was found out; the rest as it was."""
    for entry, found in zip(data["pairs"], findings, strict=True):
        if found.n_bytes is not None:
            entry |= {"draft_file": found.draft_file, "draft_bytes": found.n_bytes}
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
