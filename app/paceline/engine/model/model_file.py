"""What is known of a model file before its weights are loaded; no native code in here.

A GGUF file begins with metadata (keys and values: architecture, tokenizer, template) and the list
of its tensors; the weights follow. The header alone, a few megabytes, tells whether a model can be
used, what it needs, and whether two models share a tokenizer. Native code reads it
(`engine/llama/gguf`); the values are held here, beside those of a dry run and a first look at the
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
    """One tensor of the list.

    Attributes:
        name: E.g. ``blk.0.attn_q.weight``.
        shape: In ggml's order, the row length first.
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
    """Everything in front of the weights.

    Attributes:
        values: Single values by key.
        arrays: Elements of every array by key.
        numbers: The arrays of numbers, unless they are long; usually one number per block.
        texts: The arrays of texts that were asked for, as bytes: token texts need not be UTF-8.
        tensors: In file order.
    """

    values: Mapping[str, Scalar]
    arrays: Mapping[str, int]
    numbers: Mapping[str, tuple[Number, ...]]
    texts: Mapping[str, tuple[bytes, ...]]
    tensors: tuple[GgufTensor, ...]

    def text(self, key: str) -> str:
        """Return a text; empty when there is none under this key."""
        value = self.values.get(key, "")
        return value if isinstance(value, str) else ""

    def whole(self, key: str) -> int:
        """Return a whole number; 0 when there is none under this key."""
        value = self.values.get(key, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    def of_architecture(self, name: str) -> int:
        """Return a whole number of the model's own section, e.g. ``context_length``; 0: none."""
        return self.whole(f"{self.text('general.architecture')}.{name}")

    @property
    def n_heads(self) -> int:
        """How many of its last blocks are MTP heads that llama.cpp computes.

        Quantisers may leave their tensors out.
        """
        is_computed = self.text("general.architecture") in _WITH_HEADS
        return self.of_architecture("nextn_predict_layers") if is_computed else 0


class DryRun(Checked, frozen=True):
    """What llama.cpp would take for one model and its context.

    Attributes:
        kv: Per device name: caches of keys, values and recurrent states.
        compute: Per device name: buffers for computing, and for the rows that a decode gives.
        kv_layers: The caches of each layer, 0 for one without any; with the whole text in those
            that have a sliding window.
        repacked: Weights that the CPU copies into another layout.
        state_layers: Of `kv_layers`, the present state of a recurrent memory.
        n_states: How many earlier ones llama.cpp keeps at most; 0: it cannot, or there are none.
        window_layers: `kv_layers` where no more than sliding windows is kept; empty: there are
            none.
        narrow: `compute` of the CPU where a decode gives one row of logits, without that row.
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
"""How the parts of a split model are named (llama.cpp, tools/gguf-split): number and count."""
_TYPE = re.compile(r"\b((?:I?Q|TQ)\d\w*|BF16|F16|F32|MXFP4|NVFP4)\b(?: - (Small|Medium|Large)\b)?")


def check_model_file(text: str) -> Path:
    """Return the path when it names a readable GGUF file.

    Raises:
        ModelError: Says what it is instead and what to do.
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
    """Return the path of a model's first part, which is loaded, when all of its parts are there.

    Args:
        text: Path of a model, of a split one any part.

    Raises:
        ModelError: As `check_model_file`, or a part is missing.
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
    """Return the files of a model: all parts of a split one, whose first part is given."""
    part = PART.search(path.name)
    if part is None or int(part[1]) != 1:
        return (path,)
    return (path, *map(path.with_name, part_names(path.name)[1:]))


def part_names(name: str) -> list[str]:
    """Return what all parts of a split model are called, by the name or the path of one of them."""
    part = PART.search(name)
    if part is None:
        return [name]
    start, count, end = name[: part.start()], int(part[2]), name[-len(".gguf") :]
    numbers = range(1, count + 1) if 1 <= int(part[1]) <= count else ()
    return [f"{start}-{i:05}-of-{count:05}{end}" for i in numbers] or [name]


def model_name(name: str) -> str:
    """Return a file's name without its ending, and without which part of a split model it is."""
    whole = PART.sub(".gguf", name)
    return whole[: -len(".gguf")] if whole.lower().endswith(".gguf") else whole


def title_with_type(title: str, description: str) -> str:
    """Return a model's title with the type of its weights, e.g. ``Qwen3 8B Q4_K_M``.

    Args:
        title: What the file calls itself.
        description: What llama.cpp says (`llama_model_desc`), e.g. ``qwen3 8B Q4_K - Medium``.
    """
    found = _TYPE.search(description)
    if found is None:
        return title
    size = found[2][:1] if found[2] else ""
    kind = f"{found[1]}_{size}" if size else found[1]
    return title if kind.lower() in title.lower() else f"{title} {kind}"


def file_id(path: Path) -> str:
    """Return a short id of the content: the hash of size and first MiB (the header lies there).

    Raises:
        ModelError: The file, which was there, cannot be read any more.
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
"""Which file it is (device and number), and its size and time of writing in ns."""


def written_at(path: Path) -> Written | None:
    """Return which file is there and when it was written; None: it cannot be seen."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


def written_parts(paths: Iterable[str]) -> dict[Path, Written]:
    """Return `written_at` of all parts of these models that can be seen."""
    models = (Path(os.path.expanduser(path)) for path in paths)  # noqa: PTH111  as above
    parts = (part for model in models for part in parts_of(model))
    return {part: found for part in parts if (found := written_at(part))}


def check_in_place(files: Mapping[Path, Written]) -> None:
    """See whether these are still the files that they were before the load, written to or not.

    Some network shares and FAT number files anew as they like, so another number alone, with the
    same size and time of writing, is no other file.

    Raises:
        ModelError: Another file has the name of one, so that what was read of them, and their ids,
            may be of two.
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
