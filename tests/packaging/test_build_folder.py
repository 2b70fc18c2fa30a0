"""The finished folder of a package: what it asks of a system, and what must not be in it."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap import BootstrapError
from packages import contents, elf, folder

REPOSITORY = Path(__file__).resolve().parents[2]
needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or not (shutil.which("gcc") and shutil.which("objdump")),
    reason="gcc and objdump make and read small libraries",
)


def library(path: Path, *words: str, code: str = "int one(void) { return 1; }") -> Path:
    """A small library, linked with these words."""
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", *words, "-o", str(path)]
    subprocess.run(command, input=code.encode(), check=True)
    return path


@needs_compiler
def test_facts_of_a_library(tmp_path: Path) -> None:
    made = library(
        tmp_path / "libone.so", "-Wl,-rpath,$ORIGIN:/home/builder/lib", "-Wl,--no-as-needed", "-lm"
    )
    facts = elf.facts(made)
    assert {"libm.so.6", "libc.so.6"} <= set(facts.needed)
    assert facts.search == ("$ORIGIN", "/home/builder/lib")
    assert facts.is_aligned


@needs_compiler
def test_a_part_that_lies_elsewhere_in_its_page_is_seen(tmp_path: Path) -> None:
    made = library(tmp_path / "libone.so")
    content = bytearray(made.read_bytes())
    at, size, count = (
        *struct.unpack_from("<Q", content, 32),
        *struct.unpack_from("<2H", content, 54),
    )
    for header in range(at, at + size * count, size):
        if struct.unpack_from("<I", content, header)[0] == 1:  # PT_LOAD: its place in the file
            (place,) = struct.unpack_from("<Q", content, header + 8)
            struct.pack_into("<Q", content, header + 8, place + 8)
    made.write_bytes(content)
    assert not elf.facts(made).is_aligned


@needs_compiler
def test_the_floor_is_the_newest_glibc_that_any_file_asks_for(tmp_path: Path) -> None:
    old = 'void *malloc(unsigned long); __asm__(".symver m,malloc@GLIBC_2.2.5"); int one;'
    library(tmp_path / "libold.so", code=old)
    # quick_exit came with glibc 2.10, and no later version of it.
    newer = "void quick_exit(int); void leave(void) { quick_exit(0); }"
    made = library(tmp_path / "libnewer.so", code=newer)
    (tmp_path / "text.so").write_text("GLIBC_9.9")
    (tmp_path / "link.so").symlink_to(made)
    assert [path.name for path in elf.files(tmp_path)] == ["libnewer.so", "libold.so"]
    assert folder.floor(tmp_path) == elf.facts(made).glibc >= (2, 10)


@needs_compiler
def test_libraries_that_nothing_asks_for_go_with_those_that_they_asked_for(tmp_path: Path) -> None:
    pango = library(tmp_path / "libthai.so.0")
    library(tmp_path / "libpangoish.so.0", "-Wl,--no-as-needed", str(pango), "-Wl,-rpath,$ORIGIN")
    library(tmp_path / "libkept.so.0")
    inside = tmp_path / "plugins"
    inside.mkdir()
    library(inside / "plugin.so", "-Wl,--no-as-needed", f"-L{tmp_path}", "-l:libkept.so.0")
    (tmp_path / "libkept.so").symlink_to("libkept.so.0")
    library(tmp_path / "libpython3.11.so.1.0")
    folder.drop_unneeded(tmp_path)
    left = sorted(path.name for path in tmp_path.glob("lib*"))
    assert left == ["libkept.so", "libkept.so.0", "libpython3.11.so.1.0"]


@needs_compiler
@pytest.mark.skipif(not shutil.which("patchelf"), reason="there is no patchelf")
def test_a_library_is_made_smaller_and_forgets_the_builder_s_folders(tmp_path: Path) -> None:
    code = "static int helper(void) { return 2; } int one(void) { return helper(); }"
    made = library(
        tmp_path / "libone.so", "-g", "-Wl,-rpath,$ORIGIN/../lib:/home/builder/lib", code=code
    )
    before = made.stat().st_size
    folder.slim(made, Path(shutil.which("patchelf") or ""))
    assert elf.facts(made).search == ("$ORIGIN/../lib",)
    assert made.stat().st_size < before
    code = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).one() != 2)"
    subprocess.run([sys.executable, "-c", code, str(made)], check=True)


def test_the_builder_s_python_is_blanked_without_moving_anything(tmp_path: Path) -> None:
    file = tmp_path / "libpython.so"
    file.write_bytes(b"a\0/home/builder/python/3.11.7\0/home/builder/python/3.11.7/lib\0z")
    before = file.stat().st_size
    folder.blank(file, "/home/builder/python/3.11.7")
    content = file.read_bytes()
    assert len(content) == before
    assert b"builder" not in content
    assert content.startswith(b"a\0/nonexistent/")
    assert b"/3.11.7\0/" in content, "the version may be the end of this text"
    assert content.endswith(b"/3.11.7/lib\0z")


def test_files_that_name_the_machine_end_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "clean").write_bytes(b"/usr/lib")
    folder.leave_no_trace(tmp_path, ["/home/builder/cache"])
    (tmp_path / "telling").write_bytes(b"\0/home/builder/cache/x\0")
    with pytest.raises(BootstrapError, match="of this machine") as found:
        folder.leave_no_trace(tmp_path, ["/home/builder/cache"])
    assert found.value.lines == ("telling",)


@needs_compiler
@pytest.mark.skipif(not shutil.which("patchelf"), reason="there is no patchelf")
def test_a_frozen_folder_is_finished(tmp_path: Path) -> None:
    frozen, made = tmp_path / "dist" / "paceline", tmp_path / "made"
    for place in ("llama_cpp/lib", "numpy-2.dist-info"):
        (frozen / "_internal" / place).mkdir(parents=True)
    shutil.copyfile(shutil.which("true") or "", frozen / "paceline")
    (frozen / "_internal" / "numpy-2.dist-info" / "direct_url.json").write_text("{}")
    (frozen / "_internal" / "numpy-2.dist-info" / "METADATA").write_text("Name: numpy")
    sealed = library(frozen / "_internal" / "llama_cpp" / "lib" / "libggml.so", "-g")
    before = sealed.read_bytes()
    library(frozen / "_internal" / "libloose.so.1")
    (made / "of-before").mkdir(parents=True)
    program = folder.finish(frozen, made, Path(shutil.which("patchelf") or ""))
    assert program == made / "lib" / "paceline"
    inside = made / "lib" / "_internal"
    assert {path.name for path in made.iterdir()} == {"paceline", "lib"}
    left = {path.name for path in inside.rglob("*") if path.is_file()}
    assert left == {"METADATA", "libggml.so"}
    assert (inside / "llama_cpp" / "lib" / "libggml.so").read_bytes() == before
    least = ".".join(map(str, folder.floor(made)))
    assert f"needed={least}\n" in (made / "paceline").read_text()


def test_files_forget_the_machine_without_moving_anything(tmp_path: Path) -> None:
    file = tmp_path / "_internal" / "ggml.dll"
    file.parent.mkdir()
    content = b"\0/home/me/cache/src/a.c\0C:\\Users\\me\\b.c\0/d/e/f\0"
    file.write_bytes(content)
    (tmp_path / "link").symlink_to(file)
    traces = ["/home/me/cache", "/d/e"]
    folder.forget(tmp_path, traces)
    changed = file.read_bytes()
    assert len(changed) == len(content)
    assert not list(folder.naming(tmp_path, traces))
    assert changed.startswith(b"\0/nonexis/cache/src/a.c\0C:"), "the rest is as it was"
    assert changed.endswith(b"\0/n/e/f\0")


@pytest.mark.parametrize(
    ("place", "comes"),
    [
        ("libreadline.so.8", False),
        ("libstdc++.so.6", False),
        ("libvulkan.so.1", False),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6/Qt/plugins/platforms/libqeglfs.so", False),
        ("PySide6/Qt/translations/qtbase_fr.qm", False),
        ("PySide6\\translations\\qtbase_fr.qm", False),
        ("PySide6/Qt/translations/qtbase_de.qm", True),
        ("paceline/_resources/translations/paceline_de.qm", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("libgomp.so.1", True),
        ("libllama.so.0", False),
        ("llama_cpp/lib/libllama.dylib", True),
        ("llama_cpp\\lib\\ggml-base.dll", True),
        ("libsqlite3.so.0", True),
    ],
)
def test_what_comes_along(place: str, comes: bool) -> None:
    assert contents.comes_along(place) is comes


def test_readline_which_is_under_the_gpl_is_left_out() -> None:
    assert "readline" in contents.NOT_PYTHON


@pytest.mark.parametrize("kind", ["ico", "icns"])
def test_icons_of_other_systems_hold_all_pictures(kind: str, tmp_path: Path) -> None:
    pictures = REPOSITORY / "resources" / "icons"
    content = contents.icon(pictures, tmp_path, kind).read_bytes()
    if kind == "icns":
        assert content[:4] == b"icns"
        assert struct.unpack(">I", content[4:8])[0] == len(content)
    else:
        count = struct.unpack_from("<3H", content)[2]
        entries = [struct.unpack_from("<4B2H2I", content, 6 + 16 * i) for i in range(count)]
        assert [entry[0] or 256 for entry in entries] == [16, 32, 64, 128, 256]
        assert all(content[at : at + 4] == b"\x89PNG" for *_, at in entries)
        assert entries[-1][-1] + entries[-1][-2] == len(content)
    assert all((pictures / f"paceline-{side}.png").read_bytes() in content for side in (16, 256))
