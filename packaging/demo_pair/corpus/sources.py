"""The documentation's source files, and the titles that references in them mean.

Debian's package `python3.11-doc` has them: ``apt-get install python3.11-doc`` puts them into
``/usr/share/doc/python3.11/html/_sources``; without administrator's rights
``apt-get download python3.11-doc`` and ``dpkg -x python3.11-doc_*.deb FOLDER`` do, below FOLDER.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demo_pair.corpus.blocks import Block, parse
from demo_pair.corpus.inline import to_markdown

INSTALLED = Path("/usr/share/doc/python3.11/html/_sources")
HOW_TO_GET_THEM = (
    "Install Debian's package python3.11-doc (apt-get install python3.11-doc), or unpack it with "
    "apt-get download python3.11-doc && dpkg -x python3.11-doc_*.deb FOLDER, and name the folder "
    "that is called _sources."
)
FOLDERS = ("library", "tutorial", "howto", "faq", "reference", "using")
SINGLE = ("glossary", "whatsnew/3.8", "whatsnew/3.9", "whatsnew/3.10", "whatsnew/3.11")
"""What the pair learns: the language and its library; not the C API, and no old news."""
SKIPPED = {"howto/clinic", "howto/pyporting", "howto/cporting", "howto/isolating-extensions"}
SKIPPED |= {"howto/instrumentation", "howto/gdb_helpers", "using/configure", "using/mac"}
_ENDINGS = (".rst.txt", ".rst")


@dataclass(frozen=True)
class Source:
    """One file.

    Attributes:
        name: Its path below the folder, without endings, e.g. ``library/json``.
        blocks: What is in it.
    """

    name: str
    blocks: list[Block]


@dataclass(frozen=True)
class Documentation:
    """All files, in the order of their names, and the section titles by label."""

    sources: list[Source]
    titles: dict[str, str]


class NoSourcesError(Exception):
    """A folder has no documentation; the message says how to get it."""


def read_documentation(folder: Path) -> Documentation:
    """Parse the documentation below a folder.

    Raises:
        NoSourcesError: It has none.
    """
    sources = [Source(name, parse(_lines(path))) for name, path in _files(folder)]
    if not sources:
        raise NoSourcesError(f"{folder} has no sources of the documentation. {HOW_TO_GET_THEM}")
    titles: dict[str, str] = {}
    for source in sources:
        titles.update(_titles(source.blocks))
    return Documentation(sources, {k: to_markdown(v, {}) for k, v in titles.items()})


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    seen = set()
    for path in sorted(folder.rglob("*.rst*")):
        ending = next((e for e in _ENDINGS if path.name.endswith(e)), None)
        name = path.relative_to(folder).as_posix().removesuffix(ending or "")
        wanted = name in SINGLE or name.partition("/")[0] in FOLDERS
        if ending and wanted and name not in SKIPPED and path.resolve() not in seen:
            seen.add(path.resolve())
            yield name, path


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace").expandtabs(8)
    return text.replace("\u00a0", " ").splitlines()


def _titles(blocks: list[Block]) -> Iterator[tuple[str, str]]:
    """Yield labels with the heading that follows them."""
    waiting: list[str] = []
    for block in blocks:
        if block.kind == "label":
            waiting.append(block.text)
        elif block.kind == "heading":
            yield from ((label, block.text) for label in waiting)
            waiting = []
        elif block.kind != "directive":
            waiting = []
