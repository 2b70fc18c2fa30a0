"""Teaches the Markdown parser to say where in the source each visible character stands.

markdown-it gives lines for blocks and nothing for inline text, and searching the visible text in
the source goes wrong where markup repeats it (`**a** a`, a link whose text is its address, table
pipes). So its block rules are wrapped: behind each one, the token that holds text learns by which
pieces its content was cut from the source. And the state of its inline rules notes at which
character of the content a token was made. Both are exact, since they come from the parser's own
positions. No Qt in here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, backtick, image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

    BlockRule = Callable[[StateBlock, int, int, bool], bool]

PIECES, AT = "pieces", "at"
"""Keys of a token's `meta`: of a block with text its pieces; of an inline token its place."""

MAX_MATH_CHARS = 600
_DOLLAR_MATH = re.compile(r"\$\$[^$]+\$\$|\$(?=[^\s$])[^$\n]{0,600}?[^\s$\\]\$(?!\d)")


class Piece(NamedTuple):
    """From this character of a content on, it goes on as the source does from `source` on."""

    content: int
    source: int


# ------------------------------------------------------------------------------------- content


def places_of(token: Token) -> Sequence[Piece]:
    """By which pieces the content of a block's token was cut from the source."""
    pieces: Sequence[Piece] = token.meta.get(PIECES, ())
    return pieces


