"""Builds the library of CPU kernels that fits the installed llama.cpp; see `kernel_files`.

Standard library only, so that the bootstrap can run it while it installs the program:

    python -m paceline.kernel_build --into DIR [--sdist FILE] [--shelf DIR]

Any thread.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import sys
import tarfile
import tempfile
import time
import zlib
from importlib import metadata
from pathlib import Path

from paceline import kernel_files
from paceline.kernel_compiler import (
    KernelBuildError,
    Parts,
    Say,
    compile_library,
    find_compiler,
    run_tool,
)
from paceline.kernel_files import is_file, is_whole, key, library_name, sealed

_HEADER = r"llama_cpp_python-{}/vendor/llama\.cpp/ggml/((?:include|src|src/ggml-cpu)/[\w.+-]+\.h)"
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
    if getattr(sys, "frozen", False):
        raise KernelBuildError("This program brings no Python to build with.", "Install Paceline.")
    if not kernel_files.is_possible():
        raise KernelBuildError(kernel_files.NOT_HERE, "llama.cpp's are used here.")
    sources, ggml, has = kernel_files.sources_folder(), kernel_files.ggml_folder(), key()
    if not (sources and ggml and has):
        missing = "libggml-cpu of llama-cpp-python" if sources else "sources of the kernels"
        raise KernelBuildError(f"The {missing} cannot be found.", "Install Paceline again.")
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
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix="draft-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o755)
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # another build may be tidying, too
        ages = {path: time.time() - path.stat().st_mtime for path in target.parent.glob("*.so")}
        others = [p for p in ages if p.name.startswith("libpaceline_kernels-") and p != target]
        others.sort(key=lambda path: ages[path])
        drafts = [p for p in ages if p.name.startswith("draft-") and ages[p] > _DRAFT_S]
        for path in (*others[n_kept - 1 :], *drafts):
            path.unlink(missing_ok=True)


def _bring_headers(scratch: Path, sdist: Path | None, shelf: Path | None, say: Say) -> Path:
    """Return a folder with ggml's headers: from the shelf, the archive or the package index."""
    into, package = scratch / "ggml", "llama-cpp-python"
    try:
        version = metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        raise KernelBuildError(f"{package} is missing.", "Install Paceline again.") from None
    kept = shelf / f"ggml-headers-{version}.tar.gz" if shelf else None
    if kept and is_file(kept):
        with contextlib.suppress(KernelBuildError, OSError):
            _unpack(kept, version, into)
            return into
    if sdist is None:
        say(f"Fetching the sources of {package} {version} for their headers (77 MB)")
        pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
        options = ["--no-deps", f"--no-binary={package}", "--dest", str(scratch)]
        words = [*pip, "download", *options, f"{package}=={version}"]
        hint = "Look whether pip can install packages here."
        run_tool("The headers of llama.cpp cannot be fetched", words, hint, say)
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


def main() -> int:
    """Build what is missing in a folder, and print its path or, on stderr, why there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--into", metavar="DIR", type=Path, required=True)
    parser.add_argument("--sdist", metavar="FILE", type=Path, help="llama-cpp-python's sources")
    parser.add_argument("--shelf", metavar="DIR", type=Path, help="keeps headers and libraries")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    library = options.into / library_name(key())
    try:
        if not is_whole(library):
            library = build(options.into, options.sdist, _say, options.shelf)
    except KernelBuildError as error:
        _say(str(error))
        return 1
    sys.stdout.write(f"{library}\n")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
