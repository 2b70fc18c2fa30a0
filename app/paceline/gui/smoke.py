"""``paceline --smoke-test OUT.png``: the real window chats once with the demo pair, without a user.

Everything is real: window, engine and its process, native library, models. Only the settings are
the defaults; nothing is read from the user's folders and nothing is written there.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.catalog.models import Models
from paceline.chat.reply import Reply
from paceline.engine.draft import registry
from paceline.errors import UserError
from paceline.gui.app import Ending
from paceline.gui.beginning import make_application
from paceline.gui.engine_bridge import EngineBridge
from paceline.gui.program import Program
from paceline.hosting.threaded import ThreadedClient, service_factory
from paceline.messages import EngineDied, LoadFailed
from paceline.params import ReplySettings
from paceline.paths import Paths, resources
from paceline.settings import LoadedSettings, ReplyPreset, Settings

TIME_LIMIT_S = 180
SIZE = (1440, 900)
STRATEGY = "draft:n_max=4"
SEED = 2
MAX_TOKENS = 200
QUESTION = "Show me an example of a class."

_PAINT_MS = 400
"""Time for the chat view to write the rest of the text and for the plot's last update."""


class SmokeTest(QObject):
    """Sends one message, takes the picture when its reply is finished, and closes the window."""

    def __init__(self, program: Program, out: Path) -> None:
        super().__init__(program)
        self._program = program
        self._out = out
        self._reply: Reply | None = None
        self.problem = ""
        self.result: dict[str, object] = {}
        program.signals.ended.connect(self._on_ended)
        program.signals.died.connect(self._on_died)
        program.pair.failed.connect(self._on_load_failed)
        self._limit = QTimer(self, singleShot=True, interval=TIME_LIMIT_S * 1000)
        self._limit.timeout.connect(self._on_limit)
        self._paint = QTimer(self, singleShot=True, interval=_PAINT_MS)
        self._paint.timeout.connect(self._on_painted)

    def start(self) -> None:
        """Open the window and send the message; the session sends it once the models are loaded."""
        self._limit.start()
        self._program.window.resize(*SIZE)
        self._program.start()
        self._program.chat.send(QUESTION)

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        if reply.error is not None:
            self._fail(f"{reply.error.message} {reply.error.hint}")
            return
        self._reply = reply
        self._paint.start()

    @Slot()
    def _on_painted(self) -> None:
        reply = self._reply
        if reply is None or reply.stats is None:
            self._fail("The reply has no figures.")
            return
        stats = reply.stats
        self.result = {
            "n_drafted": stats.n_drafted,
            "n_accepted": stats.n_accepted,
            "text": reply.text,
            "tokens_per_s": round(stats.tokens_per_s, 2),
        }
        if not reply.text or not stats.n_drafted:
            self._fail(f"The reply is not what it should be: {json.dumps(self.result)}")
        elif not self._program.window.grab().save(str(self._out), "PNG"):
            self._fail(f"The picture cannot be written to {self._out}.")
        else:
            self._program.window.close()

    @Slot(object)
    def _on_died(self, death: EngineDied) -> None:
        self._fail(death.reason)

    @Slot(object)
    def _on_load_failed(self, failure: LoadFailed) -> None:
        self._fail(f"{failure.message} {failure.hint}")

    @Slot()
    def _on_limit(self) -> None:
        self._fail(f"The reply was not finished within {TIME_LIMIT_S} s.")

    def _fail(self, problem: str) -> None:
        self.problem = self.problem or problem.strip()
        self._program.window.close()


def run_smoke_test(out: Path) -> int:
    """Run the test, print the result as JSON, and return 0.

    Raises:
        UserError: The test failed; the error is the line for stderr.
    """
    app = make_application(["paceline"])
    preset = ReplyPreset("Smoke test", ReplySettings(max_tokens=MAX_TOKENS, seed=SEED))
    settings = Settings(
        theme="light",
        strategies=(STRATEGY,),
        reply_presets=(preset,),
        default_preset=preset.name,
    )
    with tempfile.TemporaryDirectory(prefix="paceline-smoke-") as folder:
        paths = Paths.below(Path(folder))
        program = Program(
            client=EngineBridge(ThreadedClient(service_factory(settings.host_in_force))),
            infos=registry.available(),
            resources=resources(),
            paths=paths,
            loaded=LoadedSettings(settings),
            models=Models(paths),
        )
        test = SmokeTest(program, out)
        ending = Ending(app, program)
        test.start()
        app.exec()
    if not ending.engine_ended:
        sys.stderr.write("paceline: The engine's thread did not end.\n")
        sys.stderr.flush()
        os._exit(1)  # destroying a running thread would abort with a worse message
    if test.problem:
        raise UserError("smoke-test", test.problem)
    sys.stdout.write(json.dumps(test.result, ensure_ascii=False) + "\n")
    return 0
