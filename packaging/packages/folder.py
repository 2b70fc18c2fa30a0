"""The finished folder: the frozen program, made smaller, checked, and with a script that starts it.

Linux: ``paceline`` (the script), ``lib/paceline`` and ``lib/_internal`` (PyInstaller's folder).
Windows: PyInstaller's folder itself. macOS: ``Paceline.app``. Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bootstrap import ROOT, BootstrapError, Environment, Runner, say
from packages import elf, macos

SPEC = ROOT / "packaging" / "packages" / "paceline.spec"
SCRIPT = ROOT / "packaging" / "linux" / "start.sh"
# These files must not change: the kernels are found by a digest of llama.cpp's libraries.
SEALED = ("llama_cpp", "_kernels")
# Replacement for the folder of the building Python, which libpython contains as its home.
_NOWHERE = b"/nonexistent"


def freeze(environment: Environment, scratch: Path, runner: Runner) -> Path:
    """Return what PyInstaller makes of the environment: a folder, on macOS an app.

    Raises:
        BootstrapError: It has failed.
    """
    say("Freezing the program")
    command = [environment.python, "-I", "-m", "PyInstaller", "--noconfirm", "--clean"]
    places = [f"--distpath={scratch / 'dist'}", f"--workpath={scratch / 'work'}"]
    config = str(scratch / "config")  # its own cache has what an earlier package was stripped of
    runner.run(
        "Freezing the program", [*command, *places, str(SPEC)], PYINSTALLER_CONFIG_DIR=config
    )
    return scratch / "dist" / ("Paceline.app" if sys.platform == "darwin" else "paceline")


def finish(frozen: Path, folder: Path, patchelf: Path) -> Path:
    """Make the folder that users get from the frozen program; an earlier one is replaced.

    Args:
        frozen: The result of `freeze`, which is moved.
        folder: The folder to create.
        patchelf: Path of patchelf, which sets the search paths of libraries on Linux.

    Returns:
        The frozen program in it.

    Raises:
        OSError: A file cannot be written.
        subprocess.CalledProcessError: A tool cannot read or change a library.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if sys.platform == "linux":
        folder.mkdir(parents=True)
        program = Path(shutil.move(frozen, folder / "lib"), "paceline")
        inside = program.parent / "_internal"
        drop_unneeded(inside)
        for path in elf.files(inside):
            if not set(SEALED) & set(path.relative_to(inside).parts):
                slim(path, patchelf)
                blank(path, sys.base_prefix)
        write_script(folder, floor(program.parent))
    elif sys.platform == "win32":
        program = Path(shutil.move(frozen, folder), "paceline.exe")
    else:
        folder.mkdir(parents=True)
        app = shutil.move(frozen, folder / frozen.name)
        program = Path(app, "Contents", "MacOS", "paceline")
    _forget_origin(folder)
    return program


def leave_no_trace(folder: Path, traces: Sequence[str]) -> None:
    """Check that no file of a package contains a path of this machine; the last step.

    On Windows and macOS such names are replaced, and the app is signed as it is then.

    Args:
        folder: The folder that `finish` made, with everything added since.
        traces: Folders of this machine.

    Raises:
        BootstrapError: A file names one of them, or the app cannot be signed.
        OSError: A file cannot be written.
    """
    if sys.platform == "win32":  # compilers write either
        traces = [*traces, *(Path(trace).as_posix() for trace in traces)]
    if sys.platform != "linux":
        forget(folder, traces)
    if sys.platform == "darwin":
        macos.sign(folder / macos.APP)
    found = [str(path.relative_to(folder)) for path in naming(folder, traces)]
    if found:
        text = "Files of the package name folders of this machine, which no other machine has."
        raise BootstrapError(text, *found)


def write_script(folder: Path, least: tuple[int, ...]) -> None:
    """Write the script that starts the program, or says that the system's glibc is too old."""
    text = SCRIPT.read_text("utf-8").replace("@GLIBC@", ".".join(map(str, least)))
    script = folder / "paceline"
    script.write_text(text, "utf-8")
    script.chmod(0o755)


