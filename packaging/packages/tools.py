"""Calls of external tools that make packages. Standard library only."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap import BootstrapError

_N_LINES = 20


def run_tool(
    command: Sequence[str],
    *,
    name: str = "",
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    hints: Mapping[str, str] | None = None,
) -> str:
    """Return what a tool prints on stdout.

    Args:
        command: The command with its arguments.
        name: Name of the tool in the error message; by default the command's first word.
        folder: Working directory, or None for this program's.
        environ: Environment variables, or None for this program's.
        hints: Remedies, by a text in the output of a failing tool.

    Raises:
        BootstrapError: The tool failed; the error contains its last lines.
    """
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stdout + done.stderr
        found = [hint for text, hint in (hints or {}).items() if text in said]
        what = f"{name or command[0]} has failed; its last lines are above."
        raise BootstrapError(" ".join((what, *found)), *said.splitlines()[-_N_LINES:])
    return done.stdout
