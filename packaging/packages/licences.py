"""Licences: those of libraries, by their files' names, and which ones may come along.

The facts stand in `packaging/licences`: `libraries.toml`, and the texts that wheels and systems
leave out, named by SPDX's identifiers. Needs the extra "package".
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from license_expression import (
    ExpressionError,
    ExpressionParseError,
    LicenseWithExceptionSymbol,
    get_spdx_licensing,
)

FOLDER = Path(__file__).resolve().parents[1] / "licences"

# Copyleft: a program with such a part may only be distributed under the same terms.
_STRONG = ("GPL-", "AGPL-", "SSPL-", "OSL-", "EUPL-")
# These exceptions allow such a part in programs under other licences.
_EXCEPTIONS = ("GCC-exception-3.1", "GCC-exception-2.0", "Bootloader-exception", "LLVM-exception")
# These licences do not require their text to be shipped.
_WITHOUT_TEXT = (
    "0BSD",
    "blessing",
    "LicenseRef-public-domain",
    "LicenseRef-Microsoft-redistributable",
)
_LIBRARY = r"(?P<lib>lib)?(?:{})(?![a-z])"
_EXTENSION = re.compile(r"\.(cpython-|abi3\.|cp3)|\.pyd$")


class KnownLicence(NamedTuple):
    """The name and the licence of a shared library or a Python distribution.

    Attributes:
        name: Its name for people.
        licence: An SPDX expression.
        text: File in `FOLDER` with its licence, or empty if the system or the wheel contains it.
    """

    name: str
    licence: str
    text: str


@dataclass(frozen=True)
class LicenceTable:
    """The licences that are listed in `libraries.toml`.

    Attributes:
        table: The file's content.
    """

    table: dict[str, Any]

    def library(self, file_name: str) -> KnownLicence | None:
        """Return the listed library that a file name belongs to, or None if none is listed."""
        if _EXTENSION.search(file_name):
            return None
        for name, pattern, entry in self._patterns:
            found = pattern.match(file_name)
            # Only on Windows do they go without "lib".
            if found and (found["lib"] or file_name.lower().endswith(".dll")):
                return KnownLicence(name, entry["licence"], entry.get("text", ""))
        return None

    def distribution(self, name: str, stated: str) -> KnownLicence:
        """Return name and licence of a Python distribution.

        Args:
            name: Its name.
            stated: The licence that its metadata state.
        """
        entry = self.table["distributions"].get(re.sub(r"[-_.]+", "-", name).lower(), {})
        licence = entry.get("licence") or self.table["names"].get(stated, stated)
        return KnownLicence(name, licence, entry.get("text", ""))

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str], dict[str, str]]]:
        return [
            (name, re.compile(_LIBRARY.format(entry["files"]), re.IGNORECASE), entry)
            for name, entry in self.table["libraries"].items()
        ]


@cache
def licence_table() -> LicenceTable:
    """Return the table of licences, read once."""
    return LicenceTable(tomllib.loads((FOLDER / "libraries.toml").read_text("utf-8")))


@cache
def _spdx() -> Any:
    return get_spdx_licensing()


def fault(licence: str) -> str:
    """Return why a part under this licence cannot be shipped, or empty if it can.

    Args:
        licence: An SPDX expression; with "OR", one acceptable alternative suffices.
    """
    licensing = _spdx()
    try:
        parsed = licensing.parse(licence)
    except (ExpressionError, ExpressionParseError):
        return f"“{licence}” is no SPDX expression"
    if parsed is None:
        return "no licence is known"
    unknown = [
        key for key in licensing.unknown_license_keys(parsed) if not key.startswith("LicenseRef-")
    ]
    if unknown:
        return f"SPDX knows no licence “{unknown[0]}”"
    if not _may_come(parsed):
        return f"{licence} would be the licence of the whole package"
    return ""


def standard_texts(licence: str, *, has_own: bool) -> list[Path]:
    """Return the files in `FOLDER` with the texts of the licences in an SPDX expression.

    MIT's is left out for a part that has texts of its own, which name its authors.
    """
    keys = [key for key in _spdx().license_keys(licence) if not (has_own and key == "MIT")]
    files = [FOLDER / f"{re.sub('-(only|or-later)$', '', key)}.txt" for key in keys]
    return [file for file in files if file.is_file()]


def needs_text(licence: str) -> bool:
    """Return True if an SPDX expression contains a licence whose text must be shipped."""
    return not set(_spdx().license_keys(licence)) <= set(_WITHOUT_TEXT)


def _may_come(parsed: Any) -> bool:
    licensing = _spdx()
    if isinstance(parsed, licensing.AND):
        return all(map(_may_come, parsed.args))
    if isinstance(parsed, licensing.OR):
        return any(map(_may_come, parsed.args))
    if isinstance(parsed, LicenseWithExceptionSymbol):
        exception = parsed.exception_symbol.key
        return exception in _EXCEPTIONS or _may_come(parsed.license_symbol)
    return not parsed.key.startswith(_STRONG)
