"""The trials of devices: what counts as a failure, and how a difference is reported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import devices
from device_trials import gpu, rpc
from device_trials.matrix import Matrix, Place
from device_trials.outcomes import Case, Outcome, Rows, first_difference, reply, told
from device_trials.software_gpu import NoSoftwareGpuError, SoftwareGpu, mirror
from device_trials.vulkan import SHORT, random_cases, single_cases
from paceline.cli.main import parse

FINISHED = 'print(\'{"event": "finished", "tokens": [1, 2, 3]}\')'
PROGRAM = """
import os, sys
seen = os.environ.get("GGML_VK_VISIBLE_DEVICES", "")
if seen and "7" in sys.argv:
    os.abort()
if seen and "9" in sys.argv:
    sys.exit("paceline: There is no room for 9 layers.")
print('{"event": "step"}')
print('{"event": "finished", "tokens": [1, %s, 3]}' % (5 if "4" in sys.argv and seen else 2))
"""


def program(folder: Path, code: str) -> dict[str, str]:
    """Variables by which this stands in the program's place."""
    (folder / "paceline").mkdir(exist_ok=True)
    (folder / "paceline" / "__init__.py").write_text("")
    (folder / "paceline" / "__main__.py").write_text(code)
    return {**os.environ, "PYTHONPATH": str(folder)}


def a_model(name: str) -> Path:
    return Path("/models", f"{name}.gguf")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (FINISHED, Outcome((1, 2, 3))),
        (
            "import sys; sys.exit('paceline: no such device')",
            Outcome((), "paceline: no such device"),
        ),
        ("import os; os.abort()", Outcome((), "exit code -6: without a word", has_failed=True)),
        ("raise SystemExit(1)", Outcome((), "exit code 1: without a word", has_failed=True)),
        (
            "import sys; sys.exit('paceline: llama.cpp crashed (SIGABRT).')",
            Outcome((), "exit code 1: paceline: llama.cpp crashed (SIGABRT).", has_failed=True),
        ),
        (
            f"{FINISHED}; import sys; print('bad', file=sys.stderr); sys.exit(3)",
            Outcome((), "exit code 3: bad", has_failed=True),
        ),
    ],
    ids=["reply", "refusal", "abort", "silence", "engine dies", "end with another code"],
)
def test_a_start_is_a_reply_a_refusal_or_a_failure(
    tmp_path: Path, code: str, expected: Outcome
) -> None:
    assert reply((), program(tmp_path, code), 60.0) == expected


def test_a_start_without_an_end_is_a_failure(tmp_path: Path) -> None:
    found = reply((), program(tmp_path, "while True: pass"), 0.0)
    assert found == Outcome((), "no end after 0 s", has_failed=True)


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [((1, 2), (1, 2), None), ((1, 2), (1, 3), 1), ((1, 2), (1, 2, 3), 2), ((), (1,), 0)],
)
def test_the_first_difference(
    one: tuple[int, ...], other: tuple[int, ...], where: int | None
) -> None:
    assert first_difference(one, other) == where
    assert first_difference(other, one) == where


def test_what_differs_is_reported() -> None:
    logits = np.array([[0.0, 1.0], [2.0, 1.0]], np.float32)
    usual = Rows(logits, (1.0,))
    other = Rows(logits + np.array([[0.0, 0.25], [-2.0, 0.0]], np.float32), (1.0,))
    broken = Rows(np.full_like(logits, np.nan), (1.0,))
    same = Outcome((1, 2))
    assert told(same, same) == "equal"
    assert told(Outcome((1, 3)), same) == "differs at token 1"
    words = "equal; logits by up to 2, 1 of 2 with the same likeliest token"
    assert told(same, same, other, usual) == words
    assert told(same, same, usual, usual) == "equal; logits equal"
    assert "NaN" in told(same, same, broken, usual)
    assert told(same, same, "no rows (exit code 1): x", usual).endswith("no rows (exit code 1): x")
    assert told(Outcome(words="no room"), same) == "refused: no room"
    assert told(Outcome(words="a"), Outcome(words="a")) == "refused: a; so does the processor"
    assert told(same, Outcome(words="a")) == "replied, which the processor did not: a"
    assert told(Outcome(words="x", has_failed=True), same) == "FAILED: x"


