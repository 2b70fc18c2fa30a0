"""Markdown to tokens that know their place in the source; safe for any text. No Qt, any thread.

The input was written by a model: raw HTML except `<br>` stays text, and no input may take long. So
a message has caps, and inline text that is mostly markup characters is not parsed.

markdown-it gives lines for blocks and no places for inline text, and searching the visible text in
the source goes wrong where markup repeats it (`**a** a`, a link whose text is its address, table
pipes). So its block rules are wrapped: after each one, the token that holds text learns from which
pieces of the source its content was cut. And the state of its inline rules notes at which character
of the content a token was made. Both are exact, since they come from the parser's own positions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, backtick, image
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

from paceline.chat.syntax.emphasis import beside_letters
from paceline.chat.syntax.formulas import GROWS, formula_block, formula_fence, take_formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.utils import EnvType

    BlockRule = Callable[[StateBlock, int, int, bool], bool]

PIECES, AT = "pieces", "at"
"""Keys of a token's `meta`: of a block with text its pieces; of an inline token its place."""

_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_SCRIPT = re.compile(r"(<(sub|sup)>)([^<>\n]{1,60})(</\2>)", re.IGNORECASE)


class Piece(NamedTuple):
    """A stretch: from character `content` on it is the source's text from `source` on."""

    content: int
    source: int


# ------------------------------------------------------------------------------------- content


def places_of(token: Token) -> Sequence[Piece]:
    """Return the pieces of the source of which the content of a block's token was made."""
    pieces: Sequence[Piece] = token.meta.get(PIECES, ())
    return pieces


