"""The text file that a drafter of this package reads: one entry per line."""

from __future__ import annotations

import os
from pathlib import Path

from paceline.engine import UserError


def read_lines(variable: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines of the file that an environment variable names, or the default.

    Empty lines and those that begin with ``# `` are left out.

    Raises:
        UserError: The file cannot be read, or is no UTF-8; the reply does not begin then.
    """
    name = os.environ.get(variable, "")
    if not name:
        return default
    try:
        lines = Path(name).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            "file-not-readable",
            f"The file {name} of {variable} cannot be read: {error}.",
            f"Let {variable} name a text file in UTF-8, or unset it.",
        ) from error
    return tuple(line for line in lines if line.strip() and not line.startswith("# "))
