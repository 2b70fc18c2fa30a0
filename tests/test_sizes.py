"""Sizes, counts and times as texts."""

from __future__ import annotations

import pytest

from paceline import sizes
from paceline.sizes import part_and_whole, read_size, readable_size


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"), (999, "999 B"), (1000, "1 kB"), (398_000_000, "398 MB"),
        (999_400_000, "999 MB"), (999_600_000, "1.0 GB"), (4_683_000_000, "4.7 GB"),
        (39_960_000_000, "40.0 GB"), (99_960_000_000, "100 GB"), (1_234e9, "1.2 TB"),
    ],
)  # fmt: skip
def test_sizes_of_files(n_bytes: float, text: str) -> None:
    assert readable_size(n_bytes) == text


@pytest.mark.parametrize(
    ("n_done", "n_total", "texts"),
    [
        (3_100_000_000, 4_900_000_000, ("3.1", "4.9 GB")), (0, 398e6, ("0", "398 MB")),
        (12e6, 4.9e9, ("0.0", "4.9 GB")), (999_990_000, 1e9, ("1.0", "1.0 GB")),
        (2e9, 0, ("2.0", "0.0 GB")), (3e8, 9e8, ("300", "900 MB")),
    ],
)  # fmt: skip
def test_both_parts_of_progress_have_one_unit(
    n_done: float, n_total: float, texts: tuple[str, str]
) -> None:
    assert part_and_whole(n_done, n_total) == texts


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, ""), (12, "12"), (494_032_768, "494M"), (7_615_616_512, "7.62B"), (70e9, "70B"),
     (235_093_634_560, "235B"), (1_040e9, "1.04T"), (1_700_000, "1.7M")],
)  # fmt: skip
def test_numbers_of_weights(n: float, text: str) -> None:
    assert sizes.weights(int(n)) == text


@pytest.mark.parametrize(
    ("n", "text"), [(0, ""), (512, "512"), (2000, "2000"), (2048, "2k"), (131_072, "128k")]
)
def test_lengths_of_context(n: int, text: str) -> None:
    assert sizes.tokens(n) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "1 s"), (45.2, "45 s"), (59.4, "59 s"), (60, "1 min"), (700, "12 min"),
     (3599, "1 h"), (12_000, "3 h 20 min"), (7200, "2 h"), (200_000, "2 d")],
)  # fmt: skip
def test_times(seconds: float, text: str) -> None:
    assert sizes.duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("8GB", 8_000_000_000), ("8 GB", 8_000_000_000), ("1.5g", 1_500_000_000),
        ("500M", 500_000_000), ("12 kb", 12_000), ("2TB", 2_000_000_000_000), ("0", 0),
        ("8", None), ("", None), ("GB", None), ("-1GB", None), ("1e3GB", None), ("8GiB", None),
        ("8 G B", None), ("8GB.", None),
    ],
)  # fmt: skip
def test_sizes_that_are_read(text: str, n_bytes: int | None) -> None:
    assert read_size(text) == n_bytes


@pytest.mark.parametrize("n_bytes", [1_000, 398_000_000, 4_700_000_000])
def test_sizes_that_are_written_can_be_read(n_bytes: int) -> None:
    assert read_size(readable_size(n_bytes)) == n_bytes
