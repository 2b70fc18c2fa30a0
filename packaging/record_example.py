#!/usr/bin/env python3
"""Records the example that the welcome page plays: ``python packaging/record_example.py``.

The starter model, once it was brought by ``bootstrap.py run``, answers the question under Auto,
greedily, on this machine and with this build: three times, so that Auto knows what steps cost, and
the last one is kept in ``resources/examples/starter.jsonl``. Do it while nothing else runs.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from dataclasses import replace
from pathlib import Path

from paceline import starter
from paceline.chat.recording import Recording, write_recording
from paceline.engine.api import generate, load_pair
from paceline.engine.draft.strategy import read_strategy
from paceline.engine.model.own_kernels import processor
from paceline.messages import Event, SamplingParams, TurnEvent, TurnFinished
from paceline.paths import Paths, resources

QUESTION = "Write a JSON list of four cities, each with name, country and population."
STRATEGY = "auto"


def record(file: Path) -> Recording:
    """Let the model in the file answer."""
    events: list[tuple[float, TurnEvent]] = []
    began = 0.0

    def hear(event: Event) -> None:
        if isinstance(event, TurnEvent):
            events.append((time.perf_counter() - began, event))

    with load_pair(file, kernels="own") as pair:
        for _ in range(3):
            events.clear()
            began = time.perf_counter()
            generate(
                pair,
                QUESTION,
                strategy=STRATEGY,
                sampling=SamplingParams(temperature=0.0),
                max_tokens=400,
                on_event=hear,
            ).finish()
        target = replace(pair.target, path=file.name)
    cores = f"{processor().split('|')[0]}, {os.cpu_count()} cores"
    machine = f"{cores}, {target.n_threads} thread(s), {platform.system()}"
    today = datetime.datetime.now().astimezone().date().isoformat()
    return Recording(QUESTION, read_strategy(STRATEGY), target, machine, today, tuple(events))


def main() -> int:
    """Record it and say what it has become."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    file = starter.find(Paths.from_environment().models_dir)
    if file is None:
        sys.exit("The starter model is not here: `python3 packaging/bootstrap.py run` brings it.")
    found = record(file)
    out = resources() / "examples" / "starter.jsonl"
    out.parent.mkdir(exist_ok=True)
    write_recording(out, found)
    last = found.events[-1][1]
    assert isinstance(last, TurnFinished)
    print(last.text, last.stats.speedup, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
