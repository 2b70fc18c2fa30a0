"""The texts of earlier chats on disk, searched by what the present one ends with.

Every turn that may be remembered adds a segment (`suffix_segment.py`) with what is new in it: an
earlier turn of the same chat, which comes again with every prompt, is stored once. Beyond eight
segments they are merged into one; beyond a million tokens the oldest are dropped.

A segment is named after the first and the last turn in it. One whose turns another one holds as
well was left over by a merge, and goes. So a crash at any moment costs a turn's text at most, and
several programs may use a folder at once: each writes under a name of its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil

from paceline.engine.drafters.suffix_dedupe import n_same, new_pieces
from paceline.engine.drafters.suffix_segment import CONTEXT, STOP, Segment, Text, pack, text_of
from paceline.files import private_folder

_log = logging.getLogger(__name__)

MOST_SEGMENTS = 8
MOST_TOKENS = 1 << 20
SAMPLE = 32
"""Places looked at where a match occurs more often."""
_NAME = re.compile(r"(\d{8})-(\d{8})\.suffixes", re.ASCII)
_UNFINISHED = "unfinished-"
_QUERY = struct.Struct(f">{CONTEXT}I")


class Match:
    """Places behind the longest match of a text's end.

    Attributes:
        length: Tokens that agree, at most `CONTEXT`.
        places: Where it goes on, the latest first, `SAMPLE` at most, evenly chosen from all.
    """

    def __init__(self, length: int, places: Sequence[tuple[Segment, int]]) -> None:
        self.length = length
        self.places = places

    def follow(self, n: int, p_min: float) -> tuple[list[int], list[float]]:
        """Copy what most of the places go on with, token by token, from those that agree so far.

        Args:
            n: Tokens at most.
            p_min: The copy ends where the product of the shares would fall below.

        Returns:
            The tokens, and which share of the places that go on goes on with each.
        """
        texts = [segment.behind(place, n) for segment, place in self.places]
        tokens: list[int] = []
        shares: list[float] = []
        product = 1.0
        while len(tokens) < n:
            at = 4 * len(tokens)
            low, high = min(texts), max(texts)
            if low[at : at + 4] == high[at : at + 4]:  # all agree
                agreed = n_same(low, high) - len(tokens)
                for token in struct.unpack_from(f"<{agreed}I", texts[0], at):
                    if token == STOP:
                        return tokens, shares
                    tokens.append(token)
                    shares.append(1.0)
                continue
            counts: dict[bytes, int] = {}
            for text in texts:
                word = text[at : at + 4]
                counts[word] = counts.get(word, 0) + 1
            counts.pop(_STOP_WORD, None)
            word = max(counts, key=counts.__getitem__)  # the first of several, and so the latest
            share = counts[word] / sum(counts.values())
            product *= share
            if product < p_min:
                break
            tokens.append(int.from_bytes(word, "little"))
            shares.append(share)
            texts = [text for text in texts if text[at : at + 4] == word]
        return tokens, shares


_STOP_WORD = STOP.to_bytes(4, "little")


class SuffixStore:
    """The segments below a folder, mapped from the making of this object to its end.

    No method fails on account of a file: what cannot be read or written is left out, with a warning
    in the log.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segments: list[Segment] = []  # the newest first
        for path in in_force(folder):
            try:
                self._segments.append(Segment(path))
            except FileNotFoundError:
                pass  # another Paceline has merged it a moment ago
            except ValueError as error:
                _log.warning("%s is removed: %s", path, error)
                _remove(path)
            except OSError as error:
                _log.warning("%s cannot be read: %s", path, error)

    def find(self, tail: Sequence[int], shortest: int) -> Match | None:
        """Return the longest match of a text's end, if it has at least `shortest` tokens.

        Args:
            tail: The last tokens of the text, `CONTEXT` at most.
            shortest: At least 1.
        """
        n = len(tail)
        if n < shortest:
            return None
        query = _QUERY.pack(*reversed(tail), *[STOP] * (CONTEXT - n))
        found = [(*segment.longest(query), segment) for segment in self._segments]
        length = min(max((length for length, _, _ in found), default=0), n)
        if length < shortest:
            return None
        ranges = [
            (segment, *segment.range(query, length, near))
            for agreed, near, segment in found
            if agreed >= length
        ]
        return Match(length, _sample(ranges))

    def remember(self, history: Sequence[int]) -> None:
        """Add what is new in a text, and close: milliseconds, some hundred of them for a merge."""
        # Where somebody cleared the memory meanwhile, it must neither come back nor count as known.
        old = [segment for segment in self._segments if segment.path.exists()]
        pieces = new_pieces(history, old)
        try:
            if pieces:
                self._write(text_of(pieces), old)
        except OSError as error:
            _log.warning("Nothing of this turn is kept for later ones: %s", error)
        finally:
            self.close()

    def close(self) -> None:
        """Unmap all files."""
        for segment in self._segments:
            segment.close()
        self._segments = []

    def _write(self, text: Text, old: Sequence[Segment]) -> None:
        merged: list[Path] = []
        # What another program has added since cannot be merged, and must not look as if it were.
        if len(old) >= MOST_SEGMENTS and _last(self._folder) == int(old[0].path.name[9:17]):
            merged = [segment.path for segment in old]
            text = np.concatenate([text, *(segment.text() for segment in old)])[:MOST_TOKENS]
            self.close()  # Windows lets nobody remove a mapped file
        private_folder(self._folder)
        write_segment(self._folder, text, merged)
        for path in merged:
            _remove(path)


