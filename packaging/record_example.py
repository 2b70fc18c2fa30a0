#!/usr/bin/env python3
"""Records the example that the welcome page plays: ``python packaging/record_example.py``.

A model answers one question alone and under Auto, greedily, by own kernels, on this machine and
with this build. Each reply has a context of its own, in which nothing is measured or learned yet,
so that both have the same text. That is done several times, and the pair of the middle gain is kept
in ``resources/examples/starter.jsonl``. Do it while nothing else runs.

Without arguments it is the starter model, once ``bootstrap.py run`` has brought it, and the
question of `QUESTION`. ``--model FILE --question FILE`` take another one of each: a larger model
gains more, and the question should be a task whose answer is mostly there already, of 150 to 300
tokens.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from pathlib import Path

from msgspec import structs

from paceline import starter
from paceline.chat.recording import RecordedTurn, Recording, write_recording
from paceline.engine.api import generate, load_pair
from paceline.engine.model.own_kernels import processor
from paceline.messages import Event, ModelInfo, SamplingParams, TurnEvent, TurnFinished
from paceline.paths import Paths, resources

_FUNCTIONS = (
    ("Adds two numbers", "add", "a + b"),
    ("Subtracts two numbers", "subtract", "a - b"),
    ("Multiplies two numbers", "multiply", "a * b"),
    ("Divides two numbers", "divide", "a / b"),
    ("Returns the mean of two numbers", "average", "(a + b) / 2"),
    ("Returns the larger of two numbers", "larger", "a > b ? a : b"),
    ("Returns the smaller of two numbers", "smaller", "a < b ? a : b"),
    ("Tells if two numbers are equal", "equal", "a === b"),
)
_CODE = "\n".join(
    f"// {comment}\nfunction {name}(a, b) {{\n  return {value};\n}}\n"
    for comment, name, value in _FUNCTIONS
)
QUESTION = f"Remove the comments from this code:\n\n```js\n{_CODE}```"
"""Asks for code without its comments; SmolLM2 does it, and ends by itself."""
MOST_TOKENS = 500


def record(file: Path, question: str, rounds: int) -> Recording:
    """Let the model in the file answer, and return the round of the middle gain.

    Raises:
        ValueError: The two texts of a round differ, or a reply did not end by itself.
    """
    today = datetime.datetime.now().astimezone().date().isoformat()
    found = []
    for at in range(rounds):
        target, alone = _turn(file, question, "off")
        _, drafted = _turn(file, question, "auto")
        first, second = (_end_of(turn) for turn in (alone, drafted))
        if first.tokens != second.tokens or {first.reason, second.reason} != {"eog"}:
            raise ValueError(f"The replies cannot be shown:\n{first.text}\n\n{second.text}")
        gain = (second.stats.tokens_per_s or 0) / (first.stats.tokens_per_s or 1)
        print(f"round {at + 1}: {gain:.2f} times as fast", flush=True)
        made = Recording(question, target, processor().split("|")[0], today, alone, drafted)
        found.append((gain, at, made))
    return sorted(found)[rounds // 2][-1]


def _turn(file: Path, question: str, strategy: str) -> tuple[ModelInfo, RecordedTurn]:
    """Answer in a new context."""
    events: list[tuple[float, TurnEvent]] = []

    def hear(event: Event) -> None:
        if isinstance(event, TurnEvent):
            events.append((time.perf_counter() - began, event))

    with load_pair(file, kernels="own") as pair:
        began = time.perf_counter()
        generate(
            pair,
            question,
            strategy=strategy,
            sampling=SamplingParams(temperature=0.0),
            max_tokens=MOST_TOKENS,
            on_event=hear,
        ).finish()
        name = file.stem.replace("-", " ")
        return structs.replace(pair.target, path=file.name, name=name), tuple(events)


def _end_of(turn: RecordedTurn) -> TurnFinished:
    last = turn[-1][1]
    assert isinstance(last, TurnFinished)
    return last


def main() -> int:
    """Record it and say what it has become."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF file in place of the starter")
    parser.add_argument("--question", type=Path, help="a text file in place of the question")
    parser.add_argument("--rounds", type=int, default=5, help="of which the middle one is kept")
    parser.add_argument(
        "--out", type=Path, default=resources() / "examples" / "starter.jsonl", help="the recording"
    )
    chosen = parser.parse_args()
    file = chosen.model or starter.find(Paths.from_environment().models_dir)
    if file is None:
        sys.exit("The starter model is not here: `python3 packaging/bootstrap.py run` brings it.")
    question = chosen.question.read_text("utf-8").strip() if chosen.question else QUESTION
    recording = record(file, question, chosen.rounds)
    write_recording(chosen.out, recording)
    alone, drafted = _end_of(recording.alone), _end_of(recording.drafted)
    print(drafted.text, alone.stats, drafted.stats, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
