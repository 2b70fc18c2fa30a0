"""The exported page: exact colours, nothing from elsewhere, nothing unescaped."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.markdown_cases import Atom, documents, seen_in, source_of
from paceline.chat.exchange.page import COLOURS, PageLook, to_html
from paceline.chat.exchange.words import Sourcing
from paceline.conversation import Attachment, Conversation, Message
from paceline.figures import DraftCount, TokenTrace
from paceline.messages import StepCommitted
from paceline.params import SamplingParams
from paceline.run_record import RunError, RunRecord
from storage.chats import record

LIGHT = dict.fromkeys(COLOURS, "#123456")
LOOK = PageLook(LIGHT, LIGHT | {"window": "#000000"}, Sourcing({"suffix": "Suffix tree"}))
VOID = {"meta", "br", "hr"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4", "h5", "h6",
    "p", "section", "div", "span", "details", "summary", "pre", "code", "ul", "ol", "li", "table",
    "thead", "tbody", "tr", "th", "td", "blockquote", "strong", "em", "s", "a", "br", "hr", "i",
    "footer", "sub", "sup",
}  # fmt: skip
SOURCES = ("target", "draft", "suffix")
CLASSES = {"target": "", "draft": "m", "suffix": "l"}


class Page(HTMLParser):
    """Reads a page strictly: every tag is known and closed; keeps each character and its span."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.chars: list[tuple[str, str, str]] = []  # in replies: character, class, title
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        names = [tag for tag, _ in self.open]
        self.texts.append(data)
        in_reply = any(attrs.get("class") == "reply" for _, attrs in self.open)
        is_label = any(
            attrs.get("class") in ("who", "small", "language", "failed") or tag == "summary"
            for tag, attrs in self.open
        )
        if not in_reply or is_label:
            return
        span = next((attrs for tag, attrs in self.open if tag == "span"), {})
        assert names.count("span") <= 1
        for char in data:
            self.chars.append((char, span.get("class") or "", span.get("title") or ""))


def reply_page(text: str, steps: tuple[StepCommitted, ...] = (), **changes: object) -> str:
    """The page of one question and this reply."""
    conversation = Conversation("c", "Title")
    conversation = conversation.add(Message.of_text("q", None, "user", "Why?"))
    conversation = conversation.add(Message.of_text("a", "q", "assistant", text))
    made = replace(RunRecord("a", "finished", steps=steps), **changes)  # type: ignore[arg-type]
    return to_html(conversation, {"a": made}, LOOK)


def one_token_per_character(text: str) -> tuple[StepCommitted, ...]:
    """Step n gives character n; drafters take turns."""
    return tuple(
        StepCommitted(
            n,
            (TokenTrace(n, SOURCES[n % 3], -1 if n % 3 == 0 else 0, None, n + 1),),
            text[n],
            (DraftCount("draft", 2, 1),),
            0, 0, 0, 0,
        )
        for n in range(len(text))
    )  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(documents())
def test_every_visible_character_leads_to_its_token(atoms: list[Atom]) -> None:
    text = source_of(atoms)
    page = Page(reply_page(text, one_token_per_character(text)))
    seen = [
        (char, int(title.rsplit("step ", 1)[1]) if title else -1, css)
        for char, css, title in page.chars
        if not char.isspace() and char not in "☐☑"
    ]
    expected = [(char, at, CLASSES[SOURCES[at % 3]]) for char, at in seen_in(atoms)]
    assert seen == expected


def test_hovering_shows_drafter_position_and_confidence() -> None:
    tokens = (TokenTrace(1, "suffix", 1, 0.875, 3), TokenTrace(2, "target", -1, None, 5))
    step = StepCommitted(7, tokens, "ab <b", (DraftCount("suffix", 4, 2),), 0, 0, 0, 0)
    page = Page(reply_page("ab <b", (step,)))
    told = dict.fromkeys((css, title) for _, css, title in page.chars if title)
    assert list(told) == [
        ("l", "guess of Suffix tree · 2 of 4 · step 7 · confidence 0.88"),
        ("", "the model's own · step 7"),
    ]
    assert "".join(char for char, _, _ in page.chars).strip() == "ab <b"
    assert "Who wrote ahead: Suffix tree the model itself" in " ".join("".join(page.texts).split())


