"""`--rpc`: texts on servers' devices, servers that cannot be used or are lost, and `doctor`."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.program import (
    TIMEOUT_S,
    assert_one_clear_line,
    chat,
    paceline,
    paceline_process,
    read_start,
    running,
)
from paceline.cli import loading
from paceline.engine.llama import devices
from paceline.engine.llama.backend import LlamaBackend
from rpc_servers import UNUSABLE, rpc_servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rpc_servers import Server

PROMISED_S = 15.0
ALL_LAYERS = ("--gpu-layers", "99", "--gpu-layers-draft", "99")
SEEDED = ("--seed", "1", "--strategy", "draft:n_max=4")


@pytest.fixture(scope="module")
def two() -> Iterator[list[Server]]:
    with rpc_servers(2) as servers:
        yield servers


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    with UNUSABLE["refuses"]() as endpoint:
        yield endpoint


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("n", [2, 1])
def test_the_text_is_that_of_this_machine(two: list[Server], n: int) -> None:
    """Paceline's kernels compute on both sides, where there are any."""
    names = [option for server in two[:n] for option in ("--rpc", server.endpoint)]
    here, there = chat(*SEEDED).finished, chat(*SEEDED, *ALL_LAYERS, *names).finished
    assert there["tokens"] == here["tokens"]
    assert there["stats"]["n_drafted"] > 0


def test_the_text_is_that_of_this_machine_with_kernels_of_llama() -> None:
    options = (*SEEDED, "--kernels", "stock")
    with rpc_servers(1, "--kernels", "stock") as (server,):
        there = chat(*options, *ALL_LAYERS, "--rpc", server.endpoint).finished
    assert there["tokens"] == chat(*options).finished["tokens"]


@pytest.mark.grid(short=1)
@pytest.mark.parametrize(
    ("target", "draft"), [("rpc1,RPC0", "RPC1"), ("RPC0", "CPU"), ("CPU", "RPC0")]
)
def test_target_and_draft_model_have_devices_of_their_own(
    two: list[Server], target: str, draft: str
) -> None:
    names = [option for server in two for option in ("--rpc", server.endpoint)]
    result = chat(*SEEDED, *names, "--device", target, "--device-draft", draft)
    assert result.finished["tokens"] == chat(*SEEDED).finished["tokens"]


def test_layers_that_are_left_open_are_decided_by_the_plan(
    two: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def noted(*arguments: object) -> None:
        asked.append(arguments)
        raise loading.UserError("cannot-load", "It is a fake.")

    monkeypatch.setattr("paceline.catalog.models.Models.plan", noted)
    assert chat("--rpc", two[0].endpoint, *SEEDED).code == 0
    ((_, _, _, given),) = asked
    assert [device.server for device in given if device.kind == "rpc"] == [two[0].endpoint]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--device-draft", "RPC1"), "There is no device “RPC1”. Choose among CPU, RPC0"),
        (
            ("--split-mode", "none", "--main-gpu", "3"),
            "There is no device number 3: there are RPC0.",
        ),
        (("--split-mode", "row"), "RPC0 cannot share the rows of a weight"),
    ],
)
def test_what_a_device_cannot_is_refused_with_those_there_are(
    two: list[Server], options: tuple[str, ...], words: str
) -> None:
    if "CPU" not in two[0].devices:
        pytest.skip("this machine's servers lend other devices")
    result = chat("--rpc", two[0].endpoint, *options)
    assert (result.code, result.objects[-1]["event"]) == (2, "failed")
    assert words in result.err
    assert "download" not in result.err
    assert_one_clear_line(result)


# ---------------------------------------------------------------------------------------- unusable


@pytest.mark.grid(short=4)
@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_server_that_cannot_be_used_is_named(kind: str) -> None:
    with UNUSABLE[kind]() as endpoint:
        began = time.monotonic()
        result = chat("--rpc", endpoint)
        assert time.monotonic() - began < PROMISED_S
    assert result.code == 1
    (failed,) = result.objects
    assert (failed["event"], failed["code"]) == ("failed", "rpc-server")
    assert endpoint in failed["message"]
    assert failed["hint"]
    assert "nstall it again" not in result.err
    assert_one_clear_line(result)


