"""The list of pairs that is shipped: what it holds, and how a wrong one is refused."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalog.made_models import TARGET, changed
from check_curated import faults
from paceline.catalog.judge.curated import CuratedPair, curated_pairs_path, load_curated
from paceline.engine.draft.heads import drafts_with
from paceline.errors import UserError

ENTRY: dict[str, Any] = {
    "title": "Wolf",
    "kind": "draft",
    "machine": "any",
    "least_memory": 7,
    "target_repo": "pack/Wolf",
    "target_file": "q8/wolf.gguf",
    "target_bytes": 90,
    "target_words": ["wolf", "3.1"],
    "target_architecture": None,
    "target_params": [1, 9],
    "draft_repo": "pack/Cub",
    "draft_file": "cub.gguf",
    "draft_bytes": 5,
    "about": ["target_bytes"],
    "active": 0.5,
    "acceptance": 0.7,
    "gain": {"claim": "Twice as fast", "texts": "code", "temperature": 0.5},
    "evidence": {"url": "https://example.com", "date": "2025-02-28"},
    "vocabulary_checked": None,
}
NO_TARGET = {"target_repo": "", "target_file": None, "target_words": []}
NO_DRAFT = {"draft_repo": "", "draft_file": None, "draft_bytes": None}


def loaded(tmp_path: Path, entry: Any) -> tuple[CuratedPair, ...]:
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps({"pairs": [entry]}))
    return load_curated(file)


def with_value(place: str, value: object) -> dict[str, Any]:
    entry = copy.deepcopy(ENTRY)
    *way, last = place.split(".")
    inner = entry
    for step in way:
        inner = inner[step]
    inner[last] = value
    return entry


def test_the_shipped_list() -> None:
    pairs = load_curated(curated_pairs_path())
    assert len(pairs) >= 12
    assert len({(p.title, p.kind) for p in pairs}) == len(pairs)
    for pair, entry in zip(
        pairs, json.loads(curated_pairs_path().read_bytes())["pairs"], strict=True
    ):
        assert [*faults(pair)] == []
        assert entry.keys() == ENTRY.keys(), "what is not known is null"
        assert pair.evidence is not None, "an entry without a source is a guess"
        assert pair.is_usable is (pair.kind == "draft" or bool(drafts_with(pair.kind)))
        if pair.kind == "draft":
            assert pair.target_repo != pair.draft_repo
            assert not pair.drafter
        elif not pair.is_usable:
            assert not pair.draft_reference, "it is no pair to load"
    assert {pair.kind for pair in pairs} == {"draft", "mtp", "dflash", "lookup"}


def test_an_entry_as_it_should_be(tmp_path: Path) -> None:
    (pair,) = loaded(tmp_path, ENTRY)
    assert pair.target_reference == "hf:pack/Wolf:q8/wolf.gguf"
    assert pair.draft_reference == "hf:pack/Cub:cub.gguf"
    assert pair.target_params == (1, 9)
    assert str(pair.gain) == "Twice as fast; on code, at temperature 0.5"
    assert pair.needs == "any machine, from 7 B of memory"
    assert pair.evidence is not None
    assert pair.evidence.date == "2025-02-28"


def test_entries_without_a_draft_model(tmp_path: Path) -> None:
    (head,) = loaded(tmp_path, {**ENTRY, "kind": "mtp"})
    assert head.drafter == "MTP head, cub.gguf"
    assert head.draft_reference == "hf:pack/Cub:cub.gguf"
    (inside,) = loaded(tmp_path, {**ENTRY, "kind": "mtp", **NO_DRAFT})
    assert "inside the model's file" in inside.drafter
    (network,) = loaded(tmp_path, {**ENTRY, "kind": "dflash"})
    assert network.drafter == "DFlash, cub.gguf; this version cannot use it yet"
    assert network.draft_reference == ""
    without = {**ENTRY, "kind": "lookup", **NO_TARGET, **NO_DRAFT, "least_memory": None}
    (lookups,) = loaded(tmp_path, without)
    assert "no second model" in lookups.drafter
    assert inside.draft_reference == lookups.draft_reference == ""
    assert lookups.target_reference == ""
    (words,) = loaded(tmp_path, {**ENTRY, "gain": {**ENTRY["gain"], "temperature": None}})
    assert str(words.gain) == "Twice as fast; on code"


def test_what_is_not_known_is_null(tmp_path: Path) -> None:
    entry = {**ENTRY, **NO_DRAFT, "draft_repo": "pack/Cub", "gain": None, "evidence": None}
    entry |= {"target_file": None, "target_params": None}
    (pair,) = loaded(tmp_path, entry)
    assert pair.draft_reference == ""
    assert pair.target_reference == ""
    assert pair.evidence is None


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("kind", "wolf", "pairs[0].kind"),
        ("gain", "Twice as fast", "gain"),
        ("more", 1, "pairs[0].more is not known"),
        ("vocabulary_checked", "yes", "pairs[0].vocabulary_checked"),
    ],
)
def test_a_value_of_another_type_is_named(
    tmp_path: Path, place: str, value: object, words: str
) -> None:
    with pytest.raises(UserError) as caught:
        loaded(tmp_path, with_value(place, value))
    assert caught.value.code == "bad-curated-pairs"
    assert "pairs[0]" in caught.value.message
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("kind", "lookup", "“lookup” has target_params and names no model"),
        ("target_repo", "", "target_repo '' is no OWNER/NAME"),
        ("least_memory", None, "least_memory"),
        ("draft_repo", "../../etc", "draft_repo"),
        ("draft_file", "../up.gguf", "draft_file"),
        ("draft_file", "cub.safetensors", "draft_file"),
        ("draft_bytes", 0, "draft_bytes"),
        ("about", ["gain"], "about names what is no size"),
        ("active", 1.5, "active is no share"),
        ("acceptance", 0.0, "acceptance is no share"),
        ("target_words", [], "target_words"),
        ("target_words", ["Two words"], "target_words"),
        ("target_params", [9, 1], "target_params"),
        ("evidence", None, "a gain needs evidence"),
        ("evidence.url", "http://example.com", "evidence.url"),
        ("evidence.date", "2025-02-30", "evidence.date"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, place: str, value: object, words: str) -> None:
    (pair,) = loaded(tmp_path, with_value(place, value))
    assert any(words in fault for fault in faults(pair))


@pytest.mark.parametrize("name", sorted(ENTRY.keys() - {"kind", "machine", "least_memory"}))
def test_fields_must_be_there(tmp_path: Path, name: str) -> None:
    entry = {key: value for key, value in ENTRY.items() if key != name}
    with pytest.raises(UserError, match=name):
        loaded(tmp_path, entry)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"pairs": 1}', b'{"pairs": [], "x": 1}', b"\xff", b"[" * 99_999]
)
def test_a_file_that_is_no_list(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pairs.json"
    file.write_bytes(content)
    with pytest.raises(UserError) as caught:
        load_curated(file)
    assert "pairs.json" in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        load_curated(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "architecture", "billions", "title"),
    [
        ("Qwen2.5 Coder 32B Instruct", "qwen2", 32.8, "Qwen2.5 Coder 32B Instruct"),
        ("Qwen2.5 7B Instruct", "qwen2", 7.6, "Qwen2.5 7B/14B Instruct"),
        ("Fox 1B", "fox", 1.0, "Any model of 2B and less"),
        ("Llama 3.3 70B Instruct", "llama", 70.6, "Llama 3.3 70B Instruct"),
        ("Gemma 3 12b It", "gemma3", 11.8, "Gemma 3 12B"),
    ],
)
def test_targets_are_known_by_what_their_headers_say(
    name: str, architecture: str, billions: float, title: str
) -> None:
    card = changed(
        TARGET, name=name, family="", architecture=architecture, n_params=int(billions * 1e9)
    ).card
    pairs = load_curated(curated_pairs_path())
    assert title in [
        p.title for p in pairs if p.is_for(card.name, card.architecture, card.n_params)
    ]


def test_what_is_not_known_of_a_target_excludes_no_pair_but_one_for_a_size_alone(
    tmp_path: Path,
) -> None:
    (pair,) = loaded(tmp_path, with_value("target_architecture", "llama"))
    assert pair.is_for("Wolf-3.1-Instruct", "llama", 5)
    assert pair.is_for("Wolf-3.1-Instruct", "", 0)
    assert not pair.is_for("Wolf-3.1-Instruct", "llama", 10)
    assert not pair.is_for("Wolf-3.1-Instruct", "qwen2", 5)
    assert not pair.is_for("Fox-3.1-Instruct", "llama", 5)
    of_a_size = replace(pair, target_words=())
    assert of_a_size.is_for("Fox", "llama", 5)
    assert not of_a_size.is_for("Fox", "llama", 0)
