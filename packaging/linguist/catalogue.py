"""A file of Qt Linguist (``.ts``): read, brought in line with the sources, written.

The format is described in Qt's manual, "Linguist TS file format". Line numbers are left out, since
they would change the file with every edit of a source; what is no longer said is dropped at once
and not kept as "vanished".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml
from xml.sax.saxutils import escape

from linguist.sources import Found, Source

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'


@dataclass(frozen=True, slots=True)
class Entry:
    """A translation, and whether its translator marked it as finished."""

    text: str = ""
    is_finished: bool = False


Catalogue = dict[Source, Entry]


def read(file: Path) -> Catalogue:
    """Return the entries of a file; empty if there is no file.

    Raises:
        ValueError: It is not a file of Qt Linguist, or has an entry twice.
    """
    if not file.exists():
        return {}
    try:
        root = Xml.fromstring(file.read_text(encoding="utf-8"))
    except Xml.ParseError as error:
        raise ValueError(f"{file.name}: {error}") from None
    entries: Catalogue = {}
    for context in root.iter("context"):
        for message in context.iter("message"):
            source = Source(context.findtext("name", ""), message.findtext("source", ""))
            if source in entries:
                raise ValueError(f"{file.name}: {source} is there twice")
            said = message.find("translation")
            if said is not None:
                entries[source] = Entry(said.text or "", said.get("type") is None)
    return entries


def brought_up(entries: Catalogue, found: Found) -> Catalogue:
    """Return an entry for each string of the sources: the existing one, or else an empty one."""
    return {source: entries.get(source, Entry()) for source in sorted(found.strings)}


def write(file: Path, entries: Catalogue, found: Found, language: str) -> None:
    """Write the file, in the order of contexts and texts."""
    lines = [f'{HEAD}<TS version="2.1" language="{language}" sourcelanguage="en">\n']
    context = None
    for source, entry in sorted(entries.items(), key=lambda pair: pair[0]):
        if source.context != context:
            lines.append("</context>\n" if context is not None else "")
            context = source.context
            lines.append(f"<context>\n    <name>{escape(context)}</name>\n")
        lines.append("    <message>\n")
        lines.extend(
            f'        <location filename="../../app/{escape(name)}"/>\n'
            for name in sorted(found.strings.get(source, ()))
        )
        state = "" if entry.is_finished else ' type="unfinished"'
        lines.append(f"        <source>{escape(source.text)}</source>\n")
        lines.append(f"        <translation{state}>{escape(entry.text)}</translation>\n")
        lines.append("    </message>\n")
    lines.append("</context>\n" if context is not None else "")
    lines.append("</TS>\n")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(lines), encoding="utf-8")
