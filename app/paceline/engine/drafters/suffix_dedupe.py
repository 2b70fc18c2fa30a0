"""What is new in a text, compared with segments: so that nothing is stored twice.

A chat's earlier turns come again with every prompt, and many chats begin alike. Looking up every
token would take seconds for a long chat; so contexts are looked up at every 32nd place only, and
from those that are known the text is compared block by block, forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paceline.engine.drafters.suffix_segment import CONTEXT, Segment

SHORTEST_KNOWN = 2 * CONTEXT
"""Shorter stretches that are known already are stored again, rather than cut a text in pieces."""
_BLOCK = 256  # tokens compared at once


def n_same(one: bytes, other: bytes) -> int:
    """Return how many words agree from the beginning on."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter // 4
    differs = int.from_bytes(one[:shorter], "little") ^ int.from_bytes(other[:shorter], "little")
    return ((differs & -differs).bit_length() - 1) // 32


def new_pieces(history: Sequence[int], segments: Sequence[Segment]) -> list[Sequence[int]]:
    """Return the stretches of a text that hold everything new in it.

    New is a token whose last `CONTEXT` tokens are nowhere followed by it in the segments, as far as
    stretches of `SHORTEST_KNOWN` tokens are concerned. A piece begins with the context of its first
    new token, and ends with the last token whose context has something new in it.
    """
    n = len(history)
    if n < 2:
        return []
    forwards = np.asarray(history, "<u4").tobytes()
    backwards = forwards[::-1]
    pieces: list[Sequence[int]] = []
    begin, place = 0, CONTEXT
    while place <= n:
        start, end = _known(forwards, backwards, place, segments)
        if end - start >= SHORTEST_KNOWN:
            context = max(begin - CONTEXT, 0)
            if start > context:
                pieces.append(history[context : start + CONTEXT])
            begin = place = end
        place += CONTEXT
    if begin < n:
        pieces.append(history[max(begin - CONTEXT, 0) :])
    return pieces


def _known(
    forwards: bytes, backwards: bytes, place: int, segments: Sequence[Segment]
) -> tuple[int, int]:
    """Return the stretch around the context of a place that a segment holds; (0, 0) if none."""
    n = len(forwards) // 4
    at = n - place
    query = backwards[4 * at : 4 * (at + CONTEXT)]
    best = (0, 0)
    for segment in segments:
        found = segment.find(query)
        if found is None:
            continue
        behind = before = 0
        same = _BLOCK
        while same == _BLOCK:
            here = 4 * (place + behind)
            same = n_same(forwards[here : here + 4 * _BLOCK], segment.behind(found, _BLOCK, behind))
            behind += same
        same = _BLOCK
        while same == _BLOCK:
            here = 4 * (at + CONTEXT + before)
            same = n_same(
                backwards[here : here + 4 * _BLOCK],
                segment.before(found, _BLOCK, CONTEXT + before),
            )
            before += same
        if before + CONTEXT + behind > best[1] - best[0]:
            best = (place - CONTEXT - before, place + behind)
    return best
