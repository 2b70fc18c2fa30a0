"""Shows a file in the desktop's file manager, chosen where the system can do that.

Where it cannot, as on Linux without D-Bus, the file's folder is opened. Main thread.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from pathlib import Path


def reveal(path: Path) -> bool:
    """Show a file in the file manager; false: there is none to show it in."""
    return _choose(path) or open_folder(path.parent)


def open_folder(folder: Path) -> bool:
    """Open a folder in the file manager; false: there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def command_for(path: Path, platform: str) -> tuple[str, list[str]] | None:
    """Return the program that shows a file chosen, and its arguments; None: there is none."""
    if platform == "win32":
        # The explorer reads its arguments in a way of its own; a quoted whole would be a folder.
        return "explorer.exe", [f'/select,"{path}"']
    if platform == "darwin":
        return "open", ["-R", str(path)]
    return None


def _choose(path: Path) -> bool:
    command = command_for(path, sys.platform)
    if command is None:
        return False
    program, arguments = command
    process = QProcess()
    process.setProgram(program)
    if sys.platform == "win32":
        process.setNativeArguments(arguments[0])
    else:
        process.setArguments(arguments)
    return process.startDetached()[0]
