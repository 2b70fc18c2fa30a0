"""The comparison with llama-server, as far as it needs neither a server nor a model."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import versus_server
from paceline.errors import UserError
from paceline.messages import LoadPair, ModelParams
from paceline.params import DraftModel
from versus import build, figures, server
from versus.figures import Measurement, Pair
from versus.server import Server
from versus.strategies import FLAGS, NoCounterpartError, match, server_flags

TARGET, DRAFT = ModelParams("target.gguf"), ModelParams("draft.gguf")


def measured(
    rate: float, tokens: tuple[int, ...] = (1, 2, 3), drafted: int = 0, accepted: int = 0
) -> Measurement:
    decode_s = (len(tokens) - 1) / rate
    return Measurement(tokens, decode_s, decode_s + 1, decode_s + 2, rate, drafted, accepted)


# --------------------------------------------------------------------------------- strategies


def test_flags_name_every_parameter() -> None:
    assert server_flags("off") == ("--spec-type", "none")
    assert server_flags("draft:n_max=4:p_min=0") == (
        *("--spec-type", "draft-simple", "--spec-draft-n-max", "4"),
        *("--spec-draft-n-min", "0", "--spec-draft-p-min", "0"),
    )
    assert server_flags("ngram-mod:n_match=8")[2:4] == ("--spec-ngram-mod-n-match", "8")
    for drafter, keys in FLAGS.items():
        assert len(server_flags(drafter)) == 2 + 2 * len(keys)


def test_chains_take_prefixed_parameters() -> None:
    flags = server_flags("ngram-simple+draft:draft.n_max=4")
    assert flags[:2] == ("--spec-type", "ngram-simple,draft-simple")
    assert flags[flags.index("--spec-draft-n-max") + 1] == "4"
    assert flags[flags.index("--spec-ngram-simple-size-n") + 1] == "12"


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ("suffix", "'suffix'"),
        ("suffix+draft", "'suffix'"),
        ("draft:temperature=1", "temperature=1"),
        ("ngram-cache:n_max=4", "'n_max'"),
        ("off+draft", "“off”"),
        ("draft:n_max", "has no value"),
        ("", "no strategy"),
    ],
)
def test_what_the_server_cannot_do_is_refused(strategy: str, told: str) -> None:
    with pytest.raises((NoCounterpartError, UserError), match=told):
        server_flags(strategy)


def test_a_counterpart_may_be_named() -> None:
    with pytest.raises(NoCounterpartError):
        match("auto")
    wanted = match("auto/draft:n_max=4")
    assert wanted.name == "auto/draft:n_max=4"
    assert wanted.ours == "auto"
    assert wanted.server_flags == server_flags("draft:n_max=4")
    assert wanted.needs_draft
    assert [match(each).needs_draft for each in ("off", "ngram-mod", "draft")] == [0, 0, 1]


# ------------------------------------------------------------------------------------ figures


def test_ratios_say_how_much_faster_ours_is() -> None:
    pair = Pair("p", ours=measured(4.0), server=measured(2.0))
    values = {name: value(pair) for name, value in figures.RATIOS.items()}
    assert values == pytest.approx({"decode": 2, "reported": 2, "total": 2 / 1.5, "wall": 3 / 2.5})


def test_the_first_token_costs_no_decoding() -> None:
    assert measured(10.0, tokens=tuple(range(11))).tokens_per_s == pytest.approx(10.0)


def test_the_summary_counts_what_differs() -> None:
    pairs = [
        Pair("a", measured(3.0, drafted=4, accepted=2), measured(2.0, drafted=4, accepted=2)),
        Pair("a", measured(3.0, drafted=4, accepted=2), measured(2.0, drafted=4, accepted=1)),
        Pair("b", measured(3.0, tokens=(1, 5, 3), drafted=4), measured(2.0)),
    ]
    summary = figures.summarise(pairs)
    assert summary["n_pairs"] == 3
    assert summary["mismatches"] == 1
    assert summary["draft_count_differences"] == 1
    assert summary["ratio"]["decode"]["median"] == pytest.approx(1.5)
    assert summary["ours"]["acceptance_rate"] == pytest.approx(4 / 12)
    json.dumps(summary)
    text = figures.table([{"model": "tiny", "strategy": "off", "summary": summary}])
    head, row = text.splitlines()
    assert row.index("1.500 [") == head.index("decode")
    assert "1/3" in row


# ------------------------------------------------------------------------------------- server


def test_the_server_is_told_what_ours_is_told() -> None:
    target = replace(
        TARGET, n_ctx=512, n_threads=3, n_threads_batch=3, n_gpu_layers=0, flash_attn="off"
    )
    command = server.arguments(LoadPair(target, DraftModel(DRAFT)), ("--spec-type", "none"), 4711)

    def value(flag: str) -> str:
        return command[command.index(flag) + 1]

    for flag in ("--threads", "--threads-batch", "--spec-draft-threads"):
        assert value(flag) == "3"
    assert (value("--ctx-size"), value("--flash-attn")) == ("512", "off")
    assert (value("--gpu-layers"), value("--spec-draft-ngl")) == ("0", "0")
    assert (value("--cache-type-k"), value("--cache-type-v")) == ("f16", "f16")
    assert (value("--host"), value("--port")) == ("127.0.0.1", "4711")
    assert value("--spec-draft-model") == "draft.gguf"
    assert command[-2:] == ["--spec-type", "none"]
    alone = server.arguments(LoadPair(replace(TARGET, n_gpu_layers=-1), None), (), 4711)
    assert "--spec-draft-model" not in alone
    assert alone[alone.index("--gpu-layers") + 1] == "auto"


def test_an_answer_is_read() -> None:
    timings: dict[str, Any] = {"prompt_ms": 500.0, "predicted_ms": 1000.0}
    answer = {"tokens": [7, 8, 9], "timings": timings | {"predicted_per_second": 2.0}}
    plain = server.read_answer(answer, 1.75)
    assert plain == Measurement((7, 8, 9), 1.0, 1.5, 1.75, 2.0, 0, 0)
    assert plain.tokens_per_s == pytest.approx(2.0)
    timings |= {"predicted_per_second": 2.0, "draft_n": 8, "draft_n_accepted": 3}
    drafted = server.read_answer({"tokens": [7, 8, 9], "timings": timings}, 1.75)
    assert (drafted.drafted, drafted.accepted) == (8, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
def test_a_server_that_does_not_start_is_reported_and_gone(tmp_path: Path) -> None:
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\necho no such model >&2\nexit 3\n")
    program.chmod(0o755)
    with (
        pytest.raises(ConnectionError, match="no such model"),
        Server(program, LoadPair(TARGET, None), ()),
    ):
        pytest.fail("it did not start")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
def test_a_server_ends_with_whatever_fails(tmp_path: Path) -> None:
    program = tmp_path / "llama-server"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    running = Server(program, LoadPair(TARGET, None), ())

    def use() -> None:
        with running:
            assert running._process is not None
            processes.append(running._process)
            assert processes[0].poll() is None
            assert running.tokenize([{"role": "user", "content": "Hi"}]) == [1, 2]
            raise KeyboardInterrupt

    processes: list[subprocess.Popen[bytes]] = []
    with pytest.raises(KeyboardInterrupt):
        use()
    assert processes[0].poll() is not None


STAND_IN = """#!{python}
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(dict(prompt="Hi", tokens=[1, 2])).encode())

    do_POST = do_GET

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def test_building_uses_the_flags_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_compiler", lambda: ("g++ 12.2.0", (12, 2, 0)))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    command = build.configure_command(Path("sources"), Path("out"), "-DGGML_BLAS=ON")
    flags = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
    assert f"-DCMAKE_CXX_FLAGS={flags}" in command
    assert f"-DCMAKE_C_FLAGS={flags}" in command
    assert command[-1] == "-DGGML_BLAS=ON"
    monkeypatch.setattr(build, "find_compiler", lambda: None)
    assert not any("amx" in each for each in build.configure_command(Path("s"), Path("o")))


