"""Passports: what goes out comes back, and what is damaged or foreign is refused in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bench.scripted import Engine, finished, model, stats
from bench.test_summary import run
from paceline.bench.plan import Plan, make_plan
from paceline.bench.report import (
    FORMAT,
    MAX_BYTES,
    MAX_RUNS,
    VERSION,
    is_passport,
    parse_passport,
    read_passport,
    to_json,
)
from paceline.bench.runner import BenchRun
from paceline.bench.runs import (
    Conditions,
    Drafted,
    Failure,
    LoadAverage,
    Machine,
    Report,
    summarise,
)
from paceline.bench.workload import Workload
from paceline.chat.pair import Pair
from paceline.cli.bench_text import passport_text
from paceline.errors import UserError
from paceline.messages import KernelUse, ModelParams, SamplingParams, WidthCost
from paceline.run_record import ModelRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLUG_IN = "plugin.elsewhere:n_max=3"
MADE = Conditions(
    Machine(
        "A processor", ("A card",), 4, 8, 3, 4, 16 << 30, "Linux 6 x86_64", "3.13", "0.2.0",
        "0.3.36", "AVX2 = 1", LoadAverage((0.5, 0.4, 0.3)),
    ),
    ModelRecord(
        "T", "target.gguf", "llama", n_params=10**9, n_ctx=4096, fingerprint="f1", sha256="a1"
    ),
    ModelRecord("D", "draft.gguf"),
    "2026-11-23 08:15 UTC",
    Pair(ModelParams("target.gguf", kv_type_k="q8_0"), ModelParams("draft.gguf", n_threads=2)),
    (KernelUse("q8_0", "own"), KernelUse("f32", "stock")),
    (WidthCost(1, 0.01, 5), WidthCost(4, 0.015, 5)),
    (WidthCost(1, 0.002, 5),),
)  # fmt: skip


def made() -> Report:
    strategies = ("off", "auto", PLUG_IN)
    seconds = {"off": 1.0, "auto": 0.5, PLUG_IN: 0.8}
    runs = [
        replace(
            run("free", strategy, n, n * seconds[strategy], drafted=(8, 4), plain_s=1.0),
            by_drafter=(Drafted("suffix", 8, 4),) if strategy != "off" else (),
        )
        for strategy in strategies
        for n in (1, 2)
    ]
    free = Workload("free", prompt="x", sampling=SamplingParams(temperature=0.8))
    return summarise(
        Plan((free,), strategies, 2),
        runs,
        MADE,
        failures=[Failure("free", "draft", "broken", "It broke.", "Mend it.")],
        notes=["It rained."],
        wall_s=9.5,
        is_complete=True,
    )


def parse(data: object) -> Report:
    return parse_passport(json.dumps(data).encode(), "p.json")


def test_what_goes_out_comes_back() -> None:
    before = made()
    data = to_json(before)
    after = parse(data)
    assert after.conditions == before.conditions
    assert after.runs == before.runs
    assert to_json(after) == data
    assert (data["format"], data["version"]) == (FORMAT, VERSION)


def test_it_tells_all_that_was_asked_for() -> None:
    text = passport_text(parse(to_json(made())))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "SHA-256 a1" in lines
    assert "GPU A card" in lines
    assert "4,096 tokens of context, 0 GPU layers" in lines
    assert "Settings kv_type_k q8_0, draft model: n_threads 2" in lines
    assert "Kernels Paceline's for q8_0" in lines
    assert "free 0.8 auto 2.00 [2.00, 2.00] 50% suffix 8 of 16" in lines
    assert "4 15.00 1.50 3.75 58% 34%" in lines, "T(4), with what drafting costs"
    assert "on 2026-11-23 08:15 UTC" in text
    assert "It rained." in text


def test_no_folder_and_no_word_of_a_reply_is_in_it() -> None:
    target = model("/home/somebody/m.gguf")
    settings = Pair(ModelParams("/home/somebody/m.gguf"), lookup_cache="/home/somebody/c.bin")
    bench = BenchRun(
        make_plan([Workload("a", prompt="x")], ("off",), 1), target, None, settings=settings
    )
    Engine(lambda command: finished(command, stats(1.0))).drive(bench)
    text = json.dumps(to_json(bench.result()))
    assert "somebody" not in text
    assert '"c.bin"' in text
    (one,) = bench.result().runs
    assert one.n_tokens == 10
    assert len(one.text) == 16


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (VERSION + 1, "was written by a newer Paceline (version 2 of passports; known: 1)"),
        (10**15, "newer Paceline"),
        (0, "its version is no whole number from 1 on"),
        (10**400, "its version is no whole number"),
        (True, "its version is no whole number"),
        ("1", "its version is no whole number"),
        (None, "its version is no whole number"),
    ],
)
def test_unknown_versions_are_refused_in_words(version: object, words: str) -> None:
    with pytest.raises(UserError, match=r".") as raised:
        parse({**to_json(made()), "version": version})
    assert words in raised.value.message
    assert raised.value.hint


def a_run(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["workloads"][0]["results"][1]["runs"][0]
    return found


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no machine": lambda d: d.pop("machine"),
    "machine is a list": lambda d: d.update(machine=[]),
    "cores are words": lambda d: d["machine"].update(cores="four"),
    "no strategies": lambda d: d.pop("strategies"),
    "a strategy twice": lambda d: d["strategies"].append("auto"),
    "plain is missing": lambda d: d.update(strategies=["auto"]),
    "a workload twice": lambda d: d["workloads"].append(d["workloads"][0]),
    "a workload is a text": lambda d: d.update(workloads=["a"]),
    "a name is a list": lambda d: d["workloads"][0].update(name=[]),
    "kernels are a text": lambda d: d.update(kernels="own"),
    "kernels of a stranger": lambda d: d.update(kernels={"f32": "mine"}),
    "a step in no time": lambda d: d["costs"][0].update(seconds=0.0),
    "a step without end": lambda d: d["costs"][1].update(width=10**12),
    "strategies without end": lambda d: d["strategies"].extend(map(str, range(200))),
    "failures without end": lambda d: d.update(failures=d["failures"] * 2000),
    "workloads without end": lambda d: d["workloads"].extend(
        {"name": str(n), "temperature": 0, "results": []} for n in range(MAX_RUNS)
    ),
    "runs without end": lambda d: d.update(repeat=10**12),
    "no repeat": lambda d: d.update(repeat=0),
    "a run without a time": lambda d: a_run(d).pop("decode_s"),
    "a run in no time": lambda d: a_run(d).update(decode_s=0),
    "a run before its time": lambda d: a_run(d).update(prefill_s=-1.0),
    "more accepted than drafted": lambda d: a_run(d).update(n_accepted=9),
    "a drafter of whom more was accepted": lambda d: a_run(d).update(
        by_drafter=[{"drafter": "suffix", "n_drafted": 6, "n_accepted": 1800}]
    ),
    "less than no time": lambda d: d.update(wall_s=-9.0),
    "a run without tokens": lambda d: a_run(d).update(n_tokens=0),
    "a run too many": lambda d: d["workloads"][0]["results"][0].update(
        runs=[a_run(d)] * (MAX_RUNS + 1)
    ),
    "a field too many": lambda d: d["failures"].append({"why": 1}),
    "a number beyond all": lambda d: d.update(wall_s=1e300),
    "a long text": lambda d: d["machine"].update(cpu="x" * 5000),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_told_with_what_to_do(damage: Callable[[dict[str, Any]], object]) -> None:
    data = to_json(made())
    damage(data)
    with pytest.raises(UserError, match="is damaged") as raised:
        parse(data)
    assert raised.value.code == "bad-passport"
    assert "p.json" in raised.value.message
    assert "damaged: ." not in raised.value.message, "a place begins with a name"
    assert raised.value.hint == "Ask for the file again where it comes from."


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        (b'{"format": "paceline-passport", "version": 1', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"format": "paceline-passport", "version": NaN}', "no JSON"),
        (b"9" * 5000, "no JSON"),
        (b"[]", "is no passport"),
        (b'{"format": "paceline-chat"}', "is no passport"),
        (b" " * (MAX_BYTES + 1), "is larger than 8 MB"),
    ],
)
def test_what_is_no_passport_is_told(raw: bytes, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_passport(raw, "p.json")


def test_control_characters_reach_no_terminal() -> None:
    data = to_json(made())
    data["machine"]["cpu"] = "A\x1b[31m\nB"
    data["notes"] = ["\x1b]0;x\x07\ud800"]
    text = passport_text(parse(data))
    assert "\x1b" not in text
    assert "A [31m B, 3 threads" in text
    assert text.encode()


def test_what_is_derived_is_not_believed() -> None:
    data = to_json(made())
    for result in data["workloads"][0]["results"]:
        result["ratio_to_off"] = {"median": 99.0, "low": 98.0, "high": 100.0}
    data["geomean"] = {"auto": 99.0}
    assert parse(data).geomean["auto"] == pytest.approx(2.0)


def test_what_was_never_measured_is_left_out() -> None:
    data = to_json(made())
    data["costs"].append({"width": 8, "seconds": 0.02, "n_samples": 0})
    data["draft_costs"].append({"width": 2, "seconds": 0.02, "n_samples": -1})
    assert parse(data).conditions == MADE


def test_a_file_tells_whether_it_is_one(tmp_path: Path) -> None:
    raw = json.dumps(to_json(made())).encode()
    assert is_passport(raw)
    chat = json.dumps({"text": f'Is "{FORMAT}" a passport?'}).encode()
    assert not is_passport(chat)
    with pytest.raises(UserError, match="cannot be read"):
        read_passport(tmp_path / "absent.json")
    with pytest.raises(UserError, match="cannot be read"):
        read_passport(tmp_path)
