"""Fingerprints recognise files; hashes are those of the whole file."""

from __future__ import annotations

import hashlib
import os
from itertools import pairwise
from pathlib import Path

import pytest

from paceline.catalog.local.fingerprint import (
    HEAD_BYTES,
    N_PIECES,
    PIECE_BYTES,
    fingerprint_of,
    sampled_ranges,
    sha256_of,
)
from paceline.errors import CancelledError, ModelError

LARGE = 40 << 20


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.gguf"
    with path.open("wb") as file:
        file.write(os.urandom(1 << 16) * 16)
        file.truncate(LARGE)  # a hole: nothing is written
    return path


def change(path: Path, at: int) -> None:
    """Turn one byte over and leave size and time as they were."""
    stat = path.stat()
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 255]))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_the_samples_are_those_that_are_promised() -> None:
    ranges = sampled_ranges(LARGE)
    assert ranges[0] == (0, HEAD_BYTES)
    assert ranges[-1] == (LARGE - PIECE_BYTES, PIECE_BYTES)
    assert len(ranges) == N_PIECES + 2
    ends = [start + length for start, length in ranges]
    assert all(end <= start for end, (start, _) in zip(ends, ranges[1:], strict=False))
    starts = [start for start, _ in ranges[1:-1]]
    distances = {b - a for a, b in pairwise(starts)}
    assert max(distances) - min(distances) <= 1


@pytest.mark.parametrize("n_bytes", [0, 1, HEAD_BYTES + (N_PIECES + 1) * PIECE_BYTES])
def test_a_small_file_is_read_whole(n_bytes: int) -> None:
    assert sampled_ranges(n_bytes) == [(0, n_bytes)]


def test_a_file_just_too_large_for_that_has_samples_in_order() -> None:
    n_bytes = HEAD_BYTES + (N_PIECES + 1) * PIECE_BYTES + 1
    ranges = sampled_ranges(n_bytes)
    assert sum(length for _, length in ranges) <= n_bytes
    assert [start for start, _ in ranges] == sorted(start for start, _ in ranges)
    assert ranges[-1][0] + ranges[-1][1] == n_bytes


def test_it_is_the_sha256_of_size_and_samples(large: Path) -> None:
    data = large.read_bytes()
    expected = hashlib.sha256(len(data).to_bytes(8, "little"))
    for start, length in sampled_ranges(len(data)):
        expected.update(data[start : start + length])
    assert fingerprint_of(large) == expected.hexdigest()


@pytest.mark.parametrize("where", ["head", "piece", "tail"])
def test_a_byte_in_a_sample_makes_another_one(large: Path, where: str) -> None:
    before = fingerprint_of(large)
    at = {"head": 5, "piece": sampled_ranges(LARGE)[7][0] + 9, "tail": LARGE - 1}[where]
    change(large, at)
    assert fingerprint_of(large) == before, "it is read once while size and time are the same"
    os.utime(large, ns=(1, 2))
    assert fingerprint_of(large) != before


def test_every_part_of_a_split_model_counts(tmp_path: Path) -> None:
    parts = [tmp_path / f"m-0000{n}-of-00002.gguf" for n in (1, 2)]
    for part in parts:
        part.write_bytes(part.name.encode())
    before = fingerprint_of(parts[0])
    assert fingerprint_of(parts[1]) == before
    parts[1].write_bytes(b"something else")
    assert fingerprint_of(parts[0]) != before


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        fingerprint_of(tmp_path / "gone.gguf")
    assert "gone.gguf" in caught.value.message
    with pytest.raises(ModelError) as caught:
        sha256_of(tmp_path / "gone.gguf", lambda: False, lambda _, __: None)
    assert caught.value.code == "file-not-readable"
    assert caught.value.hint


def test_the_whole_file_s_hash_comes_with_progress(large: Path) -> None:
    told: list[tuple[int, int]] = []
    digest = sha256_of(large, lambda: False, lambda n, of: told.append((n, of)))
    assert digest == hashlib.sha256(large.read_bytes()).hexdigest()
    assert told[-1] == (LARGE, LARGE)
    assert told == sorted(told)
    assert len(told) > 5


def test_it_can_be_stopped(large: Path) -> None:
    told: list[int] = []
    with pytest.raises(CancelledError):
        sha256_of(large, lambda: len(told) >= 2, lambda n, _: told.append(n))
    assert len(told) == 2
