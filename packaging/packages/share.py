"""Files that a Linux desktop reads of Paceline, laid into the folder of the program.

`share` is what belongs in `/usr/share` or `~/.local/share`: the menu entry, the description for
software centres, the type of model files and the icon. `README.txt` lies beside it. Standard
library only.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ID = "org.paceline.Paceline"
ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "packaging" / "linux"
ICONS = ROOT / "resources" / "icons"


def lay(folder: Path) -> None:
    """Put `README.txt` and `share` into a program's folder, in place of earlier ones."""
    share = folder / "share"
    shutil.rmtree(share, ignore_errors=True)
    places = {
        LINUX / "README.txt": folder / "README.txt",
        LINUX / "menu-entry": share / "menu-entry",
        LINUX / f"{ID}.desktop": share / "applications" / f"{ID}.desktop",
        LINUX / f"{ID}.metainfo.xml": share / "metainfo" / f"{ID}.metainfo.xml",
        LINUX / f"{ID}.mime.xml": share / "mime" / "packages" / f"{ID}.xml",
        **icons(share / "icons" / "hicolor"),
    }
    for source, place in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
        place.chmod(0o755 if source.name == "menu-entry" else 0o644)


def icons(theme: Path) -> dict[Path, Path]:
    """Return the program's icons and their places in a theme: pictures by size, and the drawing."""
    places = {ICONS / "paceline.svg": theme / "scalable" / "apps" / f"{ID}.svg"}
    for picture in sorted(ICONS.glob("paceline-*.png")):
        if side := re.fullmatch(r"paceline-(\d+)\.png", picture.name):
            places[picture] = theme / f"{side[1]}x{side[1]}" / "apps" / f"{ID}.png"
    return places
