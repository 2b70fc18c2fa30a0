"""Texts that a Debian package must have: changelog, maintainer and licences.

All are generated from Paceline's own files. Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

DEP_5 = "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"


def maintainer() -> str:
    """Return the maintainer, from DEBFULLNAME and DEBEMAIL like dpkg's tools."""
    name = os.environ.get("DEBFULLNAME", "The Paceline authors")
    return f"{name} <{os.environ.get('DEBEMAIL', 'paceline@example.org')}>"


def changelog(text: str, version: str, moment: int) -> str:
    """Return the changes of every version in Debian's form, the newest first.

    Args:
        text: `CHANGELOG.md`. What is unreleased there is part of `version`.
        version: Paceline's.
        moment: Time of the build, in seconds since 1970.
    """
    now = datetime.fromtimestamp(moment, UTC)
    parts = re.split(r"^## \[(.+?)\](?: - (\S+))?$", text, flags=re.MULTILINE)[1:]
    entries = []
    for name, day, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        changes = re.findall(r"^- (.+)$", body, re.MULTILINE)
        if changes:
            at = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else now
            entries.append(_entry(name if day else version, changes, at))
    return "\n".join(entries or [_entry(version, ["No changes are listed."], now)])


def _entry(version: str, changes: list[str], at: datetime) -> str:
    wrap = textwrap.TextWrapper(78, "  * ", "    ", break_long_words=False, break_on_hyphens=False)
    lines = "\n".join(map(wrap.fill, changes))
    head = f"paceline ({debian_version(version)}) stable; urgency=medium"
    return f"{head}\n\n{lines}\n\n -- {maintainer()}  {format_datetime(at)}\n"


def debian_version(version: str) -> str:
    """Return a version in Debian's form: a tilde marks a pre-release, so that it sorts first."""
    return re.sub(r"[-.]?(a|b|rc|dev)(?=[.\d])", r"~\1", version)


def copyright_file(licence: str, parts: str, place: str) -> str:
    """Return the licences in Debian's machine-readable form.

    Args:
        licence: Paceline's own: a title, an empty line, who has the copyright, and the terms.
        parts: The list of all that comes along, in CycloneDX's form (JSON); may be empty.
        place: The folder of the installed package where the texts of their licences lie.
    """
    _, holder, *terms = licence.strip().split("\n\n")
    listed = [_part(part) for part in json.loads(parts)["components"]] if parts else []
    told = f" The texts of their licences lie in {place}, and Help > About Paceline shows them."
    comment = ["Comment:", " These parts come along, each with a licence of its own.", told]
    return "\n".join(
        [
            f"Format: {DEP_5}",
            "Upstream-Name: Paceline",
            *((*comment, " .", *sorted(listed, key=str.lower)) if listed else ()),
            "",
            "Files: *",
            f"Copyright: {holder.removeprefix('Copyright (c) ')}",
            "License: MIT",
            *_indented("\n\n".join(terms)),
            "",
        ]
    )


def _part(part: dict[str, Any]) -> str:
    given = [entry.get("expression") or entry["license"] for entry in part.get("licenses", ())]
    names = [each if isinstance(each, str) else each.get("id") or each["name"] for each in given]
    return f" {part['name']} {part.get('version', '')}".rstrip() + f": {' and '.join(names)}"


def _indented(text: str) -> list[str]:
    """Return a text as the lines of a field: empty ones are written as a dot."""
    return [f" {line}" if line.strip() else " ." for line in text.splitlines()]
