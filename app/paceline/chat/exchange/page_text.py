"""A reply's Markdown as HTML in which every character says which token it came from.

The parser knows for each visible character where it stands in the source (`markdown_places`), and
the steps know which token gave that place; so colours are exact in tables, code and escapes, too.
Nothing of the reply gets into the page unescaped, and only http and https become links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from paceline.chat.markdown_parser import make_parser, split_at_caps
from paceline.chat.markdown_places import (
    AT,
    PlacedText,
    places_of,
    split_by_source,
    take_task_marker,
    text_of,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

    from paceline.chat.exchange.token_spans import TokenSpan, TokenSpans
    from paceline.chat.markdown_places import Piece

# One character each, so that places stay: what the parser would make something else of.
_CLEAN = str.maketrans({"\r": " ", "\v": " ", "\f": " ", "\0": "\ufffd"})
_TASKS = {"box": "☐ ", "tick": "☑ "}
_PLAIN = {
    "strong_open": "<strong>",
    "strong_close": "</strong>",
    "em_open": "<em>",
    "em_close": "</em>",
    "s_open": "<s>",
    "s_close": "</s>",
    "bullet_list_open": "<ul>\n",
    "bullet_list_close": "</ul>\n",
    "ordered_list_close": "</ol>\n",
    "list_item_open": "<li>",
    "list_item_close": "</li>\n",
    "blockquote_open": "<blockquote>\n",
    "blockquote_close": "</blockquote>\n",
    "hr": "<hr>\n",
    "table_open": '<div class="table"><table>\n',
    "table_close": "</table></div>\n",
    "thead_open": "<thead>\n",
    "thead_close": "</thead>\n",
    "tbody_open": "<tbody>\n",
    "tbody_close": "</tbody>\n",
    "tr_open": "<tr>",
    "tr_close": "</tr>\n",
    "th_close": "</th>",
    "td_close": "</td>",
}
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
            spans: Who gave which character of the reply.
            open_tag: The opening `<span …>` of a token, or nothing.
        """
        self.out: list[str] = []
        self._spans = spans
        self._open_tag = open_tag
        self._base = 0
        self._links: list[bool] = []

    def markdown(self, source: str, base: int) -> None:
        """Write a text as Markdown.

        Args:
            source: The text.
            base: Where it begins in the reply.
        """
        source = source.translate(_CLEAN)
        n_markdown = split_at_caps(source)
        self._base = base
        self._blocks(make_parser().parse(source[:n_markdown]))
        if n_markdown < len(source):
            self.plain(source[n_markdown:], base + n_markdown)

    def plain(self, text: str, offset: int) -> None:
        """Write a text as it is, from a place of the reply on."""
        self.out.append('<div class="plain">')
        self._put(text, offset)
        self.out.append("</div>\n")

    # ---------------------------------------------------------------------------- blocks

    def _blocks(self, tokens: Sequence[Token]) -> None:
        begins_item = False
        for token in tokens:
            tag = _PLAIN.get(token.type)
            if tag is not None:
                self.out.append(tag)
            elif token.type in ("fence", "code_block"):
                self._code(token)
            elif token.type == "inline":
                children: Sequence[Token] = token.children or []
                if begins_item:
                    label, children = take_task_marker(children)
                    self.out.append(_TASKS.get(label, ""))
                self._inline(children, places_of(token))
            elif not token.hidden:
                self.out.append(_block_tag(token))
            if token.type not in ("paragraph_open", "inline"):
                begins_item = token.type == "list_item_open"

    def _code(self, token: Token) -> None:
        words = token.info.split()
        language = escape(words[0][:_MAX_LANGUAGE_CHARS]) if words else ""
        label = f'<div class="language">{language}</div>' if language else ""
        self.out.append(f'<div class="code">{label}<pre><code>')
        self._place(token.content.removesuffix("\n"), places_of(token), 0)
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
                case "code_inline" | "math":
                    self.out.append("<code>")
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
                    self.out.append(_PLAIN.get(token.type, ""))

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
            self.out.append(escape(text[done:]))

    def _put(self, text: str, offset: int) -> None:
        for span in self._spans.over(offset, offset + len(text)):
            self._token(text[span.start - offset : span.end - offset], span)

    def _token(self, text: str, span: TokenSpan) -> None:
        tag = self._open_tag(span)
        self.out.append(f"{tag}{escape(text)}</span>" if tag else escape(text))


def _block_tag(token: Token) -> str:
    match token.type:
        case "paragraph_open" | "heading_open":
            return f"<{token.tag}>"
        case "paragraph_close" | "heading_close":
            return f"</{token.tag}>\n"
        case "ordered_list_open":
            start = token.attrGet("start")
            return "<ol>\n" if start is None else f'<ol start="{int(start)}">\n'
        case "th_open" | "td_open":
            style = str(token.attrGet("style") or "")
            side = next((side for side in _ALIGNED if side in style), "")
            return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"
    return ""


def _link_target(href: str) -> str:
    """The address, escaped, if it is one that may be opened; else an empty text."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not parts.netloc:
        return ""
    return escape(href)
