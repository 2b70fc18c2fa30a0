"""The parts that builds of native libraries share: compiler, tools, and the place of the result.

Standard library only, so that the bootstrap can have libraries built while it installs the program
(``packaging/build_kernels.py``). Any thread.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from paceline.errors import UserError
from paceline.files import new_content
from paceline.installation.sealed_library import is_file

Say = Callable[[str], None]
"""Receives one line about the progress of the work."""

NOT_BUILT = "kernels-not-built"
"""The code of the error."""

AGAIN = "Then call `paceline doctor --build-kernels`."
"""The end of every remedy."""
ANOTHER = "Name another compiler in the variable CXX."
"""The remedy where a compiler fails."""

_MAX_DRAFT_AGE_S = 3600.0  # a draft of this age belongs to a build that was ended
_COMPILER_REMEDIES = {
    "linux": "Install GCC or Clang, for example by `sudo apt-get install g++`.",
    "darwin": "Install Apple's Clang by `xcode-select --install`.",
    "win32": "Install Clang, for example by `winget install LLVM.LLVM`; neither Visual Studio's cl "
    "nor GCC does.",
}

_ERROR = re.compile(r"\berror\b|undefined (reference|symbol)", re.IGNORECASE)
# What a failing command says, what that means, and what to do about it; the first that fits.
_CAUSES = (
    (
        r"No space left on device|Errno 28",
        "the disk is full",
        "Make room, or name another folder in the variable TMPDIR.",
    ),
    (
        r"Killed signal|memory exhausted|[Oo]ut of memory|bad_alloc",
        "the memory did not suffice",
        "Close other programs, or set CMAKE_BUILD_PARALLEL_LEVEL=1.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "the package index's certificate was not accepted",
        "Tell pip about your network's certificate with `pip config set global.cert FILE`.",
    ),
    (
        r"name resolution|NewConnectionError|Max retries|getaddrinfo|ProxyError|unreachable|"
        r"timed out|IncompleteRead|Connection (was )?(refused|aborted|reset|broken)",
        "the network cannot be reached",
        "Check it.",
    ),
    (
        r"ensurepip is not available|No module named (pip|venv|ensurepip)",
        "this Python has no pip",
        "Install its package of virtual environments, for example by "
        "`sudo apt-get install python3-venv`.",
    ),
)


class BuildError(UserError):
    """A native library cannot be compiled."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(NOT_BUILT, message, hint)


def run_tool(task: str, command: Sequence[str], hint: str, say: Say) -> None:
    """Run a command whose failure ends the build.

    Args:
        task: The beginning of the sentence about a failure.
        command: The command.
        hint: The remedy for a failure whose cause is not known.
        say: Called with the lines about errors.

    Raises:
        BuildError: It failed.
    """
    code, output = outcome(command)
    if not code:
        return
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)] or lines[-1:]
    for line in errors[:8]:
        say(f"  | {line[:200]}")
    known = ((why, do) for pattern, why, do in _CAUSES if re.search(pattern, output))
    first = errors[0][:200].rstrip(".") if errors else f"exit code {code}"
    why, remedy = next(known, (first, hint))
    raise BuildError(f"{task}: {why}.", f"{remedy} {AGAIN}")


def find_compiler() -> list[str]:
    """Return the command of GCC or Clang: if possible the one that CMake would choose, too.

    Raises:
        BuildError: There is none.
    """
    words = os.environ.get("CXX", "")
    try:
        # On Windows a path has the signs in it that `shlex` takes away.
        own = [words] if is_file(Path(words)) else shlex.split(words)
    except ValueError:  # a quotation mark without its counterpart
        own = []
    for command in filter(None, (own, *([name] for name in _compilers()))):
        code, title = outcome([*command, "--version"])
        # GCC for Windows lays registers of 32 bytes where the stack has an alignment of 16, and
        # what it has compiled crashes.
        if not code and (sys.platform != "win32" or "clang" in title):
            return command
    system = sys.platform if sys.platform in _COMPILER_REMEDIES else "linux"
    raise BuildError(
        "No C++ compiler was found for Paceline's native code.",
        f"{_COMPILER_REMEDIES[system]} {AGAIN}",
    )


def has_compiler() -> bool:
    """Say whether there seems to be a compiler, without calling one.

    A Mac without developer tools has programs in their place that would open a window.
    """
    return bool(os.environ.get("CXX")) or any(map(shutil.which, _compilers()))


def _compilers() -> tuple[str, ...]:
    if sys.platform == "win32":
        programs = Path(os.environ.get("PROGRAMFILES", "C:/Program Files"))
        return ("clang++", str(programs / "LLVM" / "bin" / "clang++.exe"))  # not in PATH by itself
    return ("c++", "g++", "clang++")


def outcome(command: Sequence[str]) -> tuple[int, str]:
    """Return exit code and output of a command; the output in English, as `_CAUSES` is written.

    A command that cannot be started has code 1, and as output the reason.
    """
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=1200,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return 1, str(error)
    return done.returncode, done.stdout.decode(errors="replace")


@contextlib.contextmanager
def work_for(into: Path) -> Iterator[None]:
    """Prepare a folder for a library, which the block makes and puts there.

    Raises:
        BuildError: A file cannot be read or written, in the block or by this.
    """
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=into):
            pass  # whether it may be written is better known before the work
        yield
    except OSError as error:
        why = f"{error.filename or into}: {error.strerror or error}"
        raise BuildError(
            f"Native code cannot be put into {into} ({why}).",
            "Make room or change the rights, or choose other folders with the variables "
            "PACELINE_HOME and TMPDIR.",
        ) from error


def put(content: bytes, target: Path, n_kept: int = 1) -> None:
    """Write a library that is there as a whole or not at all, and remove older builds beside it.

    Args:
        content: The library, sealed.
        target: Its file, named ``NAME-KEY.ENDING``.
        n_kept: Builds that may be there afterwards, this one among them.

    Raises:
        OSError: It cannot be written.
    """
    with new_content(target) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        if sys.platform != "win32":
            os.fchmod(file.fileno(), 0o755)
    with contextlib.suppress(OSError):  # another build may be tidying, too
        found = target.parent.glob(f"{target.stem.rpartition('-')[0]}-*")
        ages = {path: time.time() - path.stat().st_mtime for path in found if path != target}
        libraries = {path for path in ages if path.suffix == target.suffix}
        others = sorted(libraries, key=ages.__getitem__)
        drafts = [p for p in ages.keys() - libraries if ages[p] > _MAX_DRAFT_AGE_S]
        for path in (*others[n_kept - 1 :], *drafts):
            path.unlink(missing_ok=True)
