"""The cost of streaming to the window: ``python packaging/benchmarks replay [--json OUT]``.

A reply of 4,000 tokens, made from a seed (`replay_script.py`), is played back at 200 tokens per
second into a conversation of 300 messages, in the real window with a real database, offscreen
unless QT_QPA_PLATFORM says otherwise. Reported, as JSON:

* ``gui_share``: processor time of the GUI thread while the reply streams, as a share of one core;
* ``longest_gap_ms``: the longest time between two timeouts of a timer of 10 ms, from the first step
  to half a second after the last, and ``gaps_over_50_ms``, how many were longer than that;
* ``longest_busy_ms``: the most processor time that the GUI thread took in one of these gaps, which
  a busy machine leaves as it is;
* ``rss_mib``: resident memory at each thousand tokens, and ``growth_bytes_per_token`` after the
  first thousand;
* ``open_ms``: how long showing the conversation took, and ``paint_ms``, its first painting.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter, thread_time
from types import MappingProxyType

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from benchmarks.replay_client import ReplayClient
from benchmarks.replay_script import long_text
from paceline.conversation import Conversation, Message
from paceline.engine.draft import registry
from paceline.gui.beginning import make_application
from paceline.gui.program import Program
from paceline.paths import Paths, resources
from paceline.run_record import RunRecord
from paceline.settings import LoadedSettings, Settings
from scripted import record_of

SIZE = (1440, 900)
SETTLE_MS = 1_500
AFTER_MS = 500
PULSE_MS = 10


@dataclass
class Figures:
    """Measured figures; see the module."""

    open_ms: float = 0.0
    paint_ms: float = 0.0
    gui_share: float = 0.0
    longest_gap_ms: float = 0.0
    gaps_over_50_ms: int = 0
    longest_busy_ms: float = 0.0
    rss_mib: dict[int, float] = field(default_factory=dict)
    growth_bytes_per_token: float = 0.0


class Watch(QObject):
    """Starts the reply in an opened conversation, and measures until its end."""

    def __init__(
        self,
        program: Program,
        client: ReplayClient,
        chat: tuple[Conversation, dict[str, RunRecord]],
    ) -> None:
        super().__init__(program)
        self._chat = chat
        self._program, self._client = program, client
        self.figures = Figures()
        self._start_s = self._start_cpu_s = self._last_s = self._last_cpu_s = 0.0
        self._gaps: list[float] = []
        self._pulse = QTimer(self)
        self._pulse.setTimerType(Qt.TimerType.PreciseTimer)
        self._pulse.setInterval(PULSE_MS)
        self._pulse.timeout.connect(self._on_pulse)
        client.began.connect(self._on_began)
        client.ended.connect(self._on_ended)

    @Slot()
    def start(self) -> None:
        """Open the conversation, then ask."""
        shown = self._program.shown
        name = self._program.session.conversations.add_copy(*self._chat)
        shown.show_copy(name)
        shown.new()
        begin = perf_counter()
        shown.show(name)
        self.figures.open_ms = 1e3 * (perf_counter() - begin)
        begin = perf_counter()
        self._program.window.chat_pane.repaint()
        self.figures.paint_ms = 1e3 * (perf_counter() - begin)
        QTimer.singleShot(SETTLE_MS, self, self._on_settled)

    @Slot()
    def _on_settled(self) -> None:
        self._program.chat.send("Tell me everything.")

    @Slot()
    def _on_began(self) -> None:
        self._start_s = self._last_s = perf_counter()
        self._start_cpu_s = self._last_cpu_s = thread_time()
        self._pulse.start()

    @Slot()
    def _on_pulse(self) -> None:
        now, busy_s = perf_counter(), thread_time()
        self._gaps.append(now - self._last_s)
        busy_ms = 1e3 * (busy_s - self._last_cpu_s)
        self.figures.longest_busy_ms = max(self.figures.longest_busy_ms, busy_ms)
        self._last_s, self._last_cpu_s = now, busy_s
        thousand = self._client.n_tokens // 1_000 * 1_000
        if thousand and thousand not in self.figures.rss_mib:
            self.figures.rss_mib[thousand] = rss_bytes() / 2**20

    @Slot()
    def _on_ended(self) -> None:
        spent, took = thread_time() - self._start_cpu_s, perf_counter() - self._start_s
        self.figures.gui_share = spent / took
        QTimer.singleShot(AFTER_MS, self, self._on_over)

    @Slot()
    def _on_over(self) -> None:
        self._pulse.stop()
        figures, counts = self.figures, sorted(self.figures.rss_mib)
        figures.longest_gap_ms = 1e3 * max(self._gaps)
        figures.gaps_over_50_ms = sum(gap > 0.05 for gap in self._gaps)
        if len(counts) > 1:
            grown = figures.rss_mib[counts[-1]] - figures.rss_mib[counts[0]]
            figures.growth_bytes_per_token = grown * 2**20 / (counts[-1] - counts[0])
        self._program.window.close()


def rss_bytes() -> int:
    """Resident memory of this process (Linux; elsewhere 0)."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def make_conversation(n_messages: int) -> tuple[Conversation, dict[str, RunRecord]]:
    """A chat of short questions and replies with tables and code, and the replies' steps."""
    messages, records = {}, {}
    parent = None
    for number in range(n_messages):
        name = f"message-{number}"
        if number % 2 == 0:
            text = f"Question {number}: what does part {number // 2} do, and why?"
            messages[name] = Message.of_text(name, parent, "user", text)
        else:
            text = "".join(long_text(150, number))
            messages[name] = Message.of_text(name, parent, "assistant", text)
            records[name] = record_of(name, text, number)
        parent = name
    conversation = Conversation(
        "replay", "Replay", messages=MappingProxyType(messages), leaf_id=parent
    )
    return conversation, records


def measure(n_tokens: int, tokens_per_s: float, n_messages: int) -> Figures:
    """Play the reply once."""
    app = make_application(["paceline"])
    app.setQuitOnLastWindowClosed(True)
    client = ReplayClient(long_text(n_tokens, 1), tokens_per_s)
    with tempfile.TemporaryDirectory() as home:
        program = Program(
            client=client,
            infos=registry.available(),
            resources=resources(),
            paths=Paths.below(Path(home)),
            chats_file=Path(home) / "chats.db",
            loaded=LoadedSettings(Settings(theme="light", strategies=("suffix+draft",))),
        )
        program.window.resize(*SIZE)
        program.start()
        watch = Watch(program, client, make_conversation(n_messages))
        QTimer.singleShot(SETTLE_MS, watch, watch.start)
        app.exec()
    return watch.figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; the exit code."""
    parser = argparse.ArgumentParser(prog="python packaging/benchmarks replay")
    parser.add_argument("--tokens", type=int, default=4_000)
    parser.add_argument("--speed", type=float, default=200.0, help="tokens per second")
    parser.add_argument("--messages", type=int, default=300)
    parser.add_argument("--json", type=Path, help="a file for the report, besides the output")
    options = parser.parse_args(arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    asked = {
        "tokens": options.tokens,
        "tokens_per_s": options.speed,
        "messages": options.messages,
    }
    found = measure(options.tokens, options.speed, options.messages)
    report = json.dumps(asked | asdict(found), indent=2)
    print(report)
    if options.json:
        options.json.write_text(report + "\n", encoding="utf-8")
    return 0
