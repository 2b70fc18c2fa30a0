"""A count of the functions that a message and a step pass through.

``python tests/architecture/hops.py``: the real window, its engine in a thread, and the demo pair. A
profiler looks at the stack where the way changes threads and where it ends, and counts the
program's functions on it; the largest counts of each place are added.

- a message: the send button to `Broker.request`, and the engine's thread to `LlamaModel.decode`;
- a step: `LlamaModel.decode`'s caller to `Ticket.tell`, which emits the Qt signal, the session's
  event to the record of its tokens, and the timer to `QTextCursor.insertText`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "app"))

from dataclasses import replace

from PySide6.QtCore import QTimer

from paceline.gui import smoke

PLACES = ("message: button to queue", "message: queue to decode", "step: decode to signal")
PLACES += ("step: event to tokens", "step: timer to text")


class Counter:
    """Stacks of the program's functions at the places that count."""

    def __init__(self) -> None:
        self.stacks: dict[str, list[str]] = {place: [] for place in PLACES}

    def start(self) -> None:
        """Look at every call from now on, in this thread and in those that are started later."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call":
            name = getattr(arg, "__name__", "")
            if name == "insertText":
                self._note("step: timer to text", frame)
        elif event == "call":
            code = frame.f_code
            if code.co_name == "request" and code.co_filename.endswith("hosting/broker.py"):
                self._note("message: button to queue", frame)
            elif code.co_name == "tell" and code.co_filename.endswith("hosting/broker.py"):
                self._note("step: decode to signal", frame)
            elif code.co_name == "decode" and code.co_filename.endswith("llama/model.py"):
                self._note("message: queue to decode", frame)
            elif "provenance" in code.co_filename:
                self._note("step: event to tokens", frame)

    def _note(self, place: str, frame: FrameType | None) -> None:
        stack = []
        while frame is not None:
            if "/paceline/" in frame.f_code.co_filename and "smoke" not in frame.f_code.co_filename:
                stack.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_qualname}")
            frame = frame.f_back
        if place == "message: button to queue" and not any("_on_send" in name for name in stack):
            return
        if place == "step: decode to signal" and not any("Turn.run" in name for name in stack):
            return
        if place == "step: event to tokens" and not any("on_event" in name for name in stack):
            return
        if place == "step: timer to text" and any("_on_send" in name for name in stack):
            return
        if len(stack) > len(self.stacks[place]):
            self.stacks[place] = stack[::-1]


def main() -> None:
    """Run it and print the stacks."""
    counter = Counter()
    usual, start = smoke.Settings, smoke.SmokeTest.start

    def typed(test: Any) -> None:
        program = test._program
        program.chat.send = lambda *_args, **_named: None  # the message comes from the button
        start(test)
        del program.chat.send
        timer = QTimer(program, interval=50)

        def send() -> None:
            composer = program.window.chat_pane.composer
            if program.pair.state.pair is not None and program.pair.state.status == "ready":
                timer.stop()
                composer.edit.setPlainText(smoke.QUESTION)
                composer._on_send()

        timer.timeout.connect(send)
        timer.start()

    smoke.Settings = lambda **named: replace(usual(**named), engine_host="thread")
    smoke.SmokeTest.start = typed
    counter.start()
    with tempfile.TemporaryDirectory() as folder:
        smoke.run_smoke_test(Path(folder) / "out.png")
    sys.setprofile(None)
    for place, stack in counter.stacks.items():
        print(f"{len(stack):3} {place}: {' → '.join(stack)}")
    print(f"{sum(map(len, counter.stacks.values())):3} in all")


if __name__ == "__main__":
    main()
