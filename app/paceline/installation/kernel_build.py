"""Builds the library of CPU kernels that fits the installed llama.cpp; see `kernel_files`.

Standard library only, so that the bootstrap can have it done while it installs the program
(``packaging/build_kernels.py``). Any thread.

A source that opens `namespace ... PACELINE_ISA` has vector code and is compiled once for each
instruction set that the compiler (GCC or Clang) knows, the others once for any x86-64 processor. Of
a set that it does not know, all learn by -DPACELINE_WITHOUT_AVXVNNI or _AVX512.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from paceline.errors import UserError
from paceline.files import new_content
from paceline.installation import kernel_files, package, remedies
from paceline.installation.kernel_files import (
    COMMON,
    VARIANTS,
    Variant,
    ggml_library,
    is_file,
    is_whole,
    key,
    library_name,
    sealed,
)
from paceline.installation.remedies import LIBRARY

Say = Callable[[str], None]
"""Takes one line about how far the work is."""

NOT_BUILT = "kernels-not-built"
"""The code of the error."""

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
    (
        r"ensurepip is not available|No module named (pip|venv|ensurepip)",
        "this Python has no pip",
        "Install its package of virtual environments, for example by "
        "`sudo apt-get install python3-venv`.",
    ),
)


class KernelBuildError(UserError):
    """The kernels cannot be compiled."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(NOT_BUILT, message, hint)


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
    common = [*compiler, *COMMON, *(f"-DPACELINE_WITHOUT_{isa.upper()}" for isa in missing)]
    common += [f"-I{sources}", *(f"-isystem{folder}" for folder in folders)]
    every = sorted(sources.glob("*.cpp"))
    vector = [p for p in every if _VECTOR_SOURCE.search(p.read_text("utf-8", "replace"))]
    plain = [path for path in every if path not in vector]
    jobs = {scratch / f"{path.stem}.o": [*common, "-c", str(path)] for path in plain}
    for variant in variants:
        words = [*common, *variant.flags, f"-DPACELINE_ISA={variant.isa}", "-c"]
        jobs |= {scratch / f"{path.stem}-{variant.isa}.o": [*words, str(path)] for path in vector}
    _compile_all(jobs, say)
    library = scratch / "kernels.so"
    linked = (ggml_library(ggml, name) for name in ("libggml-cpu", "libggml-base"))
    # By name alone: the library is loaded into a program that has ggml's libraries already.
    names = [f"-L{ggml}", *(f"-l:{path.name}" for path in linked if path)]
    link = [*compiler, "-shared", "-pthread", "-o", str(library)]
    if ggml_library(ggml, "libggml-cpu"):  # of variants it is not known yet which one has the rest
        link.append("-Wl,--no-undefined")
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


_HEADER = r"llama_cpp_python-{}/vendor/llama\.cpp/ggml/((?:include|src|src/ggml-cpu)/[\w.+-]+\.h)"
_NO_HEADERS = "The headers of llama.cpp cannot be fetched"
_LARGEST_HEADER = 2**23  # bytes; the largest of today has 0.2 MB
_N_KEPT = 4  # libraries on the shelf, which checkouts with other sources use too
_DRAFT_S = 3600.0  # a draft of this age belongs to a build that was ended


def build(into: Path, sdist: Path | None, say: Say, shelf: Path | None = None) -> Path:
    """Compile the library into a folder, where it takes the place of those with other keys.

    Args:
        into: The folder; it is made if it is missing.
        sdist: The sources of the installed llama-cpp-python; pip fetches them if it is None.
        say: Is told how far it is.
        shelf: A folder that keeps ggml's headers and the library for other environments of this
            machine. What it has is neither fetched nor compiled again.

    Returns:
        The library.

    Raises:
        KernelBuildError: It cannot be compiled, or not be put there.
    """
    if package.is_packaged():
        raise KernelBuildError("This package builds no kernels.", remedies.program_again())
    if not kernel_files.is_possible():
        raise KernelBuildError(kernel_files.NOT_HERE, "llama.cpp's are used here.")
    sources, ggml, has = kernel_files.sources_folder(), kernel_files.ggml_folder(), key()
    if not (sources and ggml and has):
        missing = "libggml-cpu of llama-cpp-python" if sources else "sources of the kernels"
        raise KernelBuildError(f"The {missing} cannot be found.", remedies.program_again())
    target = into / library_name(has)
    kept = shelf / target.name if shelf else None
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=into):
            pass  # whether it may be written is better known before the work
        if kept and is_whole(kept):
            say(f"Using the kernels that were compiled earlier: {kept}")
            content = kept.read_bytes()
        else:
            with tempfile.TemporaryDirectory(prefix="paceline-") as name:
                scratch = Path(name)
                compiler = find_compiler()  # before anything is fetched for it
                headers = _bring_headers(scratch, sdist, shelf, say)
                parts = Parts(sources, headers, ggml)
                content = sealed(compile_library(compiler, parts, scratch, say).read_bytes())
            if key() != has:
                raise KernelBuildError(
                    "The kernels' sources changed during the build.", "Start again."
                )
        _put(content, target, n_kept=1)
    except OSError as error:
        why = f"{error.filename or into}: {error.strerror or error}"
        raise KernelBuildError(
            f"The kernels cannot be put into {into} ({why}).",
            "Make room or change the rights, or choose other folders with the variables "
            "PACELINE_HOME and TMPDIR.",
        ) from error
    if shelf:
        with contextlib.suppress(OSError):  # it saves time only
            _put(content, shelf / target.name, n_kept=_N_KEPT)
    return target


