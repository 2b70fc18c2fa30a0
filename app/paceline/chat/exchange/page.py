"""A conversation as one HTML page: no scripts, nothing from elsewhere, light and dark.

Replies are rendered, and each character has the colour of its token's drafter; a tooltip says the
token's step, drafter, place and confidence. Formulas are MathML, which browsers draw themselves,
with their source within; a line below shows their tokens. The page's own policy forbids loading
anything.

The parser knows each visible character's place in the source (`chat.markdown`), and the steps
know which token has that place; so colours are exact in tables, code and escapes, too. Nothing of
the reply gets into the page unescaped, and only http and https become links.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from string import Template
from typing import NamedTuple
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from markdown_it.token import Token

from paceline.chat.code import kinds_in
from paceline.chat.difference import as_table, compare
from paceline.chat.exchange.words import (
    Sourcing,
    Words,
    date_text,
    end_line,
    figures_line,
    system_prompt_of,
    token_line,
)
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
from paceline.chat.maths import is_display, mathml
from paceline.chat.reasoning import split_reasoning
from paceline.chat.reply import known_of
from paceline.conversation import Conversation, Message, heading_of
from paceline.figures import TokenTrace
from paceline.messages import SOURCE_TARGET, StepCommitted
from paceline.names import visible
from paceline.run_record import RunRecord
from paceline.sizes import readable_size


class TokenSpan(NamedTuple):
    """Characters [start, end) of the reply and the token that has them; None: not known."""

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


# One character each, so that places stay: what the parser would make something else of.
_CLEAN = str.maketrans({"\r": " ", "\v": " ", "\f": " ", "\0": "\ufffd"})
_TASKS = {"box": "☐ ", "tick": "☑ "}
_SPREAD = frozenset({"ul", "ol", "blockquote", "table", "thead", "tbody", "hr"})
"""Tags that a new line follows."""
_CLOSE = frozenset({"strong", "em", "s", "th", "td"})
"""Tags whose end no new line follows."""
_ALIGNED = ("left", "center", "right")
_MAX_LANGUAGE_CHARS = 24
MOST_VERSIONS = 8
"""Of a reply, the newest ones; each takes as much room as the reply, twice."""


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
            base: Where it begins in the reply.
        """
        source = source.translate(_CLEAN)
        n_markdown = split_at_caps(source)
        self._base = base
        self._blocks(make_parser().parse(source[:n_markdown]))
        if n_markdown < len(source):
            self.plain(source[n_markdown:], base + n_markdown)

    def plain(self, text: str, offset: int) -> None:
        """Write a text as it is; `base` is its place in the reply."""
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
                case "math" if (root := mathml(token.content)) is not None:
                    self._formula(token, root, pieces)
                case "code_inline" | "math" | "open_math":
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
                    self.out.append(_tag(token))

    def _formula(self, token: Token, root: ET.Element, pieces: Sequence[Piece]) -> None:
        """Write a formula as MathML with its source, and below it its tokens by their length."""
        meaning = ET.Element("semantics")
        meaning.extend(list(root))
        source = ET.SubElement(meaning, "annotation", encoding="application/x-tex")
        source.text = token.content
        root[:] = [meaning]
        kind = "formula display" if is_display(token.content) else "formula"
        self.out.append(f'<span class="{kind}">{ET.tostring(root, encoding="unicode")}')
        at = token.meta.get(AT, 0)
        bar = []
        for length, offset in split_by_source(pieces, at, at + len(token.content)):
            start = self._base + offset
            for span in self._spans.over(start, start + length):
                tag = self._open_tag(span) or "<span>"
                bar.append(f'{tag[:-1]} style="flex: {span.end - span.start}"></span>')
        if any("class=" in part for part in bar):
            self.out.append(f'<span class="tokens">{"".join(bar)}</span>')
        self.out.append("</span>")

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


class Look(NamedTuple):
    """How a page looks and what it says.

    Attributes:
        light: Colours on light ground, each "#rrggbb": all of `COLOURS`, or more.
        dark: Colours on dark ground, used where the system asks for them.
        sourcing: The drafters' names.
        words: All other words.
        language: Of those words, as in ``<html lang>``.
    """

    light: Mapping[str, str]
    dark: Mapping[str, str]
    sourcing: Sourcing
    words: Words = Words()
    language: str = "en"


