"""Builds the parsed Markdown at the end of a text document, block by block.

A code block is a row of ordinary paragraphs: the card around it is painted by the view from the
`Mark` that is left here. So no input can make the layout expensive by nesting frames, and the end
of the document can be cut off and built again at any time. Only tables are Qt tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from markdown_it.token import Token
from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextDocument, QTextLength

from paceline.chat.markdown import places_of, take_task_marker
from paceline.gui.chat.markdown.code import PLAIN, CodeRun, highlight, highlight_now
from paceline.gui.chat.markdown.cuts import is_fence_open
from paceline.gui.chat.markdown.format import (
    BLOCK_GAP,
    CODE_HEADER,
    CODE_PADDING,
    HEADING_GAP,
    ITEM_GAP,
    MAX_DEPTH,
    QUOTE_PX,
    Formats,
    TextStyle,
    alignment,
    block_format,
    code_format,
    mirror,
    thin_format,
)
from paceline.gui.chat.markdown.formulas import shared_formulas
from paceline.gui.chat.markdown.inline import InlineWriter, Mark
from paceline.gui.chat.markdown.provenance import SourceMap
from paceline.gui.kit.labels import units
from paceline.gui.look.scale import px

INTERVAL_S = 0.5
"""Interval between two colourings of a block that is still growing."""
BUDGET_S = 0.008
"""Time limit of a colouring, of a frame's 33 ms. A block that once took longer keeps its colours
until it closes."""
MAX_LINES = 60
"""Maximum number of lines that are coloured at once."""


class LiveCode:
    """Colours an open block of code at a document's end from time to time, while that is cheap.

    The block is coloured as a whole, since the meaning of a line can depend on any line above it;
    only lines that look different than before are touched. When the block closes, it is built anew
    with all its colours.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start with another block."""
        self._start = -1
        self._due_s = 0.0
        self._is_slow = False
        self._lines: list[list[CodeRun]] = []

    def lines_of(self, code: str) -> list[list[CodeRun]]:
        """Return the lines of a rebuilt open block in their previous colours."""
        lines = [[CodeRun(line, PLAIN)] if line else [] for line in code.split("\n")]
        for number, known in enumerate(self._lines[: len(lines)]):
            text = lines[number][0].text if lines[number] else ""
            if text == "".join(run.text for run in known):
                lines[number] = known
            else:
                self._lines[number] = lines[number]
        return lines

    def update(self, document: QTextDocument, mark: Mark, formats: Formats) -> None:
        """Colour the block at the document's end, if the interval is over."""
        now = perf_counter()
        if mark.start != self._start:
            self.forget()
            self._start, self._due_s = mark.start, now + INTERVAL_S
            # Loading a language's grammar takes longer than colouring, so it is done before the
            # measurement.
            highlight_now("", mark.label, formats.theme.name, BUDGET_S)
        if self._is_slow or now < self._due_s or not mark.label:
            return
        cursor = QTextCursor(document)
        cursor.setPosition(mark.start)
        cursor.setPosition(mark.end, QTextCursor.MoveMode.KeepAnchor)
        code = cursor.selectedText().replace("\u2029", "\n")
        lines = highlight_now(code, mark.label, formats.theme.name, BUDGET_S)
        block = document.findBlock(mark.start)
        n_changed = 0
        cursor.beginEditBlock()
        for number, line in enumerate(lines):
            if number >= len(self._lines) or line != self._lines[number]:
                n_changed += 1
                if n_changed > MAX_LINES:
                    del lines[number:]  # the others wait for the next time
                    break
                at = block.position()
                for run in line:
                    cursor.setPosition(at)
                    at += units(run.text)
                    cursor.setPosition(at, QTextCursor.MoveMode.KeepAnchor)
                    cursor.setCharFormat(formats.code(run.style))
            block = block.next()
        cursor.endEditBlock()
        self._lines = lines
        spent = perf_counter() - now
        self._is_slow = spent > BUDGET_S
        self._due_s = now + INTERVAL_S


MAX_TABLE_COLUMNS = 24
MAX_TABLE_CELLS = 1_200
"""Maximum number of cells; larger tables are shown as source."""

NARROW_PX = 264
"""Maximum total width of columns that do not break, at scale 1: half of a narrow conversation."""

MAX_LANGUAGE_CHARS = 24

PLAIN_CHUNK = 2_000
"""Characters of plain text per block: one block of 200,000 takes Qt seconds, and so do 200,000
blocks."""


