"""Compiles the CPU kernels' sources into a shared library, with GCC or Clang.

A source that opens `namespace ... PACELINE_ISA` has vector code and is compiled once for each
instruction set that the compiler knows, the others once for any x86-64 processor. Of a set that it
does not know, they learn by -DPACELINE_WITHOUT_AVXVNNI or -DPACELINE_WITHOUT_AVX512.

Standard library only. Any thread.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from paceline.kernel_files import COMMON, VARIANTS, Variant, ggml_library

Say = Callable[[str], None]
"""Takes one line about how far the work is."""

AGAIN = "Then call `paceline doctor --build-kernels`."

_PROBE = "#include <immintrin.h>\nvoid probe({0} *p) {{ *p = {1}(p[0], p[1], p[2]); }}\n"
_VECTOR_SOURCE = re.compile(r"^[ \t]*namespace\b[^/\n]*\bPACELINE_ISA\b", re.MULTILINE)
_ANOTHER = "Name another compiler in the variable CXX."
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
    (r"No module named pip", "this Python has no pip", "Call `python -m ensurepip`."),
)


class KernelBuildError(Exception):
    """The kernels cannot be compiled.

    Attributes:
        message: One sentence: what happened.
        hint: What to do about it.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint


class Parts(NamedTuple):
    """What the library is made of.

    Attributes:
        sources: The folder of the kernels' sources.
        headers: The folder with ggml's "include" and "src".
        ggml: The folder of the libraries to link with.
    """

    sources: Path
    headers: Path
    ggml: Path


def run_tool(task: str, command: Sequence[str], hint: str, say: Say) -> None:
    """Run a command whose failure ends the build.

    Args:
        task: The beginning of the sentence that tells of a failure.
        command: The command.
        hint: What to do about a failure whose cause is not known.
        say: Gets the lines that tell of errors.

    Raises:
        KernelBuildError: It failed.
    """
    code, output = _run(command)
    if not code:
        return
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)] or lines[-1:]
    for line in errors[:8]:
        say(f"  | {line[:200]}")
    known = ((why, do) for pattern, why, do in _CAUSES if re.search(pattern, output))
    first = errors[0][:200].rstrip(".") if errors else f"exit code {code}"
    why, remedy = next(known, (first, hint))
    raise KernelBuildError(f"{task}: {why}.", f"{remedy} {AGAIN}")


def compile_library(compiler: list[str], parts: Parts, scratch: Path, say: Say) -> Path:
    """Return a library for all instruction sets, made in `scratch`.

    Args:
        compiler: The words that call it.
        parts: What goes into the library.
        scratch: A folder of this build's own.
        say: Is told about every object.

    Raises:
        KernelBuildError: The compiler failed, or does not know AVX2.
        OSError: A file cannot be read or written.
    """
    sources, headers, ggml = parts
    variants = [variant for variant in VARIANTS if _knows(compiler, variant, scratch)]
    missing = [variant.isa for variant in VARIANTS if variant not in variants]
    if VARIANTS[0] not in variants:
        raise KernelBuildError(f"{shlex.join(compiler)} does not know AVX2.", f"{_ANOTHER} {AGAIN}")
    folders = (headers / "include", headers / "src", headers / "src" / "ggml-cpu")
    common = [*compiler, *COMMON, f"-I{sources}", *(f"-isystem{folder}" for folder in folders)]
    without = [f"-DPACELINE_WITHOUT_{isa.upper()}" for isa in missing]
    every = sorted(sources.glob("*.cpp"))
    vector = [p for p in every if _VECTOR_SOURCE.search(p.read_text("utf-8", "replace"))]
    plain = [path for path in every if path not in vector]
    jobs = {scratch / f"{path.stem}.o": [*common, *without, "-c", str(path)] for path in plain}
    for variant in variants:
        words = [*common, *variant.flags, f"-DPACELINE_ISA={variant.isa}", "-c"]
        jobs |= {scratch / f"{path.stem}-{variant.isa}.o": [*words, str(path)] for path in vector}
    _compile_all(jobs, say)
    library = scratch / "kernels.so"
    linked = (ggml_library(ggml, name) for name in ("libggml-cpu", "libggml-base"))
    # By name alone: the library is loaded into a program that has ggml's libraries already.
    names = [f"-L{ggml}", *(f"-l:{path.name}" for path in linked if path)]
    link = [*compiler, "-shared", "-pthread", "-Wl,--no-undefined", "-o", str(library)]
    run_tool("The kernels cannot be linked", [*link, *map(str, jobs), *names], _ANOTHER, say)
    if missing:
        say(f"Without {' and '.join(missing)}, which {shlex.join(compiler)} does not know")
    return library


def find_compiler() -> list[str]:
    """Return the words that call the compiler which CMake would pick too.

    Raises:
        KernelBuildError: There is none.
    """
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        try:
            command = shlex.split(name)
        except ValueError:  # a quotation mark without its counterpart
            continue
        if command and not _run([*command, "--version"])[0]:
            return command
    raise KernelBuildError(
        "No C++ compiler was found to compile the kernels.",
        f"Install GCC or Clang, for example by `sudo apt-get install g++`. {AGAIN}",
    )


def _run(command: Sequence[str]) -> tuple[int, str]:
    """Return exit code and output; the output in English, which `_CAUSES` is written in."""
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


def _knows(compiler: list[str], variant: Variant, scratch: Path) -> bool:
    """Whether compiler and assembler know an instruction set."""
    source = scratch / f"probe-{variant.isa}.cpp"
    source.write_text(_PROBE.format(variant.register, variant.function), "utf-8")
    words = [*compiler, *COMMON, *variant.flags, "-c", str(source), "-o", str(scratch / "probe.o")]
    return _run(words)[0] == 0


def _compile_all(jobs: dict[Path, list[str]], say: Say) -> None:
    """Make every object by its command, as many at a time as there are cores.

    Raises:
        KernelBuildError: One failed; those that were not begun are left out.
    """
    wish = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "")
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    pool = ThreadPoolExecutor(int(wish) if wish.isdecimal() and int(wish) else n_cores)
    task = "The kernels cannot be compiled"
    try:
        futures = {
            pool.submit(run_tool, task, [*words, "-o", str(result)], _ANOTHER, say): result
            for result, words in reversed(jobs.items())  # vector code takes longest
        }
        for n_done, future in enumerate(as_completed(futures), 1):
            future.result()
            say(f"[{n_done}/{len(jobs)}] {futures[future].stem}")
    finally:
        pool.shutdown(cancel_futures=True)
