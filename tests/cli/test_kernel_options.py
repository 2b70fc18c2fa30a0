"""`--kernels` and PACELINE_KERNELS: what they choose, refuse and report."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kernel_puppet
from cli.program import Result, assert_one_clear_line
from paceline.cli import main
from paceline.cli.model_options import read_kernels
from paceline.engine.llama import kernels
from paceline.engine.model.own_kernels import write_mark
from paceline.errors import ValueOutOfRangeError
from paceline.installation import kernel_files

linux = pytest.mark.skipif(sys.platform != "linux", reason="own kernels are for Linux")
CHAT = ("chat", "--prompt", "def f", "--max-tokens", "2", "--threads", "1", "--json")
COMMANDS = {
    "chat": CHAT,
    "bench": ("bench", "--strategies", "off", "--repeat", "1", "--json", "-"),
    "calibrate": ("calibrate", "--threads", "1", "--json"),
    "doctor": ("doctor", "--json"),
}
OWN = {"q8_0": "own", "attention": "own"}
STOCK = dict.fromkeys(OWN, "stock")
Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Result:
        code = main.run(list(arguments), lambda _: 9, lambda _: 9, lambda *_: 9)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernel_puppet.compiled(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def puppet(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setenv(kernel_puppet.LIBRARY, str(library))
    monkeypatch.setattr(kernel_files, "find", kernel_files.find)  # so that it is put back
    kernel_puppet.take_it()
    monkeypatch.delenv("PACELINE_KERNELS")
    yield monkeypatch
    kernels._facts_of_process.cache_clear()


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_files, "find", lambda _cache=None: None)
    monkeypatch.delenv("PACELINE_KERNELS")


# ------------------------------------------------------------------------------------- the choice


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("variable", "option", "wish"),
    [
        (None, None, "auto"),
        ("", None, "auto"),
        ("auto", None, "auto"),
        (" own ", None, "own"),
        ("stock", None, "stock"),
        ("stock", "own", "own"),
        ("own", "stock", "stock"),
        ("nonsense", "own", "own"),
    ],
)
def test_the_option_wins_over_the_variable(
    variable: str | None, option: str | None, wish: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PACELINE_KERNELS")
    if variable is not None:
        monkeypatch.setenv("PACELINE_KERNELS", variable)
    args = main.parse([*COMMANDS[name], *(["--kernels", option] if option else [])])
    assert read_kernels(args) == wish


@pytest.mark.parametrize("name", COMMANDS)
def test_a_variable_that_says_something_else_is_wrong_usage(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACELINE_KERNELS", "fast")
    result = run(*COMMANDS[name])
    assert result.code == 2
    assert result.err == (
        "paceline: The variable PACELINE_KERNELS cannot be “fast”. Set it to own or to stock, or "
        "take it away.\n"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_says_something_else_is_wrong_usage(name: str, run: Run) -> None:
    result = run(*COMMANDS[name], "--kernels", "fast")
    assert result.code == 2
    assert "--kernels" in result.err
    assert_one_clear_line(result if name != "chat" else Result(2, "", result.err))


def test_the_window_refuses_the_variable_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from paceline.gui.app import make_program
    from paceline.paths import Paths

    monkeypatch.setenv("PACELINE_KERNELS", "fast")
    with pytest.raises(ValueOutOfRangeError):
        make_program(Paths.from_environment())


# ---------------------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize("by", ["option", "variable"])
@pytest.mark.parametrize("name", COMMANDS)
def test_to_insist_where_it_cannot_be_is_a_failure(
    name: str, by: str, run: Run, nothing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "variable":
        monkeypatch.setenv("PACELINE_KERNELS", "own")
    result = run(*COMMANDS[name], *(["--kernels", "own"] if by == "option" else []))
    assert result.code == 1
    assert "Paceline's own CPU kernels cannot be used: they are not built" in result.err
    (failed,) = result.objects
    assert failed.get("error", failed)["code"] == "no-own-kernels"


def test_otherwise_a_note_says_it_once(run: Run, nothing: None) -> None:
    result = run(*CHAT)
    assert result.code == 0
    assert result.finished["stats"]["kernels"] == STOCK
    (note,) = (line for line in result.err.splitlines() if "kernels" in line)
    assert "they are not built for this llama.cpp" in note


def test_who_chooses_stock_hears_nothing(run: Run, nothing: None) -> None:
    assert "kernels" not in run(*CHAT, "--kernels", "stock").err


# ------------------------------------------------------------------------------------ what is told


@linux
def test_a_reply_says_whose_kernels_computed(run: Run, puppet: pytest.MonkeyPatch) -> None:
    for options, uses in (((), OWN), (("--kernels", "own"), OWN), (("--kernels", "stock"), STOCK)):
        result = run(*CHAT, *options)
        assert result.code == 0, result.err
        assert result.finished["stats"]["kernels"] == uses
        assert "kernels" not in result.err


@linux
@pytest.mark.usefixtures("quick_calibration")
def test_reports_say_it_too(run: Run, puppet: pytest.MonkeyPatch, tmp_path: Path) -> None:
    workload = tmp_path / "w.jsonl"
    workload.write_text('{"name": "w", "prompt_tokens": [1, 2, 3], "max_tokens": 3}\n')
    bench = run(*COMMANDS["bench"], "--workload", str(workload), "--threads", "1")
    assert bench.code == 0, bench.err
    assert json.loads(bench.out)["kernels"] == OWN
    calibrated = run(*COMMANDS["calibrate"], "--ctx", "128")
    assert calibrated.code == 0, calibrated.err
    assert json.loads(calibrated.out)["kernels"] == OWN


@linux
@pytest.mark.usefixtures("asked_once", "one_reader_for_all")
def test_the_doctor_knows_what_was_proved(
    run: Run, puppet: pytest.MonkeyPatch, paceline_home: Path
) -> None:
    def asked(*options: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(run("doctor", "--json", *options).out)["kernels"]
        return found

    untested = asked()
    assert untested["choice"] == "own"
    assert untested["available"] is True
    assert not untested["proved"]
    assert "tested before" in str(untested["reason"])
    assert not paceline_home.joinpath("cache").exists()

    puppet.setenv("STAND_IN_Q8_0", "wrong")
    known = asked("--kernels", "own")
    assert known["proved"] == ["attention-f16", "q4_K-repacked"]
    assert known["refused"] == {"q8_0": "wrong"}
    assert known["isa"] == "stand-in"
    assert known["choice"] == "own"
    assert not known["reason"]
    line = next(x for x in run("doctor").out.splitlines() if x.startswith("CPU kernels: "))
    assert line.endswith("2 of 3 have passed their test here. Left out: q8_0 (wrong).")
    assert asked("--kernels", "stock") == {
        **known, "choice": "stock", "reason": "They are chosen.",
    }  # fmt: skip

    write_mark(str(paceline_home / "cache"), kernel_puppet.KEY, "q4_K-repacked")
    marked = asked()
    assert marked["choice"] == "stock"
    assert "ended the engine once (q4_K-repacked)" in str(marked["reason"])
    assert run("doctor", "--kernels", "own").code == 1


@linux
@pytest.mark.usefixtures("asked_once", "one_reader_for_all")
def test_the_doctor_says_when_none_has_passed(run: Run, puppet: pytest.MonkeyPatch) -> None:
    for name in ("Q8_0", "Q4_K_REPACKED", "ATTENTION_F16"):
        puppet.setenv(f"STAND_IN_{name}", "wrong")
    assert run("doctor", "--kernels", "own").code == 1
    report = json.loads(run("doctor", "--json").out)["kernels"]
    assert report["choice"] == "stock"
    assert "None of Paceline's" in report["reason"]
