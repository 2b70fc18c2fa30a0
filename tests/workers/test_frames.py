"""Frames: whatever pieces a stream comes in, the same payloads come out, or an error at once."""

from __future__ import annotations

import itertools
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.workers.frames import MAX_FRAME, FrameError, FrameReader, frame

PAYLOADS = st.lists(st.binary(min_size=1, max_size=300), max_size=8)


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    """Cut a stream at these places, in any order and also twice at the same one."""
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(edges)]


@given(PAYLOADS, st.lists(st.integers(0, 4000), max_size=20))
def test_any_cut_of_the_stream_gives_the_same_payloads(
    payloads: list[bytes], places: list[int]
) -> None:
    stream = b"".join(map(frame, payloads))
    reader = FrameReader()
    out = [payload for piece in cut(stream, places) for payload in reader.feed(piece)]
    assert out == payloads


@given(PAYLOADS, st.binary(min_size=1, max_size=300), st.data())
def test_half_a_frame_is_kept_until_the_rest_comes(
    payloads: list[bytes], last: bytes, data: st.DataObject
) -> None:
    whole = frame(last)
    n = data.draw(st.integers(0, len(whole) - 1))
    reader = FrameReader()
    assert list(reader.feed(b"".join(map(frame, payloads)) + whole[:n])) == payloads
    assert list(reader.feed(whole[n:])) == [last]


@given(PAYLOADS, st.one_of(st.just(0), st.integers(MAX_FRAME + 1, 2**32 - 1)))
def test_a_broken_length_is_an_error_after_what_was_sound(
    payloads: list[bytes], length: int
) -> None:
    reader = FrameReader()
    out: list[bytes] = []
    feeding = reader.feed(b"".join(map(frame, payloads)) + struct.pack(">I", length))
    with pytest.raises(FrameError, match=str(length)):
        out.extend(feeding)
    assert out == payloads


def test_nothing_is_allocated_for_what_a_length_promises() -> None:
    reader = FrameReader()
    tracemalloc.start()
    try:
        assert list(reader.feed(struct.pack(">I", MAX_FRAME))) == []
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n", [0, MAX_FRAME + 1])
def test_what_the_other_end_would_refuse_is_not_sent(n: int) -> None:
    with pytest.raises(FrameError, match=f"{n} bytes"):
        frame(b"x" * n)


def test_the_largest_frame_passes() -> None:
    payload = b"x" * MAX_FRAME
    stream = frame(payload)
    reader = FrameReader()
    pieces = cut(stream, list(range(0, len(stream), 1 << 18)))
    out = [p for piece in pieces for p in reader.feed(piece)]
    assert out == [payload]


def test_the_rest_of_a_piece_is_not_lost_when_only_its_first_payload_is_taken() -> None:
    reader = FrameReader()
    assert next(reader.feed(frame(b"1") + frame(b"2"))) == b"1"
    assert list(reader.feed(b"")) == [b"2"]
