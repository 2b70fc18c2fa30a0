"""The figures of the last reply that may be remembered, in one small file.

`paceline doctor --last` shows them with advice. The file holds the reply's speed and how many
drafted tokens were accepted: no text, no token ids, no seed. A reply never fails because of it: a
file that cannot be written is named in the log, and a damaged one counts as none.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from paceline.codec import decode, encode
from paceline.files import write_whole
from paceline.messages import ModelInfo, TurnStats

_log = logging.getLogger(__name__)

FILE_NAME = "last-run.json"
_VERSION = 1
_MAX_BYTES = 1_000_000
_MAX_FIGURE = 1e15  # more than any count or time
_LAST_SECOND = 32_503_680_000  # of the year 2999: later dates are not shown on every system


@dataclass(frozen=True, slots=True)
class LastRun:
    """One reply in figures.

    Attributes:
        strategy: The strategy that it ended with.
        target: The target's file name.
        draft: The draft model's file name; None without one.
        stats: The figures.
        when: Time of its end, in seconds since 1970.
    """

    strategy: str
    target: str
    draft: str | None
    stats: TurnStats
    when: float

    @classmethod
    def of(
        cls, strategy: str, stats: TurnStats, target: ModelInfo, draft: ModelInfo | None
    ) -> LastRun:
        """Return the figures of a reply that has just ended."""
        names = Path(target.path).name, Path(draft.path).name if draft else None
        stats = structs.replace(stats, reread=None)  # its words quote the chat
        return cls(strategy, *names, stats, when=time.time())


def save_last_run(folder: Path, run: LastRun) -> None:
    """Write the file, readable by its owner alone; a crash leaves the old or the new one.

    Any thread. A failure is logged and nothing else.

    Args:
        folder: Made if it is not there: `Paths.data_dir`.
        run: The figures.
    """
    text = json.dumps({"version": _VERSION, **encode(run)}, indent=1) + "\n"
    try:
        write_whole(folder / FILE_NAME, text.encode())
    except OSError as error:
        _log.warning("The figures of the last reply cannot be kept: %s", error.strerror or error)


def load_last_run(folder: Path) -> LastRun | None:
    """Return what `save_last_run` wrote into this folder; None if nothing usable is there."""
    try:
        with (folder / FILE_NAME).open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            return None
        data = json.loads(raw)
        if not isinstance(data, dict) or data.pop("version", None) != _VERSION:
            return None
        run = decode(LastRun, data)
    except (OSError, ValueError, RecursionError):  # a `CodecError` is a `ValueError`
        return None
    is_sound = run.when <= _LAST_SECOND and _is_sound(encode(run))
    return run if is_sound else None


def _is_sound(value: Any) -> bool:
    """Return whether every number is finite and not negative, as times and counts are."""
    if isinstance(value, dict):
        return all(map(_is_sound, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_sound, value))
    if isinstance(value, (int, float)):
        return 0 <= value < _MAX_FIGURE
    return True
