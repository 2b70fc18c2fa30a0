"""Files that llama.cpp keeps beside its tests: chat templates, and vocabularies that fill in gaps.

``llama_files.find("templates/Qwen-Qwen3-0.6B.jinja")`` from a test, and
``python tests/llama_files.py`` to bring them. The source package of llama-cpp-python is downloaded
once; of its folder ``models`` the files that tests ask for are kept in the cache of `make_pairs`.
Nothing of them is a part of Paceline. ``PACELINE_VOCABULARIES`` may name that folder in its place.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path, PurePosixPath

import pytest

import make_pairs
from real_models import NoPackageIndexError

PACKAGE = "llama-cpp-python"
VOCABULARIES = ("deepseek-coder", "gpt-2", "llama-spm", "refact", "starcoder")
"""The vocabularies that are kept: less than 2 MB each."""


def find(name: str) -> Path:
    """A file by its place in ``models``; a test that asks is skipped where there is none."""
    found = _folder()
    if isinstance(found, str):
        pytest.skip(found)
    file = found / name
    if not file.exists():
        pytest.skip(f"this version of {PACKAGE} has no {name}")
    return file


def vocabulary(name: str) -> Path:
    """A model file without weights, as of `find`: one of `VOCABULARIES`."""
    return find(f"ggml-vocab-{name}.gguf")


@functools.cache
def _folder() -> Path | str:
    """The folder that has them, or why there is none."""
    try:
        return folder()
    except NoPackageIndexError as error:
        return str(error)


def folder() -> Path:
    """The folder ``models``; made now if it is not there yet.

    Raises:
        NoPackageIndexError: The package has to be downloaded and cannot be.
    """
    given = os.environ.get("PACELINE_VOCABULARIES")
    if given and (Path(given) / "templates").is_dir():
        return Path(given)
    kept = make_pairs.cache_folder() / "llama.cpp"
    made = kept / version(PACKAGE)
    if made.is_dir():
        return made
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept, prefix=".making-") as scratch:
        written = Path(scratch) / made.name
        unpack(_download(Path(scratch)), written)
        try:
            written.rename(made)
        except OSError:  # another process was faster
            if not made.is_dir():
                raise
    return made


def _download(scratch: Path) -> Path:
    requirement = f"{PACKAGE}=={version(PACKAGE)}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-binary", PACKAGE, "--dest", str(scratch)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoPackageIndexError(f"there is no package index that has the sources of {PACKAGE}")
    return next(scratch.glob("*.tar.gz"))


def unpack(archive: Path, into: Path) -> None:
    """Write what is kept of a source package into a folder, which is made."""
    (into / "templates").mkdir(parents=True)
    with tarfile.open(archive) as packed:
        for member in packed:
            name = _place(PurePosixPath(member.name))
            file = packed.extractfile(member) if name else None
            if file:
                (into / name).write_bytes(file.read())


def _place(path: PurePosixPath) -> str:
    """Return the path of a stored file, or empty if it is not stored."""
    if path.suffix == ".jinja" and path.parts[-3:-1] == ("models", "templates"):
        return f"templates/{path.name}"
    is_vocabulary = path.name in {f"ggml-vocab-{name}.gguf" for name in VOCABULARIES}
    return path.name if is_vocabulary and path.parent.name == "models" else ""


if __name__ == "__main__":
    print(folder())
