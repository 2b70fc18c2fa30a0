"""A library with the interface of Paceline's own kernels, which computes nothing and obeys.

`compiled` makes it; the environment says what it does, in child processes, too:

    STAND_IN_INTERFACE=2       the number of its interface, else 1
    STAND_IN_ISA=              its instructions, else "stand-in"
    STAND_IN_INSTALL=1         what `install` returns, else 0
    STAND_IN_<KERNEL>=…        what the test of a kernel does ("q8_0" is Q8_0, "attention-f16" is
                               ATTENTION_F16): proved, wrong, unable, crash, abort, hang, slow
    STAND_IN_LOG=FILE          gets a line for every test that is begun
    STAND_IN_USE=crash         crash when it is asked for its calls, as a kernel in use would
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from paceline.engine.llama import kernels
from paceline.installation import kernel_files

KEY = "0123456789abcdef"
NAMES = ("q8_0", "q4_K-repacked", "attention-f16")
LIBRARY = "STAND_IN_LIBRARY"
"""The variable that `take_it` reads."""

_HEADERS = Path(__file__).parents[1] / "app" / "kernels"
_SOURCE = r"""
#include "paceline_kernels.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {
struct { const char * name; const char * variable; int type, repacked, operation; } KERNELS[] = {
    {"q8_0", "STAND_IN_Q8_0", 8, 0, 0},
    {"q4_K-repacked", "STAND_IN_Q4_K_REPACKED", 12, 1, 0},
    {"attention-f16", "STAND_IN_ATTENTION_F16", 1, 0, 1},
};
uint64_t enabled = 0;
int asked = 0;
std::string mark;
bool is_there(const char * name) { return getenv(name) != nullptr; }
std::string value(const char * name, const char * usual) {
    return is_there(name) ? getenv(name) : usual;
}
void write(const std::string & path, const char * mode, const char * text) {
    if (FILE * file = path.empty() ? nullptr : fopen(path.c_str(), mode)) {
        fputs(text, file);
        fclose(file);
    }
}
}

extern "C" {
int paceline_kernels_interface() { return atoi(value("STAND_IN_INTERFACE", "1").c_str()); }
const char * paceline_kernels_isa() {
    static const std::string isa = value("STAND_IN_ISA", "stand-in");
    return isa.c_str();
}
int paceline_kernels_use(const char *) { return 1; }
int paceline_kernels_count() { return 3; }
const char * paceline_kernels_name(int kernel) { return KERNELS[kernel].name; }
int paceline_kernels_type(int kernel) { return KERNELS[kernel].type; }
int paceline_kernels_is_repacked(int kernel) { return KERNELS[kernel].repacked; }
int paceline_kernels_operation(int kernel) { return KERNELS[kernel].operation; }
int paceline_kernels_install() { return atoi(value("STAND_IN_INSTALL", "0").c_str()); }
void paceline_kernels_enable(uint64_t kernels) { enabled = kernels; asked = 0; }
long paceline_kernels_calls(int kernel) {
    if (enabled && asked++ >= 3 && value("STAND_IN_USE", "") == "crash") {
        write(mark, "w", "q8_0");
        raise(SIGSEGV);
    }
    return enabled >> kernel & 1;
}
int paceline_kernels_self_test(int kernel, int) {
    write(value("STAND_IN_LOG", ""), "a", (std::string(KERNELS[kernel].name) + "\n").c_str());
    const std::string what = value(KERNELS[kernel].variable, "proved");
    if (what == "crash") raise(SIGSEGV);
    if (what == "abort") abort();
    if (what == "hang") for (;;) pause();
    if (what == "slow") usleep(300000);
    return what == "wrong" ? 0 : what == "unable" ? -1 : 1;
}
void paceline_kernels_mark_crashes(const char * path) { mark = path ? path : ""; }
void paceline_kernels_raise(int) {}
}
"""


def compiled(folder: Path) -> Path:
    """Return the library, made in this folder; skips the test where no compiler is."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None or os.name != "posix":
        import pytest  # not at the top: an engine's process would import it, too

        pytest.skip("no C++ compiler is here to make a stand-in for the kernels")
    source, library = folder / "stand_in.cpp", folder / kernel_files.library_name(KEY)
    source.write_text(_SOURCE, encoding="utf-8")
    subprocess.run(
        [compiler, "-std=c++17", "-shared", "-fPIC", f"-I{_HEADERS}", str(source), "-o",
         str(library)],
        check=True,
    )  # fmt: skip
    return library


def take_it() -> None:
    """Let this process find the stand-in that the environment names, and no other library.

    At the top of a module, so that an engine's process can be told to call it.
    """
    library = os.environ.get(LIBRARY)
    kernel_files.find = lambda cache_dir=None: Path(library) if library else None
    kernels._facts_of_process.cache_clear()
    kernels._libraries.cache_clear()
