"""Remedies for an incomplete installation, by its form.

A package is installed again as a whole, a checkout by its bootstrap, and a wheel by the installer
of the environment that it lies in. What needs a compiler or an installer of Python's is never said
in a package, which brings neither. Nothing is run here. Any thread.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from paceline.installation import package
from paceline.sentence import Sentence, sentence

LIBRARY = "llama-cpp-python"

QT_LIBRARIES = (
    *("libegl1", "libgl1", "libdbus-1-3", "libfontconfig1", "libglib2.0-0", "libgssapi-krb5-2"),
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1", "libxcb-shape0"),
    *("libxkbcommon-x11-0", "libwayland-cursor0", "libwayland-egl1"),
)
"""Debian's packages that bring all that Qt's libraries and its displays link to."""

WHOLE = sentence("Install Paceline again.")
"""The remedy of a package, and the fallback of all others."""


def library_again() -> Sentence:
    """Return how llama.cpp's library is compiled for this computer, and installed, once more."""
    match package.kind():
        case "package":
            return WHOLE
        case "checkout":
            return sentence("Compile it again: `{command}`.", command=bootstrap("--rebuild run"))
        case "wheel":
            return sentence("Install it again: `{command}`.", command=installed(LIBRARY))


def library_with(flags: str) -> Sentence:
    """Return how llama.cpp's library is compiled with these flags of CMake's, and installed."""
    if package.kind() == "package":
        return WHOLE
    if command := bootstrap("--rebuild run"):
        command = f'CMAKE_ARGS="{flags}" {command}'
    else:
        command = installed(LIBRARY, flags)
    return sentence("Compile it again: `{command}`.", command=command)


def library_for_this_processor() -> Sentence:
    """Return what to do where llama.cpp uses instructions that the processor does not know."""
    if package.is_packaged():  # it has a library for every processor, and chose among them
        return sentence("Report it, with what `paceline doctor` prints.")
    return sentence("Install a build of llama-cpp-python that was made on this computer.")


def newer_library() -> Sentence:
    """Return how a newer llama.cpp is got."""
    if package.is_packaged():
        return sentence("Install a newer version of Paceline.")
    return sentence("Install a newer version of Paceline or llama-cpp-python.")


def gpu() -> Sentence:
    """Return how a GPU that is there comes into use."""
    if package.is_packaged():
        return sentence("Install the driver of your GPU, with its part for Vulkan.")
    return sentence("Install a build of llama.cpp for your GPU.")


def nvidia() -> Sentence:
    """Return how a card of NVIDIA's comes into use where its driver is there."""
    if package.is_packaged():
        return sentence(
            "Install the Vulkan part of NVIDIA's driver and the system's libvulkan, which is the "
            "package libvulkan1 in Debian and Ubuntu."
        )
    if command := bootstrap("--backend cuda run"):
        return sentence("Compile it again: `{command}`.", command=command)
    return library_with("-DGGML_CUDA=ON -DGGML_RPC=ON")


def kernels_built() -> Sentence:
    """Return how Paceline's native code is made for this computer and its llama.cpp."""
    if package.is_packaged():
        return WHOLE
    return sentence(
        "`paceline doctor --build-kernels` builds Paceline's native code where there is a C++ "
        "compiler."
    )


def kernels_tested_again(kept: Path | None) -> Sentence:
    """Return how own kernels that have failed are tried once more.

    Args:
        kept: The file with the noted failure, or None if there is none.
    """
    if not package.is_packaged():
        return sentence("`paceline doctor --build-kernels` has them tested again.")
    if kept is None:
        return sentence("They are tested again at the next start.")
    return sentence("They are tested again once the file {file} is deleted.", file=kept)


def package_of_python(distribution: str) -> Sentence:
    """Return how a part of the Python environment that is missing is installed."""
    if package.is_packaged():
        return WHOLE
    return sentence("Install it: `{command}`.", command=f"{_installer()} {distribution}")


def program_again() -> Sentence:
    """Return how the program and all that it is made of are installed once more."""
    match package.kind():
        case "package":
            return WHOLE
        case "checkout":
            return sentence("Install it again: `{command}`.", command=bootstrap("--rebuild run"))
        case "wheel":
            words = f"{_installer()} --force-reinstall paceline"
            return sentence("Install it again: `{command}`.", command=words)


def window_again(error: ImportError) -> Sentence:
    """Return how the window can be opened of which something could not be imported."""
    if re.match(r"lib(?!Qt6|pyside6|shiboken6)[\w.+-]+\.so", str(error)):
        return sentence(
            "Install the system's libraries for Qt, on Debian or Ubuntu by `sudo apt-get install "
            "{packages}`; meanwhile `paceline chat` works without a window.",
            packages=" ".join(QT_LIBRARIES),
        )
    return sentence(
        "{again} Meanwhile `paceline chat` works without a window.", again=program_again()
    )


def installed(distribution: str, flags: str = "") -> str:
    """Return the command that installs the pinned version of a distribution, compiled anew.

    Args:
        distribution: One that the program's metadata names.
        flags: CMake's flags for one that is compiled; empty for the default.
    """
    version = pinned(distribution)
    what = f"{distribution}=={version}" if version else distribution
    anew = "--force-reinstall --no-deps --no-cache-dir"  # a kept wheel would come back as it was
    compiled = f"--no-binary={distribution} " if flags else ""
    variable = f'CMAKE_ARGS="{flags}" ' if flags else ""
    return f"{variable}{_installer()} {anew} {compiled}{what}"


def bootstrap(words: str) -> str:
    """Return the command that sets this checkout up, or empty if this is no checkout."""
    file = Path(__file__).resolve().parents[3] / "packaging" / "bootstrap.py"
    return f'python3 "{file}" {words}' if file.is_file() else ""


def pinned(distribution: str) -> str:
    """Return the version that this program's own metadata pins; empty where it says nothing."""
    try:
        requirements = metadata.requires("paceline") or []
    except metadata.PackageNotFoundError:
        return ""
    for requirement in requirements:
        name, _, version = requirement.partition("==")
        if name.strip() == distribution:
            return version.split(";")[0].strip()
    return ""


def _installer() -> str:
    """Return the words that install something into this environment.

    pipx and uv make environments without pip, and leave files in them that say who made them.
    """
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        return "pipx runpip paceline install"
    if (environment / "uv-receipt.toml").is_file():
        return f"uv pip install --python {_word(environment)}"
    return f"{_word(sys.executable)} -m pip install"


def _word(path: str | Path) -> str:
    return f'"{path}"' if " " in str(path) else str(path)
