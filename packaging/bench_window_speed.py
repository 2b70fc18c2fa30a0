#!/usr/bin/env python3
"""What the open window costs the engine: ``python packaging/bench_window_speed.py [--json OUT]``.

Needs Linux. The same replies run in turns in the real window, with the text, its colours and the
plot shown, and in an engine without any window: same host (a process of its own), same models, same
question, seed and number of tokens. Both sides have their models loaded and idle while the other
one works; the order alternates from pair to pair. The window is a process that this one starts,
offscreen where there is no display; ``xvfb-run -a python packaging/bench_window_speed.py`` gives it
one.

Ratios are with the window by without it (1: it costs nothing), median over the pairs with both
quartiles: ``decode`` by the engine's own clock, ``wall`` by the caller's, from the command to the
last event, which in the window comes after what is painted. The limit is a median of 0.97 in
``decode``; the exit code says whether it was reached and whether all texts were the same. ``load``
is the machine's load average before each pair: what else runs there widens the quartiles.
``pairs`` are the tokens per second of both sides, with the window first.

The default target is the heavy twin of the demo target with 70 million parameters
(`tests/make_pairs.py`), with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSocketNotifier, Slot

from benchmarks.hosts import BenchError, load
from paceline.catalog.models import Models
from paceline.engine.draft import registry
from paceline.engine.draft.strategy import read_strategy
from paceline.gui.app import Ending, make_application
from paceline.gui.engine_thread import EngineThread, service_factory
from paceline.gui.program import Program
from paceline.hosting.inline import InlineClient
from paceline.hosting.process import ProcessService
from paceline.messages import ChatMessage, LoadPair, ModelParams, StartTurn, TurnFinished
from paceline.paths import Paths, demo_pair, resources
from paceline.settings import LoadedSettings, SavedPair, Settings

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.messages import Command, Event

SIZE = (1440, 900)
STRATEGIES = ("off", "draft:n_max=4")
QUESTION = "What does os.path.join do? Show an example."
LEAST_RATIO = 0.97
SETTLE_S = 0.3
"""Seconds after the end of a reply in which the window finishes painting."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One reply at one side; seconds."""

    text: str
    n_tokens: int
    decode_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which reply is to run."""

    strategy: str
    seed: int
    n_tokens: int

    def of(self, command: StartTurn) -> StartTurn:
        """The command for it."""
        return replace(
            command,
            strategy=read_strategy(self.strategy),
            seed=self.seed,
            max_tokens=self.n_tokens,
            ignore_eog=True,
        )


# ------------------------------------------------------------------------------- with the window


class SteeredEngine(EngineThread):
    """The window's engine, whose turns are the measured ones."""

    wanted = Wanted("off", 1, 1)

    def submit(self, command: Command) -> None:
        """Start the turn that is measured in place of the one that the panel's settings ask for."""
        super().submit(self.wanted.of(command) if isinstance(command, StartTurn) else command)


class Window(QObject):
    """Runs in the window's process: reads a line per reply, answers with a line."""

    def __init__(self, program: Program, engine: SteeredEngine) -> None:
        super().__init__(program)
        self._program, self._engine = program, engine
        self._began = 0.0
        self._notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_line)
        self._is_ready = False
        program.pair.changed.connect(self._on_pair)
        program.signals.ended.connect(self._on_ended)

    @Slot(object)
    def _on_pair(self) -> None:
        status = self._program.pair.state.status
        if status == "ready" and not self._is_ready:
            self._is_ready = True
            say({"ready": True})
        elif status in {"failed", "dead"}:
            say({"problem": "The window cannot load the models."})

    @Slot()
    def _on_line(self) -> None:
        line = sys.stdin.readline()
        if not line.strip():
            self._notifier.setEnabled(False)
            self._program.window.close()
            return
        self._engine.wanted = Wanted(**json.loads(line))
        self._program.session.new()
        self._began = time.perf_counter()
        self._program.session.send(QUESTION)

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        wall_s = time.perf_counter() - self._began
        if reply.stats is None:
            say({"problem": str(reply.error)})
            return
        stats = reply.stats
        say(asdict(Ran(reply.text, stats.n_generated, stats.decode_s, wall_s)))


def say(data: dict[str, Any]) -> None:
    """Write one line to the process that asked."""
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


def run_window(target: ModelParams, draft: ModelParams) -> int:
    """Open the window and answer until the input ends."""
    app = make_application(["paceline"])
    settings = Settings(
        theme="light",
        strategies=("draft:n_max=4",),
        pairs=(SavedPair(target, draft, "bench"),),
        was_welcomed=True,
    )
    with tempfile.TemporaryDirectory(prefix="paceline-bench-") as folder:
        paths = Paths.below(Path(folder))
        engine = SteeredEngine(service_factory(settings.engine_host))
        program = Program(
            client=engine,
            infos=registry.available(),
            resources=resources(),
            paths=paths,
            chats_file=paths.data_dir / "chats.db",
            loaded=LoadedSettings(settings),
            models=Models(paths),
        )
        window, ending = Window(program, engine), Ending(app, program)
        window.setObjectName("bench")
        program.window.resize(*SIZE)
        program.start()
        app.exec()
    return int(not ending.engine_ended)


