"""Takes the pictures of the window for the README: ``python packaging/screenshot.py``.

Drives the real window and the real engine with the demo pair through a few chats; in the last one
the strategy changes from the draft model to lookups in mid-reply. Saves the window in both themes
to ``resources/screenshots``. Exits with 1 and one line on stderr when something goes wrong.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.engine.drafters import registry
from paceline.gui.app import Ending, make_application
from paceline.gui.engine_thread import EngineThread
from paceline.gui.program import Program
from paceline.paths import resources
from paceline.settings import LoadedSettings, Settings

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.messages import StepCommitted

SIZE = (1440, 900)
PAINT_MS = 500
DRAFT, LOOKUP = "draft:n_max=4", "prompt-lookup:n_pred=6"
CHATS = (
    ("What does os.path.join do?", 80, 1, None),
    ("How do I use argparse?", 80, 7, None),
    ("How do I open a file?", 80, 7, None),
    ("Show me an example of a class.", 200, 2, 70),
)
"""Question, tokens at most, seed, and the step after which lookups take over."""


class Photographer(QObject):
    """Asks the questions one after the other, then saves both pictures."""

    def __init__(self, program: Program, folder: Path) -> None:
        super().__init__(program)
        self._program = program
        self._folder = folder
        self._questions = list(CHATS)
        self._switch_at: int | None = None
        self._is_dark = False
        self.problem = ""
        self._next = self._timer()
        self._next.timeout.connect(self._on_next)
        self._shoot = self._timer()
        self._shoot.timeout.connect(self._on_shoot)
        program.signals.grew.connect(self._on_grew)
        program.signals.ended.connect(self._on_ended)

    def _timer(self) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(PAINT_MS)
        return timer

    def start(self) -> None:
        """Open the window and begin."""
        self._program.window.resize(*SIZE)
        self._program.start()
        self._next.start()

    @Slot()
    def _on_next(self) -> None:
        if not self._questions:
            self._shoot.start()
            return
        text, max_tokens, seed, self._switch_at = self._questions.pop(0)
        self._program.speculation.use(DRAFT)
        sampling = self._program.window.panel.sampling
        sampling.max_tokens.setValue(max_tokens)
        sampling.is_seed_fixed.setChecked(True)
        sampling.seed.setValue(seed)
        self._program.session.new()
        self._program.session.send(text)

    @Slot(object, object)
    def _on_grew(self, reply: Reply, step: StepCommitted) -> None:
        del reply
        if self._switch_at is not None and step.step >= self._switch_at:
            self._switch_at = None
            self._program.speculation.use(LOOKUP)

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        if reply.error is not None:
            self.problem = reply.error.message
            self._program.window.close()
            return
        self._next.start()

    @Slot()
    def _on_shoot(self) -> None:
        name = "window-dark.png" if self._is_dark else "window.png"
        if not self._program.window.grab().save(str(self._folder / name)):
            self.problem = f"{name} cannot be written"
        if self._is_dark or self.problem:
            self._program.window.close()
            return
        self._is_dark = True
        self._program.themes.set_mode("dark")
        self._shoot.start()


def main() -> int:
    """Take both pictures; the exit code."""
    app = make_application(["paceline"])
    folder = resources() / "screenshots"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        program = Program(
            client=EngineThread(),
            infos=registry.available(),
            resources=resources(),
            settings_file=Path(home) / "settings.json",
            cache_dir=Path(home) / "cache",
            data_dir=Path(home) / "data",
            loaded=LoadedSettings(Settings(theme="light")),
        )
        photographer = Photographer(program, folder)
        ending = Ending(app, program)
        photographer.start()
        app.exec()
    if photographer.problem or not ending.engine_ended:
        sys.stderr.write(f"{photographer.problem or 'the engine did not end'}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