# ------------------------------------------------------------------------------------- script


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    options = versus_server.parse_arguments(["--server", __file__])
    assert [each.ours for each in options.strategies] == ["off", "draft:n_max=4:p_min=0"]
    assert (options.threads, options.pairs) == (1, 9)

    def refused(*arguments: str) -> str:
        with pytest.raises(SystemExit) as exit_:
            versus_server.parse_arguments(arguments)
        assert exit_.value.code == 2
        return capsys.readouterr().err

    assert "--build DIR" in refused()
    assert "there is no file x" in refused("--server", "x")
    assert "fewer than 9" in refused("--server", __file__, "--pairs", "8")
    assert "no counterpart of 'suffix'" in refused(
        "--server", __file__, "--strategies", "off,suffix"
    )


class Side:
    """Takes the place of a server or of the engine and notes when it is asked."""

    calls: list[tuple[str, int]]

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, prompt: list[int], n_tokens: int) -> Measurement:
        self.calls.append((self.name, n_tokens))
        return measured(1.0)


def test_sides_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Side, "calls", [], raising=False)
    monkeypatch.setattr(versus_server, "Ours", lambda *_: Side("ours"))
    monkeypatch.setattr(versus_server, "Server", lambda *_: Side("server"))
    monkeypatch.setattr(versus_server, "read_prompts", lambda *_: [("p", [1] * 20)])
    options = versus_server.parse_arguments(["--server", __file__, "--tokens", "50"])
    pairs = versus_server.compare(match("off"), LoadPair(TARGET, DraftModel(DRAFT)), options)
    assert len(pairs) == 9
    assert Side.calls[:2] == [("ours", 50), ("server", 50)]
    turns = Side.calls[2:]
    measured_names = [name for name, n in turns if n == 50]
    assert measured_names[:5] == ["ours", "server", "server", "ours", "ours"]
    roused = [turns[i] for i in range(0, len(turns), 2)]
    assert roused == [(name, versus_server.ROUSE_TOKENS) for name in measured_names]
