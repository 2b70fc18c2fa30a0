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
import sys
import tarfile
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from paceline.installation import kernel_files, package, remedies
from paceline.installation.kernel_files import (
    COMMON,
    VARIANTS,
    Variant,
    ggml_library,
    key,
    library_name,
)
from paceline.installation.library_build import (
    AGAIN,
    ANOTHER,
    BuildError,
    Say,
    find_compiler,
    outcome,
    put,
    run_tool,
    work_for,
)
from paceline.installation.remedies import LIBRARY
from paceline.installation.sealed_library import is_file, is_whole, sealed

_PROBE = "#include <immintrin.h>\nvoid probe({0} *p) {{ *p = {1}(p[0], p[1], p[2]); }}\n"
_VECTOR_SOURCE = re.compile(r"^[ \t]*namespace\b[^/\n]*\bPACELINE_ISA\b", re.MULTILINE)


class Parts(NamedTuple):
    """Sources and settings of the library.

    Attributes:
        sources: The folder of the kernels' sources.
        headers: The folder with ggml's "include" and "src".
        ggml: The folder of the libraries to link with.
    """

    sources: Path
    headers: Path
    ggml: Path


def compile_library(compiler: list[str], parts: Parts, scratch: Path, say: Say) -> Path:
    """Return a library for all instruction sets, made in `scratch`.

    Args:
        compiler: The command of the compiler.
        parts: Sources and settings of the library.
        scratch: A folder of this build's own.
        say: Called with a line about every object.

    Raises:
        BuildError: The compiler failed, or does not know AVX2.
        OSError: A file cannot be read or written.
    """
    sources, headers, ggml = parts
    variants = [variant for variant in VARIANTS if _knows(compiler, variant, scratch)]
    missing = [variant.isa for variant in VARIANTS if variant not in variants]
    if VARIANTS[0] not in variants:
        raise BuildError(f"{shlex.join(compiler)} does not know AVX2.", f"{ANOTHER} {AGAIN}")
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
    run_tool("The kernels cannot be linked", [*link, *map(str, jobs), *names], ANOTHER, say)
    if missing:
        say(f"Without {' and '.join(missing)}, which {shlex.join(compiler)} does not know")
    return library


def _knows(compiler: list[str], variant: Variant, scratch: Path) -> bool:
    """Return whether compiler and assembler know an instruction set."""
    source = scratch / f"probe-{variant.isa}.cpp"
    source.write_text(_PROBE.format(variant.register, variant.function), "utf-8")
    words = [*compiler, *COMMON, *variant.flags, "-c", str(source), "-o", str(scratch / "probe.o")]
    return outcome(words)[0] == 0


def _compile_all(jobs: dict[Path, list[str]], say: Say) -> None:
    """Make every object by its command, as many at a time as there are cores.

    Raises:
        BuildError: One failed; those that were not begun are left out.
    """
    wish = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "")
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    pool = ThreadPoolExecutor(int(wish) if wish.isdecimal() and int(wish) else n_cores)
    task = "The kernels cannot be compiled"
    try:
        futures = {
            pool.submit(run_tool, task, [*words, "-o", str(result)], ANOTHER, say): result
            for result, words in reversed(jobs.items())  # vector code takes longest
        }
        for n_done, future in enumerate(as_completed(futures), 1):
            future.result()
            say(f"[{n_done}/{len(jobs)}] {futures[future].stem}")
    finally:
        pool.shutdown(cancel_futures=True)


_HEADER = r"llama_cpp_python-{}/vendor/llama\.cpp/ggml/((?:include|src|src/ggml-cpu)/[\w.+-]+\.h)"
_NO_HEADERS = "The headers of llama.cpp cannot be fetched"
_MAX_HEADER_BYTES = 2**23  # bytes; the largest of today has 0.2 MB
_MAX_KEPT_LIBRARIES = 4  # libraries on the shelf, which checkouts with other sources use too


def build(into: Path, sdist: Path | None, say: Say, shelf: Path | None = None) -> Path:
    """Compile the library into a folder, where it takes the place of those with other keys.

    Args:
        into: The folder; it is made if it is missing.
        sdist: The sources of the installed llama-cpp-python; pip fetches them if it is None.
        say: Called with lines about the progress.
        shelf: A folder that keeps ggml's headers and the library for other environments of this
            machine. What it has is neither fetched nor compiled again.

    Returns:
        The library.

    Raises:
        BuildError: It cannot be compiled, or not be put there.
    """
    if package.is_packaged():
        raise BuildError("This package builds no kernels.", remedies.program_again())
    if not kernel_files.is_possible():
        raise BuildError(kernel_files.NOT_HERE, "llama.cpp's are used here.")
    sources, ggml, has = kernel_files.sources_folder(), kernel_files.ggml_folder(), key()
    if not (sources and ggml and has):
        missing = "libggml-cpu of llama-cpp-python" if sources else "sources of the kernels"
        raise BuildError(f"The {missing} cannot be found.", remedies.program_again())
    target = into / library_name(has)
    kept = shelf / target.name if shelf else None
    with work_for(into):
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
                raise BuildError("The kernels' sources changed during the build.", "Start again.")
        put(content, target)
    if shelf:
        with contextlib.suppress(OSError):  # it saves time only
            put(content, shelf / target.name, n_kept=_MAX_KEPT_LIBRARIES)
    return target


def _bring_headers(scratch: Path, sdist: Path | None, shelf: Path | None, say: Say) -> Path:
    """Return a folder with ggml's headers: from the shelf, the archive or the package index."""
    into = scratch / "ggml"
    try:
        version = metadata.version(LIBRARY).partition("+")[0]
    except metadata.PackageNotFoundError:
        raise BuildError(f"{LIBRARY} is missing.", remedies.library_again()) from None
    kept = shelf / f"ggml-headers-{version}.tar.gz" if shelf else None
    if kept and is_file(kept):
        with contextlib.suppress(BuildError, OSError):
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
        BuildError: It is damaged, or has no such headers.
    """
    wanted = re.compile(_HEADER.format(re.escape(version)))
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = wanted.fullmatch(member.name)
                if name and member.isreg() and member.size <= _MAX_HEADER_BYTES:
                    content = tar.extractfile(member)
                    path = into / name[1]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read() if content else b"")
    except (tarfile.TarError, EOFError, zlib.error) as error:
        message = f"The archive {archive} is damaged ({error})."
        raise BuildError(message, "Fetch it again.") from error
    if not is_file(into / "include" / "ggml.h"):
        raise BuildError(
            f"The archive {archive} has no headers of llama-cpp-python {version}.",
            "Take the sources of that very version.",
        )
