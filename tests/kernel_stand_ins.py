"""A small ggml, small kernels, and a compiler that only writes down what it is asked."""

from __future__ import annotations

import io
import sys
import tarfile
from importlib import metadata
from typing import TYPE_CHECKING

from paceline.installation import kernel_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from paceline.installation.library_build import Say

VERSION = metadata.version("llama-cpp-python")
TOP = f"llama_cpp_python-{VERSION}/vendor/llama.cpp/ggml"
HEADERS = {
    "include/ggml.h": 'extern "C" int ggml_answer(void);\n',
    "src/ggml-impl.h": '#include "ggml.h"\n',
    "src/ggml-cpu/traits.h": '#include "ggml-impl.h"\nextern "C" int ggml_cpu_answer(void);\n',
}
SOURCES = {
    "paceline_kernels.h": """
#define PACELINE_API extern "C" __attribute__((visibility("default")))
""",
    "kernels.cpp": """
#include "paceline_kernels.h"
#include "traits.h"
namespace paceline {
namespace avx2 { int lanes(); }
#ifndef PACELINE_WITHOUT_AVXVNNI
namespace avxvnni { int lanes(); }
#endif
#ifndef PACELINE_WITHOUT_AVX512
namespace avx512 { int lanes(); }
#endif
}
PACELINE_API int paceline_kernels_interface() { return ggml_answer() + ggml_cpu_answer(); }
PACELINE_API int all_lanes() {
    int n = paceline::avx2::lanes();
#ifndef PACELINE_WITHOUT_AVXVNNI
    n = n * 100 + paceline::avxvnni::lanes();
#endif
#ifndef PACELINE_WITHOUT_AVX512
    n = n * 100 + paceline::avx512::lanes();
#endif
    return n;
}
""",
    "matmul.cpp": """
// namespace PACELINE_ISA in a comment is none
namespace paceline::PACELINE_ISA {
#ifdef __AVX512F__
int lanes() { return 16; }
#elif defined(__AVXVNNI__)
int lanes() { return 9; }
#else
int lanes() { return 8; }
#endif
}
""",
}

ROWS = """
#if defined(_WIN32)
#define PACELINE_API extern "C" __declspec(dllexport)
#else
#define PACELINE_API extern "C" __attribute__((visibility("default")))
#endif
PACELINE_API const char *paceline_rows_isa() { return "stand-in"; }
"""

FAKE_COMPILER = r"""#!/bin/sh
echo "$*" >> "{calls}"
case "$*" in
  *{fail}*) {words}; exit 1 ;;
esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo "$*" > "$2"; shift; done
exit 0
"""
FAKE_PIP = r"""#!/bin/sh
echo "$*" >> "{calls}"
while [ $# -gt 1 ]; do [ "$1" = --dest ] && {action}; shift; done
"""


def write_archive(path: Path, members: Mapping[str, str | tarfile.TarInfo]) -> Path:
    """Write a .tar.gz with files, by their names, and whatever else a member may be."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(content.encode())
            tar.addfile(info, io.BytesIO(content.encode()))
    return path


def write_script(path: Path, text: str) -> Path:
    """Write a program."""
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


class Kit:
    """Everything that a build takes, in one folder, and what was said during builds."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.sources = folder / "kernels"
        self.ggml = folder / "lib"
        self.calls = folder / "calls"
        self.said: list[str] = []
        self.sources.mkdir(parents=True)
        self.ggml.mkdir()
        self.calls.touch()
        (self.sources / "rows").mkdir()
        (self.sources / "rows" / "rows.cpp").write_text(ROWS, "utf-8")
        for name, text in SOURCES.items():
            (self.sources / name).write_text(text, "utf-8")
        for name in ("libggml-cpu.so.0", "libggml-base.so.0"):
            (self.ggml / name).write_bytes(name.encode())
        members = {f"{TOP}/{name}": text for name, text in HEADERS.items()}
        self.sdist = write_archive(folder / f"llama_cpp_python-{VERSION}.tar.gz", members)
        monkeypatch.setattr(kernel_files, "sources_folder", lambda: self.sources)
        monkeypatch.setattr(kernel_files, "ggml_folder", lambda: self.ggml)
        monkeypatch.setattr(kernel_files, "is_possible", lambda: True)
        monkeypatch.delenv("CMAKE_BUILD_PARALLEL_LEVEL", raising=False)
        self.use_compiler()

    @property
    def say(self) -> Say:
        return self.said.append

    def use_compiler(self, fail: str = "no such call", words: str = "") -> None:
        """Take the stand-in for a compiler; it fails where its arguments have `fail`."""
        words = f"echo '{words}'" if words else "true"
        fail = fail.replace(" ", "\\ ")
        text = FAKE_COMPILER.format(calls=self.calls, fail=fail, words=words)
        self.monkeypatch.setenv("CXX", str(write_script(self.folder / "fake-c++", text)))

    def use_pip(self, action: str) -> None:
        """Take a stand-in for Python with pip; `action` is a shell command that knows $2."""
        text = FAKE_PIP.format(calls=self.calls, action=action)
        program = write_script(self.folder / "fake-python", text)
        self.monkeypatch.setattr(sys, "executable", str(program))

    def called(self, word: str) -> list[str]:
        """The calls of compiler and pip in which a word occurs."""
        return [line for line in self.calls.read_text().splitlines() if word in line]
