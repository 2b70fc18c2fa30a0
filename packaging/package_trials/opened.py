"""Programs of the system that the packaged one opens: they get no folder of the package.

A program named xdg-open stands first in PATH. It writes down its environment, and which libraries
the system's loader gives to a program of the system that it starts.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from package_trials.packages import Packages, Unpacked
from package_trials.programs import USER, Program, environment
from package_trials.report import CannotTryError, Report, expect
from package_trials.screen import Screen, screen, window

# The file with the awaited name is written last.
_OPENER = """#!/bin/sh
env > "{out}/environment"
LD_TRACE_LOADED_OBJECTS=1 "{program}" > "{out}/libraries" 2>&1
"{program}" --version > "{out}/version" 2>&1
printf '%s' "$1" > "{out}/half" && mv "{out}/half" "{out}/opened"
"""
_PROGRAMS = ("curl", "openssl", "git", "ssh")
"""Programs of the system that load libraries which the package has as well."""
_COMMAND = "open the folder of the log"


def run(packages: Packages, report: Report) -> None:
    """Open a folder from the window, in a usual environment and in one with an own LD_LIBRARY_PATH.

    Raises:
        CannotTryError: A tool is missing.
    """
    program = next(filter(None, map(which, _PROGRAMS)), None)
    if program is None:
        raise CannotTryError(f"Install one of {', '.join(_PROGRAMS)}.")
    with tempfile.TemporaryDirectory(prefix="paceline-trials-") as scratch:
        unpacked = packages.unpacked(Path(scratch))
        for name, before in (("as it is", ""), ("set by the user", "/usr/lib/of-the-user")):
            with report.case(f"a folder, LD_LIBRARY_PATH {name}") as case, screen() as shown:
                place = Path(scratch, name.replace(" ", "-"))
                told = _open(shown, unpacked, place, program, before)
                case.figure = (
                    f"{told['opened']}, {Path(program).name}: {told['version'].strip()[:40]}"
                )
                check(told, str(unpacked.program.parent), before)


def _open(
    shown: Screen, unpacked: Unpacked, place: Path, program: str, before: str
) -> dict[str, str]:
    """Open the log's folder by the palette; returns what the opener has written, by name."""
    out, tools, home = place / "out", place / "bin", place / "home"
    for folder in (out, tools, home):
        folder.mkdir(parents=True)
        os.chown(folder, USER, USER)
    opener = tools / "xdg-open"
    opener.write_text(_OPENER.format(out=out, program=program))
    opener.chmod(0o755)
    env = environment(home, DISPLAY=shown.display, LD_LIBRARY_PATH=before)
    env["PATH"] = f"{tools}:{env['PATH']}"
    with window(shown, Program((str(unpacked.program),), env, USER)) as opened:
        shown.key("ctrl+k")
        time.sleep(1.0)  # the palette opens
        shown.write(_COMMAND)
        time.sleep(0.5)
        shown.key("Return")
        until = time.monotonic() + 20.0
        while not (out / "opened").exists():
            expect(time.monotonic() < until, "nothing was opened")
            time.sleep(0.1)
        opened.close()
    return {path.name: path.read_text(errors="replace") for path in out.iterdir()}


def check(told: Mapping[str, str], top: str, before: str) -> None:
    """Check what the opener has got.

    Args:
        told: The texts that the program wrote, by name.
        top: The package's folder.
        before: LD_LIBRARY_PATH of the user, or empty if it is not set.

    Raises:
        TrialError: Something names the package.
    """
    variables = dict(line.partition("=")[::2] for line in told["environment"].splitlines())
    named = [name for name, text in variables.items() if top in text]
    expect(not named, f"the package's folder in {', '.join(named)}")
    rest = [name for name in variables if name.startswith(("_PYI", "_MEI", "PYTHON"))]
    expect(not rest, f"variables of PyInstaller or Python: {', '.join(rest)}")
    expect(
        variables.get("LD_LIBRARY_PATH", "") == before,
        f"LD_LIBRARY_PATH={variables.get('LD_LIBRARY_PATH')}",
    )
    expect(top not in told["libraries"], "libraries of the package in a program of the system")