def to_html(
    conversation: Conversation,
    records: Mapping[str, RunRecord],
    look: Look,
    *,
    version: str = "",
    now_s: float = 0.0,
) -> str:
    """Return the shown path as a page.

    Args:
        conversation: The conversation.
        records: How its replies were made, by message id; without steps there are no colours.
        look: Colours and words.
        version: The program's version, for the page's foot.
        now_s: The time, in seconds since the epoch; 0 leaves the date out.
    """
    path = conversation.path()
    title = escape(visible(heading_of(conversation)) or look.words.reply)
    page = _Page(look)
    page.begin(conversation, system_prompt_of(path, records))
    for message in path:
        if message.role == "user":
            page.question(message)
        else:
            page.reply(message, records.get(message.message_id))
            siblings = conversation.siblings(message.message_id)
            page.versions(message, [m for m in siblings if m.role == message.role])
    exported = escape(look.words.exported.format(version=version, date=date_text(now_s)))
    return _PAGE.substitute(
        language=escape(look.language),
        title=title,
        style=_style(look),
        body="".join(page.out),
        foot=exported if now_s else "",
    )


class _Page:
    def __init__(self, look: Look) -> None:
        self.out: list[str] = []
        self._look = look
        self._words = look.words

    def begin(self, conversation: Conversation, system_prompt: str) -> None:
        date = date_text(conversation.created_s)
        tags = " ".join(f'<span class="tag">{escape(tag)}</span>' for tag in conversation.tags)
        if date or tags:
            self.out.append(f'<p class="small">{date} {tags}</p>\n')
        if system_prompt:
            self._folded(self._words.system_prompt, system_prompt)

    def question(self, message: Message) -> None:
        self.out.append(f'<section class="you"><h2 class="who">{escape(self._words.you)}</h2>\n')
        for file in message.attachments:
            size = readable_size(file.n_bytes)
            self._folded(self._words.attached.format(name=visible(file.name), size=size), file.text)
        if message.content:
            self.out.append(f'<div class="plain">{escape(message.content)}</div>\n')
        self.out.append("</section>\n")

    def reply(self, message: Message, record: RunRecord | None) -> None:
        spans = TokenSpans(record.steps if record is not None else ())
        text = PageText(spans, partial(_open_tag, self._look))
        self.out.append(
            f'<section class="reply"><h2 class="who">{escape(self._words.reply)}</h2>\n'
        )
        for part in split_reasoning(message.content, known_of(record)):
            piece = message.content[part.start : part.end]
            if part.kind == "answer":
                text.markdown(piece, part.start)
            elif part.kind == "reasoning" and piece.strip():
                summary = escape(self._words.reasoning)
                text.out.append(f'<details class="thoughts"><summary>{summary}</summary>\n')
                text.markdown(piece, part.start)
                text.out.append("</details>\n")
        self.out += text.out
        end = end_line(record, self._words)
        if end:
            self.out.append(f'<p class="failed">{escape(end)}</p>\n')
        line = figures_line(record, self._words)
        if line:
            self.out.append(f'<p class="small">{escape(line)}</p>\n')
        self._legend(spans.sources)
        self.out.append("</section>\n")

    def versions(self, shown: Message, siblings: Sequence[Message]) -> None:
        for number, other in enumerate(siblings, start=1):
            if other is shown or number <= len(siblings) - MOST_VERSIONS:
                continue
            summary = escape(self._words.version.format(other=number, n=len(siblings)))
            table = as_table(compare(other.content, shown.content))
            self.out.append(f"<details><summary>{summary}</summary>\n{table}</details>\n")

    def _legend(self, sources: list[str]) -> None:
        drafters = [source for source in sources if source != SOURCE_TARGET]
        if not drafters:
            return
        look = self._look
        marks = [
            f'<span class="{_kind(look, source)}">{escape(look.sourcing.title(source))}</span>'
            for source in drafters
        ]
        own = escape(self._words.legend_target)
        legend = escape(self._words.legend)
        self.out.append(f'<p class="small">{legend} {" ".join(marks)} <span>{own}</span></p>\n')

    def _folded(self, summary: str, text: str) -> None:
        self.out.append(
            f"<details><summary>{escape(summary)}</summary>"
            f'<div class="code"><pre><code>{escape(text)}</code></pre></div></details>\n'
        )


def _open_tag(look: Look, span: TokenSpan) -> str:
    trace, step = span.trace, span.step
    if trace is None or step is None:
        return ""
    title = escape(token_line(trace, step, look.words, look.sourcing))
    if trace.source == SOURCE_TARGET:
        return f'<span title="{title}">'
    return f'<span class="{_kind(look, trace.source)}" title="{title}">'