def split_by_source(pieces: Sequence[Piece], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of content[start:end] that are contiguous in the source.

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
    """A piece of running text and its place in the content of its block.

    `is_spelt` means that the source has it in another form, as an entity that ends at `at`.
    """

    text: str
    at: int
    is_spelt: bool = False


def text_of(token: Token, at: int) -> PlacedText:
    """Return the text of an inline token that was made at this character of the content."""
    if token.info == "entity":
        # As with bytes of UTF-8: a character belongs to the token that completes it.
        return PlacedText(token.content, at + len(token.markup) - 1, is_spelt=True)
    if token.info == "escape":
        at += len(token.markup) - len(token.content)
    return PlacedText(token.content, at)


def take_task_marker(children: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Return what "[ ]" or "[x]" before an item's text means, and the text without it."""
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
    """Return the pieces of a content whose first characters were taken away."""
    result: list[Piece] = []
    for content, source in pieces:
        if content <= n_chars:
            result = [Piece(0, source + n_chars - content)]
        else:
            result.append(Piece(content - n_chars, source))
    return result


def _line_pieces(state: StateBlock, first: int, content: str) -> list[Piece]:
    """Return the pieces of a content made of whole lines; each ends as the source's line does.

    The beginning can differ: containers' marks are gone, and part of a tab became spaces.
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


def _place_fence(state: StateBlock, n_before: int) -> None:
    is_code = state.tokens[-1].type == "fence"
    (_place_code if is_code else _place_paragraph)(state, n_before)


def _place_table(state: StateBlock, n_before: int) -> None:
    cells: Iterator[list[Piece]] = iter(())
    for token in state.tokens[n_before:]:
        if token.type == "tr_open":
            cells = _cells(state, (token.map or (0, 0))[0])
        elif token.type == "inline":
            token.meta[PIECES] = next(cells, [])


def _cells(state: StateBlock, line: int) -> Iterator[list[Piece]]:
    """Yield the cells of a table's row, split as the parser does: at unescaped bars."""
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


def _placing(place: Callable[[StateBlock, int], None]) -> Callable[[BlockRule], BlockRule]:
    def wrap(run: BlockRule) -> BlockRule:
        def placed(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
            n_before = len(state.tokens)
            found = run(state, first, end, silent)
            if found and not silent:
                place(state, n_before)
            return found

        return placed

    return wrap


def _wrap(parser: MarkdownIt, name: str, wrap: Callable[[BlockRule], BlockRule]) -> None:
    rules = parser.block.ruler
    old = next(rule for rule in rules.__rules__ if rule.name == name)
    rules.at(name, wrap(old.fn), {"alt": old.alt})


# -------------------------------------------------------------------------------------- inline


class _State(StateInline):
    """Notes in each token at which character of the content it was made."""

    _text_at = -1

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: FBT001, N803
        return beside_letters(super().scanDelims(start, canSplitWord), self.src, start, self.posMax)

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


def _break(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    """Take the one tag that models write for want of another way, in cells of tables above all."""
    found = _BREAK.match(state.src, state.pos)
    if found and not silent:
        state.push("hardbreak", "br", 0).meta[AT] += len(found[0]) - 1
    state.pos += len(found[0]) if found else 0
    return found is not None


def _script(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    """Take a few letters below or above the line, as models write indices outside of formulas."""
    found = _SCRIPT.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        tag = found[2].lower()
        state.push(f"{tag}_open", tag, 1)
        state.pos = found.start(3)
        state.push("text", "", 0).content = found[3]
        state.push(f"{tag}_close", tag, -1)
    state.pos = found.end()
    return True


def _any_image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    """Accept a picture with any address: nothing is loaded, its description is shown."""
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
        """Do not take a footnote for an address, so that its text stays visible."""
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
        # Joined tokens would lose their places; the writer of tokens joins them instead.
        self.inline.ruler2.disable("fragments_join")
        self.core.ruler.disable("text_join")
        self.inline.ruler.before("escape", "math", take_formula)
        self.inline.ruler.before("autolink", "break", _break)
        self.inline.ruler.before("autolink", "script", _script)
        self.inline.ruler.at("backticks", _code_span)
        self.inline.ruler.at("image", _any_image)
        rules = self.block.ruler
        before: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
        rules.before("fence", "math_block", formula_block, before)
        _wrap(self, "fence", formula_fence)
        _wrap(self, "reference", _no_footnote)
        for name, place in (
            ("math_block", _place_paragraph),
            ("paragraph", _place_paragraph),
            ("lheading", _place_paragraph),
            ("heading", _place_heading),
            ("fence", _place_fence),
            ("code", _place_code),
            ("table", _place_table),
        ):
            _wrap(self, name, _placing(place))

    def validateLink(self, url: str) -> bool:
        """Return whether text of this form is a link; others decide which can be opened."""
        return bool(self.is_in_image) or super().validateLink(url)

    def normalizeLinkText(self, link: str) -> str:
        """Show an address as it was written: decoded, it could look like another one."""
        return link


def as_json(text: str, *, is_final: bool = True) -> tuple[str, int]:
    """Return JSON as a block of code, and how many characters that has before it.

    Args:
        text: The JSON, or its beginning; no line of JSON can end a fence. Empty lines before it
            are left out, and count as taken away.
        is_final: Whether nothing follows.
    """
    opening, json = "```json\n", text.lstrip("\n")
    closing = ("```" if text.endswith("\n") else "\n```") if is_final else ""
    return f"{opening}{json}{closing}", len(opening) - len(text) + len(json)


MAX_MARKDOWN_CHARS = 64_000
MAX_MARKDOWN_LINES = 2_000
MAX_LINE_CHARS = 20_000
"""Limits of Markdown; from the first place that exceeds one, a message is plain text."""

MAX_NESTING = 60
"""Levels of the parser; a list takes two. What is deeper is dropped; real texts are not so deep."""

# Links and emphasis are matched in quadratic time in the worst case: 64,000 brackets take 0.8 s.
# Prose has one markup character in thirty; these limits are ten times beyond.
_MAX_BRACKETS = 400
_MAX_EMPHASIS = 2_000
_MAX_MARKS_PER_MESSAGE = 8_000
_MAX_BARS_PER_LINE = 100
_DEEP_QUOTE = re.compile(r"(?: {0,3}>){12}")
_MARKS = re.compile(r"[\[\]*_~`]")


@cache
def shared_parser() -> PlacingParser:
    """Return the parser of the main thread; it keeps no state between two texts."""
    return make_parser()


def make_parser() -> PlacingParser:
    """Return a new parser with its limits, for one thread."""
    parser = PlacingParser({"html": False, "maxNesting": MAX_NESTING})
    parser.core.ruler.at("inline", _parse_inline)
    return parser


def _parse_inline(state: StateCore) -> None:
    """Parse inline text, except where that would take too long."""
    grows = state.env.get(GROWS)
    n_last = len(state.tokens)
    while n_last and state.tokens[n_last - 1].nesting < 0:
        n_last -= 1
    for number, token in enumerate(state.tokens, 1):
        if token.type != "inline":
            continue
        state.env[GROWS] = grows and number == n_last
        token.children = []
        if _is_trap(token.content):
            at = 0
            for line in token.content.split("\n"):
                if at:
                    token.children.append(Token("softbreak", "br", 0, meta={AT: at - 1}))
                token.children.append(Token("text", "", 0, content=line, meta={AT: at}))
                at += len(line) + 1
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _is_trap(text: str) -> bool:
    if len(text) <= _MAX_BRACKETS:
        return False
    brackets = text.count("[") + text.count("]")
    return brackets > _MAX_BRACKETS or text.count("*") + text.count("_") > _MAX_EMPHASIS


def split_at_caps(text: str) -> int:
    """Return how many characters are shown as Markdown; the rest is plain text."""
    if len(_MARKS.findall(text, 0, MAX_MARKDOWN_CHARS)) > _MAX_MARKS_PER_MESSAGE:
        return 0
    start = 0
    for _ in range(MAX_MARKDOWN_LINES):
        end = text.find("\n", start)
        length = (end if end >= 0 else len(text)) - start
        if (
            length > MAX_LINE_CHARS
            or start + length > MAX_MARKDOWN_CHARS
            or text.count("|", start, start + length) > _MAX_BARS_PER_LINE
            or _DEEP_QUOTE.match(text, start)
        ):
            return start
        if end < 0:
            return len(text)
        start = end + 1
    return start