def floor(folder: Path) -> tuple[int, ...]:
    """Return the oldest glibc version that suits all programs and libraries of the folder."""
    return max((elf.facts(path).glibc for path in elf.files(folder)), default=())


def drop_unneeded(internal: Path) -> None:
    """Delete the system's libraries that no file is linked with any more.

    PyInstaller takes them for files that were then left out, such as the GTK theme's. Python's own
    is opened by the starter.
    """
    while True:
        needed = {name for path in elf.files(internal) for name in elf.facts(path).needed}
        loose = [
            path
            for path in internal.glob("lib*.so*")
            if path.name not in needed
            and not path.is_symlink()
            and not path.name.startswith("libpython")
        ]
        if not loose:
            return
        for path in loose:
            path.unlink()


def slim(path: Path, patchelf: Path) -> None:
    """Remove symbols and the builder's search folders from a program or library.

    Some that were changed by patchelf before, NumPy's among them, cannot be loaded after `strip`:
    they stay as they are.
    """
    draft = path.with_name(path.name + ".slim")
    shutil.copyfile(path, draft)
    done = subprocess.run(
        ["strip", "--strip-unneeded", str(draft)], capture_output=True, check=False
    )
    if not done.returncode and elf.facts(draft).is_aligned:
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    else:
        draft.unlink()
    search = elf.facts(path).search
    own = [entry for entry in search if entry.startswith("$ORIGIN")]
    if own != list(search):
        words = ["--set-rpath", ":".join(own)] if own else ["--remove-rpath"]
        subprocess.run([str(patchelf), *words, str(path)], check=True)


def blank(path: Path, prefix: str) -> None:
    """Replace the folder of the builder's Python in a file by one of the same length.

    libpython carries it as its home, which a frozen program never asks for. Its last part stays:
    a linker lets other texts, such as the version, be the ends of longer ones.
    """
    content, old = path.read_bytes(), os.fsencode(Path(prefix).parent)
    if len(old) >= len(_NOWHERE) and os.fsencode(prefix) in content:
        new = _NOWHERE + b"/" * (len(old) - len(_NOWHERE))
        path.write_bytes(content.replace(old + b"/", new + b"/"))


def forget(folder: Path, traces: Sequence[str]) -> None:
    """Replace folders of this machine in a folder's files, each by a text of the same length.

    Asserts name their sources where the compiler has no option against it (Windows), and Python
    its home (macOS). Nothing there is sealed as it is on Linux, and no file is opened by them. The
    last part of a folder stays, as it does in `blank`.
    """
    for path in [*naming(folder, traces)]:
        content = path.read_bytes()
        for trace in traces:
            n = len(os.fsencode(Path(trace).parent))
            word = os.fsencode(trace)
            content = content.replace(word, _NOWHERE.ljust(n, b"/")[:n] + word[n:])
        path.write_bytes(content)


def naming(folder: Path, traces: Iterable[str]) -> Iterator[Path]:
    """Yield the files of a folder that name one of these folders of this machine."""
    words = [os.fsencode(trace) for trace in traces]
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if any(word in content for word in words):
                yield path


def largest(folder: Path, count: int = 10) -> list[tuple[float, str]]:
    """Return the sizes of the largest parts of a folder, in megabytes: files and groups of files.

    The variants for processors count as one, and so do the models.
    """
    sizes: dict[str, float] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            family = path.parent / "ggml-cpu-*" if "ggml-cpu-" in path.name else path
            family = path.parent if path.suffix == ".gguf" else family
            name = family.relative_to(folder).as_posix()
            sizes[name] = sizes.get(name, 0) + path.stat().st_size / 1e6
    return sorted(((size, name) for name, size in sizes.items()), reverse=True)[:count]


def megabytes(path: Path) -> float:
    """Return the size of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files if not each.is_symlink()) / 1e6


def _forget_origin(folder: Path) -> None:
    """Delete what pip notes about where a distribution was fetched from."""
    for name in ("direct_url.json", "RECORD", "INSTALLER", "REQUESTED", "uv_cache.json"):
        for path in folder.rglob(f"*.dist-info/{name}"):
            path.unlink()