HOSTILE = (
    "<script>alert(1)</script>",
    '<img src="http://evil.example/x.png" onerror=alert(1)>',
    "![pic](http://evil.example/x.png)",
    "[x](javascript:alert(1)) [y](data:text/html,hi) [z](//evil.example)",
    '"><style>@import url(http://evil.example);</style>',
    "</section></main></body></html>",
    "<!-- $title ${style} $$ -->",
    "```html\n<script>\n```",
    '```"><script>\nx\n```',
    "| <b> | &lt; |\n|---|---|\n| <i> | </td> |",
    "<svg/onload=alert(1)> &#x3c;script&#x3e;",
    "<think></details><script>alert(1)</script></think>done",
    "a\x00b\rc\x0bd\u2028e\x1b[31m",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_text_becomes_markup(text: str) -> None:
    conversation = Conversation(text, text, tags=(text,))
    file = Attachment(text, text, 5)
    conversation = conversation.add(
        Message.of_text("q", None, "user", text, 1.0, attachments=(file,))
    )
    conversation = conversation.add(Message.of_text("a", "q", "assistant", text))
    made = replace(
        record("a", text),
        strategy=text,
        system_prompt=text,
        error=RunError("x", text),
        steps=(StepCommitted(0, (TokenTrace(0, text, 0, 0.5, 9),), text, (), 0, 0, 0, 0),),
    )
    html = to_html(conversation, {"a": made}, LOOK, version=text, now_s=1e9)
    page = Page(html)  # knows which tags there may be
    for tag, attrs in page.tags:
        assert not any(name.startswith("on") or name in ("src", "srcset") for name in attrs)
        if "href" in attrs:
            assert tag == "a"
            assert re.match(r"https?://", attrs["href"] or "")
    style = html[html.index("<style>") : html.index("</style>")]
    assert not re.search(r"url\(|@import|expression", style)
    used = set(re.findall(r"var\(--(.*?)\)", style))
    assert used == set(re.findall(r"--(\S+):", style)), "every colour has its value"
    assert html.count("<script") == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from((*HOSTILE, "\n\n", "> ", "- ", "1. ", "**", "`", "    ")), max_size=8)
)
def test_any_mixture_makes_a_page_whose_tags_are_closed(parts: list[str]) -> None:
    text = "".join(parts)
    Page(reply_page(text, one_token_per_character(text)))


def test_lists_and_tables_are_as_they_were_written() -> None:
    html = reply_page("1. one\n\n---\n\n3. three\n\n| a | b |\n|:-|-:|\n| 1 | 2 |\n")
    assert [attrs for tag, attrs in Page(html).tags if tag == "ol"] == [{}, {"start": "3"}]
    assert '<tr><td class="left">1</td><td class="right">2</td></tr>' in html


def test_links_to_the_web_stay_links() -> None:
    page = Page(reply_page('See [this](https://example.org/?a=1&b="2") and <https://x.org>.'))
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert links == ["https://example.org/?a=1&b=%222%22", "https://x.org"]


def test_the_page_allows_itself_nothing_and_has_both_themes() -> None:
    html = reply_page("Hello")
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert "prefers-color-scheme: dark" in html
    assert html.count("--window: #123456;") == 1
    assert html.count("--window: #000000;") == 1


def test_reasoning_is_folded_and_keeps_its_colours() -> None:
    text = "<think>Hm *so*</think>\n\nYes"
    page = Page(reply_page(text, one_token_per_character(text)))
    seen = [(c, t) for c, _, t in page.chars if not c.isspace()]
    assert "".join(c for c, _ in seen) == "HmsoYes"
    assert [int(t.rsplit(" ", 1)[1]) for _, t in seen] == [
        text.index("H"), text.index("m "), text.index("so"), text.index("so") + 1, *range(24, 27)
    ]  # fmt: skip
    assert ("details", {"class": "thoughts"}) in page.tags


