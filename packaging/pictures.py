#!/usr/bin/env python3
"""Makes all screenshots: ``python packaging/pictures.py OUT [--theme light|dark] [--scale 2]``.

The window, the engine, its process and the database are real; chats with code, tables and
reasoning, which the demo pair cannot write, are scripted and stored (see `album/texts.py`). Without
options both themes are photographed at 1100x700 and 1600x1000, and the small size once more at
scale 2, each in a process of its own. ``--readme`` makes the two pictures of the README in
``resources/screenshots`` instead.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from album import machines, measuring, programs, readme, scenes, troubles
from album.studio import Studio, large_screen
from paceline import logs
from paceline.gui.beginning import make_application
from paceline.gui.kit.translation import install_language
from paceline.params import ReplySettings
from paceline.paths import Paths, resources
from paceline.settings import ReplyPreset, Settings

SIZES = ((1100, 700), (1600, 1000))
SCENES: tuple[scenes.Scene, ...] = (
    *(scenes.first_run, scenes.empty, scenes.fill, scenes.stored, scenes.dialogs, scenes.parts),
    *(scenes.live, scenes.reading, measuring.auto, measuring.compared, measuring.benchmark),
    *(
        programs.served,
        machines.machines,
        machines.placed,
        machines.lost,
        troubles.broken_files,
        troubles.interrupted,
        troubles.full_disk,
    ),
)
SMALL_SCENES: tuple[scenes.Scene, ...] = (scenes.narrow, scenes.text_sizes)
"""Taken in small windows only, where there is least room."""


def take(options: argparse.Namespace) -> None:
    """Take the pictures of one theme in this process."""
    suffix = f"-{options.theme}" + (f"@{options.scale}x" if options.scale > 1 else "")
    suffix += f"-{options.language}" if options.language != "en" else ""
    settings = Settings(
        theme=options.theme,
        language=options.language,
        reply_presets=(ReplyPreset("Pictures", ReplySettings(max_tokens=300, seed=2)),),
        default_preset="Pictures",
        hub_offline=True,
        motion="full" if options.motion else "reduced",
    )
    for size in SIZES if options.scale == 1 else SIZES[:1]:
        with (
            tempfile.TemporaryDirectory(prefix="paceline-pictures-") as home,
            troubles.small_disk(Paths.below(Path(home)).data_dir),
        ):
            logs.set_up(Paths.below(Path(home)).log_dir)
            studio = Studio(Path(home), options.out, settings, suffix, only=tuple(options.only))
            try:
                studio.resize(*size)
                studio.start()
                for scene in (*SCENES, *(SMALL_SCENES if size == SIZES[0] else ())):
                    scene(studio)
            finally:
                studio.close()
                logs.tear_down()
            print("\n".join(studio.made), flush=True)


def take_all() -> int:
    """Take the pictures of both themes at both scales, each in a process; the exit code."""
    for theme in ("light", "dark"):
        for scale in (1, 2):
            done = subprocess.run(
                [sys.executable, __file__, *sys.argv[1:], "--theme", theme, "--scale", str(scale)],
                env={**os.environ, "QT_SCALE_FACTOR": str(scale)},
                check=False,
            )
            if done.returncode:
                return done.returncode
    return 0


def main() -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, nargs="?", help="folder for the pictures")
    parser.add_argument("--readme", action="store_true", help="make the README's pictures instead")
    parser.add_argument("--theme", choices=("light", "dark"))
    parser.add_argument("--scale", type=int, choices=(1, 2), default=1)
    parser.add_argument("--language", default="en", help="of the interface, e.g. de")
    parser.add_argument("--motion", action="store_true", help="let things move")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="keep these alone")
    options = parser.parse_args()
    if options.readme:
        os.environ["QT_SCALE_FACTOR"] = str(readme.SCALE)
    elif options.out is None:
        parser.error("say where the pictures go")
    elif not options.theme:
        return take_all()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("QT_QPA_PLATFORM", large_screen(Path(folder)))
        app = make_application(["paceline"])
        app.setQuitOnLastWindowClosed(False)
        install_language(options.language, resources())
        if options.readme:
            readme.take(options.out or resources() / "screenshots")
        else:
            options.out.mkdir(parents=True, exist_ok=True)
            take(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
