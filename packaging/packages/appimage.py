"""The AppImage: one file that holds the program's folder, and runs without being unpacked.

The folder becomes an AppDir as it is: `AppRun` is its start script, the description is where
software centres look for it, and the menu entry and the icon lie at the top. Standard library and
appimagetool only.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from bootstrap import BootstrapError
from packages.archive import made_at
from packages.share import ID
from packages.tools import run_tool

TOOL = "APPIMAGETOOL"
"""Environment variable with the path of appimagetool if it is not in PATH."""


def check() -> str:
    """Return the path of appimagetool; raises `BootstrapError` if it is not installed."""
    tool = shutil.which(os.environ.get(TOOL) or "appimagetool")
    if tool is None:
        raise BootstrapError(
            "The AppImage is made by appimagetool (https://github.com/AppImage/appimagetool), "
            f"which is not here: put it into PATH or name it by the variable {TOOL}."
        )
    return tool


def make(folder: Path, version: str, out: Path) -> Path:
    """Make the AppImage of a program's folder for Linux.

    Args:
        folder: The finished folder, with `lib`, `share` and the start script.
        version: Paceline's.
        out: The folder for packages; it is there.

    Returns:
        The image, ``paceline-VERSION-x86_64.AppImage``.

    Raises:
        BootstrapError: appimagetool is missing or fails.
    """
    tool = check()
    image = out / f"paceline-{version}-x86_64.AppImage"
    environ = {
        **os.environ,
        "ARCH": "x86_64",
        "VERSION": version,
        "SOURCE_DATE_EPOCH": str(made_at(folder)),
        # appimagetool is an AppImage itself, and build machines often lack FUSE.
        "APPIMAGE_EXTRACT_AND_RUN": "1",
    }
    with tempfile.TemporaryDirectory(dir=out, prefix=".appimage-") as scratch:
        app = Path(scratch, "paceline.AppDir")
        lay(folder, app)
        command = [tool, "--no-appstream", str(app), str(image)]
        run_tool(command, name="appimagetool", environ=environ)
    image.chmod(0o755)
    return image


def lay(folder: Path, app: Path) -> None:
    """Make the AppDir of a program's folder."""
    shutil.copytree(folder, app, symlinks=True, ignore=shutil.ignore_patterns("menu-entry"))
    (app / "usr").mkdir()
    (app / "share").rename(app / "usr" / "share")
    (app / "AppRun").symlink_to("paceline")
    (app / f"{ID}.desktop").symlink_to(f"usr/share/applications/{ID}.desktop")
    picture = f"usr/share/icons/hicolor/256x256/apps/{ID}.png"
    for name in (f"{ID}.png", ".DirIcon"):
        (app / name).symlink_to(picture)
