"""What a rendered message says without markup: the signs that are only painted are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from paceline.gui.scale import px
from paceline.gui.widgets.markdown_format import INDENT_PX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QTextBlock, QTextDocument, QTextTable

    from paceline.gui.widgets.markdown_inline import Mark

_SIGNS = {"": "-", "box": "[ ]", "tick": "[x]"}


def plain_text(document: QTextDocument, marks: Iterable[Mark]) -> str:
    """The text of a document; items have their signs, the cells of a row stand between tabs."""
    items = {mark.start: mark for mark in marks if mark.kind == "item"}
    parts: list[str] = []
    block = document.begin()
    while block.isValid():
        item = items.get(block.position())
        if item is not None:
            depth = max(0, round(item.left / px(INDENT_PX)) - 1)
            parts.append("  " * depth + _SIGNS.get(item.label, item.label) + " ")
        parts.append(block.text().replace("\u2028", "\n").replace("\u00a0", " "))
        parts.append("\t" if _is_before_a_cell(block) else "\n")
        block = block.next()
    return "".join(parts).strip("\n")


def _is_before_a_cell(block: QTextBlock) -> bool:
    """Whether another cell of the same row follows."""
    table = QTextCursor(block).currentTable()
    return table is not None and _is_inner(table, block.position())


def _is_inner(table: QTextTable, position: int) -> bool:
    cell = table.cellAt(position)
    return cell.column() + cell.columnSpan() < table.columns()
