"""Texts taken out of the suffix store, with nothing lost that other chats have as well.

A stored piece belongs to a chat when it is a stretch of one of its texts; when it is a stretch of
another chat's as well, it stays. Long stretches that two chats share are stored once, by whichever
came first; so before a piece goes, other chats' texts are searched for what they share with it, and
that stays, too. All of it becomes one new segment that stands for those before it: whoever has an
old one open still reads it, and merges it no more. It is in place before the old ones go, so that
after a crash the next one to open the store removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paceline.engine.drafters.chat_log import Tokens
from paceline.engine.drafters.suffix_dedupe import SHORTEST_KNOWN
from paceline.engine.drafters.suffix_segment import CONTEXT, STOP, Segment, Text
from paceline.engine.drafters.suffix_store import (
    MOST_TOKENS,
    in_force,
    remove_unfinished,
    write_segment,
)
from paceline.engine.drafters.windows import Hashes, window_hashes

_PROBE = 8  # tokens by which pieces are told that cannot be a chat's
_AT_ONCE = 1 << 20  # tokens of texts searched at once

Piece = NDArray[np.int64]


def forget_texts(
    folder: Path, texts: Iterable[Tokens], others: Callable[[], Iterable[Tokens]]
) -> None:
    """Rewrite a store without a chat's texts.

    Args:
        folder: Where the segments lie.
        texts: All texts of the chat, forwards.
        others: Gives those of other chats; asked only where something is taken out, up to twice.

    Raises:
        OSError: A segment cannot be read, written or removed.
    """
    remove_unfinished(folder)
    old = in_force(folder)
    pieces = [piece for path in old for piece in _pieces(path)]
    goes = _are_stretches(pieces, texts)
    if not goes.any():
        return
    goes[goes] = ~_are_stretches(_chosen(pieces, goes), others())
    shared = _shared(_chosen(pieces, goes), others()) if goes.any() else []
    stays = [*shared, *_chosen(pieces, ~goes)]
    if stays:
        end = np.array([STOP], np.int64)
        backwards: Text = np.concatenate([part for piece in stays for part in (piece[::-1], end)])
        write_segment(folder, backwards[:MOST_TOKENS], old)
    for path in old:
        path.unlink(missing_ok=True)


def _chosen(pieces: Sequence[Piece], wanted: NDArray[np.bool_]) -> list[Piece]:
    return [piece for piece, is_wanted in zip(pieces, wanted, strict=True) if is_wanted]


def _pieces(path: Path) -> list[Piece]:
    """Return a segment's pieces forwards, the newest first."""
    try:
        segment = Segment(path)
    except FileNotFoundError:  # another program has merged it a moment ago
        return []
    except ValueError as error:
        raise OSError(f"{path.name}: {error}") from error
    try:
        words = segment.text()
    finally:
        segment.close()
    parts = np.split(words, np.flatnonzero(words == STOP) + 1)
    pieces = [part[part != STOP][::-1] for part in parts]
    return [piece for piece in pieces if len(piece)]


def _are_stretches(pieces: Sequence[Piece], texts: Iterable[Tokens]) -> NDArray[np.bool_]:
    """Return of each piece whether one of the texts holds all of it, bool [len(pieces)]."""
    found = np.zeros(len(pieces), np.bool_)
    stop = np.array([STOP], "<u4").tobytes()
    for some in _parts(texts):
        known = np.unique(np.concatenate([_hashes(text, _PROBE) for text in some]))
        whole = stop.join(text.astype("<u4").tobytes() for text in some)
        for i in np.flatnonzero(~found).tolist():
            piece = pieces[i]
            ends = piece[:_PROBE], piece[-_PROBE:]
            may_be = len(piece) < _PROBE or all(
                np.isin(_hashes(end, _PROBE), known, assume_unique=True).all() for end in ends
            )
            found[i] = may_be and _holds(whole, piece.astype("<u4").tobytes())
    return found


def _parts(texts: Iterable[Tokens]) -> Iterator[list[Tokens]]:
    """Yield the texts, some at a time, as many as may be held in memory."""
    some: list[Tokens] = []
    for text in texts:
        some.append(text)
        if sum(map(len, some)) >= _AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _holds(whole: bytes, part: bytes) -> bool:
    at = whole.find(part)
    while at % 4 and at >= 0:
        at = whole.find(part, at + 1)
    return at >= 0


def _shared(gone: Sequence[Piece], others: Iterable[Tokens]) -> list[Piece]:
    """Return the long stretches of other texts that stand in the pieces, each once."""
    known = np.unique(np.concatenate([_hashes(piece, CONTEXT) for piece in gone]))
    found: dict[bytes, Piece] = {}
    for text in others:
        is_known = np.concatenate(([False], np.isin(_hashes(text, CONTEXT), known), [False]))
        turns = np.flatnonzero(np.diff(is_known.astype(np.int8)))
        for begin, end in turns.reshape(-1, 2).tolist():
            stretch = text[begin : end + CONTEXT - 1].astype(np.int64)
            if len(stretch) >= SHORTEST_KNOWN:
                found.setdefault(stretch.tobytes(), stretch)
    return list(found.values())


def _hashes(tokens: NDArray[np.integer], n: int) -> Hashes:
    return window_hashes(tokens.astype(np.uint64), n)
