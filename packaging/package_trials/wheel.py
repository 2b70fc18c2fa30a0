#!/usr/bin/env python3
"""Try the wheel as a newcomer would, in a new environment and an empty home.

    python packaging/package_trials/wheel.py [--find-links DIR] [--python PATH]

The first part walks: version, chat, doctor, native code, chat by it, window, server, and the wheel
installed once more, after which native code is still there. The second part takes something away
from a copy of the environment, each time something else, and expects one sentence that says what to
do. llama-cpp-python is compiled, which takes minutes, unless a folder given by ``--find-links`` has
its wheel. Each case is a line; the exit code is 1 where one of them fails. On Windows and macOS,
too. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # which a safe path leaves out

from bootstrap import ROOT
from package_trials.report import Report, expect

WINDOWS = sys.platform == "win32"
LIMIT_S = 900.0
HELLO = ("chat", "--prompt", "What does len do?", "--max-tokens", "8")


class Newcomer(NamedTuple):
    """An environment with the wheel, a home, and a working directory."""

    environment: Path
    home: Path

    @property
    def python(self) -> Path:
        """Path of this environment's Python."""
        return self.environment / ("Scripts/python.exe" if WINDOWS else "bin/python")

    @property
    def packages(self) -> Path:
        """Folder of the environment's packages."""
        (found,) = self.environment.glob("Lib/site-packages" if WINDOWS else "lib/*/site-packages")
        return found

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line of the program; a copy's own script would call the original."""
        return [str(self.python), "-m", "paceline", *arguments]

    def variables(self, **more: str) -> dict[str, str]:
        """Return a new user's environment variables, without those of Paceline."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PACELINE_", "PYTHON"))}
        return {**kept, "PACELINE_HOME": str(self.home), **more}

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the program until it ends."""
        return subprocess.run(
            self.command(arguments),
            env=self.variables(**variables),
            cwd=self.home.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_S,
            check=False,
        )


def case(report: Report, name: str, check: Callable[[], str]) -> None:
    """Run a case; `check` returns its figure or words, or raises `TrialError`."""
    with report.case(name) as running:
        running.figure = check()


