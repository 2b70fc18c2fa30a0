"""Paceline's own kernels for the CPU: files, test outcomes and crash marks, without loading them.

`engine/llama/kernels` loads, tests and activates them; `paceline doctor` only uses this module. A
process tests the kernels one after the other: it gets a kernel's name and returns the outcome.

A mark records that own kernels have ended the engine, so that this happens only once. It is a file
beside the kernels in the cache, named by their build. The library of kernels writes it itself when
it crashes (`paceline_kernels_mark_crashes`); after a hang the host writes it, which also ends the
process. While the mark exists, that build is not used.
"""

from __future__ import annotations

import contextlib
import functools
import platform
import re
from pathlib import Path

from paceline.engine.facts import Facts
from paceline.errors import ModelError
from paceline.files import write_whole
from paceline.installation import kernel_files, remedies
from paceline.sentence import Argument, made, sentence
from paceline.workers.frames import WireError
from paceline.workers.process import Language

NO_KERNELS = "no-own-kernels"
"""Code of the error of a load that requires own kernels which cannot be used."""
PROVED = "proved"
"""Outcome of a kernel's test that allows its use; any other one is the reason against it."""
REFUSED = "refused"
"""Outcome of every kernel if this build of llama.cpp accepts none."""
_OUTCOMES = {"1": PROVED, "0": "wrong", "-1": sentence("not run"), REFUSED: REFUSED}
"""Outcomes by the answer of the process that tests them."""

_FLAG = re.compile(r"avx\w*|amx\w*|f16c|fma|bmi\d|sse4_\d")
"""Instruction sets by which ggml and the kernels choose their code."""


class NoKernelsError(ModelError):
    """Own kernels cannot be used; `why` is a part of a sentence."""

    def __init__(self, why: str, hint: str = "", /, **arguments: Argument) -> None:
        self.why = made(why, arguments)
        message = sentence("Paceline's own CPU kernels cannot be used: {why}.", why=self.why)
        super().__init__(NO_KERNELS, message, hint)


def find_library(cache_dir: str) -> Path:
    """Return the library that was made for this build of llama.cpp.

    Raises:
        NoKernelsError: There is none.
    """
    path = kernel_files.find(Path(cache_dir) if cache_dir else None)
    if path is not None:
        return path
    if not kernel_files.is_possible():
        raise NoKernelsError("they need Linux and an x86-64 processor with AVX2")
    if not kernel_files.key():
        raise NoKernelsError(
            "their sources, or libggml-cpu of llama-cpp-python, cannot be found",
            remedies.program_again(),
        )
    raise NoKernelsError("they are not built for this llama.cpp", remedies.kernels_built())


def check_mark(cache_dir: str, key: str) -> None:
    """Refuse a build that has ended the engine before.

    Raises:
        NoKernelsError: There is a mark.
    """
    culprit = read_mark(cache_dir, key)
    if culprit is not None:
        raise NoKernelsError(
            "they have ended the engine once ({culprit})",
            remedies.kernels_tested_again(mark_path(cache_dir, key)),
            culprit=made(culprit, {}),
        )


def prover_language() -> Language[str, str]:
    """Return the messages to and from the process: a kernel's name, and its outcome."""
    return Language("paceline-prover", str.encode, _outcome)


def _outcome(answer: bytes) -> str:
    try:
        return _OUTCOMES[answer.decode()]
    except (KeyError, UnicodeDecodeError):
        raise WireError(repr(answer[:40])) from None


def key_of(library: Path) -> str:
    """Return the key of the build in a library's name."""
    return library.stem.rpartition("-")[2]


def known_outcomes(facts: Facts, key: str) -> dict[str, str]:
    """Return the test outcomes of a build's kernels on this processor, by kernel name."""
    prefix = fact_name(key, "")
    return {name.removeprefix(prefix): str(fact) for name, fact in facts.below(prefix).items()}


def fact_name(key: str, kernel: str) -> str:
    """Return the name of the fact that stores the outcome of a kernel's test."""
    return f"kernel|{key}|{processor()}|{kernel}"


def isa_fact(key: str) -> str:
    """Return the name of the fact that stores which instruction set a build uses here."""
    return f"kernel_isa|{key}|{processor()}"


@functools.cache
def processor() -> str:
    """Return the processor's name and instruction sets, on which test outcomes depend."""
    name, flags = platform.machine(), frozenset[str]()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n\n", 1)[0]
    except OSError:
        return name
    for line in lines.splitlines():
        title, _, value = line.partition(":")
        if title.strip() == "model name":
            name = " ".join(value.split())
        elif title.strip() == "flags":
            flags = frozenset(filter(_FLAG.fullmatch, value.split()))
    return f"{name}|{' '.join(sorted(flags))}"


FOLDER = "kernels"
HANG = sentence("a computation that hung")
"""Content of a mark if the kernel is not known."""

_KEY = re.compile(r"[0-9a-f]{16}")
_MAX_MARK_CHARS = 60


def mark_path(cache_dir: str, key: str) -> Path | None:
    """Return the path of a build's mark, or None without a cache or with an invalid key."""
    if not cache_dir or not _KEY.fullmatch(key):
        return None
    return Path(cache_dir) / FOLDER / f"{key}.crashed"


def read_mark(cache_dir: str, key: str) -> str | None:
    """Return what ended the engine, such as a kernel's name, or None without a mark."""
    path = mark_path(cache_dir, key)
    try:
        if path is None or not path.exists():
            return None
    except OSError:  # the folder may not be entered
        return None
    with contextlib.suppress(OSError):
        words = " ".join(path.read_text("utf-8", "replace").split())[:_MAX_MARK_CHARS]
        return words or sentence("an unknown kernel")
    return sentence("an unknown kernel")


def write_mark(cache_dir: str, key: str, what: str = HANG) -> None:
    """Write a mark; if it cannot be written, the next load may end in the same way."""
    path = mark_path(cache_dir, key)
    if path is not None:
        with contextlib.suppress(OSError):
            write_whole(path, what.encode())


def marks(cache_dir: str) -> frozenset[Path]:
    """Return the marks of all builds."""
    if not cache_dir:
        return frozenset()
    with contextlib.suppress(OSError):
        return frozenset((Path(cache_dir) / FOLDER).glob("*.crashed"))
    return frozenset()