def test_every_case_is_what_the_program_takes() -> None:
    cases = [*single_cases(a_model), *random_cases(a_model, 200)]
    for case in cases:
        parse(["chat", "--prompt", "x", *case.what, *case.where])
    for case in rpc.cases(a_model):
        parse(["chat", "--prompt", "x", *case.what, *case.where])
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    assert set(SHORT) <= set(names)
    assert {case.n_devices for case in cases} == {1, 2}


def test_a_matrix_says_a_line_for_each_case_and_keeps_who_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in program(tmp_path, PROGRAM).items():
        monkeypatch.setenv(name, value)
    lines: list[str] = []
    gpu = SoftwareGpu(tmp_path)
    here = Place(gpu.variables(0))
    matrix = Matrix(here, lambda n: Place(gpu.variables(n), ("--threads", "1")), lines.append)
    cases = [Case(f"{n} layers", (), ("--gpu-layers", n)) for n in ("2", "4", "7", "9")]
    matrix.run(cases, with_rows=False)
    assert lines == [
        "2 layers [--gpu-layers 2]: equal",
        "4 layers [--gpu-layers 4]: differs at token 1",
        "7 layers [--gpu-layers 7]: FAILED: exit code -6: without a word",
        "9 layers [--gpu-layers 9]: refused: paceline: There is no room for 9 layers.",
    ]
    assert matrix.failed == ["7 layers"]


def test_another_system_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSoftwareGpuError, match="Debian 12"):
        mirror()
    assert devices.main(["vulkan", "--cache", str(tmp_path / "cache")]) == 1
    assert "Debian 12" in capsys.readouterr().err


def test_a_failure_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in program(tmp_path, "import os; os.abort()").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(SoftwareGpu, "bring", lambda _self: None)
    assert devices.main(["vulkan", "--only", "4 layers"]) == 1
    assert "FAILED: 4 layers, two devices, 4 layers" in capsys.readouterr().out


def test_prices_are_those_of_whole_models() -> None:
    seconds = {rpc.HERE: (0.001, 0.002, 0.003, 0.004), "1 server, all layers": (0.0055,) * 4}
    assert list(rpc.prices({**seconds, "1 server, Auto": (1.0,) * 4}))[1:] == [
        "  here: 1.0, 2.0, 3.0, 4.0",
        "  1 server, all layers: 5.5, 5.5, 5.5, 5.5",
    ]


def test_a_gpus_steps_keep_their_output_and_one_that_fails_is_reported(tmp_path: Path) -> None:
    lines: list[str] = []
    steps = gpu.Steps(tmp_path / "out", lines.append)
    assert steps.run("good", sys.executable, "-c", "print('found')") == "found\n"
    assert steps.run("bad", sys.executable, "-c", "print('half'); raise SystemExit(3)") == ""
    assert steps.failed == ["bad"]
    assert (tmp_path / "out" / "bad.txt").read_text() == "half\n"
    assert lines[0].startswith("good: done after 0 s")
    assert lines[1].startswith("bad: FAILED with exit code 3")


def test_a_gpus_steps_begin_with_the_build_and_are_what_the_program_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, ...]] = []

    def run(_steps: gpu.Steps, name: str, *command: str) -> str:
        calls.append(command)
        return {"starter": "/s.gguf", "make-7b": "/t.gguf\n/d.gguf\n"}.get(name, "fine")

    monkeypatch.setattr(gpu.Steps, "run", run)
    assert gpu.run("cuda", tmp_path, lambda _line: None) == []
    assert calls[0][2:] == ("--backend", "cuda", "run", "doctor")
    for script in (calls[0][1], *(c[1] for c in calls if c[1].endswith("benchmarks"))):
        assert Path(script).exists()
    for command in calls:
        if command[1:3] == ("-m", "paceline"):
            parse(list(command[3:]))
        if "device_trials.rows_child" in command:
            parse(["chat", *command[4:]])
    assert any("/t.gguf" in command and "/d.gguf" in command for command in calls)


def test_a_gpus_steps_end_where_the_build_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    monkeypatch.setattr(gpu.Steps, "run", lambda _self, name, *_: names.append(name) or "")
    gpu.run("cuda", tmp_path, lambda _line: None)
    assert names == ["doctor"]
