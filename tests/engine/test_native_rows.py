"""Native code draws what NumPy draws, and touches no memory but that of its arrays."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine import guarded_rows
from engine.guarded_rows import ISAS
from engine.random_rows import asks, differences, settings_of
from paceline.engine.llama import N_BATCH
from paceline.engine.sample.drawing import RowSettings
from paceline.engine.sample.edits import Biases, Penalties
from paceline.engine.sample.native_rows import MAX_ROWS, NativeRows, RowLibrary
from paceline.engine.sample.noise import gumbel_of, position_key
from paceline.engine.sample.plain_rows import PlainRows
from paceline.installation import rows_files
from paceline.installation.library_build import has_compiler
from paceline.installation.rows_build import build
from paceline.params import SamplingParams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.engine.sample.drawing import RowDrawer

TESTS = Path(__file__).resolve().parents[1]
SANITIZE = "-g -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all"
RUNTIMES = {"g++": "libasan.so", "clang++": "libclang_rt.asan-x86_64.so"}
"""Libraries that a compiler's sanitizers need to be loaded first."""
posix = pytest.mark.skipif(sys.platform == "win32", reason="pages are guarded by mprotect")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if found := rows_files.find():
        return found
    if not has_compiler():
        pytest.skip("the library of rows is not built, and there is no compiler")
    return build(tmp_path_factory.mktemp("rows"), print)


@pytest.fixture
def library(path: Path) -> Iterator[RowLibrary]:
    library = RowLibrary(path)
    best = library.isa
    yield library
    library.use(best)


def compare(library: RowLibrary, seed: list[int], n_vocab: tuple[int, int], wanted: int) -> None:
    """Compare the tokens of so many rows, by all instructions that are here."""
    isas = [isa for isa in ISAS if library.use(isa)]
    n = reply = 0
    while n < wanted:
        rng = np.random.default_rng([*seed, reply])
        length = int(rng.integers(*n_vocab, endpoint=True))
        settings = settings_of(rng, length)
        plain, native = PlainRows(settings), NativeRows(library, settings)
        asked = [*asks(rng, settings, length, native)]
        with np.errstate(all="ignore"):
            expected = [ask.put_to(plain) for ask in asked]
        n += sum(drawn.n_rows for drawn in expected)
        for isa in isas:
            library.use(isa)
            for ask, drawn in zip(asked, expected, strict=True):
                said = differences(drawn, ask.put_to(native))
                assert not said, (isa, seed, reply, settings)
        reply += 1


@pytest.mark.parametrize("part", range(4))
def test_random_rows_give_the_same_tokens(library: RowLibrary, part: int, is_long: bool) -> None:
    compare(library, [1, part], (2, 2000), 2_500_000 if is_long else 2000)


@pytest.mark.parametrize("n_vocab", [49_152, 262_144])
def test_rows_of_real_lengths_do(library: RowLibrary, n_vocab: int, is_long: bool) -> None:
    compare(library, [2], (n_vocab, n_vocab), 20_000 if is_long else 40)


def test_the_rows_of_any_decode_have_room() -> None:
    assert N_BATCH <= MAX_ROWS, "the library would write beyond its request"


def drawers(library: RowLibrary, params: SamplingParams, seed: int) -> Iterator[RowDrawer]:
    """Yield one of NumPy, then native ones, by all instructions that are here."""
    settings = RowSettings(params, seed, Biases(params), Penalties(params))
    yield PlainRows(settings)
    for isa in ISAS:
        if library.use(isa):
            yield NativeRows(library, settings)


def test_no_noise_lies_beyond_its_bounds(library: RowLibrary) -> None:
    """Use a seed that gives the first token the smallest possible noise, and one the largest."""
    seed, other = 16361513768805672262, 200
    noise = [gumbel_of(position_key(seed, 0), token) for token in (0, other)]
    assert noise == [-math.log(-math.log(u)) for u in (0.5 * 2.0**-32, 1 - 0.5 * 2.0**-32)]
    row = np.full(300, -math.inf, np.float32)
    row[0] = 0.0
    params = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
    for least, expected in ((-25.99, [other]), (-26.01, [0])):
        row[other] = least
        for drawer in drawers(library, params, seed):
            assert drawer.draw(row.copy(), (), 0) == expected


def test_the_lightest_tokens_have_their_weight_in_top_p(library: RowLibrary) -> None:
    """Each of them weighs the smallest unit, and two are left out."""
    row = np.full(1000, -28.0, np.float32)
    row[0] = 0.0
    params = SamplingParams(temperature=100, top_k=0, top_p=1 - 2.5 * 2.0**-40, min_p=0)
    for position in range(20):
        all_drawn = [
            drawer.draw(row.copy(), (), position) for drawer in drawers(library, params, 1)
        ]
        assert all_drawn == all_drawn[:1] * len(all_drawn)
        assert all_drawn[0][0] < 998


def test_instructions_that_are_none(library: RowLibrary) -> None:
    best = library.isa
    assert not library.use("avx1024")
    assert library.isa == best


# ----------------------------------------------------------------------------------------- memory


def drawn_by(library: Path, n: int, **variables: str) -> list[str]:
    """Draw in a process of its own; return which instructions it had."""
    done = subprocess.run(
        [sys.executable, "-m", guarded_rows.__name__, str(library), str(n)],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@posix
def test_nothing_beyond_an_array_is_touched(path: Path, is_long: bool) -> None:
    assert "generic" in drawn_by(path, 200_000 if is_long else 2500)


@pytest.mark.long
@posix
@pytest.mark.parametrize("compiler", [name for name in RUNTIMES if shutil.which(name)])
def test_sanitizers_find_nothing(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = " -shared-libsan" if compiler == "clang++" else ""
    monkeypatch.setenv("CXX", f"{compiler} {SANITIZE}{shared}")
    runtime = subprocess.check_output([compiler, f"-print-file-name={RUNTIMES[compiler]}"])
    found = drawn_by(
        build(tmp_path, print),
        30_000,
        PYTHONMALLOC="malloc",  # which the sanitizers watch
        LD_PRELOAD=runtime.decode().strip(),
        ASAN_OPTIONS="detect_leaks=0",  # Python keeps memory to the end
        UBSAN_OPTIONS="print_stacktrace=1",
    )
    assert "generic" in found
