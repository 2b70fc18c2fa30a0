"""The two pictures of the README: one chat with the demo pair's heavy twin, light and dark.

The demo target is so small that no draft makes it faster. Its twin writes the same text, token by
token, at the price of a model of 70 M parameters (see `tests/make_pairs.py`), which shows what
drafts do for models of a usual size; the window names it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from album import texts
from album.studio import Studio
from paceline.chat.pair import Pair
from paceline.engine.draft.strategy import read_strategy
from paceline.gui.look.current import look
from paceline.messages import ModelParams
from paceline.params import DraftModel, ReplySettings
from paceline.paths import resources
from paceline.settings import ReplyPreset, Settings

SIZE = (1100, 640)
SCALE = 2
TWIN = "twin-70m"
SEED = 2
MAX_TOKENS = 170
QUESTION = "Show me an example of a class."
STRATEGY = "suffix+draft:draft.n_max=4:draft.p_min=0.6"
_MAKE_PAIRS = Path(__file__).resolve().parents[2] / "tests" / "make_pairs.py"


def twin() -> Path:
    """Return the twin's file; the first time it is made."""
    made = subprocess.run(
        [sys.executable, str(_MAKE_PAIRS), TWIN], check=True, capture_output=True, text=True
    )
    return Path(made.stdout.split()[-1])


def take(folder: Path) -> None:
    """Save both pictures; main thread.

    Raises:
        OSError: One of them cannot be written.
        subprocess.CalledProcessError: The twin cannot be made.
        TimeoutError: The models do not load, or the reply does not end.
    """
    target = twin()
    folder.mkdir(parents=True, exist_ok=True)
    preset = ReplyPreset("Pictures", ReplySettings(max_tokens=MAX_TOKENS, seed=SEED))
    settings = Settings(
        theme="light",
        hub_offline=True,
        motion="reduced",
        reply_presets=(preset,),
        default_preset=preset.name,
        was_told_of_learning=True,
    )
    with tempfile.TemporaryDirectory(prefix="paceline-pictures-") as home:
        studio = Studio(Path(home), folder, settings, "")
        studio.resize(*SIZE)
        studio.start()
        program = studio.program
        program.welcome.leave()
        for conversation, records in texts.many(4):
            name = program.session.conversations.add_copy(conversation, records)
            program.shown.show_copy(name)
        draft = resources() / "models" / "paceline-demo-draft-q8_0.gguf"
        program.models.load_models(
            Pair(ModelParams(str(target)), DraftModel(ModelParams(str(draft))))
        )
        studio.until(lambda: program.pair.state.status != "ready")
        studio.until_ready()
        program.speculation.use(read_strategy(STRATEGY))
        program.shown.new()
        program.chat.send(QUESTION)
        studio.until(lambda: len(program.shown.conversation.path()) == 2)
        studio.until_idle()
        for name, mode in (("window.png", "light"), ("window-dark.png", "dark")):
            look.set_mode(mode)
            studio.wait(600)
            studio.save(studio.window.grab().toImage(), name)
        studio.close()
