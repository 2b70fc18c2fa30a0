"""The installer for Windows, which Inno Setup makes of the program's folder and of one script.

It installs for one user, without an administrator's rights. Standard library and Inno Setup only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from bootstrap import BootstrapError
from packages import windows

SCRIPT = Path(__file__).resolve().parents[1] / "windows" / "paceline.iss"
TOOL = "ISCC"
"""The variable that names Inno Setup's compiler where it is not in PATH."""


def make(folder: Path, version: str, out: Path) -> Path:
    """Make the installer of a program's folder.

    Args:
        folder: The finished folder, with `paceline.exe`.
        version: Paceline's.
        out: The folder for packages; it is there.

    Returns:
        The installer, ``paceline-VERSION-windows-x86_64-setup.exe``.

    Raises:
        BootstrapError: Inno Setup is missing or fails.
    """
    tool = find_tool()
    if tool is None:
        raise BootstrapError(
            "The installer is made by Inno Setup 6 (https://jrsoftware.org/isinfo.php), whose "
            f"ISCC.exe is not here: put it into PATH or name it by the variable {TOOL}."
        )
    windows.lay(folder)
    name = f"paceline-{version}-windows-x86_64-setup"
    done = subprocess.run(
        command(tool, folder, version, out, name), capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stdout + done.stderr).splitlines()[-20:]
        raise BootstrapError("Inno Setup has failed; its last lines are above.", *last)
    return out / f"{name}.exe"


def find_tool() -> str | None:
    """Return Inno Setup's compiler: as it is named, in PATH, or where it is usually installed."""
    programs = os.environ.get("PROGRAMFILES(X86)", "")
    usual = Path(programs, "Inno Setup 6", "ISCC.exe")
    named = os.environ.get(TOOL) or "ISCC"
    return shutil.which(named) or (str(usual) if programs and usual.is_file() else None)


def command(tool: str, folder: Path, version: str, out: Path, name: str) -> list[str]:
    """Return the words that compile the script; it has what they define from here alone."""
    defined = {"Version": version, "Folder": str(folder), "Out": str(out), "Name": name}
    return [tool, "/Qp", *(f"/D{key}={value}" for key, value in defined.items()), str(SCRIPT)]
