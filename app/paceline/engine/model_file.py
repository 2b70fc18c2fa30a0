"""First look at a model file, before native code sees it."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from paceline.errors import ModelError

_HEAD_BYTES = 1 << 20
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
                "not-a-file", f"“{path}” is a device or a pipe.", "Choose a .gguf file."
            )
        if path.is_dir():
            raise ModelError(
                "is-a-directory",
                f"“{path}” is a folder, not a model file.",
                "Choose a .gguf file in it.",
            )
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        raise ModelError(
            "file-not-found", f"There is no file “{path}”.", "Check the path, or choose another."
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(
            "cannot-read", f"“{path}” cannot be read: {reason}.", "Check its permissions."
        ) from None
    if magic != b"GGUF":
        raise ModelError(
            "not-a-gguf",
            f"“{path.name}” is not a GGUF file.",
            "Choose a model in GGUF format; other formats must be converted first.",
        )
    return path


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
    """Return a short id of the content: the hash of size and first MiB (the header lies there)."""
    digest = hashlib.sha256(str(path.stat().st_size).encode())
    with path.open("rb") as file:
        digest.update(file.read(_HEAD_BYTES))
    return digest.hexdigest()[:16]
