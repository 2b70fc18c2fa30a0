"""A conversation as one HTML page: no scripts, nothing from elsewhere, light and dark.

Replies are rendered, and each token has the colour of its drafter; a tooltip says the token's step,
drafter, place and confidence. Formulas are their source, as code is. The page's own policy forbids
loading anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from string import Template
from typing import NamedTuple

from paceline.chat.difference import as_table, compare
from paceline.chat.exchange.page_text import PageText, TokenSpan, TokenSpans
from paceline.chat.exchange.words import (
    Sourcing,
    Words,
    date_text,
    end_line,
    figures_line,
    system_prompt_of,
    token_line,
)
from paceline.chat.markdown import as_json
from paceline.chat.reasoning import split_reasoning
from paceline.chat.reply import known_of
from paceline.conversation import Conversation, Message, heading_of
from paceline.messages import SOURCE_TARGET
from paceline.names import visible
from paceline.run_record import RunRecord
from paceline.sizes import readable_size

MAX_VERSIONS = 8
"""Upper bound of the versions of a reply on a page, the newest; each takes twice the size of the
reply."""


class PageLook(NamedTuple):
    """Colours and words of a page.

    Attributes:
        light: Colours on light ground, each "#rrggbb": all of `COLOURS`, or more.
        dark: Colours on dark ground, used where the system asks for them.
        sourcing: The drafters' names.
        words: All other words.
        language: Language of those words, as in ``<html lang>``.
    """

    light: Mapping[str, str]
    dark: Mapping[str, str]
    sourcing: Sourcing
    words: Words = Words()
    language: str = "en"


def to_html(
    conversation: Conversation,
    records: Mapping[str, RunRecord],
    look: PageLook,
    *,
    version: str = "",
    now_s: float = 0.0,
) -> str:
    """Return the shown path as a page.

    Args:
        conversation: The conversation.
        records: Records of its replies, by message id; without steps there are no colours.
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
    def __init__(self, look: PageLook) -> None:
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
        if message.text:
            self.out.append(f'<div class="plain">{escape(message.text)}</div>\n')
        self.out.append("</section>\n")

    def reply(self, message: Message, record: RunRecord | None) -> None:
        spans = TokenSpans(record.steps if record is not None else ())
        text = PageText(spans, partial(_open_tag, self._look))
        self.out.append(
            f'<section class="reply"><h2 class="who">{escape(self._words.reply)}</h2>\n'
        )
        known = known_of(record)
        for part in split_reasoning(message.text, known):
            piece, n_before = message.text[part.start : part.end], 0
            if part.kind == "answer":
                if known.is_json:
                    piece, n_before = as_json(piece)
                text.markdown(piece, part.start - n_before)
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
            if other is shown or number <= len(siblings) - MAX_VERSIONS:
                continue
            summary = escape(self._words.version.format(other=number, n=len(siblings)))
            table = as_table(compare(other.text, shown.text))
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


def _open_tag(look: PageLook, span: TokenSpan) -> str:
    trace, step = span.trace, span.step
    if trace is None or step is None:
        return ""
    title = escape(token_line(trace, step, look.words, look.sourcing))
    if trace.source == SOURCE_TARGET:
        return f'<span title="{title}">'
    return f'<span class="{_kind(look, trace.source)}" title="{title}">'


def _kind(look: PageLook, source: str) -> str:
    return "m" if source in look.sourcing.models else "l"


def _style(look: PageLook) -> str:
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
.formula { display: block; margin: 10px 0; padding: 8px 14px; }
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
"""Names of colours in the style sheet: those of the window's themes and of kinds of code."""
