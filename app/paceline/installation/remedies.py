"""Remedies for an installation that lacks something, by how the program came here.

A package is installed again as a whole, a checkout by its bootstrap, and a wheel by the installer
of the environment that it lies in. Nothing is run here. Any thread.
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
    *("libxkbcommon-x11-0", "libwayland-cursor0"),
)
"""Debian's packages that bring all that Qt's libraries and its displays link to."""

WHOLE = sentence("Install Paceline again.")
"""The remedy of a package, and wherever nothing more exact is known."""


def library_again() -> Sentence:
    """Return how llama.cpp's library is compiled for this computer, and installed, once more."""
    match package.kind():
        case "package":
            return WHOLE
        case "checkout":
            return sentence("Compile it again: `{command}`.", command=bootstrap("--rebuild run"))
        case "wheel":
            return sentence("Install it again: `{command}`.", command=installed(LIBRARY))


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
        flags: CMake's, for one that is compiled; none: it is compiled as by itself.
    """
    version = pinned(distribution)
    what = f"{distribution}=={version}" if version else distribution
    anew = "--force-reinstall --no-deps --no-cache-dir"  # a kept wheel would come back as it was
    compiled = f"--no-binary={distribution} " if flags else ""
    variable = f'CMAKE_ARGS="{flags}" ' if flags else ""
    return f"{variable}{_installer()} {anew} {compiled}{what}"


def bootstrap(words: str) -> str:
    """Return the command that sets this checkout up; empty where this is none."""
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
