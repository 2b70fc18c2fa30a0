"""`paceline pairs`: the contract's JSON, the answer in words, and references to the Hub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import make_pairs
from cli.program import (
    Result,
    assert_one_clear_line,
    chat,
    interrupted,
    paceline,
    paceline_process,
)
from hub_server import Fault, HubServer, Repository

TARGET, DRAFT = make_pairs.DEMO_TARGET, make_pairs.DEMO_DRAFT
HF_TARGET = "hf:demo/paceline-target:target.gguf"
NOBODY = "/nonexistent"
"""The home of a user who has no models of other programs."""
HF_DRAFT = "hf:demo/paceline-draft:draft-Q8_0.gguf"

pytestmark = pytest.mark.usefixtures("one_reader_for_all")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    repositories = [
        Repository("demo/paceline-target", {"target.gguf": TARGET}),
        Repository("demo/paceline-draft", {"draft-Q8_0.gguf": DRAFT}),
    ]
    with HubServer({each.id: each for each in repositories}) as server:
        yield server


@pytest.fixture
def online(hub: HubServer) -> dict[str, str]:
    """The environment of a user who has this Hub, and no models of other programs."""
    return {"HF_ENDPOINT": hub.endpoint, "HF_HUB_OFFLINE": "0", "HOME": NOBODY}


def pairs(*arguments: str | Path, environ: Mapping[str, str] | None = None) -> Result:
    return paceline("pairs", *arguments, environ={"HOME": NOBODY, **(environ or {})})


def checked(*arguments: str | Path, **more: Any) -> dict[str, Any]:
    result = pairs("check", *arguments, "--json", **more)
    assert result.code == 0, result.err
    assert result.err == ""
    answer: dict[str, Any] = json.loads(result.out)
    assert list(answer) == ["ok", "reasons", "remedy", "memory"]
    return answer


def test_a_pair_that_fits() -> None:
    answer = checked(TARGET, DRAFT, "--ctx", "1024")
    assert answer["ok"] is True
    assert answer["remedy"] is None
    assert all(set(reason) == {"code", "text"} for reason in answer["reasons"])
    assert "vocabulary-fits" in [reason["code"] for reason in answer["reasons"]]
    cpu = answer["memory"][-1]
    assert set(cpu) == {"device", "weights", "kv", "compute", "free"}
    assert all(type(cpu[name]) is int for name in ("weights", "kv", "compute", "free"))
    files = TARGET.stat().st_size + DRAFT.stat().st_size
    assert 0.9 * files < cpu["weights"] < 1.1 * files, "both models together"


def test_a_pair_that_does_not_fit_is_an_answer() -> None:
    answer = checked(TARGET, make_pairs.path("tiny-foreign"))
    assert answer["ok"] is False
    (reason,) = answer["reasons"]
    assert reason["code"] == "token-differs"
    assert "“foreign-" in reason["text"]
    remedy = answer["remedy"]
    assert set(remedy) == {"text", "target", "draft"}
    assert remedy["target"] == str(TARGET)
    assert checked(remedy["target"], remedy["draft"])["ok"] is True


def test_the_engine_refuses_with_the_same_words() -> None:
    draft = make_pairs.path("tiny-foreign")
    (reason,) = checked(TARGET, draft)["reasons"]
    refused = chat("--target", TARGET, "--draft", draft)
    assert refused.code == 1
    assert refused.objects[-1]["code"] == "vocabulary-mismatch"
    assert reason["text"] in refused.objects[-1]["message"]


def test_a_pair_by_translation_says_so_with_the_words_of_the_load() -> None:
    draft = make_pairs.path("tiny-bos")
    answer = checked(TARGET, draft)
    assert answer["ok"] is True
    first = answer["reasons"][0]
    assert first["code"] == "by-translation"
    assert "100 %" in first["text"]
    assert answer["remedy"]["draft"] == str(DRAFT), "the same tokens are better"
    assert pairs("check", TARGET, draft).out.startswith("The pair works by translation.\n")
    loaded = chat("--target", TARGET, "--draft", draft)
    assert loaded.code == 0
    assert first["text"] in loaded.err


def test_the_answer_in_words() -> None:
    good = pairs("check", TARGET, DRAFT)
    assert good.code == 0
    assert good.out.startswith("The pair fits.\n")
    assert "Expect" in good.out
    assert "weights" in good.out
    bad = pairs("check", TARGET, make_pairs.path("tiny-foreign"))
    assert bad.code == 0
    assert bad.out.startswith("The pair does not fit.\n")
    assert "foreign" in bad.out
    assert "Instead: " in bad.out


def test_it_reads_from_the_hub_without_a_download(
    hub: HubServer, online: dict[str, str], paceline_home: Path
) -> None:
    answer = checked(HF_TARGET, HF_DRAFT, environ=online)
    assert answer["ok"] is True
    assert answer["memory"][-1]["weights"] > 0
    assert not (paceline_home / "data" / "models").exists()
    mixed = checked(TARGET, "hf:demo/paceline-draft", environ=online)
    assert mixed["reasons"] == answer["reasons"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("none.gguf", "“none.gguf” is not there"),
        (make_pairs.path("not-a-model"), "is not a GGUF file"),
    ],
)
def test_a_file_that_cannot_be_read(target: str | Path, words: str) -> None:
    result = pairs("check", target, DRAFT, "--json")
    assert result.code == 1
    assert words in result.objects[0]["error"]["message"]
    assert_one_clear_line(result, words)


def test_offline_the_hub_is_not_asked(hub: HubServer, online: dict[str, str]) -> None:
    result = pairs("check", HF_TARGET, DRAFT, environ={**online, "HF_HUB_OFFLINE": "1"})
    assert result.code == 1
    assert "offline" in result.err
    assert hub.requests == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", str(TARGET), "--mtp", "off"],
        ["check", str(TARGET), str(DRAFT), "--mtp", "head.gguf"],
        ["check", "hf:nonsense", str(DRAFT)],
        ["check", str(TARGET), " "],
        ["check", str(TARGET), str(DRAFT), "--ctx", "0"],
        ["check", str(TARGET), str(DRAFT), "--ctx", "10000000"],
        ["lists"],
        [],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str]) -> None:
    result = pairs(*arguments)
    assert result.out == ""
    assert_one_clear_line(result, code=2)


def test_ctrl_c_ends_it(hub: HubServer, online: dict[str, str]) -> None:
    hub.add(Fault(latency_s=30))
    words = ("pairs", "check", HF_TARGET, HF_DRAFT)
    result = interrupted(*words, environ=online, is_time=lambda: hub.requests)
    assert_one_clear_line(result)
    assert (result.code, result.out) == (130, "")


# ---------------------------------------------------------------------------------------- list


def test_a_head_is_checked_in_place_of_a_draft_model() -> None:
    model = str(make_pairs.path("tiny-mtp"))
    inside, none, twice = (
        json.loads(pairs("check", *arguments, "--json").out)
        for arguments in ([model, "--mtp", model], [str(TARGET)], [model, model])
    )
    assert inside["ok"]
    assert inside["reasons"][-1]["code"] == "head-fits"
    assert 0 < inside["memory"][0]["weights"] < twice["memory"][0]["weights"]
    assert "Memory of the model and its MTP head" in pairs("check", model).out
    assert (none["ok"], none["reasons"][0]["code"]) == (False, "no-head")
    refused = pairs("check", model, "--mtp", str(TARGET))
    assert (refused.code, "is no MTP head" in refused.err) == (1, True)


def test_the_list_shows_reports_and_what_nobody_checked() -> None:
    rows = json.loads(pairs("list", "--json").out)
    assert len(rows) >= 12
    for row in rows:
        assert set(row) == {
            "title", "type", "target", "draft", "machine", "least_memory", "gain", "evidence",
            "vocabulary_checked",
        }  # fmt: skip
        assert row["evidence"]["url"].startswith("https://")
        assert (row["draft"] or row["target"])["is_here"] is False
    text = pairs("list").out
    assert text.count("not checked") >= sum(row["type"] == "draft" for row in rows)
    assert text.count("cannot use it yet") == sum(row["type"] == "dflash" for row in rows)
    assert "no second model" in text
    assert "hf:bartowski/Llama-3.2-1B-Instruct-GGUF:Llama-3.2-1B-Instruct-Q8_0.gguf" in text


def test_the_list_knows_what_is_here(paceline_home: Path) -> None:
    folder = paceline_home / "data" / "models" / "bartowski" / "Llama-3.2-1B-Instruct-GGUF"
    folder.mkdir(parents=True)
    (folder / "Llama-3.2-1B-Instruct-Q8_0.gguf").write_bytes(b"GGUF")
    rows = json.loads(pairs("list", "--json").out)
    here = {row["title"] for row in rows if row["draft"] and row["draft"]["is_here"]}
    assert here == {"Llama 3.1 8B Instruct", "Llama 3.3 70B Instruct"}
    assert "on this computer" in pairs("list").out


# ------------------------------------------------------------------------------ chat with hf:


def test_a_chat_downloads_what_it_needs(
    hub: HubServer, online: dict[str, str], paceline_home: Path
) -> None:
    arguments = ("--target", HF_TARGET, "--draft", HF_DRAFT, "--seed", "1")
    first = chat(*arguments, environ=online)
    assert first.code == 0, first.err
    assert "target.gguf" in first.err, "progress goes to stderr"
    n = len(hub.requests)
    again = chat(*arguments, environ=online)
    assert again.finished["text"] == first.finished["text"]
    assert again.err == ""
    assert len(hub.requests) == n
    here = chat("--seed", "1")
    assert here.finished["text"] == first.finished["text"]
    assert (paceline_home / "data/models/demo/paceline-target/target.gguf").is_file()


def test_a_stopped_download_continues_with_the_next_chat(
    hub: HubServer, online: dict[str, str]
) -> None:
    hub.add(Fault("*.gguf", host="cdn", bytes_per_s=300_000))
    arguments = ["chat", "--target", HF_TARGET, "--prompt", "Hi", "--max-tokens", "4"]
    stopped = interrupted(*arguments, environ=online, is_time=lambda: hub.n_bytes_sent() > 600_000)
    assert stopped.code == 130
    assert stopped.out == ""
    assert "what has arrived is kept" in stopped.err.splitlines()[-1]
    hub.clear()
    before = hub.n_bytes_sent()
    assert paceline_process(*arguments, environ=online).code == 0
    assert hub.n_bytes_sent() - before < TARGET.stat().st_size


def test_a_pair_the_wrong_way_round_is_turned() -> None:
    result = pairs("check", DRAFT, TARGET)
    assert (result.code, result.err) == (0, "")
    assert f"paceline pairs check {TARGET} {DRAFT}" in result.out
    remedy = checked(DRAFT, TARGET)["remedy"]
    assert (remedy["target"], remedy["draft"]) == (str(TARGET), str(DRAFT))


def test_an_address_of_a_file_is_its_reference(hub: HubServer, online: dict[str, str]) -> None:
    address = f"{hub.endpoint}/demo/paceline-draft/resolve/main/draft-Q8_0.gguf?download=true"
    assert checked(TARGET, address, environ=online)["ok"]
    elsewhere = pairs("check", TARGET, "https://example.com/x.gguf", environ=online)
    assert elsewhere.code == 2
    assert "names no model on the Hub" in elsewhere.err
