"""The two pictures of the README: the first page with its example played, light and dark.

The example is the recording that is shipped (see `packaging/record_example.py`), so the pictures
show its figures on any machine. The starter answers in them where it was brought before.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from album.studio import Studio
from paceline import starter
from paceline.gui.look.current import look
from paceline.paths import Paths
from paceline.settings import Settings

SIZE = (1280, 760)
SCALE = 2


def take(folder: Path) -> None:
    """Save both pictures; main thread.

    Raises:
        OSError: One of them cannot be written.
        TimeoutError: The models do not load, or the example does not end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        theme="light", hub_offline=True, motion="reduced", was_told_of_learning=True
    )
    with tempfile.TemporaryDirectory(prefix="paceline-pictures-") as home:
        bring_starter(Path(home))
        studio = Studio(Path(home), folder, settings, "")
        studio.resize(*SIZE)
        studio.start()
        example = studio.program.welcome.page.example
        studio.until(lambda: example.is_over and studio.program.devices.reading is not None)
        for name, mode in (("window.png", "light"), ("window-dark.png", "dark")):
            look.set_mode(mode)
            studio.wait(600)
            studio.save(studio.window.grab().toImage(), name)
        studio.close()


def bring_starter(home: Path) -> None:
    """Put the starter of this computer into a home, if it is there."""
    file = starter.find(Paths.from_environment().models_dir)
    if file is not None:
        place = Paths.below(home).models_dir / starter.FOLDER / file.name
        place.parent.mkdir(parents=True)
        place.symlink_to(file.resolve())
