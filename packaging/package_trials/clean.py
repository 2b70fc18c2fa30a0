"""Clean roots of Debian: unpack or install, and the first token within a minute.

The ordinary user of a root without compiler, Python, Qt and network unpacks the archive; then apt
installs the package for Debian, with the libraries that it depends on.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from package_trials.packages import Packages, found_in
from package_trials.programs import Program, environment
from package_trials.report import Case, Report, expect
from package_trials.roots import SUITES, UBUNTU, USER, USER_NAME, Root, check_rights, clean_root
from package_trials.screen import screen, window

MOST_S = 60.0
"""Seconds from the end of the download to the first token."""
SMOKE_TEST = Path(__file__).resolve().parent.parent / "smoke_test.py"
CHATS = Path("paceline", "data", "chats.db")
_COLOURS = 500
"""Minimum number of colours in a picture of the window; an empty screen has one."""


def run(packages: Packages, report: Report, roots: Path) -> None:
    """Try the packages in every suite.

    Ubuntu's are tried where the folder of roots has them, as jammy and noble.

    Raises:
        CannotTryError: Something is missing.
    """
    check_rights()
    with report.case("sizes") as case:
        case.figure = sizes(packages)
    there = {suite: name for suite, name in UBUNTU.items() if (roots / suite).is_dir()}
    for suite, name in (SUITES | there).items():
        clean = clean_root(suite, roots)
        with tempfile.TemporaryDirectory(prefix="paceline-trials-") as scratch:
            Path(scratch).chmod(0o755)
            root = Root(clean, Path(scratch, "root"), Path(scratch, "shared"))
            _try_archive(packages, report, root, name)
            _try_deb(packages, report, root, name)


def sizes(packages: Packages) -> str:
    """Return the sizes of packages and folder, and the ten largest parts, in megabytes."""
    by_part: dict[str, int] = {}
    with tarfile.open(packages.archive()) as tar:
        for member in tar:
            if member.isfile():
                part = "/".join(member.name.split("/")[1:5])
                by_part[part] = by_part.get(part, 0) + member.size
    largest = sorted(by_part.items(), key=lambda each: -each[1])[:10]
    told = [f"folder {sum(by_part.values()) / 1e6:.0f} MB"]
    files = (packages.archive(), packages.deb)
    told += [f"{path.name} {path.stat().st_size / 1e6:.0f} MB" for path in files]
    told += [f"{name.removeprefix('lib/_internal/')} {size / 1e6:.1f}" for name, size in largest]
    return ", ".join(told)


def _try_archive(packages: Packages, report: Report, root: Root, name: str) -> None:
    with report.case(f"{name}, as it was made"):
        expect(not root.unclean(), f"it has {', '.join(root.unclean())}")
    archive = packages.archive()
    copy = root.home / archive.name
    shutil.copy(archive, copy)
    top = archive.name.removesuffix(".tar.gz")
    inside = f"/home/{USER_NAME}/{top}/paceline"
    env = environment(Path("/home", USER_NAME))
    program = Program((*root.words(), inside), env)
    with report.case(f"{name}, archive: unpacked, first token") as case:
        start = time.monotonic()
        root.run("tar", "-xzf", f"/home/{USER_NAME}/{archive.name}", "-C", f"/home/{USER_NAME}")
        _first_token(case, time.monotonic() - start, "unpacked", program)
    with report.case(
        f"{name}, archive: the window without the system's libraries of OpenGL"
    ) as case:
        case.figure = program.refused("--smoke-test", f"/home/{USER_NAME}/smoke.png")
    with report.case(f"{name}, archive: its files are the user's") as case:
        found = found_in(root.home / top)
        expect(found.program.stat().st_uid == USER, "another user's")
    shutil.rmtree(root.home / top)
    copy.unlink()


def _try_deb(packages: Packages, report: Report, root: Root, name: str) -> None:
    deb = packages.deb
    shutil.copy(deb, root.path / "srv" / deb.name)
    root.run("apt-get", "-qq", "update", network=True, as_user=False)
    env = environment(Path("/home", USER_NAME))
    program = Program((*root.words(), "paceline"), env)
    # What is recommended besides, drivers and fonts, every desktop has.
    words = ("apt-get", "-qq", "--yes", "--no-install-recommends", "install", f"/srv/{deb.name}")
    with report.case(f"{name}, .deb: what it depends on is downloaded") as case:
        root.run(*words, "--download-only", network=True, as_user=False)
        fetched = (root.path / "var/cache/apt/archives").glob("*.deb")
        sizes_of = [path.stat().st_size for path in fetched]
        case.figure = f"{len(sizes_of)} packages, {sum(sizes_of) / 1e6:.0f} MB"
    with report.case(f"{name}, .deb: installed by apt, first token") as case:
        start = time.monotonic()
        root.run(*words, as_user=False)
        _first_token(case, time.monotonic() - start, "installed", program)
    with report.case(f"{name}, .deb: its life (smoke_test.py)") as case:
        case.figure = _smoke_test(root)
    _try_window(report, root, name)
    with report.case(f"{name}, .deb: removed, the home stays") as case:
        case.figure = _removed(root)


def _first_token(case: Case, before_s: float, what: str, program: Program) -> None:
    """Let it reply for the first time, and count the seconds from the end of the download."""
    first_s = program.chat("--strategy", "draft").first_s
    case.figure = f"{what} in {before_s:.1f} s, first token {first_s:.1f} s after its start"
    expect(before_s + first_s <= MOST_S, f"{before_s + first_s:.0f} s to the first token")


def _smoke_test(root: Root) -> str:
    """Run the installed program through its life; returns the lines that were printed."""
    top = str(root.path)
    command = [sys.executable, str(SMOKE_TEST), "--root", top, "chroot", top, "/usr/bin/paceline"]
    env = environment(Path("/root"), PACELINE_HOME="")
    env["PATH"] += ":/usr/sbin:/sbin"
    ended = Program(root.without_network(*command), env).run(limit_s=300.0)
    expect(ended.code == 0, f"{ended.last_words} after {ended.out.strip()[-500:]}")
    return " | ".join(line.strip() for line in ended.out.splitlines() if line.strip())


def _try_window(report: Report, root: Root, name: str) -> None:
    home = Path("/home", USER_NAME, "window")
    picture = Path(tempfile.gettempdir(), f"paceline-{root.path.parent.name}-{name[-2:]}.png")
    with report.case(f"{name}, .deb: the window under Xvfb") as case, screen() as shown:
        env = environment(home, DISPLAY=shown.display)
        program = Program((*root.words(), "paceline"), env)
        chats = root.path / home.relative_to("/") / CHATS
        with window(shown, program) as opened:
            replied_s = opened.ask("What does the function len do?", chats)
            case.figure = f"shown after {opened.mapped_s:.1f} s, replied after {replied_s:.1f} s"
            n_colours = shown.picture(picture)
            case.figure += f", picture {picture} with {n_colours} colours"
            expect(n_colours >= _COLOURS, "an empty picture")
            code = opened.close()
            expect(code in (0, 130), f"exit code {code}")


def _removed(root: Root) -> str:
    """Remove the package; returns what that said of the home."""
    said = root.run("apt-get", "--yes", "remove", "paceline", as_user=False)
    kept = root.home / "paceline"
    expect(kept.is_dir(), "the home is gone")
    expect(not (root.path / "usr/lib/paceline").exists(), "/usr/lib/paceline is still there")
    told = [line.strip() for line in said.splitlines() if ".local/share/paceline" in line]
    expect(bool(told), "not a word of where the chats are")
    return told[0]
