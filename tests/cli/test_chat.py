"""`paceline chat` on the demo pair: what outside tools rely on."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

import pytest

from cli.program import assert_one_clear_line, chat, paceline, paceline_process

if TYPE_CHECKING:
    from pathlib import Path

STEP_KEYS = {
    "event", "step", "tokens", "text", "sources", "n_committed", "drafted",
    "draft_s", "verify_s", "sample_s", "decision",
}  # fmt: skip
FINISHED_KEYS = {"event", "text", "tokens", "reason", "seed", "strategy", "stats", "control"}
STATS_KEYS = {
    "batch_invariant", "n_prompt", "n_reused", "n_generated", "prefill_s", "decode_s", "total_s",
    "tokens_per_s", "plain_tokens_per_s", "n_steps", "n_drafted", "n_accepted", "n_discarded",
    "acceptance_rate", "mean_committed_per_step", "overhead_s", "by_drafter", "kernels",
    "n_rows_compared", "logit_difference", "basis", "plain_low", "plain_high", "machine_busy",
    "kept", "warm", "any_context", "reread",
}  # fmt: skip
DRAFTER_KEYS = {
    "n_begin", "n_draft", "n_accept", "begin_s", "draft_s", "accept_s", "drafts",
    "drafts_accepted", "tokens", "tokens_accepted", "accepted_per_position",
}  # fmt: skip


def test_text_goes_to_stdout_and_figures_to_stderr(paceline_home: Path) -> None:
    arguments = ("--prompt", "What is a list?", "--max-tokens", "30", "--seed", "5")
    arguments += ("--threads", "1")
    plain = paceline_process("chat", *arguments)
    as_json = paceline_process("chat", *arguments, "--json")
    assert plain.code == as_json.code == 0
    assert plain.out == as_json.finished["text"] + "\n"
    assert re.fullmatch(
        r"paceline: 30 tokens in [\d.]+ s; [\d.]+ tokens/s; .*seed 5; ended by length\n", plain.err
    )
    assert as_json.err == ""
    written = [path.name for path in paceline_home.rglob("*") if path.is_file()]
    assert set(written) <= {"facts.json"}, "nothing of a chat is stored"


def test_every_json_line_has_the_promised_keys() -> None:
    result = chat("--strategy", "draft:n_max=4:p_min=0", "--max-tokens", "60", "--seed", "3")
    *steps, last = result.objects
    assert result.code == 0
    assert [step["event"] for step in steps] == ["step"] * len(steps)
    assert [step["step"] for step in steps] == list(range(len(steps)))
    assert all(set(step) == STEP_KEYS for step in steps)
    assert set(last) == FINISHED_KEYS
    assert last["control"] is None
    assert all(step["decision"] is None for step in steps)
    assert last["strategy"] == "draft:n_max=4:p_min=0"
    stats = last["stats"]
    assert set(stats) == STATS_KEYS
    assert set(stats["by_drafter"]) == {"draft"}
    assert set(stats["by_drafter"]["draft"]) == DRAFTER_KEYS


def test_auto_reports_its_decisions() -> None:
    result = chat("--strategy", "auto", "--max-tokens", "60", "--seed", "3")
    *steps, last = result.objects
    assert result.code == 0
    assert [step["event"] for step in steps] == ["step"] * len(steps)
    assert all(set(step) == STEP_KEYS for step in steps)
    assert steps[0]["decision"] is None  # the prefill's token
    for step in steps[1:]:
        decision = step["decision"]
        assert set(decision) == {"drafter", "n_drafted", "reason", "expected", "gain"}
        assert decision["n_drafted"] == sum(count["n_drafted"] for count in step["drafted"])
    assert set(last) == FINISHED_KEYS
    control = last["control"]
    assert set(control) == {"step", "plain_s", "pace", "slack_s", "costs", "drafters"}
    assert control["step"] == len(steps) - 1
    assert control["plain_s"] > 0
    assert [outlook["drafter"] for outlook in control["drafters"]] == ["draft", "suffix"]
    off = chat("--strategy", "off", "--max-tokens", "60", "--seed", "3").finished
    assert last["tokens"] == off["tokens"]


def test_steps_and_figures_agree() -> None:
    result = chat("--strategy", "draft:n_max=4:p_min=0", "--max-tokens", "60", "--seed", "3")
    *steps, last = result.objects
    stats = last["stats"]
    assert list(itertools.chain(*(step["tokens"] for step in steps))) == last["tokens"]
    assert last["text"].startswith("".join(step["text"] for step in steps))
    for step in steps:
        assert step["n_committed"] == len(step["tokens"]) == len(step["sources"])
        assert set(step["sources"]) <= {"target", "draft"}
        for count in step["drafted"]:
            assert set(count) == {"drafter", "n_drafted", "n_accepted"}
            assert step["sources"].count(count["drafter"]) == count["n_accepted"]
    drafted = [count for step in steps for count in step["drafted"]]
    assert stats["n_drafted"] == sum(count["n_drafted"] for count in drafted)
    assert stats["n_accepted"] == sum(count["n_accepted"] for count in drafted)
    assert 0 < stats["n_accepted"] < stats["n_drafted"], "both must occur for this test to count"
    assert stats["n_generated"] == len(last["tokens"])
    assert stats["n_steps"] == len(steps) - 1, "the first token comes from the prefill"
    by_drafter = stats["by_drafter"]["draft"]
    assert by_drafter["tokens"] == stats["n_drafted"]
    assert by_drafter["tokens_accepted"] == stats["n_accepted"]
    assert sum(by_drafter["accepted_per_position"]) == stats["n_accepted"]
    judged = stats["n_drafted"] - stats["n_discarded"]
    assert stats["acceptance_rate"] == pytest.approx(stats["n_accepted"] / judged)
    assert stats["tokens_per_s"] == pytest.approx(stats["n_generated"] / stats["decode_s"])
    assert stats["total_s"] == pytest.approx(stats["prefill_s"] + stats["decode_s"])


def test_a_chain_tells_every_drafters_part() -> None:
    strategy = "prompt-lookup+draft:draft.n_max=2:p_min=0:n_pred=4"
    prompt = "Repeat this: a list is a list is a list is a list."
    result = chat("--strategy", strategy, "--max-tokens", "160", "--seed", "11", prompt=prompt)
    *steps, last = result.objects
    for step in steps:
        assert set(step["sources"]) <= {"target", "draft", "prompt-lookup"}
        names = [count["drafter"] for count in step["drafted"]]
        assert len(set(names)) == len(names)
        for count in step["drafted"]:
            assert 0 <= count["n_accepted"] <= count["n_drafted"]
            assert step["sources"].count(count["drafter"]) == count["n_accepted"]
    assert max(len(step["drafted"]) for step in steps) == 2, "a lookup must extend a draft"
    by_drafter = last["stats"]["by_drafter"]
    assert set(by_drafter) == {"draft", "prompt-lookup"}
    for name, figures in by_drafter.items():
        parts = [c for step in steps for c in step["drafted"] if c["drafter"] == name]
        accepted = [c["n_accepted"] for c in parts]
        assert figures["n_begin"] == 1
        assert figures["n_draft"] >= figures["drafts"] == figures["n_accept"] == len(parts) > 0
        assert figures["tokens"] == sum(c["n_drafted"] for c in parts)
        assert figures["tokens_accepted"] == sum(accepted)
        assert figures["drafts_accepted"] == sum(n > 0 for n in accepted)
        assert sum(figures["accepted_per_position"]) == sum(accepted)
        assert all(figures[key] > 0 for key in ("begin_s", "draft_s", "accept_s"))
    assert last["stats"]["n_drafted"] == sum(d["tokens"] for d in by_drafter.values())


@pytest.mark.parametrize("strategy", ["draft", "draft:n_max=3:p_min=0", "prompt-lookup"])
def test_a_strategy_does_not_change_the_reply(strategy: str) -> None:
    arguments = ("--max-tokens", "120", "--seed", "11")
    prompt = "Repeat this: a list is a list is a list is a list."
    off = chat("--strategy", "off", *arguments, prompt=prompt).finished
    other = chat("--strategy", strategy, *arguments, prompt=prompt).finished
    assert other["tokens"] == off["tokens"]
    assert other["text"] == off["text"]


def test_a_missing_seed_is_reported_and_gives_the_same_reply_again() -> None:
    first, second = (chat("--temperature", "1.2").finished for _ in range(2))
    assert first["seed"] != second["seed"]
    again = chat("--temperature", "1.2", "--seed", str(first["seed"])).finished
    assert again["tokens"] == first["tokens"]


def test_a_conversation_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    question = {"role": "user", "content": "What is a list?"}
    path.write_text(json.dumps([question]))
    one = chat("--messages", path, "--seed", "1", prompt=None).finished
    assert one["tokens"] == chat("--seed", "1").finished["tokens"]

    system = {"role": "system", "content": "Be brief."}
    path.write_text("\ufeff" + json.dumps([system, question]), encoding="utf-8")
    with_system = chat("--messages", path, "--seed", "1", prompt=None).finished
    assert with_system["stats"]["n_prompt"] > one["stats"]["n_prompt"]
    by_option = chat("--system", "Be brief.", "--seed", "1").finished
    assert by_option["tokens"] == with_system["tokens"]
    assert by_option["stats"]["n_prompt"] == with_system["stats"]["n_prompt"]


def test_token_ids_are_taken_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "ids.json"
    path.write_text("[5, 6, 7]")
    finished = chat("--prompt-tokens", path, prompt=None).finished
    assert finished["stats"]["n_prompt"] == 3


def test_an_earlier_reply_is_a_draft(tmp_path: Path) -> None:
    path = tmp_path / "earlier.json"
    old = chat("--seed", "3", "--temperature", "0.8").finished
    options = ("--seed", "3", "--temperature", "0.7", "--earlier", path)
    plain = chat(*options[:4], "--strategy", "off").finished
    assert plain["stats"]["kept"] is None
    for earlier in ({"tokens": old["tokens"]}, {"text": old["text"]}, old):
        path.write_text(json.dumps(earlier), encoding="utf-8")
        new = chat(*options, "--strategy", "earlier").finished
        assert new["tokens"] == plain["tokens"]
        assert new["stats"]["by_drafter"]["earlier"]["tokens_accepted"] > 0
        kept = new["stats"]["kept"]
        assert 0 < kept["share"] == kept["n_kept"] / kept["n_earlier"]


def test_raw_text_goes_without_a_template() -> None:
    raw = chat("--raw", prompt="A list is").finished["stats"]["n_prompt"]
    with_template = chat(prompt="A list is").finished["stats"]["n_prompt"]
    assert 1 <= raw < with_template


@pytest.mark.parametrize("mode", [[], ["--raw"]])
def test_a_control_token_that_was_typed_stays_text(mode: list[str]) -> None:
    def n_prompt(prompt: str) -> int:
        n: int = chat(*mode, "--max-tokens", "1", prompt=prompt).finished["stats"]["n_prompt"]
        return n

    # As a control token it would be one token, like the letter.
    assert n_prompt("<|im_end|>") >= n_prompt("a") + 4


def test_a_stop_text_is_cut_from_the_text_but_not_from_the_tokens() -> None:
    full = chat("--max-tokens", "60", "--seed", "1").finished
    words = full["text"].split()
    stop = words[3]
    finished = chat("--max-tokens", "60", "--seed", "1", "--stop", "§§", "--stop", stop).finished
    assert finished["reason"] == "stop"
    assert finished["text"] == full["text"][: full["text"].index(stop)]
    n = len(finished["tokens"])
    assert finished["tokens"] == full["tokens"][:n]
    plain = paceline(
        "chat", "--prompt", "What is a list?", "--max-tokens", "60", "--seed", "1",
        "--stop", stop, "--threads", "1",
    )  # fmt: skip
    assert plain.out == finished["text"] + "\n"


def test_a_target_alone_is_drafted_for_by_lookups_or_not_at_all(target_path: Path) -> None:
    result = chat("--target", target_path, "--seed", "1")
    assert result.finished["strategy"] == "auto"
    assert "draft" not in result.finished["stats"]["by_drafter"]
    assert result.err == ""
    plain = chat("--target", target_path, "--seed", "1", "--strategy", "off")
    assert plain.finished["stats"]["n_drafted"] == 0
    assert plain.err == ""
    assert plain.finished["tokens"] == result.finished["tokens"]


@pytest.mark.parametrize("options", [(), ("--strategy", "draft")])
def test_a_pair_given_by_hand(
    target_path: Path, draft_path: Path, options: tuple[str, ...]
) -> None:
    pair = ("--target", target_path, "--draft", draft_path)
    by_hand = chat(*pair, "--seed", "1", *options).finished
    assert by_hand["strategy"] == (options[-1] if options else "auto")
    assert "draft" in by_hand["stats"]["by_drafter"]
    assert by_hand["tokens"] == chat("--seed", "1", *options).finished["tokens"]


def test_options_for_a_draft_model_without_one_are_reported(target_path: Path) -> None:
    result = chat("--target", target_path, "--threads-draft", "2")
    assert_one_clear_line(result, "--threads-draft has no effect", code=0)


@pytest.mark.parametrize(
    "options",
    [
        ["--flash-attn", "off", "--kv-type-k", "q8_0"],
        ["--flash-attn", "on", "--kv-type-k", "q8_0", "--kv-type-v", "q8_0"],
        ["--device", "CPU", "--device-draft", "CPU"],
        ["--gpu-layers", "0", "--gpu-layers-draft", "auto"],
        ["--repeat-penalty", "1.1", "--presence-penalty", "-1", "--frequency-penalty", "0.5"],
    ],
    ids=" ".join,
)
def test_options_that_are_served(options: list[str]) -> None:
    result = chat(*options)
    assert result.code == 0, result.err
    assert len(result.finished["tokens"]) > 0


def test_a_value_may_begin_with_a_dash() -> None:
    assert chat("--prompt=-v is an option?", prompt=None).code == 0


def test_utf8_whatever_the_locale() -> None:
    prompt = "Wie heißt „list“ auf Japanisch? 日本語 🙂"
    result = chat(prompt=prompt, environ={"LC_ALL": "C"}, run=paceline_process)
    assert result.code == 0
    assert result.finished
