"""The whole program under a user who never rests, for tests that kill or close it.

``python -m gui.driven SEED [SECONDS]``: asks the built-in pair and gives commands at random. On
stdout stands what the window has shown: "sent" and "ended" with a message's id and text, as JSON.
With SECONDS it closes its window so long after it was shown, and says "closes" before.
"""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from paceline.gui import app, program
from paceline.gui.beginning import begin

if TYPE_CHECKING:
    from paceline.chat.reply import Reply

COMMANDS = (
    "new_chat", "settings", "about", "shortcuts", "run", "palette", "copy_log",
    "flip_theme", "larger", "smaller", "token_colours", "sidebar", "panel", "stop", "regenerate",
    "reload", "stop_loading", "demo_pair", "no_draft", "choose_models", "downloads", "pin",
)  # fmt: skip
"""Whatever leaves chats where they are."""


class Driven(program.Program):
    """A program with its user."""

    def start(self) -> None:
        super().start()
        self._drawn = random.Random(int(sys.argv[1]))
        # All of them, so that a name that has changed fails whatever is drawn.
        self._commands = [getattr(self.window.actions_, name) for name in COMMANDS]
        self._n_asked = 0
        self.window.panel.sampling.max_tokens.setValue(40)
        self.signals.ended.connect(self._on_ended)
        self._hands = QTimer(self)
        self._hands.timeout.connect(self._act)
        self._hands.start(100)
        if len(sys.argv) > 2:
            QTimer.singleShot(round(1000 * float(sys.argv[2])), self._close)
        say("opened")

    def _act(self) -> None:
        if self._drawn.random() < 0.3:
            # A dialog keeps nothing from being closed, but takes the commands of the window.
            self._drawn.choice(self._commands).trigger()
        elif self.session.active is None:
            self._n_asked += 1
            text = f"Question {self._n_asked} of {sys.argv[1]}: what is a list?"
            if self.chat.send(text):
                question = self.shown.conversation.path()[-2]
                self._say_when_shown("sent", question.message_id, text)

    def _on_ended(self, reply: Reply) -> None:
        if reply.text:
            self._say_when_shown("ended", reply.message_id, reply.text)

    @staticmethod
    def _say_when_shown(what: str, message_id: str, text: str) -> None:
        QTimer.singleShot(0, lambda: say(what, message_id, text))

    def _close(self) -> None:
        say("closes")
        self.window.close()


def say(*words: str) -> None:
    """Print a line at once."""
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    app.Program = Driven  # type: ignore[misc]
    sys.exit(app.run(begin(["paceline"], [])))
