#!/usr/bin/env python3
"""The cost of many chats: ``python packaging/bench_start.py [--keep FILE] [--json OUT]``.

Builds a database of 10,000 conversations with 200,000 messages (`benchmarks/many_chats.py`), then
measures with the real window on it, offscreen unless QT_QPA_PLATFORM says otherwise:

* ``start``: from the start of a new Python to the first idle moment of the event loop after the
  first painting, the last chat shown, the models not loaded yet; several times, each in a process
  of its own; ``start_cpu`` the processor time of the same, which other programs change less;
* ``open``: from choosing a chat to its being painted, median and worst of many, ``open_longest``
  the same for one of 10,000 messages; ``settled`` until nothing near the view is left to build;
* ``theme``: from a switch between light and dark to the window's being painted;
* ``search``: from the moment at which the search is asked for, after the pause that a typing
  person makes, to its hits being painted.

The database may be kept for another run. Limits: 1,500 ms for a start, 150 for a chat, 200 for a
theme and 50 for a search; the exit code says whether all were kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer

from benchmarks import many_chats
from paceline.gui.app import make_program
from paceline.gui.beginning import make_application
from paceline.gui.chat.view import WritingPace
from paceline.paths import Paths
from paceline.settings import SETTINGS_FILE, Settings, WindowSettings, save_settings
from paceline.storage.archive import Archive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QApplication

    from paceline.gui.program import Program

LIMITS_MS = {"start": 1_500.0, "start_cpu": 1_500.0, "open": 150.0, "open_longest": 150.0,
             "theme": 200.0, "search": 50.0}  # fmt: skip
N_STARTS, N_OPENED, N_SEARCHES, N_THEMES = 5, 200, 60, 12
SIZE = (1440, 900)
CHATS = "chats.db"
WORDS = ("file", "class", "the error", "return self", "def __init__", "import", "zip", "unicode")


def build(home: Path, n_conversations: int, n_messages: int) -> None:
    """Fill the database below this folder, and let the settings open one of its chats."""
    (home / "data").mkdir(parents=True, exist_ok=True)
    archive = Archive(home / "data" / CHATS)
    archive.open()
    many_chats.build(archive, many_chats.Texts(), n_conversations, n_messages)
    last = max(archive.summaries(), key=lambda summary: summary.changed_s)
    archive.close()
    settings = Settings(window=WindowSettings(open_conversation=last.conversation_id))
    save_settings(home / "config" / SETTINGS_FILE, settings)


def open_window(home: Path) -> tuple[QApplication, Program]:
    """The window as the program makes it, on these files; shown and painted once."""
    app = make_application(["paceline"])
    program = make_program(Paths.below(home))
    program.window.resize(*SIZE)
    program.start()
    app.processEvents()
    return app, program


def close_window(app: QApplication, program: Program) -> None:
    """End the program as its user would."""
    program.ended.connect(app.quit)
    program.window.close()


def one_start(home: Path, began: float) -> None:
    """Print, in a process of its own, the milliseconds since `began` on the system's clock."""
    app, program = open_window(home)
    answer = {
        "start": 1000 * (time.time() - began),
        "start_cpu": 1000 * time.process_time(),
        "n_shown": len(program.shown.conversation.path()),
        "n_listed": len(program.session.summaries),
    }
    print(json.dumps(answer))
    sys.stdout.flush()
    close_window(app, program)


def starts(home: Path) -> dict[str, list[float]]:
    """Milliseconds of some starts of a program that is compiled, as an installed one is.

    The first one is left out: it compiles, and warms the disk's cache.
    """
    times: dict[str, list[float]] = {"start": [], "start_cpu": []}
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
    for _ in range(N_STARTS + 1):
        command = [sys.executable, __file__, "--one-start", str(time.time()), "--keep", str(home)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=120, env=env
        )
        answer = json.loads(done.stdout.strip().splitlines()[-1])
        if not answer["n_shown"] or not answer["n_listed"]:
            raise RuntimeError(f"the window shows no chats: {answer}")
        for name, found in times.items():
            found.append(answer[name])
    return {name: found[1:] for name, found in times.items()}