def test_formulas_are_their_source_in_the_colours_of_its_tokens() -> None:
    text = "So $a^2$ and\n\n$$\\frac{x}{<y>}$$\n\n```math\nx & y\\\\\nz\n```\n\nand $\\foo$."
    html = reply_page(text, one_token_per_character(text))
    page = Page(html)
    assert [attrs for tag, attrs in page.tags if tag == "code"] == [
        {}, {"class": "formula"}, {"class": "formula"}, {},
    ]  # fmt: skip
    seen = [(char, title.rsplit("step ", 1)[1]) for char, _, title in page.chars if title]
    assert seen == [(char, str(at)) for at, char in enumerate(text) if not char.isspace()]
    assert re.search(r"^code \{[^}]*white-space: pre-wrap", html, re.MULTILINE)


def test_other_versions_of_a_reply_stand_beside_it_with_their_differences() -> None:
    chat = Conversation("c").add(Message.of_text("q", None, "user", "Where?"))
    chat = chat.add(Message.of_text("old", "q", "assistant", "In <Paris>, a big city."))
    chat = chat.add(Message.of_text("new", "q", "assistant", "In <Paris>, a huge city."))
    page = Page(to_html(chat, {}, LOOK))
    assert "Beside version 1 of 2" in page.texts
    marked = [attrs["class"] for tag, attrs in page.tags if tag == "span" and "class" in attrs]
    assert marked == ["gone", "new"]
    assert {"big", "huge"} <= set(page.texts)


def test_only_the_newest_versions_are_exported() -> None:
    chat = Conversation("c").add(Message.of_text("q", None, "user", "Where?"))
    for n in range(12):
        chat = chat.add(Message.of_text(f"r{n}", "q", "assistant", f"There, {n}."))
    page = Page(to_html(chat, {}, LOOK))
    assert [text for text in page.texts if text.startswith("Beside")] == [
        f"Beside version {n} of 12" for n in range(5, 12)
    ]


def test_blanks_around_a_token_have_no_colour() -> None:
    """Indentation is no word that somebody guessed."""
    text = "```py\n    x = 1\n```\n"
    trace = TokenTrace(1, "draft", 0, None, len(text))
    step = StepCommitted(1, (trace,), text, (DraftCount("draft", 1, 1),), 0, 0, 0, 0)
    page = reply_page(text, (step,))
    assert re.search(r"<code>    <span [^>]*>x = <i [^>]*>1</i></span>", page)


def test_code_has_its_colours_within_those_of_tokens() -> None:
    text = "```py\nreturn 1  # one\n```\n"
    tokens = (TokenTrace(1, "draft", 0, None, 11), TokenTrace(1, "target", -1, None, len(text)))
    step = StepCommitted(1, tokens, text, (DraftCount("draft", 1, 1),), 0, 0, 0, 0)
    page = reply_page(text, (step,))
    # A word that two tokens share is marked in both.
    drafted = r'<span class="m" [^>]*><i class="keyword">retur</i></span>'
    own = r'<span title[^>]*><i class="keyword">n</i> <i class="number">1</i>'
    assert re.search(f'{drafted}{own}  <i class="comment"># one</i></span></code>', page)
    assert "--keyword: #" in page
    unknown = "```nothing\nreturn 1\n```\n"
    assert "<i " not in reply_page(unknown, ())


def test_json_by_a_schema_is_code_in_the_colours_of_its_tokens() -> None:
    text = '\n{"a": *1*}\n'
    steps = one_token_per_character(text)
    page = Page(reply_page(text, steps, sampling=SamplingParams(json_schema="{}")))
    assert "".join(char for char, _, _ in page.chars).strip() == text.strip()
    assert ("pre", {}) in page.tags
    titles = [title for char, _, title in page.chars if char == "1"]
    assert titles[0].endswith(f"step {text.index('1')}")
    assert ("pre", {}) not in Page(reply_page(text, steps)).tags
