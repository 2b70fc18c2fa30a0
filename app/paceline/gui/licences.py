"""The licences of everything that is shipped: fonts, demo models, and libraries.

The texts of libraries come from their installed metadata, so what is shown belongs to the version
that runs. Reads files: call it off the main thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from paceline import starter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_WORDS = ("license", "licence", "copying", "notice")
_MOST_LETTERS = 300_000
_MOST_TEXTS = 12


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that is shipped.

    Attributes:
        name: What it is called.
        licence: The licence in a few words; empty: see the text.
        text: The whole text; empty: none came along.
    """

    name: str
    licence: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadLicences:
    """Reads them all; a job for the background."""

    resources: Path
    libraries: Sequence[str]

    def __call__(self) -> tuple[Component, ...]:
        """Return the program itself, what lies in its folders, and its libraries."""
        own = (
            _library("paceline"),
            _shipped("Inter", "OFL-1.1", self.resources / "fonts" / "Inter-OFL.txt"),
            _shipped("JetBrains Mono", "OFL-1.1", self.resources / "fonts/JetBrainsMono-OFL.txt"),
            _shipped("Demo models", "PSF-2.0", self.resources / "models" / "LICENSE-PSF-2.0.txt"),
        )
        fetched = Component(starter.NAME, "Apache-2.0", f"{starter.SOURCE}\n{starter.LICENCE}")
        libraries = sorted((_library(name) for name in self.libraries), key=_name)
        return tuple(each for each in (*own, fetched, *libraries) if each.licence or each.text)


def _name(component: Component) -> str:
    return component.name.casefold()


def _shipped(name: str, licence: str, file: Path) -> Component:
    try:
        return Component(name, licence, file.read_text(encoding="utf-8")[:_MOST_LETTERS])
    except (OSError, UnicodeDecodeError):
        return Component(name, licence, "")


def _library(name: str) -> Component:
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return Component(name, "", "")
    about = distribution.metadata
    licence = "\n".join(about.get_all("License-Expression") or about.get_all("License") or ())
    if not licence:
        classified = [
            line.rsplit("::", 1)[-1].strip()
            for line in about.get_all("Classifier") or ()
            if line.startswith("License ::")
        ]
        licence = ", ".join(classified)
    # Some put the whole text into the short field.
    short = licence.strip().splitlines()[0] if licence.strip() else ""
    texts = []
    for file in distribution.files or ():
        if any(word in file.name.casefold() for word in _WORDS) and file.suffix != ".py":
            try:
                texts.append(file.read_text(encoding="utf-8").strip())
            except (OSError, UnicodeDecodeError):
                continue
        if len(texts) == _MOST_TEXTS:
            break
    title = f"{about['Name'] or name} {distribution.version}"
    return Component(title, short[:80], "\n\n\n".join(texts)[:_MOST_LETTERS])
