"""The environment that is frozen: Paceline as a wheel, and the libraries of `native`.

It is made anew for each package, so that nothing of an earlier one gets in. Standard library only.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path

from backends import capture
from bootstrap import (
    ROOT,
    BootstrapError,
    Environment,
    Project,
    Runner,
    choose_python,
    committed_tree,
    say,
)
from paceline import __version__
from paceline.installation.package import BuildRecord, write_build
from packages.native import OLDEST_MACOS, Native


def make(cache: Path, project: Project, runner: Runner) -> Environment:
    """Return a new environment with the tools that make packages, and nothing else yet.

    Raises:
        BootstrapError: Python cannot make one, or pip cannot fetch the tools.
    """
    folder = cache / "environment"
    folder.mkdir(parents=True, exist_ok=True)
    environment = Environment(folder)
    base = getattr(sys, "_base_executable", sys.executable)
    environment.create(choose_python(base, runner), runner)
    command = [*environment.pip, "install", *project.extras["package"]]
    runner.run("Installing the tools", command)
    return environment


def fill(environment: Environment, project: Project, native: Native, runner: Runner) -> None:
    """Install Paceline and its libraries.

    Raises:
        BootstrapError: pip or a compiler has failed.
    """
    say("Installing what comes into the package")
    pip = [*environment.pip, "install"]
    # Only the Python files of llama-cpp-python: its libraries are compiled by `native`.
    files = ["--no-deps", "--config-settings=wheel.cmake=false", "--no-cache-dir"]
    runner.run("Installing llama-cpp-python", [*pip, *files, str(native.sdist)])
    runner.run("Installing the packages", [*pip, *project.dependencies])
    runner.run("Installing Paceline", [*pip, "--no-deps", "--no-cache-dir", str(ROOT)])
    packages = site_packages(environment)
    shutil.copytree(native.lib, packages / "llama_cpp" / "lib", symlinks=True)
    write_build(packages / "paceline", this_build())
    add_native_code(environment, native, runner)


def site_packages(environment: Environment) -> Path:
    """Return the folder of an environment that has its packages."""
    names = {"base": str(environment.folder), "platbase": str(environment.folder)}
    if (environment.version or "").split(".")[:2] != sys.version.split()[0].split(".")[:2]:
        raise BootstrapError("The environment has another Python than this one: start it again.")
    return Path(sysconfig.get_path("purelib", "venv", names))


def this_build() -> BuildRecord:
    """Return date, version and commit of a build from this checkout.

    The commit is empty if some files are not committed.
    """
    is_clean = bool(committed_tree(ROOT))
    commit = capture(["git", "-C", str(ROOT), "rev-parse", "HEAD"]) if is_clean else ""
    return BuildRecord(datetime.now(UTC).date(), __version__, (commit or "").strip())


def add_native_code(environment: Environment, native: Native, runner: Runner) -> None:
    """Compile Paceline's native code into the package: sampling, and on Linux the CPU kernels.

    Kernels that were compiled earlier are used again.

    Raises:
        BootstrapError: A compiler is missing or has failed.
    """
    into = ["--into", str(site_packages(environment) / "paceline" / "_kernels")]
    command = [environment.python, "-I", str(ROOT / "packaging" / "build_kernels.py")]
    oldest = {"MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS} if sys.platform == "darwin" else {}
    runner.run("Compiling the library for sampling", [*command, "rows", *into], **oldest)
    if sys.platform == "linux":
        words = ["--sdist", str(native.sdist), "--shelf", str(native.lib.parent)]
        runner.run("Compiling Paceline's kernels", [*command, "kernels", *into, *words])
