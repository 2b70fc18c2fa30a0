#!/usr/bin/env python3
"""Makes all screenshots: ``python packaging/pictures.py OUT [--theme light|dark] [--scale 2]``.

The window, the engine, its process and the database are real; chats with code, tables and
reasoning, which the demo pair cannot write, are scripted and stored (see `album/texts.py`). Without
options both themes are photographed at 1100x700 and 1600x1000, and the small size once more at
scale 2, each in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from album import scenes
from album.studio import Studio
from paceline import logs
from paceline.gui.app import make_application
from paceline.paths import Paths
from paceline.settings import Settings

SIZES = ((1100, 700), (1600, 1000))


def take(out: Path, theme: str, scale: int) -> int:
    """Take the pictures of one theme in this process; the exit code."""
    app = make_application(["paceline"])
    app.setQuitOnLastWindowClosed(False)
    suffix = f"-{theme}" + (f"@{scale}x" if scale > 1 else "")
    for size in SIZES if scale == 1 else SIZES[:1]:
        settings = Settings(
            theme=theme,  # type: ignore[arg-type]
            seed=2,
            max_tokens=300,
            hub_offline=True,
            motion="reduced",
        )
        with tempfile.TemporaryDirectory(prefix="paceline-pictures-") as home:
            logs.set_up(Paths.below(Path(home)).log_dir)
            studio = Studio(Path(home), out, settings, suffix)
            studio.resize(*size)
            studio.start()
            for scene in scenes.SCENES:
                scene(studio)
            if size == SIZES[0]:
                scenes.narrow(studio)
            studio.close()
            logs.tear_down()
            print("\n".join(studio.made), flush=True)
    return 0


def main() -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("--theme", choices=("light", "dark"))
    parser.add_argument("--scale", type=int, choices=(1, 2), default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if options.theme:
        return take(options.out, options.theme, options.scale)
    for theme in ("light", "dark"):
        for scale in (1, 2):
            command = [sys.executable, __file__, str(options.out), "--theme", theme]
            done = subprocess.run(
                [*command, "--scale", str(scale)],
                env={**os.environ, "QT_SCALE_FACTOR": str(scale)},
                check=False,
            )
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
