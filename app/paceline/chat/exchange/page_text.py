"""Markdown as HTML, in which each character has the colour of its token.

The parser knows each visible character's place in the source (`chat.markdown`), and the steps
know which token has that place; so colours are exact in tables, code and escapes, too. Nothing of
the text gets into the HTML unescaped, and only http and https become links.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

from markdown_it.token import Token

from paceline.chat.markdown import (
    AT,
    Piece,
    PlacedText,
    make_parser,
    places_of,
    split_at_caps,
    split_by_source,
    take_task_marker,
    text_of,
)
from paceline.chat.syntax.code import kinds_in
from paceline.chat.syntax.maths import is_display
from paceline.figures import TokenTrace
from paceline.messages import StepCommitted


class TokenSpan(NamedTuple):
    """Characters [start, end) of the reply and the token that has them, or None if not known."""

    start: int
    end: int
    trace: TokenTrace | None = None
    step: StepCommitted | None = None


class TokenSpans:
    """All tokens of a reply that have characters of their own."""

    def __init__(self, steps: Sequence[StepCommitted] = ()) -> None:
        self._ends: list[int] = []
        self._tokens: list[tuple[TokenTrace, StepCommitted]] = []
        for step in steps:
            for trace in step.tokens:
                if trace.text_end > (self._ends[-1] if self._ends else 0):
                    self._ends.append(trace.text_end)
                    self._tokens.append((trace, step))

    def over(self, start: int, end: int) -> Iterator[TokenSpan]:
        """Yield the tokens of these characters, in order and without gaps."""
        index = bisect_right(self._ends, start)
        while start < end and index < len(self._ends):
            stop = min(self._ends[index], end)
            yield TokenSpan(start, stop, *self._tokens[index])
            start = stop
            index += 1
        if start < end:
            yield TokenSpan(start, end)

    @property
    def sources(self) -> list[str]:
        """The tokens' sources, in the order of their first token."""
        return list(dict.fromkeys(trace.source for trace, _ in self._tokens))


# Characters that the parser would replace, each by one character, so that positions stay valid.
_CLEAN = str.maketrans({"\r": " ", "\v": " ", "\f": " ", "\0": "\ufffd"})
_TASKS = {"box": "☐ ", "tick": "☑ "}
_SPREAD = frozenset({"ul", "ol", "blockquote", "table", "thead", "tbody", "hr"})
"""Tags that a new line follows."""
_CLOSE = frozenset({"strong", "em", "s", "sub", "sup", "th", "td"})
"""Tags whose end no new line follows."""
_ALIGNED = ("left", "center", "right")
_MAX_LANGUAGE_CHARS = 24


