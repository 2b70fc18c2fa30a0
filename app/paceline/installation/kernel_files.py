"""Places of the CPU kernels' sources and compiled libraries, and the library that fits.

The kernels use inner structures of ggml, so a library fits one build of ggml and no other: its key
is made from the kernels' sources, the way they are compiled and the bytes of libggml-cpu. A build
of ggml for every processor has several of these libraries, of which one is loaded; the key then
holds the bytes of all.

Standard library only and light, because every start of the engine asks. Any thread. Tests give
other folders by replacing `sources_folder` and `ggml_folder`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import platform
import sys
from pathlib import Path
from typing import NamedTuple

from paceline.installation.sealed_library import is_file, named, places, sources_in


class Variant(NamedTuple):
    """One instruction set that the files with vector code are compiled for.

    Attributes:
        isa: The namespace that the code is put into, by -DPACELINE_ISA.
        flags: Flags of the compiler.
        register: The type of a register, and
        function: one with three of them as arguments; a compiler that accepts it knows the set.
    """

    isa: str
    flags: tuple[str, ...]
    register: str
    function: str


COMMON = ("-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-pthread")
_AVX2 = ("-mavx2", "-mfma", "-mf16c")
_AVX512 = (
    *("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni"),
    "-mavx512bf16",  # for functions that ask at run time; no compiler uses it unasked
)
# From the most common instructions to the fewest, and linked in this order: of a function that
# several objects carry, say one of std::vector's, the linker takes the first for all of them.
VARIANTS = (
    Variant("avx2", _AVX2, "__m256", "_mm256_fmadd_ps"),
    Variant("avxvnni", (*_AVX2, "-mavxvnni"), "__m256i", "_mm256_dpbusd_avx_epi32"),
    Variant("avx512", (*_AVX512, *_AVX2), "__m512i", "_mm512_dpbusd_epi32"),
)

NOT_HERE = "Paceline's own kernels need Linux and an x86-64 processor with AVX2."


def sources_folder() -> Path | None:
    """Return the folder of the kernels' sources: the package's own, or the checkout's."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "_kernels", package.parent / "kernels")
    return next((place for place in places if is_file(place / "paceline_kernels.h")), None)


def ggml_folder() -> Path | None:
    """Return the folder of llama-cpp-python's native libraries, without loading them."""
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("llama_cpp")
        if spec and spec.origin:
            named = os.environ.get("LLAMA_CPP_LIB_PATH")  # which llama_cpp itself obeys
            return Path(named) if named else Path(spec.origin).parent / "lib"
    return None


def ggml_library(folder: Path, name: str) -> Path | None:
    """Return one of ggml's libraries, by the file that the others load it from."""
    places = (folder / f"{name}.so.0", folder / f"{name}.so")
    return next((place for place in places if is_file(place)), None)


def cpu_libraries(folder: Path) -> list[Path]:
    """Return ggml's libraries for the CPU: the one that is linked with, or all variants of it."""
    one = ggml_library(folder, "libggml-cpu")
    return [one] if one else sorted(filter(is_file, folder.glob("libggml-cpu-*.so")))


def key() -> str:
    """Return 16 hex digits for these sources and this ggml; empty if one of them is missing."""
    sources, ggml = sources_folder(), ggml_folder()
    libraries = cpu_libraries(ggml) if ggml else []
    if not (sources and libraries):
        return ""
    digest = hashlib.sha256(repr((COMMON, VARIANTS)).encode())
    try:
        digest.update(sources_in(sources))
        for library in libraries:
            digest.update(library.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]


def is_possible() -> bool:
    """Return whether there are kernels for this system and this processor."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 2**32:
        return False
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return True  # not known


def library_name(for_key: str) -> str:
    """Return the file name of the library with this key."""
    return f"libpaceline_kernels-{for_key}.so"


def find(cache_dir: Path | None = None) -> Path | None:
    """Return the library that fits these sources and this ggml, if it was compiled.

    Damaged ones are skipped. Reads some 3 MB. `cache_dir` is the user's; without it only the
    installation is searched.
    """
    has = key()
    return named(library_name(has), places(cache_dir)) if has else None