@dataclass(slots=True)
class _List:
    number: int | None
    delimiter: str
    indent: float


@dataclass(slots=True)
class Builder:
    """Writes tokens at the end of a document.

    Attributes:
        cursor: At the document's end.
        formats: Formats in the present look.
        source_map: Receives the position in the source of each visible text.
        marks: Ranges for the view to paint; grows.
        is_fresh: Whether the document's last block is empty and to be used next.
        previous: Kind of the last block, which decides the distance to the next.
        is_final: Whether nothing follows, so that an open fence ends with the text.
        live_code: Colours of an open fence at the end.
    """

    cursor: QTextCursor
    formats: Formats
    source_map: SourceMap
    marks: list[Mark]
    is_fresh: bool = True
    previous: str = ""
    is_final: bool = False
    live_code: LiveCode | None = None
    _inline: InlineWriter = field(init=False)
    _source: str = ""
    _line_starts: list[int] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
    _quotes: list[int] = field(default_factory=list)
    _is_item_pending: bool = False

    def __post_init__(self) -> None:
        self._inline = InlineWriter(self.formats, self.source_map, self.marks)

    @property
    def awaited(self) -> set[str]:
        """Formulas that are not laid out yet and were written as source."""
        return self._inline.awaited

    def set_source(self, source: str, base: int) -> None:
        """Set the source of the tokens and the offset of its first character in the reply."""
        self._source = source
        self._inline.base = base
        self._line_starts = [0]
        for line in source.split("\n"):
            self._line_starts.append(self._line_starts[-1] + len(line) + 1)

    def build(self, tokens: Sequence[Token]) -> None:
        """Write blocks."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
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
                self._lists.append(_List(None, "", self.formats.indent))
            case "ordered_list_open":
                given = token.attrGet("start")
                start = 1 if given is None else int(given)
                two_digits = self.formats.number_indent
                indent = two_digits * (1 + max(0, len(str(start)) - 2) / 3)
                self._lists.append(_List(start, token.markup, indent))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                if not self._lists and self.previous != "code":
                    self.previous = "list"
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
        """Left edge of text here, in pixels."""
        quotes = min(len(self._quotes), MAX_DEPTH)
        return quotes * QUOTE_PX + sum(at.indent for at in self._lists[:MAX_DEPTH])

    def _gap(self) -> float:
        """Distance to the block above, in pixels."""
        if not self.previous:
            return 0
        if self._lists and self.previous == "item":
            return ITEM_GAP
        return BLOCK_GAP + (CODE_PADDING if self.previous == "code" else 0)

    def _new_block(self, fmt: QTextBlockFormat | None = None) -> None:
        fmt = fmt or block_format(self._gap(), self._left())
        if self.is_fresh and self.previous == "table" and fmt.topMargin() > BLOCK_GAP:
            # Qt omits the margin above a block that follows a table.
            self.cursor.setBlockFormat(thin_format(1))
            fmt.setTopMargin(fmt.topMargin() - BLOCK_GAP - 3)
            self.is_fresh = False
        if self.is_fresh:
            self.cursor.setBlockFormat(fmt)
            self.is_fresh = False
        else:
            self.cursor.insertBlock(fmt, self.formats.text(TextStyle()))
        for depth, start in enumerate(self._quotes):
            if start < 0:
                self._quotes[depth] = self.cursor.position()

    def _new_item(self, label: str = "") -> None:
        """Begin the block of the waiting list item."""
        at = self._lists[-1]
        self._new_block()
        if not label and at.number is not None:
            label = f"{at.number}{at.delimiter}"
        position = self.cursor.position()
        self.marks.append(Mark("item", position, position + 1, self._left(), label))
        at.number = None if at.number is None else at.number + 1
        self._is_item_pending = False
        self.previous = "item"

    def _text_block(self, opening: Token, inline: Token) -> None:
        heading = int(opening.tag[1]) if opening.type == "heading_open" else 0
        children: Sequence[Token] = inline.children or []
        if self._is_item_pending:
            label, children = take_task_marker(children)
            self._new_item(label)
        else:
            top = self._gap() + (HEADING_GAP if heading and self.previous else 0)
            self._new_block(block_format(top, self._left()))
            self.previous = "item" if self._lists else "text"
        style = TextStyle(muted=bool(self._quotes), heading=heading)
        block = self.cursor.block()
        self._inline.write(self.cursor, children, places_of(inline), style)
        while block.isValid():
            mirror(block)
            block = block.next()

    def _code_block(self, token: Token) -> None:
        if self._is_item_pending:
            self._new_item()
        may_grow = token.type == "fence" and not self.is_final
        is_open = may_grow and is_fence_open(token, self._source_lines(token))
        code = token.content.removesuffix("\n")
        language = token.info.split()[0][:MAX_LANGUAGE_CHARS] if token.info.split() else ""
        left = self._left()
        if not self.previous:
            # Qt omits the margin above a document's first block, where the card has its header.
            self._new_block(thin_format(1))
        top = self._gap() + CODE_HEADER + (2 if self.previous else 0)
        if is_open and self.live_code is not None:
            lines = self.live_code.lines_of(code)
        elif is_open or not language:
            lines = [[CodeRun(line, PLAIN)] if line else [] for line in code.split("\n")]
        else:
            lines = highlight(code, language, self.formats.theme.name)
        pieces = places_of(token)
        start = -1
        at = 0
        for number, line in enumerate(lines):
            is_last = number == len(lines) - 1
            text = "".join(run.text for run in line)
            fmt = code_format(0 if number else top, left, is_last=is_last)
            self._new_block(self.formats.hang(fmt, text))
            if number:
                self._inline.place("\n", self.cursor.position() - 1, pieces, at)
                at += 1
            else:
                start = self.cursor.position()
            self._inline.place(text, self.cursor.position(), pieces, at)
            at += len(text)
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
        for run in runs:
            self.cursor.insertText(run.text, self.formats.code(run.style))

    def _source_lines(self, token: Token) -> list[str]:
        if token.map is None:
            return []
        first, end = token.map
        text = self._source[self._line_starts[first] : self._line_starts[end] - 1]
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
        """Write a table; return the index of its closing token."""
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
            raw = self._source[offset : self._line_starts[last] - 1]
            self.plain(raw, self._inline.base + offset)
            return end
        if self.is_fresh:
            self._new_block(thin_format(1))
        top = self._gap() if self.previous else BLOCK_GAP
        fmt = self.formats.table(n_columns, self._left(), top)
        fmt.setColumnWidthConstraints(self._column_widths(rows, n_columns))
        table = self.cursor.insertTable(len(rows), n_columns, fmt)
        for number, row in enumerate(rows):
            for column, (opening, inline) in enumerate(row):
                cursor = table.cellAt(number, column).firstCursorPosition()
                block = block_format(0)
                block.setAlignment(alignment(opening.attrGet("style")))
                cursor.setBlockFormat(block)
                style = TextStyle(bold=number == 0, in_cell=True)
                self._inline.write(cursor, inline.children or [], places_of(inline), style)
        left, right = table.cellAt(0, 0), table.cellAt(0, n_columns - 1)
        label = "above" if len(rows) > 1 else ""
        self.marks.append(
            Mark("table_head", left.firstPosition(), right.lastPosition(), label=label)
        )
        self.cursor.movePosition(QTextCursor.MoveOperation.End)
        self.is_fresh = True
        self.previous = "table"
        return end

    def _column_widths(
        self, rows: Sequence[Sequence[tuple[Token, Token]]], n_columns: int
    ) -> list[QTextLength]:
        """Fix the width of narrow columns, so that wide columns break rather than their words."""
        natural = [0.0] * n_columns
        for row in rows:
            for column, (_, inline) in enumerate(row):
                texts = {"text": "", "code": ""}
                wide = 0.0
                for child in inline.children or []:
                    formula = shared_formulas().formula(child.content)
                    if child.type == "math" and formula is not None:
                        wide += formula.width * self.formats.em(TextStyle())
                    else:
                        texts["code" if child.type == "code_inline" else "text"] += child.content
                needed = wide + self.formats.cell_width(**texts)
                natural[column] = max(natural[column], needed)
        widths = [QTextLength()] * n_columns
        room = float(px(NARROW_PX))
        in_order = sorted(zip(natural, range(n_columns), strict=True))
        for n_left, (width, column) in zip(range(n_columns, 0, -1), in_order, strict=True):
            if width > room / n_left:
                break
            room -= width
            widths[column] = QTextLength(QTextLength.Type.FixedLength, width)
        return widths

    def plain(self, text: str, offset: int, *, is_new: bool = True) -> None:
        """Write text without markup from a source offset on, in a new block or in this one."""
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