class WindowSide:
    """The window's process, seen from the one that measures."""

    def __init__(self, arguments: Sequence[str]) -> None:
        command = [sys.executable, __file__, "--window", *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._read()

    def run(self, wanted: Wanted) -> Ran:
        """Run one reply.

        Raises:
            BenchError: It failed, or the window's process ended.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(wanted)) + "\n")
        self._process.stdin.flush()
        return Ran(**self._read())

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line or '{"problem": "The window ended."}')
        if "problem" in answer:
            raise BenchError(answer["problem"])
        return answer

    def close(self) -> None:
        """Close the window."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# ------------------------------------------------------------------------------------ without it


class BareSide:
    """The same engine host without a window."""

    def __init__(self, pair: LoadPair) -> None:
        self._client = InlineClient(ProcessService)
        load(self._client, pair)

    def run(self, wanted: Wanted) -> Ran:
        """Run one reply.

        Raises:
            BenchError: It failed.
        """
        ends: list[tuple[float, Event]] = []

        def hear(event: Event) -> None:
            ends[:] = [(time.perf_counter(), event)]

        self._client.set_listener(hear)
        began = time.perf_counter()
        turn = StartTurn("bench", messages=(ChatMessage("user", QUESTION),))
        self._client.submit(wanted.of(turn))
        ended, event = ends[-1]
        if not isinstance(event, TurnFinished):
            raise BenchError(str(event))
        stats = event.stats
        return Ran(event.text, stats.n_generated, stats.decode_s, ended - began)

    def close(self) -> None:
        """End the engine."""
        self._client.close()


# ------------------------------------------------------------------------------------- comparing


def compare(
    sides: dict[str, WindowSide | BareSide], strategy: str, n_pairs: int, n_tokens: int
) -> dict[str, Any]:
    """Run the same replies at both sides, and say what the pairs tell."""
    pairs: list[dict[str, Ran]] = []
    loads = []
    for number in range(-1, n_pairs):  # the first pair warms both sides up and does not count
        wanted = Wanted(strategy, number + 2, n_tokens)
        order = list(sides) if number % 2 else list(reversed(sides))
        loads.append(os.getloadavg()[0])
        pair = {}
        for name in order:
            pair[name] = sides[name].run(wanted)
            time.sleep(SETTLE_S)
        pairs.append(pair)
    del pairs[0], loads[0]
    result: dict[str, Any] = {
        "strategy": strategy,
        "n_pairs": n_pairs,
        "n_different": sum(pair["window"].text != pair["bare"].text for pair in pairs),
        "load": figures(loads),
    }
    for clock in ("decode", "wall"):
        speeds = {
            name: [pair[name].n_tokens / getattr(pair[name], f"{clock}_s") for pair in pairs]
            for name in sides
        }
        result[clock] = {
            "ratio": figures(
                [w / b for w, b in zip(speeds["window"], speeds["bare"], strict=True)]
            ),
            **{f"{name}_tokens_per_s": figures(of_side) for name, of_side in speeds.items()},
            "pairs": [
                [round(w, 1), round(b, 1)]
                for w, b in zip(speeds["window"], speeds["bare"], strict=True)
            ],
        }
    return result


def figures(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": round(middle, 4), "q1": round(low, 4), "q3": round(high, 4)}


def twin() -> Path:
    """The heavy twin, made now if it is not there yet."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from make_pairs import path  # noqa: PLC0415 - it lies with the tests

    return path("twin-70m")


def main() -> int:
    """Measure, print, and say by the exit code whether the window is light enough."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", type=Path, help="a GGUF file; default: the 70M twin")
    parser.add_argument("--draft", type=Path, default=demo_pair()[1])
    parser.add_argument("--strategy", nargs="+", default=list(STRATEGIES), metavar="ID")
    parser.add_argument("--pairs", type=int, default=15, help="pairs of replies per strategy")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for the report, besides the output")
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error("--pairs: at least 2, for quartiles")
    file = options.target or twin()
    target, draft = (
        ModelParams(str(path), n_threads=options.threads) for path in (file, options.draft)
    )
    if options.window:
        return run_window(target, draft)
    arguments = ["--target", str(file), "--draft", str(options.draft)]
    sides: dict[str, WindowSide | BareSide] = {
        "window": WindowSide([*arguments, "--threads", str(options.threads)])
    }
    try:
        sides["bare"] = BareSide(LoadPair("bench", target, draft, kernels="auto"))
        results = [
            compare(sides, strategy, options.pairs, options.tokens) for strategy in options.strategy
        ]
    finally:
        for side in sides.values():
            side.close()
    text = json.dumps(results, indent=1)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n", encoding="utf-8")
    is_slow = any(result["decode"]["ratio"]["median"] < LEAST_RATIO for result in results)
    return int(is_slow or any(result["n_different"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