# ---------------------------------------------------------------------------------------- files


def write_segment(folder: Path, text: Text, instead_of: Sequence[Path]) -> None:
    """Add a segment, the newest, which stands for older ones as well.

    Args:
        folder: Exists.
        text: What it holds.
        instead_of: Segments whose turns it holds; the next one to open the store removes them, if
            the caller does not.

    Raises:
        OSError: It cannot be written.
    """
    data = pack(text)
    new = folder / f"{_UNFINISHED}{os.getpid()}"
    try:
        with open(new, "wb", opener=_private) as file:
            file.write(data)
        last = _last(folder) + 1  # now, since all that took its time
        first = min((int(path.name[:8]) for path in instead_of), default=last)
        new.replace(folder / f"{first:08}-{last:08}.suffixes")
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def remove_unfinished(folder: Path) -> None:
    """Remove what crashed programs were about to write.

    Raises:
        OSError: It cannot be removed.
    """
    for name in _listing(folder):
        if name.startswith(_UNFINISHED):
            number = name.removeprefix(_UNFINISHED)
            if not number.isdecimal() or not psutil.pid_exists(int(number)):
                (folder / name).unlink(missing_ok=True)


def in_force(folder: Path) -> list[Path]:
    """Return the segments in a folder, the newest first, and remove what a merge left over."""
    spans = [
        (int(match[2]), int(match[1]), folder / match[0])
        for match in map(_NAME.fullmatch, _listing(folder))
        if match
    ]
    spans.sort(key=lambda span: (-span[0], span[1]))
    paths: list[Path] = []
    lowest = 1 << 62
    for _, first, path in spans:
        if first >= lowest:
            _remove(path)
        else:
            lowest = first
            paths.append(path)
    return paths


def _last(folder: Path) -> int:
    """Return the last turn in a folder; 0 when it is empty."""
    matches = map(_NAME.fullmatch, _listing(folder))
    return max((int(match[2]) for match in matches if match), default=0)


def _listing(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        _log.warning("%s cannot be read: %s", folder, error)
        return []


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be removed: %s", path, error)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# ---------------------------------------------------------------------------------------- texts


def _sample(ranges: Sequence[tuple[Segment, int, int]]) -> list[tuple[Segment, int]]:
    """Return evenly chosen places from ranges of segments, the newest first."""
    total = sum(high - low for _, low, high in ranges)
    step = max(total / SAMPLE, 1.0)
    chosen: list[tuple[Segment, int]] = []
    begin = 0
    for segment, low, high in ranges:
        places: list[int] = []
        end = begin + high - low
        while (i := int((len(chosen) + len(places)) * step)) < end:
            places.append(segment.place(low + i - begin))
        begin = end
        chosen += [(segment, place) for place in sorted(places)]
    return chosen
