"""Backends that are libraries of their own: what is loaded where GPUs are left out, and refused."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from paceline.engine.llama import loadable_backends
from paceline.errors import LibraryError
from paceline.installation import gpu_starts


class Ggml:
    """A stand-in for libggml that notes what it is asked to load.

    Args:
        has_cpu: Say whether there is a backend for the processor afterwards.
    """

    def __init__(self, *, has_cpu: bool = True) -> None:
        self.loaded: list[str] = []

        def load(path: bytes) -> int:
            self.loaded.append(Path(path.decode()).name)
            return 1

        def count() -> int:
            return 0

        def by_name(_: bytes) -> int | None:
            return 1 if has_cpu else None

        self.ggml_backend_reg_count = count
        self.ggml_backend_load_all_from_path = self.ggml_backend_load = load
        self.ggml_backend_reg_by_name = by_name


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of libraries whose variants for the processor have scores."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no compiler")
    folder = tmp_path / "lib"
    folder.mkdir()
    for name, score in {"x64": 1, "haswell": 64, "zen4": 0}.items():
        source = tmp_path / f"{name}.c"
        source.write_text(f"int ggml_backend_score(void) {{ return {score}; }}\n", "utf-8")
        into = folder / f"libggml-cpu-{name}.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(into), str(source)], check=True)
    (folder / "libggml-cpu-alderlake.so").write_bytes(b"cut off")
    for name in ("libggml-rpc.so", "libggml-vulkan.so", "libggml-base.so.0"):
        (folder / name).touch()
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return folder


def load(ggml: Ggml) -> list[str]:
    loadable_backends.load_backends(cast(ctypes.CDLL, cast(Any, ggml)))
    return ggml.loaded


def test_ggml_chooses_among_all(libraries: Path) -> None:
    assert load(Ggml()) == [libraries.name]


def test_where_gpus_are_left_out_the_best_variant_and_rpc_are_loaded(libraries: Path) -> None:
    gpu_starts.noted_in().write_bytes(b"xx")
    assert load(Ggml()) == ["libggml-cpu-haswell.so", "libggml-rpc.so"]


@pytest.mark.usefixtures("libraries")
def test_without_a_backend_for_the_processor_it_is_said() -> None:
    with pytest.raises(LibraryError, match="for this processor is missing or damaged"):
        load(Ggml(has_cpu=False))


@pytest.mark.skipif(sys.platform != "linux", reason="its loader alone asks LD_LIBRARY_PATH first")
@pytest.mark.parametrize("name", ["libggml-base.so.0", "libggml.so.0"])
def test_another_llama_cpp_in_the_loader_s_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text("no library", "utf-8")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    command = [sys.executable, "-c", "from paceline.engine.llama.library import start; start()"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
