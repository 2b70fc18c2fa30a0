"""A text document that shows growing Markdown and knows the source of each character.

Only the open end of the text is parsed and built again; blocks that can no longer change stay. Most
new text (more prose in a paragraph, more lines of code) is appended without parsing. A final text
that defines links is rendered once as a whole, since a definition affects text before it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import count
from operator import attrgetter
from typing import NamedTuple

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextDocument, QTextTable

from paceline.chat.markdown import (
    MAX_LINE_CHARS,
    MAX_MARKDOWN_CHARS,
    MAX_MARKDOWN_LINES,
    shared_parser,
    split_at_caps,
)
from paceline.chat.syntax.formulas import GROWS
from paceline.gui.chat.markdown.build import Builder, LiveCode
from paceline.gui.chat.markdown.code import PLAIN
from paceline.gui.chat.markdown.cuts import Growth, can_append, find_cut, growth_of
from paceline.gui.chat.markdown.format import INDENT_PX, Formats, TextStyle, mirror
from paceline.gui.chat.markdown.formulas import (
    OBJECT,
    FormulaObjects,
    PlacedFormula,
    formula_at,
    shared_formulas,
)
from paceline.gui.chat.markdown.inline import Mark
from paceline.gui.chat.markdown.provenance import Provenance, Segment, SourceMap, Span, TokenRecord
from paceline.gui.kit.labels import ZERO_WIDTH_SPACE
from paceline.gui.look.scale import px

_SIGNS = {"": "-", "box": "[ ]", "tick": "[x]"}
"""Signs of list items in plain text."""

MAX_SHOWN_CHARS = 250_000
"""Maximum number of characters shown; the reply's own text keeps everything."""

_DEFINITION = re.compile(r"^[ >]*\[[^\]\n]+\]:", re.MULTILINE)

# One character for each, so that offsets stay: characters that Qt reads as the end of a block or
# frame.
_CLEAN = str.maketrans(
    {
        "\r": " ",
        "\v": " ",
        "\f": " ",
        "\0": "\ufffd",
        "\u2028": " ",
        "\u2029": " ",
        "\ufdd0": "\ufffd",
        "\ufdd1": "\ufffd",
        "\ufffc": "\ufffd",
    }
)


class _Closed(NamedTuple):
    """End of the part that will not change any more.

    Its first `n_spans` spans are those of its first `n_settled` segments. Colours near its end may
    change later, with the next tokens.
    """

    offset: int = 0
    position: int = 0
    is_fresh: bool = True
    previous: str = ""
    n_segments: int = 0
    n_marks: int = 0
    n_settled: int = 0
    n_spans: int = 0