def _put(content: bytes, target: Path, n_kept: int) -> None:
    """Write a library that is there as a whole or not at all, and remove older ones beside it."""
    with new_content(target) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), 0o755)
    with contextlib.suppress(OSError):  # another build may be tidying, too
        found = target.parent.glob(library_name("*") + "*")
        ages = {path: time.time() - path.stat().st_mtime for path in found if path != target}
        libraries = {path for path in ages if path.suffix == ".so"}
        others = sorted(libraries, key=ages.__getitem__)
        drafts = [p for p in ages.keys() - libraries if ages[p] > _DRAFT_S]
        for path in (*others[n_kept - 1 :], *drafts):
            path.unlink(missing_ok=True)


def _bring_headers(scratch: Path, sdist: Path | None, shelf: Path | None, say: Say) -> Path:
    """Return a folder with ggml's headers: from the shelf, the archive or the package index."""
    into = scratch / "ggml"
    try:
        version = metadata.version(LIBRARY).partition("+")[0]
    except metadata.PackageNotFoundError:
        raise KernelBuildError(f"{LIBRARY} is missing.", remedies.library_again()) from None
    kept = shelf / f"ggml-headers-{version}.tar.gz" if shelf else None
    if kept and is_file(kept):
        with contextlib.suppress(KernelBuildError, OSError):
            _unpack(kept, version, into)
            return into
    if sdist is None:
        say(f"Fetching the sources of {LIBRARY} {version} for their headers (77 MB)")
        pip = [_python_with_pip(scratch, say), "-I", "-m", "pip"]
        pip += ["--disable-pip-version-check", "--no-input"]
        options = ["--no-deps", f"--no-binary={LIBRARY}", "--dest", str(scratch)]
        words = [*pip, "download", *options, f"{LIBRARY}=={version}"]
        run_tool(_NO_HEADERS, words, "Look whether pip can install packages here.", say)
        sdist = next(scratch.glob("llama_cpp_python-*"))
    _unpack(sdist, version, into)
    if kept:
        with contextlib.suppress(OSError):  # it saves a download only
            draft = scratch / "headers.tar.gz"
            with tarfile.open(draft, "w:gz") as tar:
                tar.add(into, f"llama_cpp_python-{version}/vendor/llama.cpp/ggml")
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(draft, kept)
    return into


def _python_with_pip(scratch: Path, say: Say) -> str:
    """Return a Python that has pip: this one, or in a new environment where this one has none.

    pipx and uv install programs into environments without it.
    """
    if importlib.util.find_spec("pip"):
        return sys.executable
    folder = scratch / "pip"
    words = [sys.executable, "-I", "-m", "venv", str(folder)]
    run_tool(_NO_HEADERS, words, "Install pip.", say)
    return str(folder / "bin" / "python")


def _unpack(archive: Path, version: str, into: Path) -> None:
    """Write ggml's headers from an archive of this llama-cpp-python, and nothing else.

    Raises:
        KernelBuildError: It is damaged, or has no such headers.
    """
    wanted = re.compile(_HEADER.format(re.escape(version)))
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = wanted.fullmatch(member.name)
                if name and member.isreg() and member.size <= _LARGEST_HEADER:
                    content = tar.extractfile(member)
                    path = into / name[1]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read() if content else b"")
    except (tarfile.TarError, EOFError, zlib.error) as error:
        message = f"The archive {archive} is damaged ({error})."
        raise KernelBuildError(message, "Fetch it again.") from error
    if not is_file(into / "include" / "ggml.h"):
        raise KernelBuildError(
            f"The archive {archive} has no headers of llama-cpp-python {version}.",
            "Take the sources of that very version.",
        )
