"""Compiling the kernels: the choice of a compiler, its arguments, and its failures."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kernel_stand_ins import Kit, write_script
from paceline.installation import kernel_files
from paceline.installation.kernel_build import build
from paceline.installation.library_build import BuildError, find_compiler, run_tool

if TYPE_CHECKING:
    from pathlib import Path

COMPILERS = ("g++", "clang++", *(f"clang++-{n}" for n in range(14, 22)))
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernels are made for Linux")


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    return Kit(tmp_path / "kit", monkeypatch)


def compile_ggml(kit: Kit, compiler: str) -> None:
    """Make the stand-ins for ggml's libraries real."""
    for name, function in (("cpu", "ggml_cpu_answer"), ("base", "ggml_answer")):
        source = kit.folder / f"{name}.cpp"
        source.write_text(f'extern "C" int {function}() {{ return {len(name)}; }}\n')
        target = kit.ggml / f"libggml-{name}.so.0"
        words = ["-shared", "-fPIC", f"-Wl,-soname,{target.name}", "-o", str(target), str(source)]
        subprocess.run([compiler, *words], check=True)


@pytest.mark.parametrize("compiler", [name for name in COMPILERS if shutil.which(name)])
def test_real_compilers(kit: Kit, tmp_path: Path, compiler: str) -> None:
    kit.monkeypatch.setenv("CXX", compiler)
    compile_ggml(kit, compiler)
    path = build(tmp_path, kit.sdist, kit.say)
    for name in ("base", "cpu"):
        ctypes.CDLL(str(kit.ggml / f"libggml-{name}.so.0"), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(path))
    assert library.paceline_kernels_interface() == 7
    assert library.all_lanes() == 80916
    with pytest.raises(AttributeError):
        _ = library.ggml_undeclared
    steps = [line for line in kit.said if re.match(r"\[\d/4\] ", line)]
    assert sorted(line[6:] for line in steps) == [
        "kernels",
        "matmul-avx2",
        "matmul-avx512",
        "matmul-avxvnni",
    ]


def test_what_is_missing_in_ggml_is_reported(kit: Kit, tmp_path: Path) -> None:
    compiler = next(filter(shutil.which, COMPILERS), None)
    if compiler is None:
        pytest.skip("there is no compiler")
    kit.monkeypatch.setenv("CXX", compiler)
    compile_ggml(kit, compiler)
    (kit.ggml / "libggml-base.so.0").unlink()
    with pytest.raises(BuildError, match=r"cannot be linked: .*ggml_answer"):
        build(tmp_path, kit.sdist, kit.say)


def test_only_vector_code_is_compiled_for_new_processors(kit: Kit, tmp_path: Path) -> None:
    build(tmp_path, kit.sdist, kit.say)
    objects = kit.called(str(kit.sources) + "/")
    assert len(objects) == 4
    (plain,) = kit.called("kernels.cpp")
    assert "-m" not in {word[:2] for word in plain.split()}
    assert "WITHOUT" not in plain
    for variant in kernel_files.VARIANTS:
        (call,) = [line for line in objects if f"-DPACELINE_ISA={variant.isa} " in line]
        assert set(variant.flags) <= set(call.split())
    for call in objects:
        assert set(kernel_files.COMMON) <= set(call.split())
    (link,) = kit.called("-shared")
    words = link.split()
    order = [word.rpartition("/")[2] for word in words if word.endswith(".o")]
    assert order == ["kernels.o", "matmul-avx2.o", "matmul-avxvnni.o", "matmul-avx512.o"]
    assert words[-3:] == [f"-L{kit.ggml}", "-l:libggml-cpu.so.0", "-l:libggml-base.so.0"]


def test_a_compiler_without_an_instruction_set(kit: Kit, tmp_path: Path) -> None:
    kit.use_compiler("-mavxvnni", "error: unrecognized option")
    build(tmp_path, kit.sdist, kit.say)
    assert len(kit.called("matmul.cpp")) == 2
    (plain,) = kit.called("kernels.cpp")
    assert "-DPACELINE_WITHOUT_AVXVNNI" in plain
    assert "WITHOUT_AVX512" not in plain
    assert kit.said[-1].startswith("Without avxvnni, which ")


def test_a_compiler_without_avx2(kit: Kit, tmp_path: Path) -> None:
    kit.use_compiler("-mavx2")
    with pytest.raises(BuildError, match="does not know AVX2"):
        build(tmp_path, kit.sdist, kit.say)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("matmul.cpp:7:1: error: no such thing.", r"compiled: .*7:1: error: no such thing\. Name"),
        ("fatal error: Killed signal terminated program", r"memory .* CMAKE_BUILD_PARALLEL_LEVEL"),
        ("No space left on device", "the disk is full. Make room."),
        ("", "exit code 1"),
    ],
)
def test_a_failing_compiler_says_why(kit: Kit, tmp_path: Path, words: str, expected: str) -> None:
    kit.use_compiler("matmul.cpp", words)
    with pytest.raises(BuildError, match=expected) as raised:
        build(tmp_path / "into", kit.sdist, kit.say)
    assert "\n" not in str(raised.value)
    assert raised.value.hint.endswith("`paceline doctor --build-kernels`.")
    assert not words or f"  | {words}" in kit.said
    assert list((tmp_path / "into").iterdir()) == []


def test_all_cores_are_used_by_default(kit: Kit, tmp_path: Path) -> None:
    for wish in ("1", "3", "0", "many"):
        kit.monkeypatch.setenv("CMAKE_BUILD_PARALLEL_LEVEL", wish)
        assert build(tmp_path / wish, kit.sdist, kit.say).is_file()


def test_the_choice_of_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(BuildError, match=r"No C\+\+ compiler .* Install GCC or Clang"):
        find_compiler()
    for name in ("clang++", "g++", "c++"):
        write_script(tmp_path / name, "#!/bin/sh\nexit 0\n")
        assert find_compiler() == [name]
    monkeypatch.setenv("CXX", "clang++ -pipe")
    assert find_compiler() == ["clang++", "-pipe"]
    for useless in ("no-such-compiler", 'g++ "', " "):
        monkeypatch.setenv("CXX", useless)
        assert find_compiler() == ["c++"]


def test_tools_speak_english(tmp_path: Path) -> None:
    said: list[str] = []
    program = write_script(tmp_path / "tool", '#!/bin/sh\necho "error: $LC_ALL"; exit 3\n')
    with pytest.raises(BuildError, match=r"^It failed: error: C\. Do this\."):
        run_tool("It failed", [str(program)], "Do this.", said.append)
    assert said == ["  | error: C"]
    with pytest.raises(BuildError, match="No such file"):
        run_tool("It failed", [str(tmp_path / "none")], "Do this.", said.append)
