"""The parts list of a package, in the form of CycloneDX 1.6. Needs the extra "package"."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from paceline import __version__
from paceline.installation.package import PARTS, read_build
from packages.licences import standard_texts

OWN, STANDARD = "licences", "standard"
"""Folders beside the list: texts of single parts, and texts that several parts share."""


@dataclass(frozen=True)
class ShippedPart:
    """A third-party part of the package.

    Attributes:
        name: Its name.
        version: Its version, or empty if unknown.
        licence: An SPDX expression.
        texts: Its own licences and notices.
        purl: Package URL of its origin, or empty if unknown.
        source: URL of its sources, or empty if unknown.
        inside: The parts that it contains, as far as it declares them.
    """

    name: str
    version: str
    licence: str
    texts: tuple[str, ...]
    purl: str = ""
    source: str = ""
    inside: tuple[ShippedPart, ...] = ()


def write(parts: Sequence[ShippedPart], inside: Path) -> Path:
    """Write the list and the texts into the folder of a frozen program's files.

    An earlier list is replaced. Equal parts give identical files.

    Args:
        parts: The parts, in the order of the list.
        inside: The folder.

    Returns:
        The list.

    Raises:
        ValueError: The list does not fit the schema.
        OSError: It cannot be written.
    """
    file = inside / PARTS
    if file.parent.is_symlink():
        file.parent.unlink()
    shutil.rmtree(file.parent, ignore_errors=True)
    for folder in (OWN, STANDARD):
        (file.parent / folder).mkdir(parents=True)
    names: dict[str, str] = {}
    components = []
    for part in parts:
        own = any(part.texts)
        texts = [_kept(text, part.name, names, file.parent) for text in part.texts if text]
        for standard in standard_texts(part.licence, has_own=own):
            shutil.copyfile(standard, file.parent / STANDARD / standard.name)
            texts.append(f"{STANDARD}/{standard.name}")
        components.append(_component(part, texts))
    build = read_build(inside / "paceline")
    program = Component(
        name="Paceline", type=ComponentType.APPLICATION, version=__version__, bom_ref="program"
    )
    bom = Bom(components=components, serial_number=uuid.UUID(int=0))
    bom.metadata.component = program
    bom.register_dependency(program, components)
    bom.metadata.timestamp = datetime.combine(build.day if build else _LONG_AGO, time(), UTC)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, _output(bom))
    words = _output(bom)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(words)
    if wrong is not None:
        raise ValueError(f"the parts list does not fit CycloneDX's schema: {wrong}")
    file.write_text(words + "\n", "utf-8")
    return file


_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC).date()


def _output(bom: Bom) -> str:
    return JsonV1Dot6(bom).output_as_string(indent=1)


def _kept(text: str, name: str, names: dict[str, str], folder: Path) -> str:
    """Return the path of a text's file below the list's folder; equal texts have one."""
    if text not in names:
        stem = re.sub(r"('s)?[^a-z0-9.+]+", "-", name.casefold()).strip("-")
        taken = set(names.values())
        numbered = (f"{stem}{n or ''}.txt" for n in range(len(taken) + 1))
        names[text] = next(file for file in numbered if f"{OWN}/{file}" not in taken)
        names[text] = f"{OWN}/{names[text]}"
        (folder / names[text]).write_text(text, "utf-8")
    return names[text]


def _component(part: ShippedPart, texts: Sequence[str], holder: str = "") -> Component:
    references = [
        ExternalReference(type=ExternalReferenceType.LICENSE, url=XsUri(text)) for text in texts
    ]
    if part.source:
        kind = ExternalReferenceType.SOURCE_DISTRIBUTION
        references.append(ExternalReference(type=kind, url=XsUri(part.source)))
    me = f"{holder}{part.name}@{part.version}"
    return Component(
        name=part.name,
        bom_ref=me,
        version=part.version or None,
        licenses=[LicenseExpression(part.licence)] if part.licence else [],
        purl=PackageURL.from_string(part.purl) if part.purl else None,
        external_references=references,
        components=[_component(each, (), f"{me}/") for each in part.inside],
    )
