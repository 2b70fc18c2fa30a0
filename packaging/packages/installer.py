"""The installer for Windows, which Inno Setup makes of the program's folder and of one script.

It installs for one user, without an administrator's rights. Standard library and Inno Setup only.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bootstrap import BootstrapError
from packages import windows
from packages.tools import run_tool

SCRIPT = Path(__file__).resolve().parents[1] / "windows" / "paceline.iss"
TOOL = "ISCC"
"""Environment variable with the path of Inno Setup's compiler if it is not in PATH."""


def check() -> str:
    """Return the path of Inno Setup's compiler: as it is named, in PATH, or at its usual place.

    Raises:
        BootstrapError: It is not here.
    """
    programs = os.environ.get("PROGRAMFILES(X86)", "")
    usual = Path(programs, "Inno Setup 6", "ISCC.exe")
    found = shutil.which(os.environ.get(TOOL) or "ISCC")
    if not found and not (programs and usual.is_file()):
        raise BootstrapError(
            "The installer is made by Inno Setup 6 (https://jrsoftware.org/isinfo.php), whose "
            f"ISCC.exe is not here: put it into PATH or name it by the variable {TOOL}."
        )
    return found or str(usual)


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
    tool = check()
    windows.lay(folder)
    name = f"paceline-{version}-windows-x86_64-setup"
    run_tool(command(tool, folder, version, out, name), name="Inno Setup")
    return out / f"{name}.exe"


def command(tool: str, folder: Path, version: str, out: Path, name: str) -> list[str]:
    """Return the command that compiles the script, with all definitions that the script needs."""
    defined = {"Version": version, "Folder": str(folder), "Out": str(out), "Name": name}
    return [tool, "/Qp", *(f"/D{key}={value}" for key, value in defined.items()), str(SCRIPT)]
