"""Writes inline Markdown (emphasis, code, links) and records where each character came from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from markdown_it.token import Token
from PySide6.QtGui import QTextCursor

from paceline.chat.markdown import AT, Piece, PlacedText, split_by_source, text_of
from paceline.chat.syntax.maths import is_display
from paceline.gui.chat.markdown.cuts import link_target, split_bare_urls
from paceline.gui.chat.markdown.format import Formats, TextStyle, display_format, uneven_format
from paceline.gui.chat.markdown.formulas import (
    OBJECT,
    Formula,
    PlacedFormula,
    object_format,
    shared_formulas,
)
from paceline.gui.chat.markdown.provenance import SourceMap
from paceline.gui.kit.labels import ZERO_WIDTH_SPACE, units

MarkKind = Literal["code_block", "image", "inline_code", "item", "quote", "rule", "table_head"]

IMAGE_ROOM = "\u2003\u2009"
"""Spaces before the description of a picture, where the view paints an icon."""


class Mark(NamedTuple):
    """A range of document positions with a decoration that the view paints.

    Attributes:
        kind: The kind of decoration.
        start: First position.
        end: Position after the last one.
        left: Its left edge, in pixels from the document's edge.
        label: For a code block, its language as the author named it; for a list item, its number,
            "box" or "tick" for an open or a done task, or empty for a bullet; for a table's head,
            "above" if rows follow it.
        code: The text of a closed code block; None while it is open.
    """

    kind: MarkKind
    start: int
    end: int
    left: float = 0
    label: str = ""
    code: str | None = None


MAX_INLINE_EMS = 30
"""Maximum width of a formula within a line; wider ones stand alone and can be scrolled."""
MAX_FORMULAS = 400
"""Maximum number of formulas of a message that are laid out; the others show their source."""


_BREAKS = re.compile(r"(?<=[^\W_][._#:,&?(])(?=[^\W\d_])")
"""Break positions after signs that separate the words of a name; otherwise Qt breaks the line
within a word."""
_MIN_BREAKABLE_CHARS, _MAX_BREAKS = 12, 24
"""Minimum length of code that gets break positions, and their maximum number."""


class InlineWriter:
    """Writes inline tokens at any cursor of one document.

    Attributes:
        base: The offset in the reply of the first character that was parsed.
        awaited: Formulas that are not laid out yet and were written as source.
    """

    def __init__(self, formats: Formats, source_map: SourceMap, marks: list[Mark]) -> None:
        self.base = 0
        self.awaited: set[str] = set()
        self._n_formulas = len(source_map.formulas)
        self._formats = formats
        self._source_map = source_map
        self._marks = marks

    def place(self, text: str, position: int, pieces: Sequence[Piece], at: int) -> None:
        """Record that a part of a block's content stands at a document position."""
        done = 0
        for length, source in split_by_source(pieces, at, at + len(text)):
            part = text[done : done + length]
            self._source_map.put(part, position, self.base + source)
            position += units(part)
            done += length

    def write(
        self,
        cursor: QTextCursor,
        children: Sequence[Token],
        pieces: Sequence[Piece],
        base: TextStyle,
    ) -> None:
        """Write inline tokens at a cursor.

        Args:
            cursor: The cursor to write at.
            children: The tokens.
            pieces: The pieces of the source that make up their block's content.
            base: The style of text without markup.
        """
        style = base
        texts: list[PlacedText] = []
        shown = [self._formula(token) for token in children]
        # Line breaks beside a display formula are left out: its own block already breaks the line.
        alone = [
            f is not None and _is_alone(c, f, base) for c, f in zip(children, shown, strict=True)
        ]
        for index, token in enumerate(children):
            at = token.meta.get(AT, 0)
            if token.type in {"text", "text_special"}:
                text = text_of(token, at)
                texts.append(_stripped(text) if index and alone[index - 1] else text)
                continue
            self._texts(cursor, texts, pieces, style)
            texts.clear()
            match token.type:
                case "softbreak" | "hardbreak":
                    if any(alone[max(0, index - 1) : index + 2]):
                        continue
                    position = cursor.position()
                    cursor.insertText("\u2028", self._formats.text(base))
                    self.place("\n", position, pieces, at)
                case "code_inline":
                    position = cursor.position()
                    mono = style._replace(code=True)
                    for part in _parts(token.content) if style.in_cell else [token.content]:
                        if cursor.position() > position:
                            cursor.insertText(ZERO_WIDTH_SPACE, self._formats.text(mono))
                        self._texts(cursor, [PlacedText(part, at)], pieces, mono)
                        at += len(part)
                    self._marks.append(Mark("inline_code", position, cursor.position()))
                case "math" | "open_math":
                    formula = shown[index]
                    if formula is None:
                        mono = style._replace(code=True)
                        self._texts(cursor, [PlacedText(token.content, at)], pieces, mono)
                    elif alone[index]:
                        is_end = all(c.type == "softbreak" for c in children[index + 1 :])
                        self._stand_alone(cursor, token, formula, pieces, style, is_end=is_end)
                    else:
                        self._put(cursor, token, formula, pieces, style)
                case "image":
                    self._image(cursor, token, at, pieces, style)
                case _:
                    style = _restyled(style, token, base)
        self._texts(cursor, texts, pieces, style)

    def _formula(self, token: Token) -> Formula | None:
        """Return the layout of a formula, or None; request one that is not known yet."""
        if token.type != "math" or self._n_formulas >= MAX_FORMULAS:
            return None
        self._n_formulas += 1
        formulas = shared_formulas()
        if not formulas.is_known(token.content):
            self.awaited.add(token.content)
        return formulas.formula(token.content)

    def _stand_alone(
        self,
        cursor: QTextCursor,
        token: Token,
        formula: Formula,
        pieces: Sequence[Piece],
        style: TextStyle,
        *,
        is_end: bool,
    ) -> None:
        """Write a display formula in a block of its own, and begin another block if needed."""
        text = cursor.blockFormat()
        fmt = display_format(text)
        if cursor.positionInBlock():
            cursor.insertBlock(fmt)
        else:
            fmt.setTopMargin(text.topMargin())
            cursor.setBlockFormat(fmt)
        self._put(cursor, token, formula, pieces, style)
        if not is_end:
            text.setTopMargin(0)
            cursor.insertBlock(text, self._formats.text(style))

    def _put(
        self,
        cursor: QTextCursor,
        token: Token,
        formula: Formula,
        pieces: Sequence[Piece],
        style: TextStyle,
    ) -> None:
        """Write the character of a formula."""
        at = token.meta.get(AT, 0)
        parts = list(split_by_source(pieces, at, at + len(token.content)))
        first = parts[0][1] if parts else 0
        n_chars = parts[-1][0] + parts[-1][1] - first if parts else 1
        is_alone = _is_alone(token, formula, style)
        can_scroll = is_alone and not style.in_cell
        own_px = formula.width * self._formats.em(style) if can_scroll else 0.0
        place, offset = cursor.position(), self.base + first
        self._source_map.put_formula(
            PlacedFormula(place, token.content, formula, offset, n_chars, is_alone, own_px)
        )
        room = formula.room(is_display=is_alone)
        if room.is_centred:
            cursor.setBlockFormat(uneven_format(cursor.blockFormat()))
        fmt = object_format(self._formats.text(style), room, self._formats.em(style))
        cursor.insertText(OBJECT, fmt)

    def _texts(
        self,
        cursor: QTextCursor,
        texts: Sequence[PlacedText],
        pieces: Sequence[Piece],
        style: TextStyle,
    ) -> None:
        """Write text in one style, and record where each part came from."""
        if not texts:
            return
        position = cursor.position()
        whole = "".join(part.text for part in texts)
        # Line ends, which formulas may contain, become line separators: Qt would begin new
        # paragraphs.
        shown = whole.replace("\n", "\u2028")
        for part, link in [(shown, "")] if style.link or style.code else split_bare_urls(shown):
            at_link = style._replace(link=link) if link else style
            cursor.insertText(part, self._formats.text(at_link))
        for text, at, is_spelt in texts:
            if is_spelt:
                for _, source in split_by_source(pieces, at, at + 1):
                    self._source_map.put_all_at(text, position, self.base + source)
            else:
                self.place(text, position, pieces, at)
            position += units(text)

    def _image(
        self,
        cursor: QTextCursor,
        token: Token,
        at: int,
        pieces: Sequence[Piece],
        style: TextStyle,
    ) -> None:
        """Write the description of a picture, which is not loaded."""
        link = style.link or link_target(str(token.attrGet("src") or ""))
        style = style._replace(link=link, italic=True)
        position = cursor.position()
        # Space for the icon that the view paints there.
        cursor.insertText(IMAGE_ROOM, self._formats.text(style))
        for child in token.children or ():
            inner = child.meta.get(AT, 0) + at + len("![")
            if child.content:
                self._texts(cursor, [text_of(child, inner)], pieces, style)
        self._marks.append(Mark("image", position, cursor.position()))


def _parts(code: str) -> list[str]:
    """Split code into parts that may stand in lines of their own in a narrow column."""
    return _BREAKS.split(code, _MAX_BREAKS) if len(code) > _MIN_BREAKABLE_CHARS else [code]


def _is_alone(token: Token, formula: Formula, style: TextStyle) -> bool:
    is_wide = formula.width > MAX_INLINE_EMS and not style.in_cell
    return is_wide or is_display(token.content)


def _stripped(text: PlacedText) -> PlacedText:
    """Return the text without leading spaces."""
    rest = text.text.lstrip()
    return text._replace(text=rest, at=text.at + len(text.text) - len(rest))


def _restyled(style: TextStyle, token: Token, base: TextStyle) -> TextStyle:
    """Return the style after a token that opens or closes emphasis or a link."""
    on = token.nesting > 0
    match token.tag:
        case "strong":
            return style._replace(bold=base.bold or on)
        case "em":
            return style._replace(italic=on)
        case "s":
            return style._replace(strike=on)
        case "sub" | "sup":
            return style._replace(script=token.tag if on else "")
        case "a":
            return style._replace(link=link_target(str(token.attrGet("href") or "")) if on else "")
    return style
