"""The commands to the engine that options become."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Answers
from cli.program import assert_one_clear_line, chat, paceline
from paceline.cli.chat import RequestedChat, read_request
from paceline.cli.chat_run import STATES_OWNER
from paceline.cli.main import parse
from paceline.cli.reply_options import TEMPLATES, THINKING
from paceline.engine.draft.registry import built_in
from paceline.engine.prompt.formats import FORMATS, PLAIN
from paceline.engine.prompt.template import CHOICES
from paceline.messages import (
    LogitBias,
    Prompting,
    SamplingParams,
    StateOwner,
    StateStorage,
    Translating,
)
from paceline.params import DraftModel, shown_stop
from paceline.paths import Paths

if TYPE_CHECKING:
    from pathlib import Path


def request(*arguments: str | Path) -> RequestedChat:
    args = parse(["chat", "--prompt", "Hi", *map(str, arguments)])
    return read_request(args, Paths.from_environment())


def test_nothing_more_is_asked_for_than_what_is_given() -> None:
    asked = request()
    assert (asked.load.lookup_cache, asked.load.exact) == ("", False)
    assert (asked.turn.remember, asked.kept_dir, asked.notes) == (False, None, ())
    assert asked.load.states is None


def test_a_form_arrives(tmp_path: Path) -> None:
    form = tmp_path / "form.gbnf"
    form.write_text('root ::= "ä"\n', encoding="utf-8")
    for name in ("grammar", "json_schema"):
        asked = request(f"--{name.replace('_', '-')}", form, "--logit-bias=7=false")
        biases = (LogitBias(7, -math.inf),)
        wanted = SamplingParams(logit_bias=biases, **{name: 'root ::= "ä"\n'})
        assert asked.turn.sampling == wanted


@given(st.lists(st.text(alphabet="\\ntr\n\t\r a-ü", min_size=1, max_size=12), max_size=4))
def test_any_stop_text_can_be_written(stops: list[str]) -> None:
    arguments = [f"--stop={shown_stop(stop)}" for stop in stops]
    assert request(*arguments).turn.stop == tuple(stops)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("option", ["--split-mode=layer", "--tensor-split=1,1", "--main-gpu=1"])
def test_gpus_that_are_not_there_cannot_share(option: str, children_answers: Answers) -> None:
    engine = children_answers[0].answer
    if engine is None or any(device.takes_layers for device in engine.devices):
        pytest.skip("this build of llama.cpp can use GPUs")
    result = paceline("chat", "--prompt", "Hi", option)
    assert_one_clear_line(result, "GPU", code=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cpu-moe", "--n-cpu-moe", "2"], "--n-cpu-moe"),
        (["--n-cpu-moe-draft", "2", "--cpu-moe-draft"], "--cpu-moe-draft"),
        (["--split-mode", "tensor"], "layer"),
        (["--tensor-split", ""], "--tensor-split"),
    ],
)
def test_a_placement_that_makes_no_sense(arguments: list[str], words: str) -> None:
    result = paceline("chat", "--prompt", "Hi", *arguments)
    assert_one_clear_line(result, words, code=2)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize(
    "arguments",
    [["--cpu-moe", "--cpu-moe-draft"], ["--n-cpu-moe", "2", "--n-cpu-moe-draft", "1"], ["--exact"]],
    ids=" ".join,
)
def test_options_that_change_no_reply_of_the_demo_pair(arguments: list[str]) -> None:
    usual = chat("--seed", "1").finished["tokens"]
    assert chat("--seed", "1", *arguments).finished["tokens"] == usual


@pytest.mark.long
def test_exact_says_what_it_costs() -> None:
    result = chat("--exact")
    assert_one_clear_line(result, "xact mode", code=0)


def test_a_lookup_cache_for_its_strategy(tmp_path: Path) -> None:
    cache = tmp_path / "static.bin"
    cache.write_bytes(b"")
    for strategy in ("ngram-cache", "ngram-cache+draft:draft.n_max=4"):
        asked = request("--lookup-cache", cache, "--strategy", strategy)
        assert asked.load.lookup_cache == str(cache)
        assert asked.notes == ()


def test_a_lookup_cache_without_its_strategy_is_reported(tmp_path: Path) -> None:
    cache = tmp_path / "static.bin"
    cache.write_bytes(b"")
    asked = request("--lookup-cache", cache, "--strategy", "prompt-lookup")
    assert asked.notes == ("--lookup-cache has no effect without the strategy ngram-cache.",)


def test_a_lookup_cache_that_is_not_there(tmp_path: Path) -> None:
    result = chat("--lookup-cache", tmp_path / "no.bin")
    assert_one_clear_line(result, "no.bin", code=1)


def test_translation_arrives() -> None:
    plain = request().load.drafting
    assert isinstance(plain, DraftModel)
    assert plain.translating == Translating()
    asked = request("--spec-replace", "a", "b", "--spec-bridge", "--spec-replace", "c d", "e")
    how = Translating((("a", "b"), ("c d", "e")), bridges=True)
    assert asked.load.drafting == DraftModel(plain.params, how)


@pytest.mark.parametrize("texts", [("a",), ("", "b"), ("a", "")])
def test_a_replacement_that_makes_no_sense(texts: tuple[str, ...]) -> None:
    result = chat("--spec-replace", *texts)
    assert_one_clear_line(result, "--spec-replace", code=2)


def test_a_pair_without_translation_says_that_nothing_is_replaced() -> None:
    result = chat("--prompt", "Hi", "--max-tokens", "1", "--spec-replace", "a", "b")
    assert result.code == 0
    assert "nothing to translate or to replace" in result.err


def test_remember_names_the_folders(paceline_home: Path) -> None:
    asked = request("--remember")
    assert asked.turn.remember
    assert asked.kept_dir == paceline_home / "data"
    assert asked.load.states == StateStorage(folder=str(paceline_home / "cache" / "states"))
    assert asked.turn.owner == StateOwner(STATES_OWNER)


def test_the_cache_of_states_has_a_size_or_is_off(paceline_home: Path) -> None:
    folder = str(paceline_home / "cache" / "states")

    def states(*options: str) -> StateStorage | None:
        return request(*options).load.states

    assert states() is None, "nothing is stored without --remember"
    assert states("--state-cache", "off") is None
    assert states("--remember", "--state-cache", "off") is None
    assert states("--remember", "--state-cache", "0") == StateStorage()
    assert states("--remember", "--state-cache", "1.5GB") == StateStorage(
        folder=folder, disk_bytes=1_500_000_000
    )


@pytest.mark.parametrize("options", [("8GB",), ("8", "--remember"), ("much", "--remember")])
def test_a_cache_of_states_that_cannot_be_is_wrong_usage(options: tuple[str, ...]) -> None:
    result = chat("--prompt", "Hi", "--state-cache", *options)
    assert_one_clear_line(result, "--state-cache", code=2)


def test_the_help_names_every_template_and_every_way_to_think() -> None:
    assert [each.name for each in FORMATS] == list(TEMPLATES)
    assert THINKING == CHOICES


def test_a_template_comes_by_its_name_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.jinja"
    file.write_text("{{ messages[0].content }}", encoding="utf-8")
    turn = request("--template", str(file), "--think", "low").turn
    assert turn.prompt.prompting == Prompting("{{ messages[0].content }}", "low")
    turn = request("--template", "plain").turn
    assert turn.prompt.prompting == Prompting(PLAIN.source)
    assert request().turn.prompt.prompting == Prompting()
    missing = chat("--template", tmp_path / "none")
    assert_one_clear_line(missing, code=1)


@pytest.mark.parametrize("options", [("--template", "plain"), ("--think", "off")])
def test_a_raw_prompt_has_no_template(options: tuple[str, ...]) -> None:
    done = paceline("chat", "--prompt", "x", "--raw", *options)
    assert_one_clear_line(done, code=2)


def test_a_model_without_a_switch_says_so() -> None:
    done = chat("--think", "off")
    assert_one_clear_line(done, "switch", code=1)


def test_the_help_names_every_strategy() -> None:
    words = re.split(r"[\s,]+", paceline("chat", "--help").out)
    assert {info.id for info in built_in()} <= set(words)
