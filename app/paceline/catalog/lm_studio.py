"""Where LM Studio keeps its models: a folder that its user may have moved.

Its home is named by a pointer file or is ``~/.lmstudio`` (``~/.cache/lm-studio`` before 0.3.6), as
its own client library finds it (lmstudio-js, `findLMStudioHome`); the settings in there may name
another folder for models, ``downloadsFolder``. Everything here is only read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_POINTER = ".lmstudio-home-pointer"
_MAX_SETTINGS = 1 << 20


def lm_studio_folders(home: Path) -> tuple[Path, ...]:
    """Return the folders in which LM Studio may keep models, the likeliest first.

    Reads two small files at most; what cannot be understood is passed over.

    Args:
        home: The user's folder.
    """
    homes = [home / ".lmstudio", home / ".cache" / "lm-studio"]
    pointed = _text(home / _POINTER).strip()
    if _is_whole(pointed):
        homes.insert(0, Path(pointed))
    moved = [folder for studio in homes if (folder := _moved_to(studio)) is not None]
    usual = [studio / "models" for studio in homes]
    return tuple(dict.fromkeys((*moved, *usual)))


def _moved_to(studio: Path) -> Path | None:
    """Return the folder that the settings name; None where they name none."""
    try:
        settings: Any = json.loads(_text(studio / "settings.json") or "{}")
    except (ValueError, RecursionError):
        return None
    folder = settings.get("downloadsFolder") if isinstance(settings, dict) else None
    return Path(folder) if isinstance(folder, str) and _is_whole(folder) else None


def _is_whole(path: str) -> bool:
    """Whether a text can be the path of a folder; a relative one would depend on where we are."""
    return "\0" not in path and Path(path).is_absolute()


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SETTINGS).decode("utf-8-sig", "replace")
    except OSError:
        return ""
