"""llama.cpp for packages: the compiled parts and the results."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from packages.native import cmake_flags, gpu_backend, put_together, unsafe_variants

SOURCE = Path("/cache/build/src/llama")


def test_linux_and_windows_get_loadable_backends_for_every_processor() -> None:
    for system in ("linux", "win32"):
        flags = cmake_flags(system, "vulkan", SOURCE)
        assert {"-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON"} <= set(flags)
        assert {"-DGGML_NATIVE=OFF", "-DGGML_VULKAN=ON", "-DGGML_RPC=ON"} <= set(flags)
        assert ("-DGGML_OPENMP=OFF" in flags) == (system == "win32")


def test_a_mac_gets_metal_with_its_shaders_inside() -> None:
    flags = cmake_flags("darwin", "metal", SOURCE)
    assert {"-DGGML_METAL=ON", "-DGGML_METAL_EMBED_LIBRARY=ON"} <= set(flags)
    assert not any("VULKAN" in flag or "BACKEND_DL" in flag for flag in flags)


def test_the_folder_of_the_sources_is_taken_from_what_is_compiled() -> None:
    words = f"-ffile-prefix-map={SOURCE}/="
    assert f"-DCMAKE_CXX_FLAGS={words}" in cmake_flags("linux", "vulkan", SOURCE)
    assert f"-DCMAKE_C_FLAGS={words}" in cmake_flags("linux", "vulkan", SOURCE)


@pytest.mark.parametrize(
    ("system", "wishes", "backend"),
    [
        ("linux", "", "vulkan"),
        ("linux", "-DGGML_VULKAN=OFF -DX=Y", "cpu"),
        ("linux", "-DGGML_VULKAN=ON", "vulkan"),
        ("win32", "", "vulkan"),
        ("darwin", "", "metal"),
    ],
)
def test_the_gpu_s_backend(system: str, wishes: str, backend: str) -> None:
    assert gpu_backend(system, wishes) == backend
    assert ("-DGGML_VULKAN=ON" in cmake_flags(system, backend, SOURCE)) == (backend == "vulkan")


@pytest.mark.parametrize(
    ("gcc", "left_out"),
    [((12, 3, 1), True), ((11, 4, 0), True), ((12, 4, 0), False), ((14, 1), False), ((), False)],
)
def test_variants_that_a_compiler_gets_wrong_are_left_out(
    gcc: tuple[int, ...], left_out: bool
) -> None:
    assert ("sapphirerapids" in unsafe_variants(gcc)) == left_out


@pytest.mark.skipif(sys.platform != "linux", reason="links of libraries on Linux")
@pytest.mark.skipif(not shutil.which("strip"), reason="there is no strip")
def test_links_stay_links_and_unwanted_libraries_stay_behind(tmp_path: Path) -> None:
    made, lib = tmp_path / "bin", tmp_path / "lib"
    made.mkdir()
    for name in ("libggml.so.0.25.3", "libggml-cpu-haswell.so", "libggml-cpu-sapphirerapids.so"):
        shutil.copyfile(shutil.which("true") or "", made / name)
    (made / "libllama-common.so").write_text("not asked for by any")
    (made / "libggml.so.0").symlink_to("libggml.so.0.25.3")
    (made / "libggml.so").symlink_to("libggml.so.0")
    put_together(sorted(made.iterdir()), lib, ("sapphirerapids",))
    names = {path.name for path in lib.iterdir()}
    assert names == {"libggml.so", "libggml.so.0", "libggml-cpu-haswell.so"}
    assert (lib / "libggml.so").readlink() == Path("libggml.so.0")
    assert not (lib / "libggml.so.0").is_symlink()
