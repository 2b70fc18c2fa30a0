"""`paceline doctor --last`: figures and advice about the last reply that may be remembered."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from cli.program import chat, paceline_process
from paceline.chat.last_run import FILE_NAME, LastRun, load_last_run, save_last_run
from paceline.cli.findings import last_reply
from paceline.messages import DrafterStats, TurnStats

if TYPE_CHECKING:
    from pathlib import Path

CHAIN = "prompt-lookup+draft:draft.n_max=4:draft.p_min=0:max_ngram=1"
LOOKUP = DrafterStats("prompt-lookup", 1, 90, 20, 0.001, 0.002, 0.0, 20, 15, 160, 24, (15, 9))
DRAFT = DrafterStats("draft", 1, 70, 65, 0.5, 2.0, 0.25, 70, 66, 280, 252, (66, 63, 62, 61))
STATS = TurnStats(
    True, 50, 0, 367, 0.5, 10.0, 10.5, 36.7, 20.0, 90, 440, 276, 8, 276 / 432, 4.07, 0.3,
    (LOOKUP, DRAFT), plain_low=18.0, plain_high=22.5,
)  # fmt: skip


def report_of(home: Path) -> dict[str, Any]:
    result = paceline_process("doctor", "--last", "--json")
    assert result.code == 0, result.err
    assert (home / "data" / FILE_NAME).is_file()
    data: dict[str, Any] = json.loads(result.out)
    return data


def test_it_shows_the_figures_of_the_last_reply(paceline_home: Path, target_path: Path) -> None:
    arguments = ("--strategy", CHAIN, "--max-tokens", "120", "--seed", "3", "--ignore-eog")
    finished = chat(*arguments, "--remember").finished
    report = report_of(paceline_home)
    assert set(report) == {"when", "strategy", "target", "draft", "stats", "speedup", "advice"}
    speedup, stats = report["speedup"], report["stats"]
    assert speedup["ratio"] == stats["tokens_per_s"] / stats["plain_tokens_per_s"]
    assert speedup["low"] < speedup["ratio"] < speedup["high"]
    assert report["strategy"] == CHAIN
    assert report["target"] == target_path.name
    assert report["stats"] == finished["stats"]
    assert set(report["stats"]["by_drafter"]) == {"prompt-lookup", "draft"}
    assert datetime.fromisoformat(report["when"]).tzinfo is not None


def test_only_what_may_be_remembered_is_kept(paceline_home: Path) -> None:
    remembered = chat("--strategy", "prompt-lookup", "--remember").finished
    chat("--strategy", "draft")
    assert report_of(paceline_home)["stats"] == remembered["stats"]


def test_nothing_of_the_words_is_kept(paceline_home: Path) -> None:
    result = chat("--remember", prompt="My secret is Rumpelstiltskin.")
    kept = (paceline_home / "data" / FILE_NAME).read_text()
    assert "Rumpelstiltskin" not in kept
    assert result.finished["text"] not in kept
    assert str(result.finished["seed"]) not in kept


def test_a_folder_that_cannot_be_written_costs_no_reply(paceline_home: Path) -> None:
    paceline_home.mkdir()
    (paceline_home / "data").write_text("")
    result = chat("--remember", "--strategy", "off")
    assert result.code == 0, result.err
    assert result.finished["tokens"]


def test_the_report_for_people(tmp_path: Path) -> None:
    save_last_run(tmp_path, LastRun("prompt-lookup+draft", "t.gguf", "d.gguf", STATS, 1.75e9))
    lines = last_reply.as_text(last_reply.collect(tmp_path)).splitlines()
    assert re.fullmatch(r"last reply: 2025-06-1\dT[\d:]+[+-][\d:]+", lines[0])
    assert lines[1:23] == [
        "target: t.gguf",
        "draft model: d.gguf",
        "strategy: prompt-lookup+draft",
        "",
        "speed: 36.7 tokens/s, 1.84 × (1.63 to 2.04) the plain 20.0",
        "tokens: 367 in 90 steps, 4.07 per step",
        "acceptance: 64% (276 of 432 drafted tokens)",
        "",
        "prompt-lookup: 15% accepted",
        "  calls: begin 1, draft 90, accept 20",
        "  drafts: 20, with accepted tokens 15",
        "  tokens: 160, accepted 24",
        "  time: begin 1.0 ms, draft 2.0 ms, accept 0.0 ms",
        "  accepted by place: 75% 45%",
        "",
        "draft: 90% accepted",
        "  calls: begin 1, draft 70, accept 65",
        "  drafts: 70, with accepted tokens 66",
        "  tokens: 280, accepted 252",
        "  time: begin 500.0 ms, draft 2000.0 ms, accept 250.0 ms",
        "  accepted by place: 94% 90% 89% 87%",
        "",
    ]
    advice = lines[23:]
    assert advice
    assert all(line.startswith("advice: Try ") for line in advice[::2])
    assert all(line.startswith("  reason: ") for line in advice[1::2])


def test_a_reply_without_drafts_for_people(tmp_path: Path) -> None:
    plain = TurnStats(None, 5, 0, 1, 0.1, 0.0, 0.1, 9.0, None, 0, 0, 0, 0, None, None, 0.0)
    save_last_run(tmp_path, LastRun("off", "t.gguf", None, plain, 0.0))
    text = last_reply.as_text(last_reply.collect(tmp_path))
    assert "draft model: none" in text
    assert "speed: 9.0 tokens/s, nothing drafted" in text
    assert "acceptance: none (0 of 0 drafted tokens)" in text
    assert text.endswith("No advice: nothing stands out.\n")


@pytest.mark.parametrize("names", [("plain_tokens_per_s",), ("plain_low", "plain_high")])
def test_a_reply_whose_plain_speed_is_not_known(tmp_path: Path, names: tuple[str, ...]) -> None:
    stats = structs.replace(STATS, **dict.fromkeys(names))
    save_last_run(tmp_path, LastRun("draft", "t.gguf", "d.gguf", stats, 1.75e9))
    report = last_reply.collect(tmp_path)
    assert report["speedup"] is None
    assert "speed: 36.7 tokens/s, no plain speed known" in last_reply.as_text(report)


def test_many_places_are_cut(tmp_path: Path) -> None:
    many = DrafterStats("draft", 1, 9, 9, 0.0, 0.0, 0.0, 9, 9, 270, 270, (9,) * 30)
    stats = TurnStats(
        None, 5, 0, 99, 0.1, 1.0, 1.1, 9.0, None, 9, 270, 270, 0, 1.0, 9.0, 0.0, (many,)
    )
    save_last_run(tmp_path, LastRun("draft", "t.gguf", None, stats, 1.0))
    line = last_reply.as_text(last_reply.collect(tmp_path)).split("by place: ")[1].split("\n")[0]
    assert line == "100% " * 16 + "…"
    assert load_last_run(tmp_path) is not None


def test_a_drafter_that_found_nothing_is_reported_as_such(tmp_path: Path) -> None:
    idle = DrafterStats("suffix", 1, 90, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0, ())
    stats = structs.replace(STATS, by_drafter=(idle,))
    save_last_run(tmp_path, LastRun("suffix", "t.gguf", None, stats, 1.75e9))
    assert "suffix: nothing drafted" in last_reply.as_text(last_reply.collect(tmp_path))
