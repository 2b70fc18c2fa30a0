"""The block structure of reStructuredText: indented lines to a tree.

Only what CPython's documentation uses, by docutils' specification ("Body Elements"). Comments,
footnotes and substitution definitions are left out here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(r"\.\. ([A-Za-z][\w:+.-]*)::(?:\s+(.*))?$")
_LABEL = re.compile(r"\.\. _`?([^`]+?)`?:\s*$")
_OPTION = re.compile(r":([\w-]+):\s*(.*)$")
_BULLET = re.compile(r"([-*+•]|#\.|\(?(?:\d+|[a-z#])[.)])\s+(?=\S)")
_RULE = re.compile(r"([=\-~^\"'*+#.:`_!<>])\1{2,}\s*$")
_TABLE = re.compile(r"(\+[-=]+)+\+\s*$|=+(\s+=+)+\s*$")
_FIELD = re.compile(r":[A-Za-z][\w -]*:(\s|$)")


@dataclass
class Block:
    """A piece of a document.

    Attributes:
        kind: paragraph, code, item, term, quote, table, heading, label or directive.
        text: A paragraph's text, a heading's title, a term, a label, or a directive's name.
        lines: Lines of code or of a table; a directive's arguments.
        options: A directive's options.
        body: What is within; a directive's body is parsed on demand (`parse(raw)`).
        raw: A directive's content, dedented.
    """

    kind: str
    text: str = ""
    lines: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    body: list[Block] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)


def indent_of(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip())


def dedent(lines: Sequence[str]) -> list[str]:
    """Return lines without their common indentation and without blank lines around them."""
    kept = list(lines)
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    depth = min((indent_of(line) for line in kept if line.strip()), default=0)
    return [line[depth:].rstrip() for line in kept]


def parse(lines: Sequence[str]) -> list[Block]:
    """Return the blocks of dedented lines, in their order."""
    return _Parser(lines).blocks()


class _Parser:
    """Walks over lines that share one indentation."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    def blocks(self) -> list[Block]:
        found: list[Block] = []
        while self._at < len(self._lines):
            if not self._line().strip():
                self._at += 1
                continue
            block = self._next()
            if block is not None:
                found.append(block)
                if block.kind == "paragraph" and block.text.endswith("::"):
                    found += self._literal(block)
        return [b for b in found if b.kind != "paragraph" or b.text]

    def _line(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def _next(self) -> Block | None:
        line = self._line()
        if line.startswith(".. ") or line.rstrip() == "..":
            return self._explicit()
        if heading := self._heading():
            return heading
        if _RULE.match(line) and not _TABLE.match(line):
            self._at += 1
            return None
        return self._verbatim(line) or self._text(line)

    def _verbatim(self, line: str) -> Block | None:
        """Return what is told by its first signs to be no running text."""
        if indent_of(line):
            return Block("quote", body=parse(dedent(self._take_indented(0))))
        if _TABLE.match(line):
            return Block("table", lines=self._take_table())
        if line.startswith(">>>"):
            return Block("code", "python", self._take_while_filled())
        return None

    def _text(self, line: str) -> Block | None:
        if bullet := _BULLET.match(line):
            return self._item(bullet)
        if _FIELD.match(line) and "`" not in line:  # information about the file; no role
            self._at += 1
            self._take_indented(0)
            return None
        after = self._line(1)
        if after.strip() and indent_of(after) and not line.startswith("| "):
            return self._term()
        return Block("paragraph", " ".join(each.strip() for each in self._take_while_filled()))

    def _explicit(self) -> Block | None:
        line = self._line()
        self._at += 1
        if label := _LABEL.match(line):
            return Block("label", label[1].lower())
        content = self._take_indented(0)
        made = _DIRECTIVE.match(line)
        if made is None:
            return None
        block = Block("directive", made[1].lower())
        if made[2]:
            block.lines.append(made[2].strip())
        at = 0
        while at < len(content) and content[at].strip():
            option = _OPTION.match(content[at].strip())
            if option and "`" not in option[1] + option[2][:1]:
                block.options[option[1]] = option[2].strip()
            elif block.options or not made[2]:
                break
            else:
                block.lines.append(content[at].strip())
            at += 1
        block.raw = dedent(content[at:])
        return block

    def _heading(self) -> Block | None:
        line, under, third = self._line().rstrip(), self._line(1).rstrip(), self._line(2).rstrip()
        if _RULE.match(line) and under and third == line and len(line) >= len(under.strip()):
            self._at += 3
            return Block("heading", under.strip())
        if _RULE.match(under) and len(under) >= min(len(line), 4) and not _RULE.match(line):
            self._at += 2
            return Block("heading", line, [under[0]])
        return None

    def _item(self, bullet: re.Match[str]) -> Block:
        first = self._line()[bullet.end() :]
        self._at += 1
        rest = self._take_indented(0)
        width = bullet.end()
        lines = [first, *(each[min(width, indent_of(each)) :] for each in rest)]
        return Block("item", bullet[1], body=parse(lines))

    def _term(self) -> Block:
        term = self._line().strip()
        self._at += 1
        return Block("term", term, body=parse(dedent(self._take_indented(0))))

    def _literal(self, before: Block) -> list[Block]:
        """Shorten the colons of the paragraph before, and return the code after it."""
        before.text = before.text[:-1].rstrip() if before.text != "::" else ""
        if before.text.endswith((" :", "::")) or before.text == ":":
            before.text = before.text.rstrip(":").rstrip()
        code = dedent(self._take_indented(0))
        return [Block("code", "", code)] if code else []

    def _take_indented(self, depth: int) -> list[str]:
        """Take blank lines and lines deeper than `depth`."""
        start = self._at
        while self._at < len(self._lines):
            line = self._line()
            if line.strip() and indent_of(line) <= depth:
                break
            self._at += 1
        return list(self._lines[start : self._at])

    def _take_while_filled(self) -> list[str]:
        start = self._at
        while self._line().strip():
            self._at += 1
        return list(self._lines[start : self._at])

    def _take_table(self) -> list[str]:
        """Take a grid table up to a blank line, a simple one up to its last rule."""
        if self._line().startswith("+"):
            return self._take_while_filled()
        rule = re.sub(r"\s+", " ", self._line().strip())
        start, last = self._at, self._at
        while self._at < len(self._lines):
            line = self._line()
            if re.sub(r"\s+", " ", line.strip()) == rule:
                last = self._at
                if self._at > start and not self._line(1).strip():
                    break
            self._at += 1
        self._at = last + 1
        return list(self._lines[start : self._at])
