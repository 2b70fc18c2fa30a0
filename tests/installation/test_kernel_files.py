"""The choice of the library of kernels: which one fits, and where it is looked for."""

from __future__ import annotations

import importlib.util
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kernel_stand_ins import SOURCES, Kit
from paceline.installation import kernel_files, sealed_library

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARY = sealed_library.sealed(b"a library")
KERNELS = Path(kernel_files.__file__).parents[2] / "kernels"


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    return Kit(tmp_path / "kit", monkeypatch)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """The three folders that are looked into, of an installation below `tmp_path`."""
    package = tmp_path / "site-packages" / "paceline"
    for module in (kernel_files, sealed_library):
        monkeypatch.setattr(module, "__file__", str(package / "installation" / "module.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    found = sealed_library.places(tmp_path / "cache")
    for folder in found:
        folder.mkdir(parents=True)
    first, second, third = found
    return first, second, third


def test_the_checkout_has_the_sources() -> None:
    assert kernel_files.sources_folder() == KERNELS


def test_a_wheel_has_the_sources_within_the_package(installed: tuple[Path, Path, Path]) -> None:
    package = installed[0]
    stranger = package.parents[1] / "kernels"
    stranger.mkdir()
    (stranger / "main.cpp").touch()
    assert kernel_files.sources_folder() is None, "a folder of that name may be another program's"
    (package / "paceline_kernels.h").touch()
    assert kernel_files.sources_folder() == package


def test_the_installed_ggml_is_found_without_loading_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = kernel_files.ggml_folder()
    assert folder is not None
    assert folder.parts[-2:] == ("llama_cpp", "lib")
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    assert kernel_files.ggml_folder() == tmp_path
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert kernel_files.ggml_folder() is None


def change_source(kit: Kit) -> None:
    (kit.sources / "matmul.cpp").write_text(SOURCES["matmul.cpp"] + "\n")


def change_header(kit: Kit) -> None:
    (kit.sources / "paceline_kernels.h").write_text("#pragma once\n")


def add_source(kit: Kit) -> None:
    (kit.sources / "more.cpp").touch()


def rename_source(kit: Kit) -> None:
    (kit.sources / "matmul.cpp").rename(kit.sources / "products.cpp")


def move_text(kit: Kit) -> None:
    """The same bytes one after the other, in other files."""
    text = (kit.sources / "matmul.cpp").read_text()
    (kit.sources / "matmul.cpp").write_text(text[1:])
    with (kit.sources / "kernels.cpp").open("a") as before:
        before.write(text[0])


def change_ggml(kit: Kit) -> None:
    (kit.ggml / "libggml-cpu.so.0").write_bytes(b"another build")


def change_flags(kit: Kit) -> None:
    kit.monkeypatch.setattr(kernel_files, "COMMON", ("-O1",))


@pytest.mark.parametrize(
    "change",
    [change_source, change_header, add_source, rename_source, move_text, change_ggml, change_flags],
)
def test_the_key_changes_with(kit: Kit, change: Callable[[Kit], None]) -> None:
    first = kernel_files.key()
    assert len(first) == 16
    assert int(first, 16) >= 0
    change(kit)
    assert kernel_files.key() not in {first, ""}


def test_the_key_stays_with_what_is_not_compiled(kit: Kit) -> None:
    first = kernel_files.key()
    (kit.sources / "README.md").write_text("About kernels")
    (kit.ggml / "libllama.so").touch()
    assert kernel_files.key() == first


def test_the_key_is_about_the_library_that_is_loaded(kit: Kit) -> None:
    first = kernel_files.key()
    (kit.ggml / "libggml-cpu.so").write_bytes(b"a copy that nothing loads")
    assert kernel_files.key() == first
    (kit.ggml / "libggml-cpu.so.0").unlink()
    assert kernel_files.key() not in {first, ""}


def test_without_sources_or_ggml_there_is_no_key(kit: Kit, tmp_path: Path) -> None:
    (kit.ggml / "libggml-cpu.so.0").unlink()
    assert kernel_files.key() == ""
    kit.monkeypatch.setattr(kernel_files, "ggml_folder", lambda: None)
    assert kernel_files.key() == ""
    assert kernel_files.find(tmp_path) is None


def test_the_order_of_places(kit: Kit, installed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    name = kernel_files.library_name(kernel_files.key())
    cache = tmp_path / "cache"
    assert kernel_files.find(cache) is None
    for folder in reversed(installed):
        (folder / "libpaceline_kernels-0123456789abcdef.so").write_bytes(LIBRARY)
        (folder / name).write_bytes(LIBRARY)
        assert kernel_files.find(cache) == folder / name
    for folder in installed[:2]:
        (folder / name).unlink()
    assert kernel_files.find() is None, "the user's cache was not given"
    change_ggml(kit)
    assert kernel_files.find(cache) is None


def test_a_folder_that_may_not_be_entered_is_passed_by(
    kit: Kit, installed: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    name = kernel_files.library_name(kernel_files.key())
    (installed[2] / name).write_bytes(LIBRARY)
    known = Path.read_bytes

    def guarded(path: Path) -> bytes:
        if path.parent == installed[1]:
            raise PermissionError(13, "Permission denied")
        return known(path)

    kit.monkeypatch.setattr(Path, "read_bytes", guarded)
    assert kernel_files.find(tmp_path / "cache") == installed[2] / name


@pytest.mark.parametrize(
    "content", [b"", b"no library", LIBRARY[:-1], LIBRARY + b"\0", b"X" + LIBRARY[1:]]
)
def test_a_damaged_library_is_passed_by(
    kit: Kit, installed: tuple[Path, Path, Path], tmp_path: Path, content: bytes
) -> None:
    name = kernel_files.library_name(kernel_files.key())
    (installed[0] / name).write_bytes(content)
    assert kernel_files.find(tmp_path / "cache") is None
    (installed[2] / name).write_bytes(LIBRARY)
    assert kernel_files.find(tmp_path / "cache") == installed[2] / name


@pytest.mark.parametrize(("system", "machine"), [("darwin", "x86_64"), ("linux", "aarch64")])
def test_other_systems_and_processors(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert not kernel_files.is_possible()


def test_a_processor_without_avx2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(kernel_files, "Path", lambda *_: info)
    assert kernel_files.is_possible(), "it is not known"
    info.write_text("flags\t\t: fpu avx avx2 fma\n")
    assert kernel_files.is_possible()
    info.write_text("flags\t\t: fpu avx fma\n")
    assert not kernel_files.is_possible()


def test_the_key_holds_every_variant_of_ggmls_code_for_the_processor(kit: Kit) -> None:
    (kit.ggml / "libggml-cpu.so.0").unlink()
    assert not kernel_files.key()
    for name in ("libggml-cpu-haswell.so", "libggml-cpu-x64.so"):
        (kit.ggml / name).write_bytes(name.encode())
    both = kernel_files.key()
    (kit.ggml / "libggml-cpu-x64.so").write_bytes(b"another")
    assert len(both) == 16
    assert kernel_files.key() not in ("", both)
