"""Builds llama-server from the sources that Paceline's own library was built from."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

from backends import cmake_arguments, find_compiler
from bootstrap import ROOT, Project

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
)


def configure_command(sources: Path, build: Path, wishes: str = "") -> list[str]:
    """Return cmake's first call; the compiler flags are those that bootstrap.py builds with."""
    compiler = find_compiler()
    arguments = cmake_arguments(compiler[1] if compiler else (), platform.machine(), wishes)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    places = ["-S", str(sources), "-B", str(build)]
    return ["cmake", *places, *generator, *OPTIONS, *shlex.split(arguments)]


def build_server(folder: Path) -> Path:
    """Download, unpack and build what is missing below `folder`; return the program."""
    if not shutil.which("cmake"):
        raise FileNotFoundError("building llama-server needs cmake: pip install cmake ninja")
    requirement = Project.read(ROOT).llama
    name = requirement.replace("-", "_").replace("==", "-")
    archive = folder / f"{name}.tar.gz"
    sources, build = folder / name / "vendor" / "llama.cpp", folder / f"{name}-build"
    folder.mkdir(parents=True, exist_ok=True)
    if not archive.exists():
        download = ["download", "--no-deps", "--no-binary", "llama-cpp-python", requirement]
        run([sys.executable, "-m", "pip", *download, "--dest", str(folder)])
    if not sources.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    run(configure_command(sources, build, os.environ.get("CMAKE_ARGS", "")))
    cores = str(os.cpu_count() or 1)
    run(["cmake", "--build", str(build), "--target", "llama-server", "--parallel", cores])
    suffix = ".exe" if os.name == "nt" else ""
    return next(build.glob(f"bin/**/llama-server{suffix}"))


def run(command: list[str]) -> None:
    """Run a command that reports its progress on stderr."""
    print("$", shlex.join(command), file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)
