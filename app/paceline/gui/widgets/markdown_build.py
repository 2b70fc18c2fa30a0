"""Builds the parsed Markdown at the end of a text document, block by block.

A code block is a row of ordinary paragraphs: the card around it is painted by the view from the
`Mark` that is left here. So no input can make the layout expensive by nesting frames, and the end
of the document can be cut off and built again at any time. Only tables are Qt tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QTextBlockFormat, QTextCursor

from paceline.gui.widgets.code import PLAIN, CodeRun, highlight
from paceline.gui.widgets.markdown import is_fence_open
from paceline.gui.widgets.markdown_format import (
    BLOCK_GAP,
    CODE_HEADER,
    CODE_PADDING,
    HEADING_GAP,
    INDENT_PX,
    ITEM_GAP,
    MAX_DEPTH,
    QUOTE_PX,
    Formats,
    TextStyle,
    alignment,
    block_format,
    code_format,
    thin_format,
)
from paceline.gui.widgets.markdown_inline import InlineWriter, Mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from paceline.gui.widgets.provenance import SourceMap

MAX_TABLE_COLUMNS = 24
MAX_TABLE_CELLS = 1_200
"""Larger tables are shown as they were written."""

MAX_LANGUAGE_CHARS = 24

PLAIN_CHUNK = 2_000
"""Characters of plain text per block: a block of 200,000 takes Qt seconds, 200,000 blocks too."""


@dataclass(slots=True)
class _List:
    number: int | None
    is_first: bool = True


@dataclass(slots=True)
class Builder:
    """Writes tokens at the end of a document.

    Attributes:
        cursor: At the document's end.
        formats: How things look.
        source_map: Learns which visible text stands where in the source.
        marks: What the view paints; grows.
        is_fresh: Whether the document's last block is empty and to be used next.
        previous: What kind of block was written last; decides the distance to the next.
        is_final: Whether nothing follows, so that an open fence ends with the text.
    """

    cursor: QTextCursor
    formats: Formats
    source_map: SourceMap
    marks: list[Mark]
    is_fresh: bool = True
    previous: str = ""
    is_final: bool = False
    _inline: InlineWriter = field(init=False)
    _line_starts: list[int] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
    _quotes: list[int] = field(default_factory=list)
    _is_item_pending: bool = False

    def __post_init__(self) -> None:
        self._inline = InlineWriter(self.formats, self.source_map, self.marks)

    def set_source(self, source: str, base: int) -> None:
        """What the tokens were made from, and the offset of its first character in the reply."""
        self._inline.source = source
        self._inline.base = base
        self._line_starts = [0]
        for line in source.split("\n"):
            self._line_starts.append(self._line_starts[-1] + len(line) + 1)

    def build(self, tokens: Sequence[Token]) -> None:
        """Write blocks."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.map and token.nesting >= 0:
                self.source_map.seek(self._inline.base + self._line_starts[token.map[0]])
            match token.type:
                case "paragraph_open" | "heading_open":
                    self._text_block(token, tokens[index + 1])
                    index += 2
                case "fence" | "code_block":
                    self._code_block(token)
                case "hr":
                    self._rule()
                case "table_open":
                    index = self._table(tokens, index)
                case _:
                    self._container(token)
            index += 1

    def _container(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(_List(None))
            case "ordered_list_open":
                start = token.attrGet("start")
                self._lists.append(_List(1 if start is None else int(start)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self.previous = "list" if not self._lists else self.previous
            case "list_item_open":
                self._is_item_pending = True
            case "list_item_close":
                if self._is_item_pending:
                    self._new_item()
            case "blockquote_open":
                self._quotes.append(-1)
            case "blockquote_close":
                self._close_quote()

    # ----------------------------------------------------------------------------- blocks

    def _left(self) -> float:
        """Where text begins here, in pixels."""
        quotes, lists = min(len(self._quotes), MAX_DEPTH), min(len(self._lists), MAX_DEPTH)
        return quotes * QUOTE_PX + lists * INDENT_PX

    def _gap(self) -> float:
        """The distance to what stands above."""
        if not self.previous:
            return 0
        if self._lists and self.previous == "item":
            return ITEM_GAP
        return BLOCK_GAP + (CODE_PADDING if self.previous == "code" else 0)

    def _new_block(self, fmt: QTextBlockFormat | None = None) -> None:
        fmt = fmt or block_format(self._gap(), self._left())
        if self.is_fresh:
            self.cursor.setBlockFormat(fmt)
            self.is_fresh = False
        else:
            self.cursor.insertBlock(fmt, self.formats.text(TextStyle()))
        for depth, start in enumerate(self._quotes):
            if start < 0:
                self._quotes[depth] = self.cursor.position()

    def _new_item(self, label: str = "") -> None:
        """Begin the block of the item that waits for one."""
        at = self._lists[-1]
        self._new_block()
        if not label and at.number is not None:
            label = f"{at.number}."
        position = self.cursor.position()
        self.marks.append(Mark("item", position, position + 1, self._left(), label))
        at.number = None if at.number is None else at.number + 1
        self._is_item_pending = False
        self.previous = "item"

    def _text_block(self, opening: Token, inline: Token) -> None:
        heading = int(opening.tag[1]) if opening.type == "heading_open" else 0
        children: Sequence[Token] = inline.children or []
        if self._is_item_pending:
            label, children = _take_task_marker(children)
            self._new_item(label)
        else:
            top = self._gap() + (HEADING_GAP if heading and self.previous else 0)
            self._new_block(block_format(top, self._left()))
            self.previous = "item" if self._lists else "text"
        style = TextStyle(muted=bool(self._quotes), heading=heading)
        self._inline.write(self.cursor, children, style)

    def _code_block(self, token: Token) -> None:
        if self._is_item_pending:
            self._new_item()
        may_grow = token.type == "fence" and not self.is_final
        is_open = may_grow and is_fence_open(token, self._source_lines(token))
        code = token.content.removesuffix("\n")
        language = token.info.split()[0][:MAX_LANGUAGE_CHARS] if token.info.split() else ""
        left = self._left()
        top = self._gap() + CODE_HEADER + (2 if self.previous else 0)
        if is_open or not language:
            lines = [[CodeRun(line, PLAIN)] if line else [] for line in code.split("\n")]
        else:
            lines = highlight(code, language, self.formats.theme)
        if token.type == "fence" and token.map:
            self.source_map.seek(self._inline.base + self._line_starts[token.map[0] + 1])
        start = -1
        for number, line in enumerate(lines):
            is_last = number == len(lines) - 1
            self._new_block(code_format(0 if number else top, left, is_last=is_last))
            if number:
                self._inline.place("\n", self.cursor.position() - 1)
            else:
                start = self.cursor.position()
            self._code_line(line)
        self.marks.append(
            Mark(
                "code_block",
                start,
                self.cursor.position(),
                left,
                language,
                None if is_open else code,
            )
        )
        self.previous = "code"

    def _code_line(self, runs: Sequence[CodeRun]) -> None:
        self.cursor.setBlockCharFormat(self.formats.code(PLAIN))
        position = self.cursor.position()
        for run in runs:
            self.cursor.insertText(run.text, self.formats.code(run.style))
        text = "".join(run.text for run in runs)
        if text:
            self._inline.place(text, position)

    def _source_lines(self, token: Token) -> list[str]:
        if token.map is None:
            return []
        first, end = token.map
        text = self._inline.source[self._line_starts[first] : self._line_starts[end] - 1]
        return text.split("\n")

    def _close_quote(self) -> None:
        start = self._quotes.pop()
        if start >= 0:
            self.marks.append(Mark("quote", start, self.cursor.position(), self._left()))

    def _rule(self) -> None:
        self._new_block(thin_format(9, self._gap()))
        position = self.cursor.position()
        self.marks.append(Mark("rule", position, position + 1, self._left()))
        self.previous = "rule"

    def _table(self, tokens: Sequence[Token], index: int) -> int:
        """Write a table; returns the index of its closing token."""
        end = next(at for at in range(index, len(tokens)) if tokens[at].type == "table_close")
        rows: list[list[tuple[Token, Token]]] = []
        for at in range(index, end):
            if tokens[at].type == "tr_open":
                rows.append([])
            elif tokens[at].type in ("th_open", "td_open"):
                rows[-1].append((tokens[at], tokens[at + 1]))
        n_columns = max(map(len, rows))
        if n_columns > MAX_TABLE_COLUMNS or n_columns * len(rows) > MAX_TABLE_CELLS:
            first, last = tokens[index].map or (0, 0)
            offset = self._line_starts[first]
            raw = self._inline.source[offset : self._line_starts[last] - 1]
            self.plain(raw, self._inline.base + offset)
            return end
        if self.is_fresh:
            self._new_block(thin_format(1))
        fmt = self.formats.table(n_columns, self._left())
        table = self.cursor.insertTable(len(rows), n_columns, fmt)
        for number, row in enumerate(rows):
            for column, (opening, inline) in enumerate(row):
                cell = table.cellAt(number, column)
                if number == 0:
                    cell_format = cell.format()
                    cell_format.setBackground(QColor(self.formats.theme.hover))
                    cell.setFormat(cell_format)
                cursor = cell.firstCursorPosition()
                block = block_format(0)
                block.setAlignment(alignment(opening.attrGet("style")))
                cursor.setBlockFormat(block)
                self._inline.write(cursor, inline.children or [], TextStyle(bold=number == 0))
        self.cursor.movePosition(QTextCursor.MoveOperation.End)
        self.is_fresh = True
        self.previous = "table"
        return end

    def plain(self, text: str, offset: int, *, is_new: bool = True) -> None:
        """Write text as it is, from a source offset on; in a new block or behind what is there."""
        fmt = self.formats.text(TextStyle())
        at = 0
        while at < len(text):
            room = PLAIN_CHUNK - self.cursor.positionInBlock()
            if is_new or room <= 0:
                self._new_block(block_format(self._gap() if is_new else 0, self._left()))
                is_new, room = False, PLAIN_CHUNK
            chunk = text[at : at + room]
            position = self.cursor.position()
            self.cursor.insertText(chunk.replace("\n", "\u2028"), fmt)
            self.source_map.put(chunk, position, offset + at)
            at += len(chunk)
        self.previous = "text"


def _take_task_marker(children: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """The label that "[ ]" or "[x]" before an item's text stands for, and the text without it."""
    if children and children[0].type == "text":
        first = children[0]
        label = {"[ ] ": "box", "[x] ": "tick"}.get(first.content[:4].lower(), "")
        if label:
            return label, [first.copy(content=first.content[4:]), *children[1:]]
    return "", children
