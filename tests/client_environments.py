"""Environments of programs that use the endpoint, each with its own packages, made once.

Their requirements clash with each other's and with ours, so each gets a virtual environment, or a
folder of npm's, in the cache of `make_pairs`. A test is skipped where the index has no packages.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import make_pairs

if TYPE_CHECKING:
    from pathlib import Path


def python_with(*requirements: str) -> Path:
    """Return the Python of an environment with these packages, or skip the test."""
    folder = _folder("python", requirements)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return _made(
        folder,
        python,
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", *requirements],
    )


def node_with(*packages: str) -> Path:
    """Return a folder in which Node finds these packages, or skip the test."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    folder = _folder("node", packages)
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
    return _made(folder, folder, command)


def _folder(kind: str, names: tuple[str, ...]) -> Path:
    digest = hashlib.sha256("\n".join((kind, sys.version, *names)).encode()).hexdigest()[:12]
    return make_pairs.cache_folder() / "clients" / digest


def _made(folder: Path, result: Path, *commands: list[str]) -> Path:
    """Return the result of commands that were all carried out, now or earlier."""
    done = folder / "complete"
    if not done.exists():
        for command in commands:
            made = subprocess.run(command, capture_output=True, text=True, check=False)
            if made.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                pytest.skip(f"the package index cannot serve it: {made.stderr[-300:]}")
        done.touch()
    return result