@pytest.mark.parametrize(
    "command",
    [
        ("bench", "--json", "-"),
        ("calibrate",),
        ("serve", "--port", "0"),
        ("pairs", "check", "{target}", "{draft}"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_names_it(
    command: tuple[str, ...], refusing: str, demo_pair: tuple[Path, Path]
) -> None:
    target, draft = demo_pair
    words = [word.format(target=target, draft=draft) for word in command]
    run = paceline_process if command[0] == "serve" else paceline
    result = run(*words, "--rpc", refusing)
    assert_one_clear_line(result, f"No RPC server listens at {refusing}.", code=1)


def test_one_of_two_is_named(two: list[Server], refusing: str) -> None:
    result = chat("--rpc", two[0].endpoint, "--rpc", refusing, *ALL_LAYERS)  # no plan is made
    assert result.code == 1
    assert refusing in result.objects[-1]["message"]
    assert two[0].endpoint not in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rpc", "a:1", "--rpc", "a:1"), "a:1 is named twice"),
        (("--rpc", "box", "--rpc", "box:50052"), "box:50052 is named twice"),
        (("--rpc", "http://box:1"), "no address of an RPC server"),
        (("--rpc", ""), "the text is empty"),
        (("--rpc", "a:1", "--host", "inline"), "llama.cpp ends the whole program"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], words: str) -> None:
    result = chat(*options)
    assert_one_clear_line(result, words, code=2)


def test_a_build_without_rpc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "RPC", b"no such backend")
    (problem,) = LlamaBackend().describe(("192.0.2.1:50052",)).lost
    assert problem.message == "This build of llama.cpp has no RPC."
    assert problem.server == "192.0.2.1:50052"


# ------------------------------------------------------------------------------------------- lost


@pytest.mark.parametrize("as_json", [False, True])
def test_a_server_that_is_lost_costs_the_rest_of_the_reply(*, as_json: bool) -> None:
    options = ["--prompt", "Hi", "--ignore-eog", "--max-tokens", "1900", "--seed", "1"]
    with rpc_servers(1) as (server,):
        options += [*ALL_LAYERS, "--rpc", server.endpoint, *["--json"] * as_json]
        with running("chat", *options) as process:
            begun = read_start(process, 40)
            server.process.kill()
            rest, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    (line,) = err.splitlines()
    assert server.endpoint in line
    written = begun + rest
    if not as_json:
        assert written.endswith("\n")
        return
    *steps, failed = map(json.loads, written.splitlines())
    assert steps
    assert {step["event"] for step in steps} == {"step"}
    assert failed["event"] == "failed"
    assert server.endpoint in failed["message"]


# ----------------------------------------------------------------------------------------- measured


def test_bench_measures_with_it(two: list[Server], tmp_path: Path) -> None:
    rpc = ("--rpc", two[0].endpoint, "--threads", "1")
    workload = tmp_path / "workload.jsonl"
    workload.write_text('{"name": "x", "prompt_tokens": [5, 6], "max_tokens": 4}\n')
    options = ("--strategies", "suffix", "--repeat", "1", "--workload", workload, "--json", "-")
    report = json.loads(paceline("bench", *options, *rpc).out)
    assert report["machine"]["gpus"] == ["RPC0"], "no address leaves this computer in a report"


def test_pairs_check_counts_its_memory(two: list[Server], demo_pair: tuple[Path, Path]) -> None:
    result = paceline("pairs", "check", *demo_pair, "--json", "--rpc", two[0].endpoint)
    memory = {each["device"]: each for each in json.loads(result.out)["memory"]}
    assert set(memory) == {"CPU", "RPC0"}
    assert memory["RPC0"]["weights"] > 0


# ------------------------------------------------------------------------------------------ doctor


def test_doctor_lists_devices_and_names_what_is_lost(two: list[Server]) -> None:
    with ExitStack() as held:
        lost = [held.enter_context(make()) for make in UNUSABLE.values()]
        endpoints = [two[0].endpoint, *lost, two[1].endpoint]
        options = [option for endpoint in endpoints for option in ("--rpc", endpoint)]
        result, text = paceline("doctor", "--json", *options), paceline("doctor", *options).out
    assert result.code == 0
    report = json.loads(result.out)
    remote = [device for device in report["devices"] if device["kind"] == "rpc"]
    n = len(remote)
    assert [device["name"] for device in remote] == [f"RPC{i}" for i in range(n)]
    assert {device["server"] for device in remote} == {server.endpoint for server in two}
    problems = {each["server"]: each["problem"] for each in report["servers"]}
    assert list(problems) == endpoints
    assert {server for server, problem in problems.items() if problem} == set(lost)
    told = [each for each in report["problems"] if each["code"] == "rpc-server"]
    assert [each["text"] for each in told] == [problems[server] for server in lost]
    assert not {"library-not-loaded", "engine-process"} & {p["code"] for p in report["problems"]}
    for each in told:
        assert each["remedy"]
        assert "nstall it again" not in each["remedy"]
    for server in two:
        assert f": {server.endpoint} (RPC server, " in text
    if two[0].devices == ["CPU"]:
        assert "free, shares the memory of CPU)" in text


@pytest.mark.usefixtures("asked_once")
def test_without_servers_doctor_asks_none() -> None:
    assert json.loads(paceline("doctor", "--json").out)["servers"] == []
