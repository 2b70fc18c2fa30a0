"""Two versions by turns on one home: chats, settings and downloads stay; one window is open.

The other version is one that lies among the packages, or this checkout with another number, which
is made now.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import release
from bootstrap import ROOT
from package_trials.packages import Packages, Unpacked
from package_trials.programs import USER, Program, environment
from package_trials.report import CannotTryError, Report, expect
from package_trials.roots import check_rights
from package_trials.screen import Screen, rows, screen, window

MODEL = Path("data", "models", "somebody", "small", "demo.gguf")


def run(packages: Packages, report: Report) -> None:
    """Try two versions.

    Raises:
        CannotTryError: There is no second one, and none can be made.
    """
    check_rights()
    with tempfile.TemporaryDirectory(prefix="paceline-trials-") as name:
        scratch = Path(name)
        first = packages.unpacked(scratch)
        if len(packages.versions) > 1:
            second = packages.unpacked(scratch, packages.versions[-2])
        else:
            second = another(scratch).unpacked(scratch)
        home, session = scratch / "home", scratch / "session"
        for folder in (home, session):
            folder.mkdir(mode=0o700)
            os.chown(folder, USER, USER)
        with screen() as shown:
            # Windows of a user without a name find each other in the folder of the session.
            env = environment(home, DISPLAY=shown.display, XDG_RUNTIME_DIR=str(session))
            _by_turns(report, (first, second), env, shown)
            _at_once(report, (first, second), env, shown)


def another(scratch: Path) -> Packages:
    """Make an archive of this checkout with the next number; returns the packages that it is in.

    Raises:
        CannotTryError: It cannot be made.
    """
    copy, out = scratch / "checkout", scratch / "another"
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
    file = copy / release.VERSION
    now, then = release.current_version(ROOT), next_version()
    file.write_text(file.read_text().replace(f'"{now}"', f'"{then}"'))
    command = [sys.executable, str(copy / "packaging" / "build.py")]
    command += ["--formats", "folder,tar.gz", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise CannotTryError(f"No other version can be made: {last}")
    return Packages(out)


def next_version() -> str:
    """Return the number after this checkout's: 1.2.4 after 1.2.3."""
    major, minor, fix = release.numbers(release.current_version(ROOT))
    return f"{major}.{minor}.{fix + 1}"


def _by_turns(
    report: Report, places: tuple[Unpacked, Unpacked], env: Mapping[str, str], shown: Screen
) -> None:
    """Chat with each version in turn, and check that everything the other stored is there."""
    home = Path(env["PACELINE_HOME"])
    chats, settings = home / "data" / "chats.db", home / "config" / "settings.json"
    before: set[tuple[object, ...]] = set()
    for i, place in enumerate((places[0], places[1], places[0], places[1])):
        program = Program((str(place.program),), env, USER)
        version = program.run("--version").out.strip()
        with report.case(f"turn {i + 1}, {version}: chats, settings and downloads") as case:
            with window(shown, program) as opened:
                opened.ask(f"What does the function number {i} do?", chats)
                foreign = _foreign(opened.process.pid, place)
                expect(not foreign, f"a process of another program: {foreign}")
                opened.close()
            now = set(rows(chats, "SELECT id, role, content FROM messages"))
            expect(before <= now, f"{len(before - now)} messages are gone")
            expect(len(now) > len(before), "no new message")
            expect(rows(chats, "PRAGMA integrity_check") == [("ok",)], "a damaged database")
            before = now
            kept = json.loads(settings.read_text())
            if i == 0:
                settings.write_text(json.dumps({**kept, "theme": "dark"}))
                _download(place, home)
            expect(i == 0 or kept["theme"] == "dark", "the settings are not kept")
            listed = program.run("models", "list", "--json").out
            expect(MODEL.name in listed, "the download is not listed")
            reply = program.chat("--target", str(home / MODEL), "--strategy", "off")
            case.figure = f"{len(now)} messages, {len(reply.tokens)} tokens of the download"
    with report.case("both versions have numbers of their own") as case:
        told = {Program((str(each.program),), env).run("--version").out for each in places}
        case.figure = ", ".join(sorted(text.strip() for text in told))
        expect(len(told) == 2, "the same number")


def _at_once(
    report: Report, places: tuple[Unpacked, Unpacked], env: Mapping[str, str], shown: Screen
) -> None:
    """Start each version while the other's window is open."""
    chats = Path(env["PACELINE_HOME"], "data", "chats.db")
    for first, second in (places, places[::-1]):
        one, other = (Program((str(each.program),), env, USER) for each in (first, second))
        name = "the other version, started beside an open window"
        with report.case(name) as case, window(shown, one) as opened:
            ended = other.run(limit_s=60.0)
            case.figure = f"ended after {ended.seconds:.1f} s with exit code {ended.code}"
            expect(ended.code == 0, ended.last_words)
            expect(len(shown.windows()) == 1, f"{len(shown.windows())} windows")
            opened.focus()
            opened.ask("And what does it return?", chats)
            opened.close()


def _foreign(pid: int, place: Unpacked) -> list[str]:
    """Return programs of a window's processes that are not in its package."""
    import psutil  # noqa: PLC0415 - other trials do without

    processes = psutil.Process(pid).children(recursive=True)
    return [each.exe() for each in processes if not each.exe().startswith(str(place.inner.parent))]


def _download(place: Unpacked, home: Path) -> None:
    """Copy a model into the folder of downloads, as the user."""
    target = home / MODEL
    target.parent.mkdir(parents=True)
    models = place.internal / "paceline" / "_resources" / "models"
    shutil.copy(models / "paceline-demo-target-q8_0.gguf", target)
    for path in (*target.parents[:3], target):
        os.chown(path, USER, USER)
