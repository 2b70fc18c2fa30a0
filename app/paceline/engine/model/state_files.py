"""Stored states in files: a folder for each model, in it one for each owner with a file a block.

A block of several owners is one file with several names (hard links), so that what is one owner's
alone goes with its folder, without a look into any file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from paceline.files import delete_folder

_log = logging.getLogger(__name__)


def drop_files(folder: str, owners: Sequence[str]) -> None:
    """Delete the files that are these owners' alone, whatever model they are for. Any thread.

    Args:
        folder: See `StateStorage.folder`; empty: there are none.
        owners: Their names; none: everybody's.
    """
    if not folder:
        return
    try:
        keys = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir()]
        for key in keys:
            for each in [key / _owner_folder(name) for name in owners] if owners else [key]:
                delete_folder(each)
    except FileNotFoundError:
        pass
    except OSError as error:
        _log.warning("stored states stay in %s: %s", folder, error.strerror or error)


def _owner_folder(owner: str) -> str:
    """Return a name that any file system takes."""
    return owner.encode().hex()
