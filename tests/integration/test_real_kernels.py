"""The kernels themselves, where they are built: equal to ggml's, and what is wrong is found."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paceline import kernel_files
from paceline.engine.llama.kernel_library import KernelLibrary

FAULTS = {1: "another order", 2: "a lost block", 3: "a wrong scale", 4: "a write beyond the end"}
CRASH = """
import ctypes, sys
from pathlib import Path
from paceline.engine.llama.kernel_library import KernelLibrary
library = KernelLibrary(Path(sys.argv[1]))
library.mark_crashes(Path(sys.argv[2]))
ctypes.CDLL(sys.argv[1]).paceline_kernels_raise(int(sys.argv[3]))
library.self_test(0)
"""


@pytest.fixture(scope="module")
def path() -> Path:
    found = kernel_files.find()
    if found is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")
    return found


@pytest.fixture(scope="module")
def library(path: Path) -> KernelLibrary:
    library = KernelLibrary(path)
    if not library.isa:
        pytest.skip("this processor has no instructions that the kernels need")
    return library


def test_every_kernel_is_equal(library: KernelLibrary) -> None:
    found = {kernel.name: library.self_test(i) for i, kernel in enumerate(library.kernels)}
    assert len(found) > 10
    assert found == dict.fromkeys(found, 1)


@pytest.mark.parametrize("fault", FAULTS, ids=FAULTS.get)
def test_a_planted_fault_is_found(library: KernelLibrary, fault: int) -> None:
    found = {kernel.name: library.self_test(i, fault) for i, kernel in enumerate(library.kernels)}
    assert found == dict.fromkeys(found, 0)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGILL], ids=lambda n: n.name)
def test_a_crash_says_where(path: Path, tmp_path: Path, number: signal.Signals) -> None:
    mark = tmp_path / "mark"
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(path), str(mark), str(int(number))], check=False
    )
    assert done.returncode == -number
    assert mark.read_text("utf-8") == "q8_0"