def succeeded(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Return a run that succeeded; fail with the end of what it said otherwise."""
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-500:]}")
    return done


# ------------------------------------------------------------------------------------- the walk


def walk(place: Newcomer, report: Report, reinstall: Callable[[], None]) -> None:
    """Do the first part of the trials."""
    case(report, "version", lambda: _version(place))
    case(report, "chat", lambda: f"{len(succeeded(place.run(*HELLO)).stdout)} characters")
    case(report, "doctor", lambda: _healthy(_doctor(place)))
    if _has_compiler():
        case(report, "doctor advises to build native code", lambda: _advises_build(place))
        case(report, "doctor --build-kernels", lambda: _built(place))
        case(report, "chat by native code", lambda: _computes_by_own(place))
        case(report, "installed once more", lambda: _survives(place, reinstall))
    case(report, "window, server and all else", lambda: _lives(place))


def _version(place: Newcomer) -> str:
    return succeeded(place.run("--version")).stdout.strip()


def _doctor(place: Newcomer) -> dict[str, Any]:
    return dict(json.loads(succeeded(place.run("doctor", "--json")).stdout))


def _healthy(report: dict[str, Any]) -> str:
    codes = [problem["code"] for problem in report["problems"]]
    expect(not codes, f"problems: {', '.join(codes)}")
    return f"llama.cpp of {report['library']['version']}, no problems"


def _has_compiler() -> bool:
    return bool(shutil.which("clang++" if sys.platform == "win32" else "c++"))


def _takes_kernels() -> bool:
    return sys.platform == "linux" and platform.machine() == "x86_64" and _has_compiler()


def _parts() -> list[str]:
    """Return the names in the doctor's report of native code that this system can have."""
    return ["sampling", *(["kernels"] if _takes_kernels() else [])]


def _advises_build(place: Newcomer) -> str:
    reasons = [str(_doctor(place)[part]["reason"]) for part in _parts()]
    for reason in reasons:
        expect("`paceline doctor --build-kernels`" in reason, reason)
    return " ".join(reasons)


def _built(place: Newcomer) -> str:
    done = json.loads(succeeded(place.run("doctor", "--build-kernels", "--json")).stdout)
    found = [done["rows"]["library"], *([done["library"]] if _takes_kernels() else [])]
    for library in map(Path, found):
        expect(place.home in library.parents, f"{library} is not in the user's cache")
    return f"{sum(Path(library).stat().st_size for library in found) / 1e6:.1f} MB"


def _computes_by_own(place: Newcomer) -> str:
    wish = ["--kernels", "own"] if _takes_kernels() else []
    done = succeeded(place.run(*HELLO, *wish, "--json"))
    stats = json.loads(done.stdout.splitlines()[-1])["stats"]
    found = _doctor(place)
    for part in _parts():
        expect(found[part]["choice"] in ("own", "native"), str(found[part]["reason"]))
    n_proved, isa = len(found["kernels"]["proved"]), found["sampling"]["isa"]
    return f"{n_proved} kernels proved, sampling by {isa}, {stats['n_generated']} tokens"


def _survives(place: Newcomer, reinstall: Callable[[], None]) -> str:
    before = _doctor(place)
    reinstall()
    after = _doctor(place)
    for part in _parts():
        same = after[part]["library"] == before[part]["library"] is not None
        expect(same and not after[part]["reason"], f"{part} is gone: {after[part]['reason']}")
    return "the native code is still there"


def _lives(place: Newcomer) -> str:
    """Run `smoke_test.py`, which has a home of its own."""
    script = str(ROOT / "packaging" / "smoke_test.py")
    done = subprocess.run(
        [sys.executable, script, *place.command(())],
        env=place.variables(),
        cwd=place.home.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    expect(done.returncode == 0, (done.stdout + done.stderr)[-1000:])
    return f"{len(done.stdout.splitlines()) - 1} steps of smoke_test.py"


# ------------------------------------------------------------------------------ what is missing


def _remove(*patterns: str) -> Callable[[Newcomer], None]:
    def take_away(place: Newcomer) -> None:
        found = [path for pattern in patterns for path in place.packages.glob(pattern)]
        expect(bool(found), f"{', '.join(patterns)} is not there to be taken away")
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return take_away


def _rewrite(pattern: str, change: Callable[[bytes], bytes]) -> Callable[[Newcomer], None]:
    """Return what changes files; as new ones, since a copy's are those of the original."""

    def change_all(place: Newcomer) -> None:
        found = [path for path in place.packages.glob(pattern) if path.is_file()]
        expect(bool(found), f"{pattern} is not there to be changed")
        for path in found:
            content = change(path.read_bytes())
            path.unlink()
            path.write_bytes(content)

    return change_all


class Lack(NamedTuple):
    """Something that is taken away, a command, and the sentence that it is to say.

    Attributes:
        name: The missing thing.
        take_away: Function that removes it from an environment.
        command: The program's arguments; for "doctor" the sentence stands in the report.
        says: Regular expression of the sentence.
        variables: Environment variables of the command.
    """

    name: str
    take_away: Callable[[Newcomer], None]
    command: tuple[str, ...]
    says: str
    variables: tuple[tuple[str, str], ...] = ()


_LIBRARY = r"llama\.cpp's library cannot be loaded: .*Install it again: `.*llama-cpp-python==\d"
_DAMAGED = r"A part of Paceline is missing or damaged: .*Install it again: `.*paceline`"
_NO_WINDOW = r"The window cannot be opened .*`paceline chat` works without a window"
_LIBS = "llama_cpp/lib/*llama*"
LACKS = (
    Lack("llama-cpp-python", _remove("llama_cpp", "llama_cpp_python-*"), HELLO, _LIBRARY),
    Lack("the most of libllama", _rewrite(_LIBS, lambda data: data[:64]), HELLO, _LIBRARY),
    Lack("ggml", _remove("llama_cpp/lib/*ggml-base*"), HELLO, _LIBRARY),
    Lack("ggml, for a server", _remove("llama_cpp/lib/*ggml-base*"), ("serve",), _LIBRARY),
    Lack("ggml, for a doctor", _remove("llama_cpp/lib/*ggml-base*"), ("doctor",), "Install it aga"),
    Lack("NumPy", _remove("numpy"), HELLO, _DAMAGED),
    Lack("PySide6", _remove("PySide6", "shiboken6"), (), _NO_WINDOW),
    Lack("one of Qt's libraries", _remove("PySide6/**/*Qt6Gui*"), (), _NO_WINDOW),
    Lack(
        "the version of llama-cpp-python that is pinned",
        _rewrite(
            "llama_cpp_python-*/METADATA",
            lambda data: re.sub(rb"(?m)^Version: .*$", b"Version: 0.2.90", data),
        ),
        ("doctor",),
        r"llama-cpp-python 0\.2\.90 is installed, but Paceline is made for",
    ),
)
NO_GLIBC = Lack(
    "a glibc as new as the library",
    _rewrite("llama_cpp/lib/libggml-base.so*", lambda data: data.replace(b"_2.2.5\0", b"_9.9.5\0")),
    HELLO,
    _LIBRARY,
)
NO_COMPILER = Lack(
    "a compiler",
    lambda _place: None,
    ("doctor", "--build-kernels"),
    r"No C\+\+ compiler was found .*Install GCC or Clang",
    (("PATH", ""), ("CXX", "")),
)


@contextmanager
def copied(place: Newcomer, folder: Path) -> Iterator[Newcomer]:
    """Yield a copy of the environment, with hard links to the files of the original."""
    copy = folder / "copy"
    shutil.copytree(place.environment, copy, symlinks=True, copy_function=os.link)
    try:
        yield Newcomer(copy, folder / "copy's home")
    finally:
        shutil.rmtree(copy)


def says_so(place: Newcomer, folder: Path, lack: Lack) -> str:
    """Return the one sentence that the program prints in a copy that lacks something.

    Raises:
        TrialError: It says something else, or more.
    """
    with copied(place, folder) as copy:
        lack.take_away(copy)
        done = copy.run(*lack.command, **dict(lack.variables))
    text = done.stderr.strip()
    if lack.command == ("doctor",):
        problems = [line for line in done.stdout.splitlines() if re.search(lack.says, line)]
        expect(done.returncode == 0 and bool(problems), f"{done.returncode}: {done.stdout[-500:]}")
        return problems[0].strip()
    is_one = done.returncode == 1 and len(text.splitlines()) == 1 and re.search(lack.says, text)
    expect(bool(is_one), f"exit code {done.returncode}: {text[-500:]}")
    return text


# -------------------------------------------------------------------------------------- the whole


def _install(place: Newcomer, wheel: Path, find_links: Sequence[str], *again: str) -> None:
    links = [f"--find-links={folder}" for folder in find_links]
    kept = ["--only-binary=llama-cpp-python"] if links else []
    words = [str(place.python), "-I", "-m", "pip", "install", "--quiet", *again, *kept, *links]
    subprocess.run([*words, str(wheel)], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the wheel; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    links = "a folder with a wheel of llama-cpp-python; repeatable"
    parser.add_argument("--find-links", metavar="DIR", action="append", default=[], help=links)
    python = "makes the environment (default: this one)"
    parser.add_argument("--python", metavar="PATH", default=sys.executable, help=python)
    options = parser.parse_args(arguments)
    report = Report("wheel", partial(print, flush=True))
    with tempfile.TemporaryDirectory(prefix="paceline-wheel-", ignore_cleanup_errors=True) as name:
        folder = Path(name, "another folder")
        folder.mkdir()
        place = Newcomer(folder / "environment", folder / "home")
        build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
        subprocess.run([options.python, *build, str(ROOT)], check=True)
        (wheel,) = folder.glob("paceline-*.whl")
        subprocess.run([options.python, "-m", "venv", str(place.environment)], check=True)
        _install(place, wheel, options.find_links)
        again = ("--no-deps", "--force-reinstall")
        walk(place, report, lambda: _install(place, wheel, (), *again))
        lacks = [*LACKS, *([NO_GLIBC, NO_COMPILER] if _takes_kernels() else [])]
        for lack in lacks:
            case(report, f"without {lack.name}", partial(says_so, place, folder, lack))
    print(f"{len(report.failed)} of {report.n_cases} cases failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
