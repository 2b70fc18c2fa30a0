"""Functions, classes, methods and data that the documentation describes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from demo_pair.corpus.blocks import Block, parse
from demo_pair.corpus.markdown import OBJECT_DIRECTIVES, Renderer
from demo_pair.corpus.sources import Documentation, Source

BUILTIN = "builtins"
_KINDS = {
    "coroutinefunction": "coroutine", "coroutinemethod": "coroutine method",
    "awaitablefunction": "function", "awaitablemethod": "method", "data": "constant",
    "classmethod": "class method", "staticmethod": "static method",
    "abstractmethod": "abstract method", "decoratormethod": "decorator",
}  # fmt: skip
_OWNED = {"method", "class method", "static method", "abstract method", "coroutine method"}
_OWNED |= {"attribute", "property"}
_MODULE = {"module", "currentmodule", "py:module", "py:currentmodule"}
_CONSTANT_LIKE = re.compile(r"[A-Z][A-Z0-9_]+$")


@dataclass(frozen=True)
class Documented:
    """One thing that has a name.

    Attributes:
        name: Its full name, e.g. ``json.JSONEncoder.default``; built-in things have no module.
        kind: ``function``, ``class``, ``method``, …
        module: Where it is; ``builtins`` for what needs no import.
        owner: The class it belongs to, without the module; empty: none.
        signatures: How it is called, without the module; for data the name alone.
        paragraphs: The description as Markdown; code is fenced.
        source: The file's name.
        alone: Whether the name's last part alone says what is meant.
    """

    name: str
    kind: str
    module: str
    owner: str
    signatures: tuple[str, ...]
    paragraphs: tuple[str, ...]
    source: str
    alone: bool = False

    @property
    def short(self) -> str:
        """The name's last part."""
        return self.name.rpartition(".")[2]

    @property
    def is_called(self) -> bool:
        """Whether its signature has parentheses."""
        return "(" in self.signatures[0]


def documented(documentation: Documentation) -> list[Documented]:
    """Return everything that is described, each name once, the longest description first."""
    found: dict[str, Documented] = {}
    renderer = Renderer(documentation.titles)
    for source in documentation.sources:
        if source.name.startswith("library/"):
            for each in _Reader(source, renderer).read():
                known = found.get(each.name)
                if known is None or _length(known) < _length(each):
                    found[each.name] = each
    return with_alone(list(found.values()))


def with_alone(things: Sequence[Documented]) -> list[Documented]:
    """Return things with a note on those whose short name nothing else of weight has.

    A member does not count beside what is no member, and aliases of `typing` never do.
    """
    tops = Counter(each.short for each in things if not each.owner and each.module != "typing")
    members = Counter(each.short for each in things if each.owner)

    def is_alone(each: Documented) -> bool:
        if each.owner:
            return members[each.short] == 1 and not tops[each.short]
        return tops[each.short] == 1 and each.module != "typing"

    return [replace(each, alone=is_alone(each)) for each in things]


def _length(each: Documented) -> int:
    return sum(map(len, each.paragraphs))


class _Reader:
    """Finds the objects of one file."""

    def __init__(self, source: Source, renderer: Renderer) -> None:
        self._source = source
        self._renderer = renderer
        self._module = BUILTIN
        self._classes = set(_class_names(source.blocks))

    def read(self) -> Iterator[Documented]:
        yield from self._walk(self._source.blocks, "")

    def _walk(self, blocks: list[Block], owner: str) -> Iterator[Documented]:
        for block in blocks:
            if block.kind == "directive" and block.text in _MODULE and block.lines:
                self._module = block.lines[0]
            elif block.kind == "directive" and block.text in OBJECT_DIRECTIVES:
                yield from self._object(block, owner)
            elif block.body:
                yield from self._walk(block.body, owner)

    def _object(self, block: Block, owner: str) -> Iterator[Documented]:
        inner = parse(block.raw)
        by_name: dict[str, list[str]] = {}
        for signature in signatures_of(block.lines):
            by_name.setdefault(re.split(r"[(\[ :=]", signature)[0], []).append(signature)
        paragraphs = tuple(self._renderer.paragraphs(inner))
        kind = _KINDS.get(block.text, block.text)
        for base, signatures in by_name.items():
            made = self._made(base, kind, owner, signatures, paragraphs)
            if made is not None and "noindex" not in block.options:
                yield made
        if by_name:
            name = next(iter(by_name)) if block.text in ("class", "exception") else ""
            yield from self._walk(inner, self._without_module(name) or owner)

    def _made(
        self, base: str, kind: str, owner: str, signatures: list[str], paragraphs: tuple[str, ...]
    ) -> Documented | None:
        if not re.fullmatch(r"[A-Za-z_][\w.]*", base) or not paragraphs:
            return None
        local = self._without_module(base)
        first, dot, _ = local.rpartition(".")
        if not dot and owner and kind not in ("class", "exception"):
            first, local = owner, f"{owner}.{local}"
        module = self._module
        if kind == "constant" and not _CONSTANT_LIKE.match(local.rpartition(".")[2]):
            kind = "variable"
        if kind in _OWNED and not first and module == BUILTIN:
            return None  # a method of something that is not named
        name = local if module == BUILTIN else f"{module}.{local}"
        shown = tuple(re.sub(r"^[\w.]+", lambda _: local, each) for each in signatures)
        return Documented(name, kind, module, first, shown, paragraphs, self._source.name)

    def _without_module(self, name: str) -> str:
        """Return a name without the module before it; a class may be called like its module."""
        if name.partition(".")[0] in self._classes and "." in name:
            return name
        return name.removeprefix(f"{self._module}.")


def signatures_of(lines: list[str]) -> list[str]:
    """Return the signatures that a directive's arguments are; a backslash joins two lines."""
    found: list[str] = []
    goes_on = False
    for line in lines:
        text = re.sub(r"\s+", " ", line.rstrip("\\").strip())
        if goes_on:
            found[-1] += f" {text}"
        else:
            found.append(text)
        goes_on = line.endswith("\\")
    return [re.sub(r"\\([*_`\\])", r"\1", each).rstrip(" :") for each in found]


def _class_names(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind == "directive" and block.text in ("class", "exception") and block.lines:
            yield re.split(r"[(\s]", block.lines[0])[0]