class PageText:
    """Writes texts of one reply.

    Attributes:
        out: The HTML so far, in pieces.
    """

    def __init__(self, spans: TokenSpans, open_tag: Callable[[TokenSpan], str]) -> None:
        """Write with the colours of these tokens.

        Args:
            spans: The token of each character of the reply.
            open_tag: The opening `<span …>` of a token, or nothing.
        """
        self.out: list[str] = []
        self._spans = spans
        self._open_tag = open_tag
        self._base = 0
        self._links: list[bool] = []
        self._kinds: deque[tuple[str, str]] = deque()  # what is still to be written of a code block

    def markdown(self, source: str, base: int) -> None:
        """Write a text as Markdown.

        Args:
            source: The text.
            base: Index of its first character in the reply.
        """
        source = source.translate(_CLEAN)
        n_markdown = split_at_caps(source)
        self._base = base
        self._blocks(make_parser().parse(source[:n_markdown]))
        if n_markdown < len(source):
            self.plain(source[n_markdown:], base + n_markdown)

    def plain(self, text: str, offset: int) -> None:
        """Write a text as it is; `offset` is its place in the reply."""
        self.out.append('<div class="plain">')
        self._put(text, offset)
        self.out.append("</div>\n")

    # ---------------------------------------------------------------------------- blocks

    def _blocks(self, tokens: Sequence[Token]) -> None:
        begins_item = False
        for token in tokens:
            if token.type in ("fence", "code_block"):
                self._code(token)
            elif token.type == "inline":
                children: Sequence[Token] = token.children or []
                if begins_item:
                    label, children = take_task_marker(children)
                    self.out.append(_TASKS.get(label, ""))
                self._inline(children, places_of(token))
            elif not token.hidden:
                self.out.append(_tag(token))
            if token.type not in ("paragraph_open", "inline"):
                begins_item = token.type == "list_item_open"

    def _code(self, token: Token) -> None:
        words = token.info.split()
        language = escape(words[0][:_MAX_LANGUAGE_CHARS]) if words else ""
        label = f'<div class="language">{language}</div>' if language else ""
        self.out.append(f'<div class="code">{label}<pre><code>')
        code = token.content.removesuffix("\n")
        self._kinds.extend(kinds_in(code, words[0] if words else ""))
        self._place(code, places_of(token), 0)
        self._kinds.clear()
        self.out.append("</code></pre></div>\n")

    # ---------------------------------------------------------------------------- inline

    def _inline(self, children: Sequence[Token], pieces: Sequence[Piece]) -> None:
        for token in children:
            at = token.meta.get(AT, 0)
            match token.type:
                case "text" | "text_special":
                    self._text(text_of(token, at), pieces)
                case "softbreak" | "hardbreak":
                    self.out.append("<br>\n")
                case "code_inline" | "math" | "open_math":
                    is_alone = token.type == "math" and is_display(token.content)
                    self.out.append('<code class="formula">' if is_alone else "<code>")
                    self._text(PlacedText(token.content, at), pieces)
                    self.out.append("</code>")
                case "image":
                    self.out.append('<em class="picture">')
                    for child in token.children or ():
                        inner = child.meta.get(AT, 0) + at + len("![")
                        self._text(text_of(child, inner), pieces)
                    self.out.append("</em>")
                case "link_open":
                    href = _link_target(str(token.attrGet("href") or ""))
                    self._links.append(bool(href))
                    if href:
                        self.out.append(f'<a href="{href}" rel="noreferrer noopener">')
                case "link_close":
                    if self._links and self._links.pop():
                        self.out.append("</a>")
                case _:
                    self.out.append(_tag(token))

    def _text(self, text: PlacedText, pieces: Sequence[Piece]) -> None:
        if not text.text:
            return
        if not text.is_spelt:
            self._place(text.text, pieces, text.at)
            return
        for _, source in split_by_source(pieces, text.at, text.at + 1):
            span = next(self._spans.over(self._base + source, self._base + source + 1))
            self._token(text.text, span)
            return
        self.out.append(escape(text.text))

    def _place(self, text: str, pieces: Sequence[Piece], at: int) -> None:
        """Write a part of a block's content, which may stand in several pieces of the source."""
        done = 0
        for length, source in split_by_source(pieces, at, at + len(text)):
            self._put(text[done : done + length], self._base + source)
            done += length
        if done < len(text):
            self.out.append(self._letters(text[done:]))

    def _put(self, text: str, offset: int) -> None:
        for span in self._spans.over(offset, offset + len(text)):
            self._token(text[span.start - offset : span.end - offset], span)

    def _token(self, text: str, span: TokenSpan) -> None:
        """Colour a token, but not the blanks around it, as in the window."""
        tag, inner = self._open_tag(span), text.strip()
        if not (tag and inner):
            self.out.append(self._letters(text))
            return
        before, after = text.split(inner, 1)
        self.out += [self._letters(before), tag, self._letters(inner), "</span>"]
        self.out.append(self._letters(after))

    def _letters(self, text: str) -> str:
        """Escape the next letters; those of code are marked by their kinds."""
        done = []
        while text and self._kinds:
            piece, kind = self._kinds.popleft()
            if len(piece) > len(text):
                self._kinds.appendleft((piece[len(text) :], kind))
            here, text = text[: len(piece)], text[len(piece) :]
            done.append(f'<i class="{kind}">{escape(here)}</i>' if kind else escape(here))
        return "".join([*done, escape(text)])


def _tag(token: Token) -> str:
    tag, attribute = token.tag, ""
    if not tag:
        return ""
    if token.nesting < 0:
        end = "</table></div>" if tag == "table" else f"</{tag}>"
        return end if tag in _CLOSE else f"{end}\n"
    if (start := token.attrGet("start")) is not None:
        attribute = f' start="{int(start)}"'
    style = str(token.attrGet("style") or "")
    if side := next((side for side in _ALIGNED if side in style), ""):
        attribute = f' class="{side}"'
    begin = '<div class="table"><table>' if tag == "table" else f"<{tag}{attribute}>"
    return f"{begin}\n" if tag in _SPREAD else begin


def _link_target(href: str) -> str:
    """The address, escaped, if it is one that may be opened; else an empty text."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not parts.netloc:
        return ""
    return escape(href)
