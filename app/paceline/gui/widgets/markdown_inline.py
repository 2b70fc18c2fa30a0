"""Writes inline Markdown (emphasis, code, links) and notes where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from paceline.gui.widgets.markdown import link_target, split_bare_urls
from paceline.gui.widgets.markdown_format import Formats, TextStyle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token
    from PySide6.QtGui import QTextCursor

    from paceline.gui.widgets.provenance import SourceMap

MarkKind = Literal["code_block", "inline_code", "item", "quote", "rule"]


class Mark(NamedTuple):
    """A range of document positions around which the view paints something.

    Attributes:
        kind: What it is.
        start: First position.
        end: Position behind the last one.
        left: Where it begins, in pixels from the document's edge.
        label: Of a code block, its language as the author named it; of a list item, its number,
            "box" or "tick", or nothing for a bullet.
        code: Of a closed code block, its text; None while it is open.
    """

    kind: MarkKind
    start: int
    end: int
    left: float = 0
    label: str = ""
    code: str | None = None


class InlineWriter:
    """Writes inline tokens at any cursor of one document.

    Attributes:
        source: The text that the tokens were made from.
        base: The offset of its first character in the reply.
    """

    def __init__(self, formats: Formats, source_map: SourceMap, marks: list[Mark]) -> None:
        self.source = ""
        self.base = 0
        self._formats = formats
        self._source_map = source_map
        self._marks = marks

    def place(self, text: str, position: int) -> None:
        """Note that this text of the source stands at a document position."""
        self._source_map.place(text, position, self.source, self.base)

    def write(self, cursor: QTextCursor, children: Sequence[Token], base: TextStyle) -> None:
        """Write inline tokens at a cursor."""
        style = base
        for token in children:
            match token.type:
                case "text":
                    self._text(cursor, token.content, style)
                case "softbreak" | "hardbreak":
                    position = cursor.position()
                    cursor.insertText("\u2028", self._formats.text(base))
                    self.place("\n", position)
                case "code_inline":
                    position = cursor.position()
                    self._run(cursor, token.content, style._replace(code=True))
                    self._marks.append(Mark("inline_code", position, cursor.position()))
                case "strong_open" | "strong_close":
                    style = style._replace(bold=base.bold or token.nesting > 0)
                case "em_open" | "em_close":
                    style = style._replace(italic=token.nesting > 0)
                case "s_open" | "s_close":
                    style = style._replace(strike=token.nesting > 0)
                case "link_open":
                    style = style._replace(link=link_target(str(token.attrGet("href") or "")))
                case "link_close":
                    style = style._replace(link="")
                case "image":
                    # Nothing is loaded: the description stands for the picture.
                    link = style.link or link_target(str(token.attrGet("src") or ""))
                    text = token.content or "image"
                    self._run(cursor, text, style._replace(link=link, italic=True))
                case _:
                    self._text(cursor, token.content, style)

    def _text(self, cursor: QTextCursor, text: str, style: TextStyle) -> None:
        if style.link:
            self._run(cursor, text, style)
            return
        for part, link in split_bare_urls(text):
            self._run(cursor, part, style._replace(link=link) if link else style)

    def _run(self, cursor: QTextCursor, text: str, style: TextStyle) -> None:
        if not text:
            return
        position = cursor.position()
        cursor.insertText(text, self._formats.text(style))
        self.place(text, position)