def split_by_source(pieces: Sequence[Piece], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of content[start:end] that are in one piece in the source.

    Yields:
        Length, and the offset in the source.
    """
    index = max(0, bisect_right(pieces, start, key=_content) - 1)
    while index < len(pieces) and pieces[index].content < end:
        content, source = pieces[index]
        index += 1
        first = max(start, content)
        last = min(end, pieces[index].content) if index < len(pieces) else end
        if first < last:
            yield last - first, source + first - content


class PlacedText(NamedTuple):
    """A piece of running text and where in the content of its block it stands.

    `is_spelt` means that it stands there otherwise, as an entity that ends at `at`.
    """

    text: str
    at: int
    is_spelt: bool = False


def text_of(token: Token, at: int) -> PlacedText:
    """The text of an inline token that was made at this character of the content."""
    if token.info == "entity":
        # As with bytes of UTF-8: a character belongs to the token that completes it.
        return PlacedText(token.content, at + len(token.markup) - 1, is_spelt=True)
    if token.info == "escape":
        at += len(token.markup) - len(token.content)
    return PlacedText(token.content, at)


def take_task_marker(children: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """What "[ ]" or "[x]" before an item's text stands for, and the text without it."""
    if children and children[0].type == "text":
        first = children[0]
        label = {"[ ] ": "box", "[x] ": "tick"}.get(first.content[:4].lower(), "")
        if label:
            rest = first.copy(content=first.content[4:], meta={AT: first.meta.get(AT, 0) + 4})
            return label, [rest, *children[1:]]
    return "", children


def _content(piece: Piece) -> int:
    return piece.content


def _cut(pieces: Sequence[Piece], n_chars: int) -> list[Piece]:
    """The pieces of a content of which the first characters were taken away."""
    result: list[Piece] = []
    for content, source in pieces:
        if content <= n_chars:
            result = [Piece(0, source + n_chars - content)]
        else:
            result.append(Piece(content - n_chars, source))
    return result


def _line_pieces(state: StateBlock, first: int, content: str) -> list[Piece]:
    """Pieces of a content made of whole lines; each ends as the line of the source does.

    Where it begins can differ: containers' marks are gone, and part of a tab became blanks.
    """
    pieces = []
    at = 0
    for number, line in enumerate(content.split("\n"), first):
        if number >= len(state.eMarks):
            break
        end = state.eMarks[number]
        length = len(line)
        if state.src[end - length : end] != line:
            while length and not state.src.endswith(line[-length:], state.bMarks[number], end):
                length -= 1
        pieces.append(Piece(at + len(line) - length, end - length))
        at += len(line) + 1
    return pieces


def _place_paragraph(state: StateBlock, _n_before: int) -> None:
    token = state.tokens[-2]
    first, end = token.map or (0, 0)
    raw = state.getLines(first, end, indent=state.blkIndent, keepLastLF=False)
    token.meta[PIECES] = _cut(_line_pieces(state, first, raw), raw.find(token.content))


def _place_heading(state: StateBlock, _n_before: int) -> None:
    token = state.tokens[-2]
    line = (token.map or (0, 0))[0]
    start = state.bMarks[line] + state.tShift[line] + len(state.tokens[-3].markup)
    raw = state.src[start : state.eMarks[line]]
    token.meta[PIECES] = [Piece(0, start + raw.find(token.content))]


def _place_code(state: StateBlock, _n_before: int) -> None:
    token = state.tokens[-1]
    first = (token.map or (0, 0))[0] + (token.type == "fence")
    token.meta[PIECES] = _line_pieces(state, first, token.content.removesuffix("\n"))


def _place_table(state: StateBlock, n_before: int) -> None:
    cells: Iterator[list[Piece]] = iter(())
    for token in state.tokens[n_before:]:
        if token.type == "tr_open":
            cells = _cells(state, (token.map or (0, 0))[0])
        elif token.type == "inline":
            token.meta[PIECES] = next(cells, [])


def _cells(state: StateBlock, line: int) -> Iterator[list[Piece]]:
    """The cells of a table's row, split as the parser does: at bars without a backslash before."""
    start = state.bMarks[line] + state.tShift[line]
    raw = state.src[start : state.eMarks[line]]
    text = mdTrim(raw)
    start += raw.find(text)
    cells: list[tuple[str, list[Piece]]] = [("", [])]
    at = 0
    for bar in re.finditer(r"(\\?)\|", text):
        cell, pieces = cells[-1]
        # The backslash goes, the bar stays and begins the next piece.
        pieces.append(Piece(len(cell), start + at))
        cells[-1] = (cell + text[at : bar.start()], pieces)
        at = bar.end() - 1 if bar.group(1) else bar.end()
        if not bar.group(1):
            cells.append(("", []))
    cell, pieces = cells[-1]
    pieces.append(Piece(len(cell), start + at))
    cells[-1] = (cell + text[at:], pieces)
    if not cells[0][0]:
        cells.pop(0)
    for cell, pieces in cells:
        yield _cut(pieces, max(0, cell.find(mdTrim(cell))))


def _wrap(parser: MarkdownIt, name: str, place: Callable[[StateBlock, int], None]) -> None:
    rules = parser.block.ruler
    old = next(rule for rule in rules.__rules__ if rule.name == name)
    run: BlockRule = old.fn

    def placed(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001  as called
        n_before = len(state.tokens)
        found = run(state, first, end, silent)
        if found and not silent:
            place(state, n_before)
        return found

    rules.at(name, placed, {"alt": old.alt})


# -------------------------------------------------------------------------------------- inline


class _State(StateInline):
    """Notes in each token at which character of the content it was made."""

    _text_at = -1

    def append_pending(self, text: str) -> None:
        if self._text_at < 0:
            self._text_at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta[AT] = max(0, self._text_at)
        self._text_at = -1
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        self._text_at = -1
        at = self.pos
        if ttype == "text":
            last = self.tokens[-2] if len(self.tokens) > 1 else token
            if last.type == "text" and last.meta.get("rule_at") == self.pos:
                at = last.meta[AT] + len(last.content)  # a row of marks, each a token
            elif self.src[self.pos] == "<":
                at += 1
            token.meta["rule_at"] = self.pos
        token.meta[AT] = at
        return token


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _math(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    r"""Take `$…$`, `$$…$$`, `\(…\)` and `\[…\]` as they are: emphasis and escapes would maim it."""
    start, src = state.pos, state.src
    end = -1
    if src[start] == "$":
        found = _DOLLAR_MATH.match(src, start, min(state.posMax, start + MAX_MATH_CHARS))
        end = found.end() if found else -1
    elif src[start] == "\\" and src[start + 1 : start + 2] in ("(", "["):
        close = "\\)" if src[start + 1] == "(" else "\\]"
        end = src.find(close, start + 2, min(state.posMax, start + MAX_MATH_CHARS))
        end = end + 2 if end > start + 2 else -1
    if end < 0:
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = src[start:end]
    state.pos = end
    return True


def _any_image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    """Take every picture as one, wherever it lies: nothing is loaded, its description is shown."""
    parser = state.md
    assert isinstance(parser, PlacingParser)
    parser.is_in_image += 1
    try:
        return image(state, silent)
    finally:
        parser.is_in_image -= 1


def _code_span(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    """Note where the content of a code span begins: one blank at either side may be dropped."""
    start = state.pos
    found = backtick(state, silent)
    if found and not silent and state.tokens and state.tokens[-1].type == "code_inline":
        token = state.tokens[-1]
        if token.meta[AT] == start:
            around = state.pos - start - len(token.content)
            token.meta[AT] = start + around // 2
    return found


def _no_footnote(run: BlockRule) -> BlockRule:
    def reference(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        """A footnote is no address: what it says stays in sight."""
        start = state.bMarks[first] + state.tShift[first]
        return not state.src.startswith("[^", start) and run(state, first, end, silent)

    return reference


class PlacingParser(MarkdownIt):
    """CommonMark with tables and strikethrough, without raw HTML; tokens know their places."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__("commonmark")
        self.is_in_image = 0
        self.inline = _InlineParser()
        self.configure("commonmark", options)
        self.enable(["table", "strikethrough"])
        # Joined tokens would lose their places; whoever writes them joins what belongs together.
        self.inline.ruler2.disable("fragments_join")
        self.core.ruler.disable("text_join")
        self.inline.ruler.before("escape", "math", _math)
        self.inline.ruler.at("backticks", _code_span)
        self.inline.ruler.at("image", _any_image)
        for name, place in (
            ("paragraph", _place_paragraph),
            ("lheading", _place_paragraph),
            ("heading", _place_heading),
            ("fence", _place_code),
            ("code", _place_code),
            ("table", _place_table),
        ):
            _wrap(self, name, place)
        rules = self.block.ruler
        old = next(rule for rule in rules.__rules__ if rule.name == "reference")
        rules.at("reference", _no_footnote(old.fn), {"alt": old.alt})

    def validateLink(self, url: str) -> bool:
        """Whether something in this form is a link; which ones can be opened is another matter."""
        return bool(self.is_in_image) or super().validateLink(url)

    def normalizeLinkText(self, link: str) -> str:
        """An address is shown as it was written: decoded, it could look like another."""
        return link