def _kind(look: Look, source: str) -> str:
    return "m" if source in look.sourcing.models else "l"


def _style(look: Look) -> str:
    return _STYLE.substitute(light=_variables(look.light), dark=_variables(look.dark))


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colours[name]};" for name in COLOURS)


_PAGE = Template(
    """<!DOCTYPE html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<main>
<h1>$title</h1>
$body<footer class="small">$foot</footer>
</main>
</body>
</html>
"""
)

_STYLE = Template(
    """:root { color-scheme: light dark; $light }
@media (prefers-color-scheme: dark) { :root { $dark } }
body { margin: 0; background: var(--window); color: var(--text);
  font: 15px/1.6 Inter, system-ui, sans-serif; overflow-wrap: break-word; }
main { max-width: 780px; margin: 0 auto; padding: 32px 20px 48px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 8px; }
section { margin: 24px 0; }
section :is(h1, h2, h3, h4, h5, h6) { line-height: 1.3; margin: 20px 0 8px; }
section h1 { font-size: 22px; } section h2 { font-size: 19px; } section h3 { font-size: 17px; }
section h2.who { font-size: 13px; font-weight: 600; color: var(--muted); margin: 0 0 6px; }
.you { background: var(--bubble); border-radius: 14px; padding: 12px 16px; }
.plain { white-space: pre-wrap; }
.small { color: var(--muted); font-size: 13px; margin: 8px 0; }
.failed { color: var(--danger); }
.tag { border: 1px solid var(--line); border-radius: 999px; padding: 1px 8px; }
.m { background: var(--accent_soft); border-bottom: 2px solid var(--accent); }
.l { background: var(--lookup_soft); border-bottom: 2px dotted var(--lookup); }
[title] { cursor: help; }
pre, code { font-family: "JetBrains Mono", ui-monospace, monospace; font-size: 13px; }
code { background: var(--bubble); border-radius: 4px; padding: 1px 4px;
  white-space: pre-wrap; }
.code { background: var(--code_surface); border: 1px solid var(--line); border-radius: 10px;
  margin: 10px 0; overflow: hidden; }
.code pre { margin: 0; padding: 12px 14px; overflow-x: auto; line-height: 1.55; }
.code code { background: none; padding: 0; white-space: pre; }
.code i { font-style: normal; }
i.keyword { color: var(--keyword); } i.string { color: var(--string); }
i.number { color: var(--number); } i.name { color: var(--name); }
i.builtin { color: var(--builtin); } i.wrong { color: var(--wrong); }
.code i.comment { color: var(--comment); font-style: italic; }
.formula { display: inline-flex; flex-direction: column; max-width: 100%; }
.formula.display { display: flex; align-items: center; margin: 10px 0; overflow-x: auto; }
.formula math { font-size: 1.1em; } .tokens { display: flex; align-self: stretch; }
.language { color: var(--muted); font-size: 12px; padding: 6px 14px;
  border-bottom: 1px solid var(--line); }
.table { overflow-x: auto; }
table { border-collapse: collapse; margin: 10px 0; }
th, td { border: 1px solid var(--line); padding: 5px 10px; text-align: left; }
th { background: var(--bubble); }
.center { text-align: center; } .right { text-align: right; }
.versions { table-layout: fixed; } .versions td { white-space: pre-wrap; vertical-align: top; }
.versions td.code { font-family: "JetBrains Mono", ui-monospace, monospace; font-size: 13px;
  border-radius: 0; }
.gone { background: var(--danger_soft); text-decoration: line-through; }
.new { background: var(--accent_soft); text-decoration: underline; }
blockquote { margin: 10px 0; padding-left: 14px; border-left: 3px solid var(--line);
  color: var(--muted); }
details { border: 1px solid var(--line); border-radius: 10px; padding: 8px 12px; margin: 10px 0; }
summary { color: var(--muted); cursor: pointer; }
a { color: var(--accent); }
hr { border: 0; border-top: 1px solid var(--line); margin: 16px 0; }
footer { margin-top: 40px; border-top: 1px solid var(--line); padding-top: 8px; }
@media print { details { border: 0; } .you, .m, .l { print-color-adjust: exact; } }
"""
)

COLOURS = sorted(set(re.findall(r"var\(--(\w+)\)", _STYLE.template)))
"""What the style sheet calls colours: as themes of the window and kinds of code are called."""
