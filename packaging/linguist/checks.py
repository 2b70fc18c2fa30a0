"""Checks of a translation, which report each fault as one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QTranslator

from linguist.catalogue import Catalogue
from linguist.sources import Found, Source

_PLACES = re.compile(r"{[^{}]*?(?=:lower}|})|%n|%\d")
"""Placeholder without `:lower`, since another language may begin that part with a capital."""
_KEY = re.compile(r"&(?=[^\s&])")
_TAGS = re.compile(r"</?[a-z]+[^>]*>")


def faults_of_entries(entries: Catalogue) -> Iterator[str]:
    """Yield the placeholders and marks of sources that finished translations do not keep."""
    for source, entry in entries.items():
        if entry.is_finished:
            yield from (f"{_name(source)}: {fault}" for fault in _faults(source.text, entry.text))


def gaps(entries: Catalogue, found: Found) -> Iterator[str]:
    """Yield texts that the translation lacks, and those that the source no longer has."""
    for source in sorted(found.strings):
        if source not in entries:
            yield f"{_name(source)}: it is not in the file"
        elif not entries[source].is_finished:
            yield f"{_name(source)}: it is not translated"
    for source in sorted(entries.keys() - found.strings.keys()):
        yield f"{_name(source)}: the sources no longer say it"


def faults_of_release(entries: Catalogue, file: Path) -> Iterator[str]:
    """Yield the entries that differ in the compiled file."""
    translator = QTranslator()
    if not translator.load(str(file)):
        # Qt refuses to load a file without entries.
        if any(entry.is_finished for entry in entries.values()):
            yield f"{file.name} cannot be loaded"
        return
    for source, entry in entries.items():
        said = translator.translate(source.context, source.text)
        if (said or "") != (entry.text if entry.is_finished else ""):
            yield f"{_name(source)}: {file.name} says “{said}”"


def _faults(source: str, text: str) -> Iterator[str]:
    if not text.strip():
        yield "the translation is empty"
        return
    if Counter(_PLACES.findall(source)) != Counter(_PLACES.findall(text)):
        yield f"its placeholders are others: “{text}”"
    if bool(_KEY.search(source)) != bool(_KEY.search(text)):
        yield f"the & of its key is missing, or one too many: “{text}”"
    if Counter(_TAGS.findall(source)) != Counter(_TAGS.findall(text)):
        yield f"its tags are others: “{text}”"
    for side in (0, -1):
        if source[side].isspace() != text[side].isspace():
            yield f"it begins or ends otherwise: “{text}”"
    if source.endswith("…") != text.endswith("…"):
        yield f"the … at its end: “{text}”"


def _name(source: Source) -> str:
    return f"{source.context} “{source.text:.60}”"