class MarkdownDocument:
    """Fills one `QTextDocument`; the caller owns the document and decides when to write.

    Attributes:
        provenance: The source of each character of the reply; needs each step before its text is
            written.
        base: Offset in the reply at which the source of this document begins.
        marks: Ranges to be painted below the text.
        spans: Positions of coloured text in the document.
        changed_from: The first document position that the last write changed.
        source: The shown Markdown.
        formulas: The laid-out formulas in document order.
    """

    def __init__(
        self,
        document: QTextDocument,
        provenance: Provenance | None = None,
        *,
        is_muted: bool = False,
    ) -> None:
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        self._document = document
        self._parser = shared_parser()
        self._is_muted = is_muted
        self._formats = Formats(is_muted=is_muted)
        self.provenance = Provenance() if provenance is None else provenance
        self.base = 0
        self.marks: list[Mark] = []
        self.spans: list[Span] = []
        self.changed_from = 0
        self._map = SourceMap()
        self.formulas = self._map.formulas
        FormulaObjects(document, self.formulas)
        self._awaited: set[str] = set()
        self._live_code = LiveCode()
        self._raw = self.source = ""
        self._is_final = False
        self._is_literal = False
        self._reset()

    def _reset(self) -> None:
        self.marks.clear()
        self.spans.clear()
        self._map.truncate(0)
        self._awaited.clear()
        self._live_code.forget()
        self._closed = _Closed()
        self._list_start: _Closed | None = None
        self._shown = 0
        self._growth: Growth = "none"
        self._fence = ""
        self._plain_from: int | None = None

    @property
    def plain_text(self) -> str:
        """Shown text without markup: list items with their signs, tabs between a row's cells."""
        items = {mark.start: mark for mark in self.marks if mark.kind == "item"}
        parts: list[str] = []
        block = self._document.begin()
        while block.isValid():
            item = items.get(block.position())
            if item is not None:
                depth = max(0, round(item.left / px(INDENT_PX)) - 1)
                parts.append("  " * depth + _SIGNS.get(item.label, item.label) + " ")
            text = self._spelt(block.text(), block.position())
            parts.append(text.replace("\u2028", "\n").replace("\u00a0", " "))
            parts.append("\t" if _is_before_a_cell(block) else "\n")
            block = block.next()
        return "".join(parts).strip("\n")

    def copied(self, start: int, end: int) -> str:
        """Return the text between two positions as it is copied: formulas as their source."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return self._spelt(cursor.selection().toPlainText(), start)

    def _spelt(self, text: str, position: int) -> str:
        """Return a text that begins at a position, with formulas replaced by their source."""
        if ZERO_WIDTH_SPACE in text:
            text = self._without_own_breaks(text, position)
        first, *others = text.split(OBJECT)
        placed = self.formulas[bisect_left(self.formulas, position, key=attrgetter("position")) :]
        return first + "".join(f.source + other for f, other in zip(placed, others, strict=False))

    def _without_own_breaks(self, text: str, position: int) -> str:
        """Return the text without break positions that its source lacks; some scripts have them."""
        first, *others = text.split(ZERO_WIDTH_SPACE)
        char_at, offset_at = self._document.characterAt, self._map.offset_at
        places = (at for at in count(position) if char_at(at) == ZERO_WIDTH_SPACE)
        is_own = (offset_at(at) is None for at in places)
        pairs = zip(others, is_own, strict=False)
        return first + "".join(part if own else ZERO_WIDTH_SPACE + part for part, own in pairs)

    def formula_at(self, position: int) -> PlacedFormula | None:
        """Return the formula whose character stands at a position."""
        return formula_at(self.formulas, position)

    def formula_spans(self, first: int, last: int) -> Iterator[tuple[PlacedFormula, Span]]:
        """Yield the characters of formulas between two positions that drafters proposed.

        A span counts from the first character of its formula's source.
        """
        for placed in self.formulas[
            bisect_left(self.formulas, first, key=attrgetter("position")) :
        ]:
            if placed.position > last:
                return
            segment = Segment(0, placed.offset, placed.n_chars, placed.n_chars)
            for span in self.provenance.spans([segment], self.base):
                yield placed, span

    def draw_formulas(self) -> bool:
        """Show the awaited formulas once all of them are known; return whether that is now.

        The closed part has none of them, so only the open end is built again.
        """
        n_known = sum(map(shared_formulas().is_known, self._awaited))
        if not n_known or n_known < len(self._awaited):
            return False
        if self._is_final or self._plain_from is not None:
            self._finish_rest()
        else:
            self._growth = "none"
            self.write(self.source)
        return True

    def renew(self) -> None:
        """Build everything again in the present colours and size."""
        self._formats = Formats(is_muted=self._is_muted)
        source, self.source = self.source, ""
        if self._is_final:
            self.finish(source)
        else:
            self._reset()
            self.write(source)

    def record_at(self, position: int, share: float = 0.0) -> TokenRecord | None:
        """Return the token of the character at a document position.

        Args:
            position: The document position.
            share: In a formula, the share of its width before the point that is meant.
        """
        offset = self._map.offset_at(position)
        formula = self.formula_at(position)
        if offset is not None and formula is not None:
            offset += min(int(share * formula.n_chars), formula.n_chars - 1)
        return None if offset is None else self.provenance.record_at(self.base + offset)

    def place_of(self, start: int, end: int) -> Span | None:
        """Return the document positions of reply characters, or None if they are not shown here."""
        start, end = start - self.base, end - self.base
        if start < 0 or end > len(self.source):
            return None
        return Span(*self._map.place_of(start, end), "lookup")

    def source_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the reply's characters between two positions, or None if there are none."""
        at = self._map.offset_at
        first = next((o for p in range(start, end) if (o := at(p)) is not None), None)
        last = next((o for p in reversed(range(start, end)) if (o := at(p)) is not None), None)
        return None if first is None or last is None else (self.base + first, self.base + last + 1)

    def restart(self, base: int) -> None:
        """Clear the document; the next text begins at this offset of the reply."""
        self.base = base
        self.source = ""
        self._is_final = False
        self._reset()

    def write(self, source: str) -> None:
        """Show a text that extends the present one; cheap, to be called while it grows."""
        source = self._cleaned(source)
        if not source.startswith(self.source):
            self.restart(self.base)
        last_line = self.source[self.source.rfind("\n") + 1 :]
        added = source[len(self.source) :]
        can_grow = (
            not self._is_final
            and not _outgrows(source)
            and len(last_line) + len(added) <= MAX_LINE_CHARS
            and can_append(self._growth, added, last_line, self._fence)
        )
        self.source = source
        self._is_final = False
        cursor = self._end()
        cursor.beginEditBlock()
        if can_grow:
            self._grow(cursor)
        elif self._plain_from is not None:
            self._add_plain(cursor)
        else:
            self._rebuild_tail(cursor)
        if self._growth == "code":
            self._live_code.update(self._document, self.marks[-1], self._formats)
        cursor.endEditBlock()
        closed = self._closed
        self.spans[closed.n_spans :] = self._spans(closed.n_settled)

    def _cleaned(self, raw: str) -> str:
        """Replace characters that Qt would misread; of a growing text only in the new part.

        Each character becomes one character, so that the part cleaned before keeps its length.
        """
        before, self._raw = self._raw, raw
        if self.source and len(before) == len(self.source) and raw.startswith(before):
            return self.source + raw[len(before) :].translate(_CLEAN)
        return raw.translate(_CLEAN)

    def _spans(self, first: int, end: int | None = None) -> list[Span]:
        return self.provenance.spans(self._map.segments[first:end], self.base)

    def _n_settled(self, before: _Closed) -> int:
        """Return the number of closed segments with final colours; a closing makes all final."""
        segments, settled = self._map.segments, self.provenance.settled - self.base
        for n in (len(segments), before.n_segments):
            if not n or segments[n - 1].offset + segments[n - 1].length <= settled:
                return n
        return before.n_settled

    def write_plain(self, text: str) -> None:
        """Show a text without any markup."""
        self.source = text.translate(_CLEAN)
        self._is_literal = True
        self.finish(self.source)

    def finish(self, source: str) -> None:
        """Show the final text; after incremental writes only its end is needed."""
        self._raw = ""
        source = source.translate(_CLEAN)
        if self._can_add_last(source):
            self.write(source)
            self._is_final = True
            return
        if not self._can_finish_tail(source):
            self._reset()
        self.source, self._is_final = source, True
        self._finish_rest()

    def _can_add_last(self, source: str) -> bool:
        """Return whether appending is enough for the end of a text that is plain there."""
        return (
            self._plain_from is not None
            and not (self._is_literal or self._is_final)
            and self._goes_on_to(source)
            and split_at_caps(source) == self._plain_from
        )

    def _can_finish_tail(self, source: str) -> bool:
        return (
            not (self._is_literal or self._is_final)
            and 0 < self._closed.offset <= split_at_caps(source)
            and self._goes_on_to(source)
        )

    def _goes_on_to(self, source: str) -> bool:
        """Return whether later text cannot change a closed block, as a link's definition would."""
        return source.startswith(self.source) and _DEFINITION.search(source) is None

    def _finish_rest(self) -> None:
        cursor = self._end()
        cursor.beginEditBlock()
        self._build_rest(cursor, 0 if self._is_literal else split_at_caps(self.source))
        cursor.endEditBlock()
        self.spans[self._closed.n_spans :] = self._spans(self._closed.n_settled)

    def _build_rest(self, cursor: QTextCursor, end: int) -> None:
        """Build the rest after the closed part finally: Markdown up to `end`, then plain text."""
        self._closed = closed = self._list_start or self._closed
        self._list_start = None
        self._cut_off_open(cursor)
        builder = Builder(
            cursor,
            self._formats,
            self._map,
            self.marks,
            closed.is_fresh,
            closed.previous,
            is_final=True,
        )
        tail = self.source[closed.offset : end]
        builder.set_source(tail, closed.offset)
        builder.build(self._parser.parse(tail))
        if end < len(self.source):
            builder.plain(self.source[end:MAX_SHOWN_CHARS], end)
        self._awaited = builder.awaited

    def _cut_off_open(self, cursor: QTextCursor) -> None:
        """Remove the open part."""
        closed = self._closed
        self.changed_from = closed.position
        _cut_off(cursor, closed.position)
        self._map.truncate(closed.n_segments)
        del self.marks[closed.n_marks :]

    def _add_plain(self, cursor: QTextCursor) -> None:
        """Append text to the plain part."""
        self.changed_from = cursor.position()
        builder = Builder(cursor, self._formats, self._map, self.marks, is_fresh=False)
        builder.plain(self.source[self._shown : MAX_SHOWN_CHARS], self._shown, is_new=False)
        self._shown = len(self.source)

    def _end(self) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _grow(self, cursor: QTextCursor) -> None:
        """Append text to the paragraph or the code at the end."""
        # The newline at the end of open code is not shown before text follows it.
        end = len(self.source)
        if self._growth == "code" and self.source.endswith("\n"):
            end -= 1
        text = self.source[self._shown : end]
        is_code = self._growth == "code"
        position = self.changed_from = cursor.position()
        if is_code:
            self._add_code(cursor, text)
        else:
            cursor.insertText(text, self._formats.text(TextStyle()))
            mirror(cursor.block())
        if text:
            self._map.put(text, position, self._shown)
        if is_code and text:
            self.marks[-1] = self.marks[-1]._replace(end=cursor.position())
        self._shown = end

    def _add_code(self, cursor: QTextCursor, text: str) -> None:
        fmt = self._formats.code(PLAIN)
        for number, line in enumerate(text.split("\n")):
            shape = cursor.blockFormat()
            if number:
                inner = QTextBlockFormat(shape)
                inner.setBottomMargin(0)
                cursor.setBlockFormat(inner)
                shape.setTopMargin(0)
                cursor.insertBlock(shape, fmt)
            is_begun = bool(cursor.block().text().strip())
            cursor.insertText(line, fmt)
            if not is_begun:
                cursor.setBlockFormat(self._formats.hang(shape, cursor.block().text()))

    def _rebuild_tail(self, cursor: QTextCursor) -> None:
        """Parse and build the rest after the closed part; extend the closed part."""
        closed, source = self._closed, self.source
        tail = source[closed.offset :]
        is_long = _outgrows(source)
        end = split_at_caps(source) if is_long else closed.offset + split_at_caps(tail)
        if end < len(source):
            self._growth = "none"
            self._plain_from = max(end, closed.offset)
            self._build_rest(cursor, self._plain_from)
            self._shown = len(source)
            return
        self._cut_off_open(cursor)
        builder = Builder(
            cursor, self._formats, self._map, self.marks, closed.is_fresh, closed.previous
        )
        builder.live_code = self._live_code
        lines = tail.split("\n")
        tokens = self._parser.parse(tail, {GROWS: True})
        cut = find_cut(tokens, lines)
        is_within_list = (
            cut.n_tokens < len(tokens) and tokens[cut.n_tokens].type == "list_item_open"
        )
        if is_within_list:
            self._list_start = self._list_start or closed
        elif cut.n_tokens and self._list_start is not None:
            # The list is complete: its numbers and gaps are known only now.
            self._closed, self._list_start = self._list_start, None
            self._rebuild_tail(cursor)
            return
        builder.set_source(tail, closed.offset)
        builder.build(tokens[: cut.n_tokens])
        if cut.n_tokens and not builder.awaited:
            self._close(
                builder, closed.offset + sum(len(line) + 1 for line in lines[: cut.n_lines])
            )
        builder.build(tokens[cut.n_tokens :])
        self._awaited = builder.awaited
        self._growth = growth_of(tokens[cut.n_tokens :], lines)
        self._shown = len(self.source)
        if self._growth == "code":
            self._fence = tokens[-1].markup
            self._shown -= self.source.endswith("\n")

    def _close(self, builder: Builder, offset: int) -> None:
        before = self._closed
        segments = self._map.segments
        n_settled = self._n_settled(before)
        del self.spans[before.n_spans :]
        # The closed part has all its traces: they arrive no later than the text.
        self.spans += self._spans(before.n_settled, n_settled)
        self._closed = _Closed(
            min(offset, len(self.source)),
            builder.cursor.position(),
            builder.is_fresh,
            builder.previous,
            len(segments),
            len(self.marks),
            n_settled,
            len(self.spans),
        )


def _outgrows(source: str) -> bool:
    """Return whether a text is too long to be Markdown to its end."""
    return len(source) > MAX_MARKDOWN_CHARS or source.count("\n") >= MAX_MARKDOWN_LINES


def _cut_off(cursor: QTextCursor, position: int) -> None:
    """Remove everything from a position on; the cursor is then at the document's end."""
    cursor.setPosition(position)
    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()


def _is_before_a_cell(block: QTextBlock) -> bool:
    """Return whether another cell of the same row follows."""
    table = QTextCursor(block).currentTable()
    return table is not None and _is_inner(table, block.position())


def _is_inner(table: QTextTable, position: int) -> bool:
    cell = table.cellAt(position)
    return cell.column() + cell.columnSpan() < table.columns()
