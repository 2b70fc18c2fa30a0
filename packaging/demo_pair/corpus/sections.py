"""Sections of the documentation, glossary entries among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from demo_pair.corpus.blocks import Block, parse
from demo_pair.corpus.markdown import Renderer
from demo_pair.corpus.sources import Documentation, Source

_RUBRIC = re.compile(r"^\*\*(Source code|See also).*", re.IGNORECASE)


@dataclass(frozen=True)
class Section:
    """A text under a title.

    Attributes:
        title: As Markdown.
        above: The title of the section around it; empty: it is the file's first.
        module: The module that the file is about; empty: none.
        paragraphs: Its text without subsections and without documented objects.
        source: The file's name.
    """

    title: str
    above: str
    module: str
    paragraphs: tuple[str, ...]
    source: str


def sections(documentation: Documentation) -> list[Section]:
    """Return all sections that have a text."""
    renderer = Renderer(documentation.titles)
    found: list[Section] = []
    for source in documentation.sources:
        if source.name == "glossary":
            found += _glossary(source, renderer)
        else:
            found += _of_file(source, renderer)
    return [each for each in found if each.paragraphs]


def _of_file(source: Source, renderer: Renderer) -> Iterator[Section]:
    module = next((b.lines[0] for b in source.blocks if b.text == "module" and b.lines), "")
    levels: list[str] = []
    path: list[str] = []
    waiting: list[Block] = []
    for block in [*source.blocks, Block("heading", "", [""])]:
        if block.kind != "heading":
            waiting.append(block)
            continue
        if path:
            above = path[-2] if len(path) > 1 else ""
            texts = [t for t in renderer.paragraphs(waiting) if not _RUBRIC.match(t)]
            yield Section(path[-1], above, module, tuple(texts), source.name)
        waiting = []
        mark = "".join(block.lines) or "over"
        if mark not in levels:
            levels.append(mark)
        depth = levels.index(mark)
        path = [*path[:depth], renderer.inline(block.text)]


def _glossary(source: Source, renderer: Renderer) -> Iterator[Section]:
    for block in source.blocks:
        if block.text == "glossary":
            for term in parse(block.raw):
                if term.kind == "term":
                    texts = tuple(renderer.paragraphs(term.body))
                    yield Section(renderer.inline(term.text), "Glossary", "", texts, source.name)
