"""The script that starts the packaged program, and the program's own first lines."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from packages.folder import write_script

PACKAGES = Path(__file__).resolve().parents[2] / "packaging" / "packages"
unix = pytest.mark.skipif(sys.platform == "win32", reason="a script of a shell")


def program(folder: Path) -> Path:
    """The folder of a program that prints how it was called, for glibc 2.35 and newer."""
    (folder / "lib").mkdir(parents=True)
    inside = folder / "lib" / "paceline"
    inside.write_text('#!/bin/sh\necho "$0|$1|$2"\nexit 7\n')
    inside.chmod(0o755)
    write_script(folder, (2, 35))
    return folder / "paceline"


def run(script: Path, tools: Path, **said: str) -> subprocess.CompletedProcess[str]:
    """Run the script where these tools say this, and exit with 1 where they say nothing."""
    tools.mkdir(exist_ok=True)
    for name, text in said.items():
        ok = "exit 1" if not text else f'echo "{text}"'
        (tools / name).write_text(f"#!/bin/sh\n{ok}\n")
        (tools / name).chmod(0o755)
    for name in ("readlink", "head"):
        if not (tools / name).exists():
            (tools / name).symlink_to(f"/usr/bin/{name}")
    words = ["/bin/sh", str(script), "a b", "*"]
    return subprocess.run(
        words, env={"PATH": str(tools)}, capture_output=True, text=True, check=False
    )


@unix
@pytest.mark.parametrize(
    "said",
    [
        {"getconf": "glibc 2.35"},
        {"getconf": "glibc 2.41"},
        {"getconf": "glibc 3.0"},
        {"getconf": "", "ldd": "ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35"},
        {"getconf": "glibc 2.36.9000"},
        {"getconf": "glibc 2.36(x"},
        {},  # no tool can tell
    ],
)
def test_a_system_that_is_new_enough_gets_the_program(said: dict[str, str], tmp_path: Path) -> None:
    done = run(program(tmp_path / "ä b"), tmp_path / "tools", **said)
    assert done.returncode == 7, done.stderr
    assert done.stdout == f"{tmp_path}/ä b/lib/paceline|a b|*\n"
    assert done.stderr == ""


@unix
@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"getconf": "glibc 2.31"}, "glibc 2.31"),
        ({"getconf": "glibc 2.4"}, "glibc 2.4"),
        ({"getconf": "", "ldd": "ldd (GNU libc) 2.28"}, "ldd (GNU libc) 2.28"),
        ({"getconf": "", "ldd": "musl libc (x86_64)"}, "musl libc (x86_64)"),
    ],
)
def test_an_older_system_is_reported_in_one_sentence(
    said: dict[str, str], found: str, tmp_path: Path
) -> None:
    done = run(program(tmp_path / "made"), tmp_path / "tools", **said)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "glibc 2.35 or newer" in line
    assert line.endswith(f"this one has {found}.")


@unix
def test_a_link_to_the_script_starts_the_program(tmp_path: Path) -> None:
    link = tmp_path / "anywhere"
    link.symlink_to(program(tmp_path / "made"))
    done = run(link, tmp_path / "tools", getconf="glibc 2.36")
    assert done.stdout == f"{tmp_path}/made/lib/paceline|a b|*\n"
    assert os.access(link, os.X_OK)


def test_programs_of_the_system_get_no_path_of_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in list(os.environ):
        if name.startswith("_PYI_"):
            monkeypatch.delenv(name)
    inside = "/opt/paceline/_internal"
    monkeypatch.setattr(sys, "_MEIPASS", inside, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", inside)
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/own/lib")
    monkeypatch.setenv("DYLD_LIBRARY_PATH", f"{inside}:/opt/own/lib")
    monkeypatch.setenv("QT_PLUGIN_PATH", f"{inside}/PySide6/Qt/plugins")
    monkeypatch.setenv("_PYI_APPLICATION_HOME_DIR", inside)
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", "/opt/own/lib")  # for a llama_cpp of another Python
    restore = runpy.run_path(str(PACKAGES / "start.py"))["restore_environment"]
    restore()
    assert os.environ["LD_LIBRARY_PATH"] == "/opt/own/lib"
    assert os.environ["DYLD_LIBRARY_PATH"] == "/opt/own/lib"
    assert not [name for name, text in os.environ.items() if inside in text]
    assert not {"LD_LIBRARY_PATH_ORIG", "LLAMA_CPP_LIB_PATH"} & os.environ.keys()

    monkeypatch.setenv("LD_LIBRARY_PATH", inside)
    monkeypatch.setenv("DYLD_LIBRARY_PATH", inside)
    restore()
    assert not {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} & os.environ.keys()


@pytest.mark.parametrize("is_ours", [True, False])
def test_an_appimage_of_another_program_does_not_count_as_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_ours: bool
) -> None:
    mounted = tmp_path / ".mount_pacelin"
    names = ("APPDIR", "APPIMAGE", "ARGV0", "OWD")
    for name in names:
        monkeypatch.setenv(name, str(mounted))
    inside = mounted if is_ours else tmp_path / "elsewhere"
    monkeypatch.setattr(sys, "executable", str(inside / "lib" / "paceline"))
    runpy.run_path(str(PACKAGES / "start.py"))["restore_environment"]()
    assert [name for name in names if name in os.environ] == ([] if is_ours else list(names))


@pytest.mark.parametrize(
    ("flags", "lacks"),
    [
        ("flags\t\t: fpu sse2 ssse3 sse4_1 sse4_2 popcnt avx", False),
        ("flags\t\t: fpu sse2 ssse3 sse4_1", True),
        ("flags\t\t: fpu sse4_2", True),
        ("Features\t: fp asimd", False),
        ("", False),
    ],
    ids=["Nehalem", "Penryn", "without POPCNT", "ARM", "not told"],
)
def test_a_processor_that_is_too_old_is_known(flags: str, lacks: bool) -> None:
    text = f"processor\t: 0\nmodel name\t: sse4_2 popcnt\n{flags}\nbugs\t\t: popcnt\n\n"
    assert runpy.run_path(str(PACKAGES / "start.py"))["lacks_instructions"](text) is lacks
