"""The contents of a package, and all that is left out although PyInstaller would take it.

`paceline.spec` asks; it runs in the environment that is frozen, so this file knows the standard
library alone.
"""

import fnmatch
import struct
import subprocess
import sys
from pathlib import Path, PurePosixPath

WHOLE = ("paceline", "huggingface_hub.utils")
"""Packages that import their own modules by name."""
BY_NAME = (
    # Past `llama_cpp/__init__.py`, which would load a server.
    *("llama_cpp.llama_grammar", "llama_cpp._ggml", "llama_cpp._logger"),
    "PySide6.QtOpenGL",  # by pyqtgraph's curves
)
"""Modules that are imported by name."""
WITH_METADATA = (
    *("paceline", "llama_cpp_python", "numpy", "huggingface_hub", "PySide6_Essentials"),
    *("llguidance", "httpx2"),
)
NOT_PYTHON = [
    "tkinter",
    "readline",  # the GNU library is under the GPL
    *("_curses", "_curses_panel"),
    *("pytest", "hypothesis", "IPython", "matplotlib", "scipy", "numba", "cupy", "h5py"),
    *("setuptools", "pkg_resources", "pip", "distutils"),
    *("PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtTest"),
    *("pyqtgraph.opengl", "pyqtgraph.jupyter", "pyqtgraph.flowchart", "pyqtgraph.console"),
    "llama_cpp.server",
    "hf_xet",  # 11 MB for downloads by the Hub's own library; Paceline has its own downloads
]
"""Modules that are imported somewhere in the code but never needed."""
_OF_THE_SYSTEM = (
    # The drivers of a newer system need its newer C++ library.
    *("libstdc++.so*", "libgcc_s.so*"),
    # These belong to the desktop: its fonts, its drivers, its themes.
    *("libexpat.so*", "libfontconfig.so*", "libfreetype.so*", "libvulkan.so*"),
    *("libgtk-3*", "libgdk*", "libatk*", "libatspi*", "libcairo*", "libpango*", "libepoxy*"),
    "libqgtk3.so",  # Qt's plug-in for them
    # Qt on a bare screen, without a desktop.
    *("libQt6Egl*", "libqeglfs*", "libqvnc*", "libqlinuxfb*", "libqminimalegl*", "libqeglfs-*"),
    "libreadline*",  # under the GPL
)
_QT_LANGUAGES = ("qtbase_de.qm",)


def comes_along(place: str) -> bool:
    """Return True if the file at this path belongs in the package."""
    path = PurePosixPath(place.replace("\\", "/"))
    if "translations" in path.parts and "PySide6" in path.parts:
        return path.name in _QT_LANGUAGES
    if "egldeviceintegrations" in path.parts:
        return False
    if path.name.startswith(("libggml", "libllama")):  # other paths would be second copies
        return path.parts[:2] == ("llama_cpp", "lib")
    return not any(fnmatch.fnmatchcase(path.name, pattern) for pattern in _OF_THE_SYSTEM)


def openmp() -> list[tuple[str, str]]:
    """Return GCC's OpenMP library, which llama.cpp is linked with and a desktop may not have."""
    if sys.platform != "linux":
        return []
    asked = ["gcc", "-print-file-name=libgomp.so.1"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return [(found, ".")] if Path(found).is_absolute() else []


def icon(pictures: Path, folder: Path, kind: str) -> Path:
    """Write the program's icon as Windows or macOS wants it, which both take pictures as PNG.

    Args:
        pictures: The folder with paceline-16.png and larger ones.
        folder: The folder to write it into.
        kind: "ico" or "icns".
    """
    names = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08"}
    images = {side: (pictures / f"paceline-{side}.png").read_bytes() for side in names}
    if kind == "icns":
        chunks = (
            names[side] + struct.pack(">I", len(data) + 8) + data for side, data in images.items()
        )
        body = b"".join(chunks)
        content = b"icns" + struct.pack(">I", len(body) + 8) + body
    else:
        entries, at = b"", 6 + 16 * len(images)
        for side, data in images.items():
            # 0 stands for 256; one plane of 32 bits.
            entries += struct.pack("<4B2H2I", side % 256, side % 256, 0, 0, 1, 32, len(data), at)
            at += len(data)
        content = struct.pack("<3H", 0, 1, len(images)) + entries + b"".join(images.values())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"paceline.{kind}"
    file.write_bytes(content)
    return file


_GGUF = "org.ggml.gguf"
INFO_PLIST = {
    "CFBundleDisplayName": "Paceline",
    "LSApplicationCategoryType": "public.app-category.productivity",
    "LSMinimumSystemVersion": "13.0",  # required by PySide6
    "NSHighResolutionCapable": True,
    "CFBundleDocumentTypes": [
        {
            "CFBundleTypeName": "Language model",
            "CFBundleTypeRole": "Viewer",
            "LSHandlerRank": "Alternate",
            "LSItemContentTypes": [_GGUF],
        }
    ],
    "UTImportedTypeDeclarations": [
        {
            "UTTypeIdentifier": _GGUF,
            "UTTypeDescription": "Language model",
            "UTTypeConformsTo": ["public.data"],
            "UTTypeTagSpecification": {"public.filename-extension": ["gguf"]},
        }
    ],
}
"""Facts that macOS reads of the app, such as that it opens model files."""
