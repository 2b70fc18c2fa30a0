"""Backends that llama.cpp is compiled for: their needs, and the words to the user."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from stand_ins import FAKE_GCC, Checkout, no_gpu, write_script

import backends

SMI = "#!/bin/sh\nprintf '8.6\\n12.0\\n8.6\\n'\n"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which tools are found; it has a compiler."""
    folder = tmp_path / "tools"
    for name in ("CXX", "CUDACXX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in no_gpu(folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", str(folder))
    write_script(folder / "c++", FAKE_GCC)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("gcc", "machine", "is_without_amx"),
    [
        ((10, 2, 1), "x86_64", False),  # does not know the options
        ((11, 4, 0), "x86_64", True),
        ((12, 2, 0), "AMD64", True),
        ((12, 3, 0), "x86_64", True),
        ((12, 4, 0), "x86_64", False),
        ((14, 2, 0), "x86_64", False),
        ((12, 2, 0), "aarch64", False),
        ((), "x86_64", False),  # Clang
    ],
)
def test_faulty_amx_is_left_out(gcc: tuple[int, ...], machine: str, is_without_amx: bool) -> None:
    arguments = backends.cmake_arguments(gcc, machine, "-DGGML_CUDA=on")
    assert ("-DCMAKE_CXX_FLAGS='-mno-amx-tile " in arguments) == is_without_amx
    assert ("-DCMAKE_C_FLAGS='-mno-amx-tile " in arguments) == is_without_amx
    assert arguments.startswith("-DLLAVA_BUILD=OFF -DGGML_RPC=ON")
    assert arguments.endswith("-DGGML_CUDA=on")


def test_the_compiler_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert backends.find_compiler() is None
    write_script(tmp_path / "clang++", "#!/bin/sh\necho 'clang version 17.0.6'\n")
    assert backends.find_compiler() == ("clang version 17.0.6", ())
    write_script(tmp_path / "c++", FAKE_GCC)
    assert backends.find_compiler() == ("c++ (Distribution 12.2.0-14) 12.2.0", (12, 2, 0))
    monkeypatch.setenv("CXX", "clang++ -pipe")
    assert backends.find_compiler()[1] == ()


def needs(backend: str, wishes: str = "") -> list[str]:
    return [f"{need.what}: {need.remedy}" for need in backends.missing(backend, wishes)]


@pytest.mark.parametrize(
    ("backend", "what", "commands"),
    [
        (
            "vulkan",
            "glslc",
            {"apt-get": "glslc libvulkan-dev spirv-headers", "dnf": "glslc vulkan-loader-devel"},
        ),
        ("cuda", "nvcc", {"apt-get": "nvidia-cuda-toolkit", "pacman": "cuda"}),
        ("hip", "hipcc", {"apt-get": "hipcc libhipblas-dev", "pacman": "rocm-hip-sdk"}),
    ],
)
def test_what_is_missing_is_said_with_the_systems_command(
    tools: Path, backend: str, what: str, commands: dict[str, str]
) -> None:
    (without_a_manager,) = needs(backend)
    assert what in without_a_manager
    assert "(https://" in without_a_manager
    for manager, packages in commands.items():
        tool = write_script(tools / manager, "#!/bin/sh\n")
        (told,) = needs(backend)
        assert f"`sudo {manager} " in told
        assert packages in told
        tool.unlink()


def test_vulkan_asks_the_compiler_for_headers_and_loader(tools: Path) -> None:
    write_script(tools / "glslc", "#!/bin/sh\n")
    write_script(tools / "c++", FAKE_GCC.replace("echo 12.2.0; exit;", "exit 1;"))
    (told,) = needs("vulkan")
    assert "headers of Vulkan 1.3.272" in told
    write_script(tools / "c++", FAKE_GCC)  # which compiles anything
    assert needs("vulkan") == []
    write_script(tools / "c++", FAKE_GCC.replace("echo 12.2.0; exit;", "exit 1;"))
    assert needs("vulkan", "-DVulkan_INCLUDE_DIR=/my/own") == []


def test_cuda_is_compiled_for_the_cards_that_are_here(tools: Path) -> None:
    write_script(tools / "nvcc", "#!/bin/sh\n")
    assert backends.asked("cuda", "", str).flags == ("-DGGML_CUDA=ON",)
    write_script(tools / "nvidia-smi", SMI)
    build = backends.asked("cuda", "", str)
    assert build.flags == ("-DGGML_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=120-real;86-real")
    one = backends.Build("cuda", ("-DCMAKE_CUDA_ARCHITECTURES=86-real",))
    assert build.core_seconds > one.core_seconds > backends.Build("vulkan").core_seconds
    words = backends.cmake_arguments((), "x86_64", "-DGGML_CUDA_NO_VMM=ON", build.flags)
    assert words.endswith("'-DCMAKE_CUDA_ARCHITECTURES=120-real;86-real' -DGGML_CUDA_NO_VMM=ON")


def test_a_toolkit_beside_the_path_is_found(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = write_script(tmp_path / "toolkit" / "bin" / "nvcc", "#!/bin/sh\n")
    assert needs("cuda")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "toolkit"))
    assert needs("cuda") == []
    assert f"-DCMAKE_CUDA_COMPILER={nvcc}" in backends.asked("cuda", "", str).flags


