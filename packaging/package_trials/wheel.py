#!/usr/bin/env python3
"""Try the wheel as a newcomer would, in a new environment and an empty home.

    python packaging/package_trials/wheel.py [--find-links DIR] [--python PATH]

The first part walks: version, chat, doctor, kernels, chat by them, window, server, and the wheel
installed once more, after which the kernels are still there. The second part takes something away
from a copy of the environment, each time something else, and expects one sentence that says what to
do. llama-cpp-python is compiled, which takes minutes, unless a folder given by ``--find-links`` has
its wheel. Each case is a line; the exit code is 1 where one of them fails. Standard library only.
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
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = sys.platform == "win32"
LIMIT_S = 900.0
HELLO = ("chat", "--prompt", "What does len do?", "--max-tokens", "8")


class WheelError(Exception):
    """A case that failed, in words."""


class Done(NamedTuple):
    """What a run of the program left behind."""

    code: int
    out: str
    err: str


class Place(NamedTuple):
    """An environment with the wheel, a home, and the folder that is the current one."""

    environment: Path
    home: Path

    @property
    def python(self) -> Path:
        """Python of this environment."""
        return self.environment / ("Scripts/python.exe" if WINDOWS else "bin/python")

    @property
    def packages(self) -> Path:
        """The folder of the environment's packages."""
        (found,) = self.environment.glob("Lib/site-packages" if WINDOWS else "lib/*/site-packages")
        return found

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the words that call the program; a copy's own script would call the original."""
        return [str(self.python), "-m", "paceline", *arguments]

    def variables(self, **more: str) -> dict[str, str]:
        """Return the variables of a newcomer: none of ours."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PACELINE_", "PYTHON"))}
        return {**kept, "PACELINE_HOME": str(self.home), **more}

    def run(self, *arguments: str, **variables: str) -> Done:
        """Run the program to its end."""
        done = subprocess.run(
            self.command(arguments),
            env=self.variables(**variables),
            cwd=self.home.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_S,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


class Trials:
    """Runs cases, and tells of each in a line."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def case(self, name: str, check: Callable[[], str]) -> None:
        """Run a case; `check` returns a figure or words, or raises `WheelError`."""
        began = time.monotonic()
        try:
            outcome, words = "ok", check()
        except (WheelError, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            outcome, words = "FAILED", str(error)
            self.failed.append(name)
        print(f"{outcome:6} {time.monotonic() - began:6.1f} s  {name}: {words}", flush=True)


def expect(*, is_true: bool, words: str) -> None:
    """Fail with these words where something is not so."""
    if not is_true:
        raise WheelError(words)


def succeeded(done: Done) -> Done:
    """Return a run that succeeded; fail with the end of what it said otherwise."""
    expect(is_true=done.code == 0, words=f"exit code {done.code}: {done.err[-500:]}")
    return done


# ------------------------------------------------------------------------------------- the walk


def walk(place: Place, trials: Trials, reinstall: Callable[[], None]) -> None:
    """Go the newcomer's way."""
    trials.case("version", lambda: _version(place))
    trials.case("chat", lambda: f"{len(succeeded(place.run(*HELLO)).out)} characters")
    trials.case("doctor", lambda: _healthy(_doctor(place)))
    if _takes_kernels():
        trials.case("doctor advises to build kernels", lambda: _advises_kernels(place))
        trials.case("doctor --build-kernels", lambda: _built(place))
        trials.case("chat by own kernels", lambda: _computes_by_own(place))
        trials.case("installed once more", lambda: _survives(place, reinstall))
    trials.case("window, server and all else", lambda: _lives(place))


def _version(place: Place) -> str:
    return succeeded(place.run("--version")).out.strip()


def _doctor(place: Place) -> dict[str, Any]:
    return dict(json.loads(succeeded(place.run("doctor", "--json")).out))


def _healthy(report: dict[str, Any]) -> str:
    codes = [problem["code"] for problem in report["problems"]]
    expect(is_true=not codes, words=f"problems: {', '.join(codes)}")
    return f"llama.cpp of {report['library']['version']}, no problems"


def _takes_kernels() -> bool:
    return sys.platform == "linux" and platform.machine() == "x86_64" and bool(shutil.which("c++"))


def _advises_kernels(place: Place) -> str:
    reason = str(_doctor(place)["kernels"]["reason"])
    expect(is_true="`paceline doctor --build-kernels`" in reason, words=reason)
    return reason


def _built(place: Place) -> str:
    done = succeeded(place.run("doctor", "--build-kernels", "--json"))
    library = Path(json.loads(done.out)["library"])
    expect(is_true=place.home in library.parents, words=f"{library} is not in the user's cache")
    return f"{library.stat().st_size / 1e6:.1f} MB"


def _computes_by_own(place: Place) -> str:
    done = succeeded(place.run(*HELLO, "--kernels", "own", "--json"))
    stats = json.loads(done.out.splitlines()[-1])["stats"]
    kernels = _doctor(place)["kernels"]
    expect(is_true=kernels["choice"] == "own", words=str(kernels["reason"]))
    return f"{len(kernels['proved'])} proved, {stats['n_generated']} tokens"


def _survives(place: Place, reinstall: Callable[[], None]) -> str:
    before = _doctor(place)["kernels"]["library"]
    reinstall()
    kernels = _doctor(place)["kernels"]
    same = kernels["choice"] == "own" and kernels["library"] == before
    expect(is_true=same, words=f"the kernels are gone: {kernels['reason']}")
    return "the kernels are still there"


def _lives(place: Place) -> str:
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
    expect(is_true=done.returncode == 0, words=(done.stdout + done.stderr)[-1000:])
    return f"{len(done.stdout.splitlines()) - 1} steps of smoke_test.py"


# ------------------------------------------------------------------------------ what is missing


def _remove(*patterns: str) -> Callable[[Place], None]:
    def take_away(place: Place) -> None:
        found = [path for pattern in patterns for path in place.packages.glob(pattern)]
        expect(is_true=bool(found), words=f"{', '.join(patterns)} is not there to be taken away")
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return take_away


def _rewrite(pattern: str, change: Callable[[bytes], bytes]) -> Callable[[Place], None]:
    """Return what changes files; as new ones, since a copy's are those of the original."""

    def change_all(place: Place) -> None:
        found = [path for path in place.packages.glob(pattern) if path.is_file()]
        expect(is_true=bool(found), words=f"{pattern} is not there to be changed")
        for path in found:
            content = change(path.read_bytes())
            path.unlink()
            path.write_bytes(content)

    return change_all


class Lack(NamedTuple):
    """Something that is taken away, a command, and the sentence that it is to say.

    Attributes:
        name: What is lacking.
        take_away: Takes it from an environment.
        command: The program's arguments; for "doctor" the sentence stands in the report.
        says: A regular expression.
        variables: For the command.
    """

    name: str
    take_away: Callable[[Place], None]
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
def copied(place: Place, folder: Path) -> Iterator[Place]:
    """Give a copy of the environment, whose files are those of the original until they are new."""
    copy = folder / "copy"
    shutil.copytree(place.environment, copy, symlinks=True, copy_function=os.link)
    try:
        yield Place(copy, folder / "copy's home")
    finally:
        shutil.rmtree(copy)


def says_so(place: Place, folder: Path, lack: Lack) -> str:
    """Return the one sentence that a copy of the environment says without something.

    Raises:
        WheelError: It says something else, or more.
    """
    with copied(place, folder) as copy:
        lack.take_away(copy)
        done = copy.run(*lack.command, **dict(lack.variables))
    text = done.err.strip()
    if lack.command == ("doctor",):
        problems = [line for line in done.out.splitlines() if re.search(lack.says, line)]
        expect(is_true=done.code == 0 and bool(problems), words=f"{done.code}: {done.out[-500:]}")
        return problems[0].strip()
    is_one = done.code == 1 and len(text.splitlines()) == 1 and re.search(lack.says, text)
    expect(is_true=bool(is_one), words=f"exit code {done.code}: {text[-500:]}")
    return text


# -------------------------------------------------------------------------------------- the whole


def _install(place: Place, wheel: Path, find_links: Sequence[str], *again: str) -> None:
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
    trials = Trials()
    with tempfile.TemporaryDirectory(prefix="paceline-wheel-", ignore_cleanup_errors=True) as name:
        folder = Path(name, "another folder")
        folder.mkdir()
        place = Place(folder / "environment", folder / "home")
        build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
        subprocess.run([options.python, *build, str(ROOT)], check=True)
        (wheel,) = folder.glob("paceline-*.whl")
        subprocess.run([options.python, "-m", "venv", str(place.environment)], check=True)
        _install(place, wheel, options.find_links)
        again = ("--no-deps", "--force-reinstall")
        walk(place, trials, lambda: _install(place, wheel, (), *again))
        lacks = [*LACKS, *([NO_GLIBC, NO_COMPILER] if _takes_kernels() else [])]
        for lack in lacks:
            trials.case(f"without {lack.name}", lambda lack=lack: says_so(place, folder, lack))
    print(f"{len(trials.failed)} failed" + ": " * bool(trials.failed) + ", ".join(trials.failed))
    return 1 if trials.failed else 0


if __name__ == "__main__":
    sys.exit(main())
