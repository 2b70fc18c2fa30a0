"""The kernels themselves, where they are built: each is proved, and what is wrong is found."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import pytest

from paceline.engine.llama.kernel_library import Kernel, KernelLibrary
from paceline.installation import kernel_build, kernel_files

INSTRUCTIONS = ("avx2", "avx-vnni", "avx512-vnni")
FAULTS = {
    1: "another order",
    2: "a lost block",
    3: "a wrong scale",
    4: "a write beyond the end",
    5: "a wrong bit at one width",
    6: "a wrong bit of one thread",
    7: "wrong minima",
    8: "a wrong bit by one instruction set",
}
CRASH = """
import ctypes, sys
from pathlib import Path
from paceline.engine.llama.kernel_library import KernelLibrary
library = KernelLibrary(Path(sys.argv[1]))
library.mark_crashes(Path(sys.argv[2]))
ctypes.CDLL(sys.argv[1]).paceline_kernels_raise(int(sys.argv[3]))
library.self_test(0)
"""
SANITIZE = "-g -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all"
RUNTIMES = {"g++": "libasan.so", "clang++": "libclang_rt.asan-x86_64.so"}
"""Libraries that a compiler's sanitizers need to be loaded first."""
PROVE_ALL = """
import sys
from pathlib import Path
from paceline.engine.llama.kernel_library import KernelLibrary
library = KernelLibrary(Path(sys.argv[1]))
for isa in sys.argv[2:]:
    if library.use(isa):
        answers = [library.self_test(i) for i in range(len(library.kernels))]
        print(isa, *answers, flush=True)
"""


@pytest.fixture(scope="module")
def path() -> Path:
    found = kernel_files.find()
    if found is None:
        pytest.skip("Paceline's own kernels are not built for this llama.cpp")
    return found


@pytest.fixture
def library(path: Path) -> Iterator[KernelLibrary]:
    library = KernelLibrary(path)
    if not library.isa:
        pytest.skip("this processor has no instructions that the kernels need")
    best = library.isa
    yield library
    library.use(best)


@pytest.mark.parametrize("isa", INSTRUCTIONS)
def test_every_kernel_is_proved(library: KernelLibrary, isa: str) -> None:
    if not library.use(isa):
        pytest.skip(f"{isa} is not here")
    found = {kernel.name: library.self_test(i) for i, kernel in enumerate(library.kernels)}
    assert len(found) > 10
    assert found == dict.fromkeys(found, 1)


def may_have(kernel: Kernel, fault: int) -> bool:
    """Return whether a kernel can have a fault: 7 needs minima; products of floats cannot have 8.

    Q2_K is repacked by a ggml for AVX-512 alone, so elsewhere its kernel has nothing to compute.
    """
    if kernel.name == "q2_K-repacked" and b"AVX512 = 1" not in llama_cpp.llama_print_system_info():
        return False
    if fault == 7:
        return kernel.kind in {"q4_1", "q5_1", "q2_K", "q4_K", "q5_K"}
    return fault != 8 or kernel.is_attention or kernel.kind not in {"f32", "f16", "bf16"}


@pytest.mark.parametrize("fault", FAULTS, ids=FAULTS.get)
def test_a_planted_fault_is_found(library: KernelLibrary, fault: int, *, is_long: bool) -> None:
    """Plant it in every kernel that can have it; without --long, each fault in other kernels."""
    kernels = {i: kernel for i, kernel in enumerate(library.kernels) if may_have(kernel, fault)}
    if not is_long:
        kernels = dict(list(kernels.items())[fault % 3 :: 3])
    found = {kernel.name: library.self_test(i, fault) for i, kernel in kernels.items()}
    assert len(found) > 1
    assert found == dict.fromkeys(found, 0)


def test_instructions_that_are_none(library: KernelLibrary) -> None:
    best = library.isa
    assert not library.use("avx1024")
    assert library.isa == best


@pytest.mark.long
@pytest.mark.parametrize("compiler", [name for name in RUNTIMES if shutil.which(name)])
def test_sanitizers_find_nothing(
    compiler: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = Path(sys.prefix, "paceline-stamp.json")  # the bootstrap's: ggml's headers are there
    if not stamp.is_file():
        pytest.skip("this environment was not made by the bootstrap")
    shelf = Path(json.loads(stamp.read_text("utf-8"))["wheel"]).parent
    (headers,) = shelf.glob("ggml-headers-*.tar.gz")
    shared = " -shared-libsan" if compiler == "clang++" else ""
    monkeypatch.setenv("CXX", f"{compiler} {SANITIZE}{shared}")
    monkeypatch.setattr(kernel_build, "COMMON", (*kernel_files.COMMON, "-O1"))  # -O3 takes minutes
    library = kernel_build.build(tmp_path, headers, print)
    runtime = subprocess.check_output([compiler, f"-print-file-name={RUNTIMES[compiler]}"])
    done = subprocess.run(
        [sys.executable, "-c", PROVE_ALL, str(library), *INSTRUCTIONS],
        env={
            **os.environ,
            "LD_PRELOAD": runtime.decode().strip(),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps memory to the end
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [line.split()[1:] for line in done.stdout.splitlines()]
    assert answers
    assert all(set(row) == {"1"} for row in answers)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGILL], ids=lambda n: n.name)
def test_a_crash_says_where(path: Path, tmp_path: Path, number: signal.Signals) -> None:
    mark = tmp_path / "mark"
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(path), str(mark), str(int(number))], check=False
    )
    assert done.returncode == -number
    assert mark.read_text("utf-8") == "q8_0"
