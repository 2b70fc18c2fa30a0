"""The components that come along with this program, and their licences.

A package brings a parts list, made when it was built; elsewhere libraries say it by their installed
metadata, so that it belongs to the version that runs. Both read files: call them off the main
thread. Standard library only, since the build makes the parts list of the same components.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

_STIX = "https://github.com/stipub/stixfonts"
_WORDS = ("license", "licence", "copying", "notice")
_MAX_CHARS = 300_000
_MAX_TEXTS = 12


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that is shipped.

    Attributes:
        name: Its name, with its version if it has one.
        licence: The licence in a few words, or empty if only the text says it.
        text: The whole licence, or empty if none was shipped.
    """

    name: str
    licence: str
    text: str


def requirements() -> Sequence[str]:
    """Return the distributions that this one needs; empty without metadata."""
    try:
        required = metadata.requires("paceline") or []
    except metadata.PackageNotFoundError:
        return ()
    always = [line for line in required if "extra ==" not in line]
    return list(dict.fromkeys(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in always))


def resource_components(resources: Path) -> tuple[Component, ...]:
    """Return the fonts and models that lie among the program's own files."""
    return (
        _shipped("Inter", "OFL-1.1", resources / "fonts" / "Inter-OFL.txt"),
        _shipped("JetBrains Mono", "OFL-1.1", resources / "fonts" / "JetBrainsMono-OFL.txt"),
        _shipped("Demo models", "PSF-2.0", resources / "models" / "LICENSE-PSF-2.0.txt"),
        Component("STIX Two Math", "OFL-1.1", f"{_STIX}\nIt comes with ziamath."),
    )


def library_component(name: str) -> Component:
    """Return a component from an installed distribution's metadata; without them its name alone."""
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return Component(name, "", "")
    licence = stated_licence(distribution.metadata)
    # Some put the whole text into the short field.
    short = licence.strip().splitlines()[0] if licence.strip() else ""
    texts = []
    for file in distribution.files or ():
        if any(word in file.name.casefold() for word in _WORDS) and file.suffix != ".py":
            try:
                texts.append(file.read_text(encoding="utf-8").strip())
            except (OSError, UnicodeDecodeError):
                continue
        if len(texts) == _MAX_TEXTS:
            break
    title = f"{distribution.metadata['Name'] or name} {distribution.version}"
    return Component(title, short[:80], "\n\n\n".join(texts)[:_MAX_CHARS])


def stated_licence(about: metadata.PackageMetadata) -> str:
    """Return the licence in a distribution's metadata, or empty if they name none."""
    licence = "\n".join(about.get_all("License-Expression") or about.get_all("License") or ())
    if licence:
        return licence
    classified = [
        line.rsplit("::", 1)[-1].strip()
        for line in about.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    return ", ".join(classified)


def listed_components(file: Path) -> tuple[Component, ...]:
    """Return the parts of a package, see `paceline.installation.package.parts_file`.

    Args:
        file: A parts list in CycloneDX's form; texts lie in files beside it.

    Returns:
        The program, then the other parts by their names; empty if the list cannot be read. The
        parts of a part are listed after its text.
    """
    try:
        parts = json.loads(file.read_text("utf-8"))["components"]
        parts.sort(key=lambda part: (part["name"] != "paceline", part["name"].casefold()))
        return tuple(_listed(part, file.parent) for part in parts)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ()


def _listed(part: Mapping[str, Any], folder: Path) -> Component:
    texts = []
    for reference in part.get("externalReferences", ()):
        if reference["type"] == "license":
            texts.append((folder / reference["url"]).read_text("utf-8").strip())
    inside = sorted(f"{_title(each)}: {_licence(each)}" for each in part.get("components", ()))
    texts += ["\n".join(inside)] if inside else []
    return Component(_title(part), _licence(part), "\n\n\n".join(texts))


def _title(part: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (part["name"], part.get("version"))))


def _licence(part: Mapping[str, Any]) -> str:
    return " AND ".join(_licences(part.get("licenses", ())))


def _licences(choices: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for choice in choices:
        licence = choice.get("license", {})
        yield choice.get("expression") or licence.get("id") or licence["name"]


def _shipped(name: str, licence: str, file: Path) -> Component:
    try:
        return Component(name, licence, file.read_text(encoding="utf-8")[:_MAX_CHARS])
    except (OSError, UnicodeDecodeError):
        return Component(name, licence, "")