@pytest.mark.skipif(backends.MAC, reason="Metal is what auto takes there")
def test_auto_takes_a_gpu_only_where_it_can_be_compiled_for(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    assert backends.asked("auto", "", said.append) == backends.Build("cpu", (), is_auto=True)
    assert said == []
    write_script(tools / "nvidia-smi", SMI)
    assert backends.asked("auto", "", said.append).backend == "cpu"
    (hint,) = said
    assert "the GPU would need nvcc" in hint
    assert "--backend cuda" in hint
    write_script(tools / "nvcc", "#!/bin/sh\n")
    assert backends.asked("auto", "", said.append).backend == "cuda"
    decided = backends.asked("auto", "-DGGML_VULKAN=on", said.append)
    assert decided == backends.Build("cpu", (), is_auto=True), "the user's own flags decide"
    assert len(said) == 1


@pytest.mark.parametrize(
    "stored", [None, 1, [], {}, {"backend": "abacus", "flags": [], "is_auto": 1}]
)
def test_a_stamp_without_a_build(stored: object) -> None:
    assert backends.Build.read(stored) is None


def compiled_with(checkout: Checkout) -> list[str]:
    lines = checkout.calls.read_text().splitlines()
    return [line for line in lines if line.startswith("CMAKE_ARGS=")]


def on(checkout: Checkout, backend: str, **variables: str) -> tuple[int, str]:
    words = ["--python", str(checkout.python), "--backend", backend, "run"]
    result = checkout.start(*words, **variables)
    return result.returncode, result.stderr


def test_the_backend_stays_until_another_is_asked_for(checkout: Checkout) -> None:
    write_script(checkout.tools / "glslc", "#!/bin/sh\n")
    assert on(checkout, "vulkan")[0] == 7
    (words,) = compiled_with(checkout)
    assert "-DGGML_VULKAN=ON" in words
    again = checkout.run()
    assert (again.returncode, again.stderr, checkout.pip_calls()) == (7, "", [])
    (checkout.root / "app" / "paceline" / "__init__.py").write_text("__version__ = '2'\n")
    kept = checkout.run()
    assert "compiled earlier" in kept.stderr
    assert on(checkout, "cpu")[0] == 7
    (words,) = compiled_with(checkout)
    assert "VULKAN" not in words
    assert checkout.run().stderr == ""


def test_an_environment_from_before_backends_is_brought_up_to_date_once(checkout: Checkout) -> None:
    checkout.run()
    stamp = checkout.venv / "paceline-stamp.json"
    old = json.loads(stamp.read_text())
    stamp.write_text(json.dumps({**old, "key": "another"} | {"build": None}))
    assert checkout.run().returncode == 7
    assert checkout.pip_calls()
    assert json.loads(stamp.read_text())["build"]["is_auto"]
    assert checkout.run().stderr == ""


def test_a_backend_that_cannot_be_is_refused_and_the_environment_stays(checkout: Checkout) -> None:
    checkout.run()
    code, told = on(checkout, "cuda")
    assert code == 1
    assert "Compiling llama.cpp for cuda needs nvcc" in told.splitlines()[-1]
    after = checkout.run()
    assert (after.returncode, after.stderr, checkout.pip_calls()) == (7, "", [])


def test_a_refusal_comes_before_anything_is_made(checkout: Checkout) -> None:
    code, told = on(checkout, "cuda")
    assert code == 1
    assert "Making" not in told
    after = checkout.run()
    assert after.returncode == 7, after.stderr
    assert "CUDA" not in checkout.calls.read_text()


def test_auto_continues_without_a_gpu_whose_build_fails(checkout: Checkout) -> None:
    for name, text in (("nvidia-smi", SMI), ("nvcc", "#!/bin/sh\n")):
        write_script(checkout.tools / name, text)
    words = checkout.python.read_text().replace(
        '*" wheel "*)', '*" wheel "*) case $CMAKE_ARGS in *CUDA*) echo "error: no"; exit 1 ;; esac'
    )
    write_script(checkout.python, words)
    result = checkout.run()
    assert result.returncode == 7, result.stderr
    (told,) = [line for line in result.stderr.splitlines() if "without cuda" in line]
    assert told.startswith("Going on with the processor alone, without cuda: Compiling")
    assert "  | " not in result.stderr
    (words,) = compiled_with(checkout)
    assert "CUDA" not in words
    again = checkout.run()
    assert (again.returncode, again.stderr) == (7, ""), "it is not tried at each start"
    code, told = on(checkout, "cuda")
    assert code == 1
    assert "  | error: no" in told


@pytest.mark.skipif(os.geteuid() != 0, reason="apt is only called as root")
def test_root_gets_what_vulkan_needs(checkout: Checkout) -> None:
    write_script(checkout.tools / "dpkg-query", "#!/bin/sh\necho x installed\n")
    (checkout.tools / "sh").symlink_to("/bin/sh")
    apt = '#!/bin/sh\necho "apt $*" >> "$FAKE_CALLS"\n'
    apt += f'case "$*" in *glslc*) printf "#!/bin/sh\\n" > {checkout.tools}/glslc\n'
    apt += f"/bin/chmod +x {checkout.tools}/glslc ;; esac\n"
    write_script(checkout.tools / "apt-get", apt)
    assert on(checkout, "vulkan")[0] == 7
    assert "install -y --no-install-recommends glslc libvulkan-dev spirv-headers" in (
        checkout.calls.read_text()
    )
    code, told = on(checkout, "cuda")
    assert code == 1
    assert "`sudo apt-get install nvidia-cuda-toolkit`" in told, "gigabytes are the user's choice"


def test_windows_has_vulkan_from_its_sdk(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "WINDOWS", True)
    monkeypatch.setenv("VULKAN_SDK", str(tmp_path))
    write_script(tools / "glslc", "#!/bin/sh\n")
    (told,) = needs("vulkan")
    assert "headers of Vulkan" in told
    header = tmp_path / "Include" / "vulkan" / "vulkan.hpp"
    header.parent.mkdir(parents=True)
    header.touch()
    assert needs("vulkan") == []
