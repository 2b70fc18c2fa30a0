"""Workload files: what they may hold, and what is said about each thing that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline.bench.workload import Workload, WorkloadError, read_workloads, shipped_workloads
from paceline.errors import UserError
from paceline.messages import Chat, ChatMessage, EarlierReply, RawText, SamplingParams, Tokens

QUESTION = {"name": "q", "messages": [{"role": "user", "content": "What is a list?"}]}


def written(folder: Path, *lines: object) -> Path:
    path = folder / "w.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_every_key_is_taken(tmp_path: Path) -> None:
    full = {
        **QUESTION, "max_tokens": 7, "temperature": 0, "top_k": 3, "top_p": 0.5, "min_p": 0.25,
        "seed": 9, "raw": False, "ignore_eog": True,
    }  # fmt: skip
    assert read_workloads(written(tmp_path, full)) == (
        Workload(
            "q",
            Chat((ChatMessage.of_text("user", "What is a list?"),)),
            max_tokens=7,
            sampling=SamplingParams(temperature=0.0, top_k=3, top_p=0.5, min_p=0.25),
            seed=9,
            ignore_eog=True,
        ),
    )


def test_what_is_left_out_is_as_in_a_chat(tmp_path: Path) -> None:
    (workload,) = read_workloads(written(tmp_path, QUESTION))
    turn = workload.turn("draft")
    assert (turn.sampling, turn.max_tokens, turn.seed) == (SamplingParams(), 1024, 1)
    assert workload.turn("draft", most=8).max_tokens == 8
    assert not turn.remember


def test_token_ids_and_raw_text(tmp_path: Path) -> None:
    raw = {"name": "raw", "messages": [{"role": "user", "content": "def f("}], "raw": True}
    ids = {"name": "ids", "prompt_tokens": [5, 6, 7]}
    text, tokens = read_workloads(written(tmp_path, raw, "", ids))
    assert text.prompt == RawText("def f(")
    assert tokens.prompt == Tokens((5, 6, 7))


def test_an_earlier_reply(tmp_path: Path) -> None:
    ids = {**QUESTION, "name": "ids", "earlier": {"tokens": [5, 6]}}
    (plain, text, tokens) = read_workloads(
        written(tmp_path, QUESTION, {**QUESTION, "name": "text", "earlier": {"text": "Hi"}}, ids)
    )
    assert plain.turn("earlier").earlier == ()
    assert text.turn("earlier").earlier == (EarlierReply(text="Hi"),)
    assert tokens.turn("earlier").earlier == (EarlierReply((5, 6)),)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({"name": "x"}, "neither messages nor prompt_tokens"),
        ({**QUESTION, "prompt_tokens": [1]}, "both messages and prompt_tokens"),
        ({**QUESTION, "temprature": 1}, "'temprature' is not known"),
        ({"messages": QUESTION["messages"]}, "no name"),
        ({**QUESTION, "name": "two\nlines"}, "not one line"),
        ({**QUESTION, "max_tokens": 0}, "max_tokens is 0"),
        ({**QUESTION, "temperature": "hot"}, "temperature must be a number, not 'hot'"),
        ({**QUESTION, "ignore_eog": 1}, "ignore_eog is 1"),
        ({"name": "x", "messages": []}, "not empty"),
        ({"name": "x", "messages": [{"role": "robot", "content": "x"}]}, "role 'robot'"),
        ({"name": "x", "messages": [{"role": "assistant", "content": "x"}]}, "from the assistant"),
        ({"name": "x", "prompt_tokens": [1, -2]}, "item 2 in prompt_tokens is -2"),
        ({**QUESTION, "earlier": "Hi"}, "no earlier reply in earlier"),
        ({**QUESTION, "earlier": {"tokens": [1, True]}}, "item 2 in earlier is True"),
        ({**QUESTION, "earlier": {"text": 5}}, "text in earlier is not text"),
        (QUESTION, "'q' is given twice"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(tmp_path: Path, line: object, wrong: str) -> None:
    path = written(tmp_path, QUESTION, "", line)
    with pytest.raises(WorkloadError) as caught:
        read_workloads(path)
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith(f"Line 3 of {path} is wrong: ")
    assert wrong.lower() in caught.value.message.lower()


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "w.jsonl"
    path.write_bytes(json.dumps(QUESTION).encode() + b'\n{"name": "\xff"}')
    with pytest.raises(WorkloadError, match=r"Line 2 .* byte 11 is not UTF-8"):
        read_workloads(path)


def test_an_empty_file_and_none(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="has no workload"):
        read_workloads(written(tmp_path, "", "  "))
    with pytest.raises(UserError) as caught:
        read_workloads(tmp_path / "absent.jsonl")
    assert (caught.value.code, caught.value.exit_code) == ("file-unreadable", 1)


def test_the_shipped_ones() -> None:
    standard = read_workloads(shipped_workloads())
    held_out = read_workloads(shipped_workloads("held_out"))
    assert len(held_out) == 20
    prompts = [w.prompt.messages[-1].text for w in (*standard, *held_out)]
    assert len(set(prompts)) == len(prompts)
    assert len({w.seed for w in (*standard, *held_out)}) == len(prompts)
    temperatures = {w.sampling.temperature for w in standard}
    assert {0.0, 0.8, 1.0} <= temperatures
    assert any(len(w.prompt.messages) == 3 for w in standard), "a chat of two turns"
    assert max(len(w.prompt.messages[-1].text) for w in standard) > 6000, "a long context"
    assert all(48 <= w.max_tokens <= 128 for w in (*standard, *held_out))
