"""The disk image for macOS: the app, and a link to the folder that it is dragged into.

The app is signed without a certificate ("ad hoc"), which Apple's own processors ask of all code;
macOS asks the user all the same before it opens it. Standard library and macOS' own tools only.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bootstrap import BootstrapError
from packages.tools import run_tool

APP = "Paceline.app"
README = Path(__file__).resolve().parents[1] / "macos" / "README.txt"


def make(folder: Path, version: str, out: Path) -> Path:
    """Make the disk image of a program's folder.

    Args:
        folder: The finished folder, with `Paceline.app`.
        version: Paceline's.
        out: The folder for packages; it is there.

    Returns:
        The image, ``paceline-VERSION-macos-MACHINE.dmg``, where the machine is this one's.

    Raises:
        BootstrapError: A tool of macOS is missing or fails.
    """
    image = out / f"paceline-{version}-macos-{platform.machine()}.dmg"
    with tempfile.TemporaryDirectory(dir=out, prefix=".dmg-") as name:
        content = Path(name, "content")
        lay(folder, content)
        options = ["-volname", f"Paceline {version}", "-fs", "HFS+", "-format", "UDZO", "-ov"]
        _run(["hdiutil", "create", *options, "-srcfolder", str(content), str(image)])
    return image


def sign(app: Path) -> None:
    """Sign the app again, since its files changed after PyInstaller signed it.

    Raises:
        BootstrapError: It cannot be signed, or its signature does not hold.
    """
    _run(["codesign", "--force", "--deep", "--sign", "-", str(app)])
    _run(["codesign", "--verify", "--deep", "--strict", str(app)])


def lay(folder: Path, content: Path) -> None:
    """Create the folder that the image shows."""
    content.mkdir(parents=True)
    shutil.copytree(folder / APP, content / APP, symlinks=True)
    shutil.copyfile(README, content / README.name)
    (content / "Applications").symlink_to("/Applications")


def _run(command: Sequence[str]) -> None:
    if not shutil.which(command[0]):
        raise BootstrapError(f"{command[0]}, a tool of macOS, is not here: it takes a Mac.")
    run_tool(command)