def in_window(home: Path) -> dict[str, list[float]]:
    """Open and search in one window, with the models loaded and idle."""
    app, program = open_window(home)
    loading = perf_counter()
    while program.pair.state.status != "ready" and perf_counter() - loading < 120:
        app.processEvents()
        time.sleep(0.01)
    ids = sorted(summary.conversation_id for summary in program.session.summaries)
    longest, some = ids[0], random.Random(1).sample(ids[1:], min(N_OPENED, len(ids) - 1))
    found: dict[str, list[float]] = {"open": [], "settled": [], "open_longest": []}
    found |= {"theme": [], "search": []}
    for conversation_id in some:
        shown, settled = opened(app, program, conversation_id)
        found["open"].append(shown)
        found["settled"].append(settled)
    for _ in range(5):
        found["open_longest"].append(opened(app, program, longest)[0])
        opened(app, program, some[0])
    found["theme"] = [themed(app, program) for _ in range(N_THEMES)]
    drawn = random.Random(2)
    for number in range(N_SEARCHES):
        words = WORDS[number % len(WORDS)] if number % 2 else drawn.choice(WORDS)[:4]
        found["search"].append(searched(app, program, words))
    close_window(app, program)
    app.processEvents()
    return found


def opened(app: QApplication, program: Program, conversation_id: str) -> tuple[float, float]:
    """Milliseconds until a chat is painted, and until its view has nothing left to do."""
    began = perf_counter()
    program.shown.show(conversation_id)
    app.processEvents()
    shown = perf_counter() - began
    chat, direct = program.window.chat_pane.chat, Qt.FindChildOption.FindDirectChildrenOnly
    timers = [*chat.findChildren(QTimer, options=direct), chat.findChildren(WritingPace)[0].timer]
    while any(timer.isActive() for timer in timers):
        app.processEvents()
    settled = perf_counter() - began
    return 1000 * shown, 1000 * settled


def themed(app: QApplication, program: Program) -> float:
    """Milliseconds until the window is painted in the other theme; leaves it alone a while."""
    began = perf_counter()
    program.window.actions_.flip_theme.trigger()
    app.processEvents()
    ms = 1000 * (perf_counter() - began)
    while perf_counter() - began < 1.0:  # what was thrown away is made ready again
        app.processEvents()
        time.sleep(0.005)
    return ms


def searched(app: QApplication, program: Program, words: str) -> float:
    """Milliseconds until the hits of a search are painted."""
    sidebar = program.window.sidebar
    sidebar.search.setText(words)
    app.processEvents()
    began = perf_counter()
    sidebar.finder.search_wanted.emit(words)
    app.processEvents()
    ms = 1000 * (perf_counter() - began)
    sidebar.search.clear()
    app.processEvents()
    return ms


def figures(times: Sequence[float]) -> dict[str, float]:
    """Median, worst and number of some milliseconds."""
    return {
        "median_ms": round(statistics.median(times), 1),
        "worst_ms": round(max(times), 1),
        "n": len(times),
    }


def measure(home: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Build what is missing, and measure everything."""
    result: dict[str, Any] = {}
    if not (home / "data" / CHATS).exists():
        result["build_s"] = round(timed(lambda: build(home, *options.size)), 1)
    found = starts(home) | in_window(home)
    result.update({name: figures(times) for name, times in found.items()})
    result["late"] = [n for n, limit in LIMITS_MS.items() if result[n]["median_ms"] > limit]
    return result


def timed(action: Callable[[], None]) -> float:
    """Seconds that it takes."""
    began = perf_counter()
    action()
    return perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether every limit was kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--keep", type=Path, help="a folder for the database, or one that has it")
    parser.add_argument("--json", type=Path, help="where the figures go, besides stdout")
    parser.add_argument("--one-start", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.size = (options.conversations, options.messages)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if options.one_start is not None:
        one_start(options.keep, options.one_start)
        return 0
    with tempfile.TemporaryDirectory(prefix="paceline-bench-") as folder:
        result = measure(options.keep or Path(folder), options)
    text = json.dumps(result, indent=1)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n", encoding="utf-8")
    return int(bool(result["late"]))


if __name__ == "__main__":
    sys.exit(main())
