"""The first lines of the packaged program.

The system's programs that it opens, a browser or a file manager, must load libraries of the system
and not those of the package. So the variables by which PyInstaller's starter and hooks tell each
other where the package lies are taken back here; they are needed no more. Without them, the
program's own children start as the program itself did, and set the loader's path anew.
"""

import os
import re
import sys


def restore_environment() -> None:
    """Remove the package's folders from the variables, and restore those that the starter saved."""
    for name in list(os.environ):
        if name.startswith("_PYI_"):
            del os.environ[name]
    if "LD_LIBRARY_PATH_ORIG" in os.environ:
        os.environ["LD_LIBRARY_PATH"] = os.environ.pop("LD_LIBRARY_PATH_ORIG")
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)
    for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH"):  # PySide6 sets the path itself
        os.environ.pop(name, None)
    # The package has its own llama.cpp, which its kernels match.
    os.environ.pop("LLAMA_CPP_LIB_PATH", None)
    mounted = os.environ.get("APPDIR", "")
    if mounted and os.path.realpath(sys.executable).startswith(os.path.realpath(mounted) + os.sep):
        for name in ("APPDIR", "APPIMAGE", "ARGV0", "OWD"):  # an AppImage says where it lies
            os.environ.pop(name, None)
    inside, name = (
        getattr(sys, "_MEIPASS", ""),
        "DYLD_LIBRARY_PATH",
    )  # the starter on macOS adds to it
    others = [path for path in os.environ.pop(name, "").split(":") if path and path != inside]
    if others:
        os.environ[name] = ":".join(others)


def lacks_instructions(processors: str) -> bool:
    """Return True if Qt and NumPy cannot run according to the text of /proc/cpuinfo.

    They are compiled for x86-64-v2, and would end the program by SIGILL or SIGABRT.
    """
    flags = re.search(r"^flags\s*: (.*)$", processors, re.MULTILINE)  # ARM has "Features"
    return flags is not None and not {"sse4_2", "popcnt"} <= set(flags[1].split())


def check_processor() -> None:
    """End the program with one sentence if the processor is too old for it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            first = file.read(8192)  # there may be hundreds of them
    except OSError:  # another system
        return
    if lacks_instructions(first):
        sys.exit(
            "paceline: Paceline needs a processor with SSE4.2 and POPCNT, which those made since "
            "2009 have; this one lacks them."
        )


if __name__ == "__main__":
    if getattr(sys, "frozen", False):
        restore_environment()
        check_processor()
    from paceline.__main__ import main

    sys.exit(main())
