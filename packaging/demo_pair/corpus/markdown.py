"""Blocks of the documentation as paragraphs of Markdown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from demo_pair.corpus.blocks import Block, parse
from demo_pair.corpus.inline import to_markdown
from demo_pair.corpus.tables import rows_of

CODE_DIRECTIVES = {"code-block", "sourcecode", "code", "doctest", "testcode", "parsed-literal"}
OBJECT_DIRECTIVES = {
    "function", "method", "class", "attribute", "data", "exception", "decorator", "classmethod",
    "staticmethod", "coroutinefunction", "coroutinemethod", "abstractmethod", "awaitablefunction",
    "awaitablemethod", "decoratormethod", "property",
}  # fmt: skip
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
}
_NOTES = {
    "note": "Note: ", "warning": "Warning: ", "important": "Important: ", "caution": "Caution: ",
    "tip": "Tip: ", "impl-detail": "CPython implementation detail: ", "topic": "", "epigraph": "",
    "sidebar": "",
}  # fmt: skip
_MAX_TABLE_ROWS = 30
_ONLY_LINK = re.compile(r"(- )?https?://\S+$")


class Renderer:
    """Turns blocks into Markdown.

    Args:
        titles: Section titles by label.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._titles = titles

    def inline(self, text: str) -> str:
        """Return one paragraph's Markdown."""
        return to_markdown(text, self._titles)

    def paragraphs(self, blocks: Iterable[Block]) -> list[str]:
        """Return the paragraphs of blocks; documented objects within are left out."""
        out: list[str] = []
        for block in blocks:
            out += self._block(block)
        return [text for text in out if text.strip() and not _ONLY_LINK.match(text)]

    def _block(self, block: Block) -> list[str]:
        match block.kind:
            case "paragraph":
                return [self.inline(block.text)]
            case "code":
                return [fenced(block.lines)]
            case "quote":
                return self.paragraphs(block.body)
            case "table":
                return self._table(block)
            case "directive":
                return self._directive(block)
            case "item" | "term":
                inner = self.paragraphs(block.body)
                make = self._item if block.kind == "item" else self._term
                return make(block, inner) if inner else []
            case _:
                return []

    def _term(self, block: Block, inner: list[str]) -> list[str]:
        head = self.inline(block.text)
        head = head if re.search(r"[`*]", head) else f"**{head.rstrip(':')}**"
        if inner[0].startswith(("```", "- ", "1. ", "|")):
            return [f"{head}:", *inner]
        return [f"{head}: {inner[0]}", *inner[1:]]

    def _item(self, block: Block, inner: list[str]) -> list[str]:
        marker = block.text if re.match(r"\d+\.", block.text) else "-"
        rest = [re.sub(r"^(?=.)", "  ", text, flags=re.MULTILINE) for text in inner[1:]]
        return ["\n\n".join([f"{marker} {inner[0]}", *rest])]

    def _table(self, block: Block) -> list[str]:
        rows = rows_of(block.lines)
        if len(rows) < 2 or len(rows) > _MAX_TABLE_ROWS:
            return []
        lines = [
            "| " + " | ".join(self.inline(c).replace("|", "\\|") for c in r) + " |" for r in rows
        ]
        lines.insert(1, "|" + "---|" * len(rows[0]))
        return ["\n".join(lines)]

    def _directive(self, block: Block) -> list[str]:
        name = block.text
        if name in CODE_DIRECTIVES:
            language = block.lines[0].split()[0] if block.lines and name != "doctest" else ""
            return [fenced(block.raw, language)] if block.raw else []
        if name in _VERSIONS:
            return [self.version_note(block)]
        if name in _NOTES:
            inner = self.paragraphs(self.content(block))
            return [_NOTES[name] + inner[0], *inner[1:]] if inner else []
        if name == "availability" and block.lines:
            return [f"Availability: {self.inline(' '.join(block.lines))}"]
        if name == "describe" and block.lines:
            inner = self.paragraphs(self.content(block, with_arguments=False))
            return [f"`{block.lines[0]}`: {inner[0]}", *inner[1:]] if inner else []
        return []

    def content(self, block: Block, *, with_arguments: bool = True) -> list[Block]:
        """Return what is within a directive, its first line included."""
        lines = list(block.lines) if with_arguments else []
        return parse([*lines, "", *block.raw] if lines else block.raw)

    def version_note(self, block: Block) -> str:
        """Return e.g. "Changed in version 3.9: Added the *key* parameter."."""
        first = block.lines[0] if block.lines else ""
        version, _, told = first.partition(" ")
        if block.text == "deprecated-removed":
            removed, _, told = told.partition(" ")
            version = f"{version}, to be removed in version {removed}"
        inner = self.paragraphs(parse([told, *block.lines[1:], "", *block.raw]))
        text = " ".join(text for text in inner if not text.startswith(("```", "- ", "|")))
        version = version.rstrip(",:").replace("|version|", "3.11")
        return f"{_VERSIONS[block.text]} {version}" + (f": {text}" if text else ".")


def fenced(lines: Iterable[str], language: str = "") -> str:
    """Return code between fences; the language is told where it is Python or known."""
    code = "\n".join(line.rstrip() for line in lines).strip("\n")
    code = re.sub(r"\s*# doctest:.*$", "", code, flags=re.MULTILINE)
    if language in ("", "default", "pycon", "python3", "ipython"):
        language = "python" if is_python(code) else ""
    if language in ("none", "text", "pycon3"):
        language = ""
    return f"```{language}\n{code}\n```"


def is_python(code: str) -> bool:
    """Return whether a text is Python or a session of the interpreter."""
    if ">>> " in code:
        return True
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    # Prose of one word would be Python, too.
    return any(not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Name)) for n in tree.body)
