"""Text files as token ids, however large: read in pieces of whole lines."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from paceline.cli.output import Progress
from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from paceline.engine.backend import Vocabulary

_PIECE = 1 << 16
"""Characters tokenized at once; some tokenizers recurse once per character."""
_MIB = 2**20


def read_pieces(path: Path, vocab: Vocabulary, progress: Progress) -> Iterator[list[int]]:
    """Yield a text file's tokens piece by piece, with BOS and EOS as the model asks for them.

    Control tokens' texts become those tokens. Bytes that are no UTF-8 become replacement
    characters.

    Raises:
        UserError: The file cannot be read.
    """
    if vocab.add_bos:
        yield [vocab.bos]
    try:
        size = path.stat().st_size
        with (
            path.open("rb") as raw,
            io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="") as file,
        ):
            rest = ""
            while data := file.read(_PIECE):
                lines, newline, rest = (rest + data).rpartition("\n")
                if len(rest) > _PIECE:
                    lines, newline, rest = lines + newline + rest, "", ""
                if lines or newline:
                    yield vocab.tokenize(lines + newline, special=True)
                progress.show(f"{path.name}: {raw.tell() / _MIB:.0f} of {size / _MIB:.0f} MiB")
            if rest:
                yield vocab.tokenize(rest, special=True)
    except OSError as error:
        raise UserError(
            "cannot-read",
            f"“{path}” cannot be read: {error.strerror or error}.",
            "Give text files.",
        ) from error
    finally:
        progress.clear()
    if vocab.add_eos:
        yield [vocab.eos]


def read_all(paths: Sequence[Path], vocab: Vocabulary) -> list[int]:
    """Return the tokens of several text files, one after the other.

    Raises:
        UserError: A file cannot be read.
    """
    progress = Progress()
    return [token for p in paths for piece in read_pieces(p, vocab, progress) for token in piece]
