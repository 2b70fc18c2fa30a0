"""Properties of a model file known before its weights are loaded; no native code in here.

A GGUF file begins with metadata (keys and values: architecture, tokenizer, template) and the list
of its tensors; the weights follow. The header alone, a few megabytes, shows whether a model can be
used, what it needs, and whether two models share a tokenizer. Native code reads it
(`engine/llama/gguf`); the values are defined here, beside those of a dry run and of checks of the
file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paceline.codec import Checked
from paceline.errors import ModelError

Scalar = bool | int | float | str
Number = bool | int | float


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """An entry of the list of tensors.

    Attributes:
        name: For example ``blk.0.attn_q.weight``.
        shape: Sizes in ggml's order, the row length first.
        kind: Number of its type in `enum ggml_type`.
        n_bytes: Bytes of its data.
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    n_bytes: int


_WITH_HEADS = frozenset(
    {
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "deepseek4", "gemma4-assistant",
        "glm-dsa", "glm4moe", "glm5-next", "hy_v3", "mimo2", "nemotron_h_moe", "qwen35",
        "qwen35moe", "qwen3next", "step35",
    }
)  # fmt: skip
"""Architectures with a graph of MTP heads (`LLM_GRAPH_TYPE_DECODER_MTP` in llama.cpp's src/models),
and Gemma 4's assistants. Others, such as GLM 4 and EXAONE 4, have heads that are never computed."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The content of a file before its weights.

    Attributes:
        values: Single values by key.
        arrays: Number of elements of every array by key.
        numbers: Arrays of numbers, unless they are long; usually one number per block.
        texts: The requested arrays of texts, as bytes: token texts need not be UTF-8.
        tensors: The list of tensors in file order.
    """

    values: Mapping[str, Scalar]
    arrays: Mapping[str, int]
    numbers: Mapping[str, tuple[Number, ...]]
    texts: Mapping[str, tuple[bytes, ...]]
    tensors: tuple[GgufTensor, ...]

    def text(self, key: str) -> str:
        """Return a text; empty if there is none under this key."""
        value = self.values.get(key, "")
        return value if isinstance(value, str) else ""

    def whole(self, key: str) -> int:
        """Return an integer; 0 if there is none under this key."""
        value = self.values.get(key, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    def of_architecture(self, name: str) -> int:
        """Return an integer of the architecture's section, for example ``context_length``, or 0."""
        return self.whole(f"{self.text('general.architecture')}.{name}")

    @property
    def n_heads(self) -> int:
        """The number of its last blocks that are MTP heads which llama.cpp computes.

        Quantisers may omit their tensors.
        """
        is_computed = self.text("general.architecture") in _WITH_HEADS
        return self.of_architecture("nextn_predict_layers") if is_computed else 0


class DryRun(Checked, frozen=True):
    """The memory that llama.cpp would allocate for one model and its context, in bytes.

    Attributes:
        kv: By device name, the caches of keys, values and recurrent states.
        compute: By device name, the buffers for computing, and for the rows that a decode outputs.
        kv_layers: The caches of each layer, 0 for one without any; for the whole text also in
            layers with a sliding window.
        repacked: Weights that the CPU copies into another layout.
        state_layers: The part of `kv_layers` that is the present state of a recurrent memory.
        n_states: Maximum number of earlier states that llama.cpp keeps; 0 if it cannot or has none.
        window_layers: `kv_layers` if only sliding windows are kept; empty if there are none.
        narrow: `compute` of the CPU if a decode outputs one row of logits, without that row.
    """

    kv: tuple[tuple[str, int], ...]
    compute: tuple[tuple[str, int], ...]
    kv_layers: tuple[int, ...]
    repacked: int
    state_layers: tuple[int, ...] = ()
    n_states: int = 0
    window_layers: tuple[int, ...] = ()
    narrow: int = 0


_HEAD_BYTES = 1 << 20
PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
"""Pattern of the names of a split model's parts (llama.cpp, tools/gguf-split): number and count."""
_TYPE = re.compile(r"\b((?:I?Q|TQ)\d\w*|BF16|F16|F32|MXFP4|NVFP4)\b(?: - (Small|Medium|Large)\b)?")


def check_model_file(text: str) -> Path:
    """Return the path if it names a readable GGUF file.

    Raises:
        ModelError: It does not; says what the file is and what to do.
    """
    path = Path(os.path.expanduser(text))  # noqa: PTH111  pathlib's raises for an unknown user
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ModelError(
                "not-a-file", "“{path}” is a device or a pipe.", "Choose a .gguf file.", path=path
            )
        if path.is_dir():
            raise ModelError(
                "is-a-directory",
                "“{path}” is a folder, not a model file.",
                "Choose a .gguf file in it.",
                path=path,
            )
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        raise ModelError(
            "file-not-found",
            "There is no file “{path}”.",
            "Check the path, or choose another.",
            path=path,
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(
            "cannot-read",
            "“{path}” cannot be read: {reason}.",
            "Check its permissions.",
            path=path,
            reason=reason,
        ) from None
    if magic != b"GGUF":
        raise ModelError(
            "not-a-gguf",
            "“{name}” is not a GGUF file.",
            "Choose a model in GGUF format; other formats must be converted first.",
            name=path.name,
        )
    return path


def check_whole_model(text: str) -> Path:
    """Return the path of a model's first part, which is loaded, if all its parts exist.

    Args:
        text: Path of a model; of a split one any part.

    Raises:
        ModelError: As in `check_model_file`, or a part is missing.
    """
    path = check_model_file(text)
    names = part_names(path.name)
    missing = [name for name in names if not path.with_name(name).is_file()]
    if missing and len(missing) < len(names):
        n_more = len(missing) - 1
        raise ModelError(
            "part-missing",
            "“{name}” is one of {n} parts of a model; “{missing}” and {n_more} more are missing."
            if n_more
            else "“{name}” is one of {n} parts of a model; “{missing}” is missing.",
            "Put all parts into one folder.",
            name=path.name,
            n=len(names),
            missing=missing[0],
            n_more=n_more,
        )
    return path.with_name(names[0])


def first_part(path: Path) -> Path:
    """Return the first part of a split model, if it lies beside this one; otherwise the path."""
    first = path.with_name(part_names(path.name)[0])
    return first if first.is_file() else path


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a model: all parts of a split one, given its first part."""
    part = PART.search(path.name)
    if part is None or int(part[1]) != 1:
        return (path,)
    return (path, *map(path.with_name, part_names(path.name)[1:]))


def part_names(name: str) -> list[str]:
    """Return the names of all parts of a split model, given the name or path of one of them."""
    part = PART.search(name)
    if part is None:
        return [name]
    start, count, end = name[: part.start()], int(part[2]), name[-len(".gguf") :]
    numbers = range(1, count + 1) if 1 <= int(part[1]) <= count else ()
    return [f"{start}-{i:05}-of-{count:05}{end}" for i in numbers] or [name]


def model_name(name: str) -> str:
    """Return a file's name without its extension and without the part of a split model."""
    whole = PART.sub(".gguf", name)
    return whole[: -len(".gguf")] if whole.lower().endswith(".gguf") else whole


def title_with_type(title: str, description: str) -> str:
    """Return a model's title with the type of its weights, for example ``Qwen3 8B Q4_K_M``.

    Args:
        title: Title in the file's metadata.
        description: llama.cpp's description (`llama_model_desc`), e.g. ``qwen3 8B Q4_K - Medium``.
    """
    found = _TYPE.search(description)
    if found is None:
        return title
    size = found[2][:1] if found[2] else ""
    kind = f"{found[1]}_{size}" if size else found[1]
    return title if kind.lower() in title.lower() else f"{title} {kind}"


def file_id(path: Path) -> str:
    """Return a short id of the content: a hash of its size and first MiB, which has the header.

    Raises:
        ModelError: The file can no longer be read.
    """
    try:
        digest = hashlib.sha256(str(path.stat().st_size).encode())
        with path.open("rb") as file:
            digest.update(file.read(_HEAD_BYTES))
    except OSError:
        raise _moved(path) from None
    return digest.hexdigest()[:16]


OVERWRITTEN = "model-overwritten"
"""Code of the error that a file was written to after it was loaded."""


Written = tuple[tuple[int, int], tuple[int, int]]
"""A file's identity (device and number), and its size and modification time in ns."""


def written_at(path: Path) -> Written | None:
    """Return a file's identity and modification time, or None if it cannot be read."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


def written_parts(paths: Iterable[str]) -> dict[Path, Written]:
    """Return `written_at` of all readable parts of these models."""
    models = (Path(os.path.expanduser(path)) for path in paths)  # noqa: PTH111  as above
    parts = (part for model in models for part in parts_of(model))
    return {part: found for part in parts if (found := written_at(part))}


def check_in_place(files: Mapping[Path, Written]) -> None:
    """Check that these are still the same files as before the load, modified or not.

    Some network shares and FAT renumber files, so a different number alone, with the same size and
    modification time, does not make it another file.

    Raises:
        ModelError: A file was replaced by another one, so that content and ids may mix two files.
    """
    for path, before in files.items():
        now = written_at(path)
        if now and now[0] != before[0] and now[1] != before[1]:
            raise _moved(path)


def _moved(path: Path) -> ModelError:
    return ModelError(
        "file-moved",
        "The file “{name}” was deleted, moved or replaced while it was loaded.",
        "Load the models again, from where they are now.",
        name=path.name,
    )
