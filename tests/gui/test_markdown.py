from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gui.chat_help import committed
from paceline.chat.markdown import (
    MAX_LINE_CHARS,
    MAX_MARKDOWN_CHARS,
    MAX_MARKDOWN_LINES,
    shared_parser,
    split_at_caps,
)
from paceline.chat.syntax.code import MAX_HIGHLIGHT_CHARS
from paceline.engine.draft import registry
from paceline.gui.chat.markdown.code import PLAIN, highlight
from paceline.gui.chat.markdown.cuts import (
    Cut,
    can_append,
    find_cut,
    growth_of,
    link_target,
    split_bare_urls,
)
from paceline.gui.chat.markdown.provenance import Provenance, Segment, SourceMap, Span
from paceline.gui.chat.markdown.view import describe_token
from paceline.gui.look.colours import DARK, LIGHT, Theme
from paceline.gui.state.sources import Sources
from paceline.messages import TokenTrace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.chat.markdown.code import CodeRun

# ---------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("https://example.org/a?b=1#c", "https://example.org/a?b=1#c"),
        ("HTTP://EXAMPLE.ORG/", "http://example.org/"),
        ("https://münchen.de/ä", "https://xn--mnchen-3ya.de/%C3%A4"),
        ("https://a.org/\u202egpj.exe", "https://a.org/%E2%80%AEgpj.exe"),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("\\\\server\\share", ""),
        ("data:text/html,x", ""),
        ("mailto:someone@example.org", ""),
        ("//example.org", ""),
        ("https://", ""),
        ("relative/path", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_are_links(address: str, target: str) -> None:
    assert link_target(address) == target


SCHEMES = (
    "about afp blob bolt calculator chrome dict facetime feed file ftp ftps git gopher hcp help"
    " imap intent irc jar ldap magnet ms-excel ms-msdt ms-officecmd nfs news odbc res rsync"
    " search-ms sftp shell skype smb ssh steam svn telnet vbscript view-source vscode webcal ws"
)
"""Each of which some program has opened to its user's harm."""


@pytest.mark.parametrize("scheme", SCHEMES.split())
def test_no_other_scheme_is_a_link(scheme: str) -> None:
    for address in (f"{scheme}://example.org/x", f"{scheme.upper()}:x", f"{scheme}:https://a.org"):
        assert link_target(address) == ""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see https://a.org/x.", "https://a.org/x"),
        ("(https://a.org/x)", "https://a.org/x"),
        ("at http://localhost:8000/x?y=1, or", "http://localhost:8000/x?y=1"),
        ("nothing here", ""),
        ("ftp://a.org/x", ""),
    ],
)
def test_bare_addresses_are_found(text: str, address: str) -> None:
    parts = split_bare_urls(text)
    assert "".join(part for part, _ in parts) == text
    assert "".join(link for _, link in parts) == address


# --------------------------------------------------------------------------------------- caps


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", 5),
        ("a\n" * (MAX_MARKDOWN_LINES + 9), 2 * MAX_MARKDOWN_LINES),
        ("ok\n" + "x" * (MAX_LINE_CHARS + 1), 3),
        ("ok\n" + "|a" * 200, 3),
        ("ok\n" + "> " * 200 + "deep", 3),
        ("*" * 9_000, 0),
        (f"{'x' * 99}\n" * 1_000, MAX_MARKDOWN_CHARS // 100 * 100),
    ],
)
def test_what_is_too_much_stays_plain(text: str, shown: int) -> None:
    assert split_at_caps(text) == shown


# ----------------------------------------------------------------------------- where to cut


def cut(text: str) -> Cut:
    return find_cut(shared_parser().parse(text), text.split("\n"))


@pytest.mark.parametrize(
    ("text", "growth"),
    [
        ("A paragraph that is long enough", "text"),
        ("Too short", "none"),
        ("A paragraph that ends with **bold**", "none"),
        ("A paragraph that ends with a blank ", "none"),
        ("1. could still be a list, who knows", "none"),
        ("> A quote that is long enough here", "none"),
        ("An address https://example.org/this", "none"),
        ("```python\nx = 1", "code"),
        ("```python\nx = 1\n", "code"),
        ("```python\nx = 1\n   ", "none"),
        ("```python\n", "none"),
        ("```python\nx = 1\n```", "none"),
        ("- ```\n  x = 1", "none"),
        ("", "none"),
    ],
)
def test_what_can_simply_grow(text: str, growth: str) -> None:
    assert growth_of(shared_parser().parse(text), text.split("\n")) == growth


def test_markup_ends_the_growth() -> None:
    assert can_append("text", " and more words.", "A paragraph", "")
    for added in ("*", "`", "[", "\n", "<", "&", "\\", "~", "|", "_", "http://x"):
        assert not can_append("text", added, "A paragraph", ""), added
    assert not can_append("none", "a", "", "")
    assert can_append("code", "*x[0]\n  y = `1`", "z = ", "```")
    assert not can_append("code", "\n``", "z = 1", "```")
    assert not can_append("code", "`", "``", "```")


# --------------------------------------------------------------------------------- provenance


def trace(source: str, end: int, position: int = 0, confidence: float | None = 0.93) -> TokenTrace:
    return TokenTrace(7, source, position, confidence, end)


def test_neighbours_of_one_kind_are_one_span() -> None:
    known = Provenance()
    known.add(
        committed(
            "", trace("draft", 3), trace("draft", 5), trace("target", 8, -1), step=1, n_drafted=4
        )
    )
    known.add(
        committed(
            "",
            trace("suffix", 10),
            trace("prompt-lookup", 12),
            trace("draft", 12),
            step=2,
            n_drafted=3,
        )
    )
    assert known.spans([Segment(100, 0, 20, 20)]) == [
        Span(100, 105, "draft"),
        Span(108, 112, "lookup"),
    ]
    # Markup between two shown pieces is gone in the document.
    assert known.spans([Segment(0, 1, 2, 2), Segment(2, 4, 1, 1)]) == [Span(0, 3, "draft")]
    assert known.record_at(4) is not None
    assert known.record_at(12) is None


def test_a_place_in_the_document_has_its_place_in_the_source() -> None:
    places = SourceMap()
    places.put("ab", 0, 2)
    places.put("cd", 2, 4)
    assert places.segments == [Segment(0, 2, 4, 4)], "what touches in both is one piece"
    places.put("e🎉f", 5, 8)
    assert [places.offset_at(position) for position in range(10)] == [
        *(2, 3, 4, 5, None),
        *(8, 9, 9, 10, None),
    ]
    places.put_all_at("≂̸", 9, 20)
    assert (places.offset_at(9), places.offset_at(10)) == (20, 20)
    places.truncate(1)
    assert places.offset_at(5) is None


@pytest.mark.parametrize(
    ("text", "n_lines"),
    [
        ("One paragraph\n\nAnother on", 0),  # what it opens is not settled
        ("One paragraph\n\nAnother one that is longer", 2),
        ("One\n-", 0),  # may become a heading or a list
        ("- one\n- two", 0),
        ("- one\n- two\n- three that is long enough", 2),
    ],
)
def test_only_what_can_not_change_is_cut_off(text: str, n_lines: int) -> None:
    assert find_cut(shared_parser().parse(text), text.split("\n")).n_lines == n_lines


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (trace("draft", 3, 1), "right guess · Draft model · 2nd of 4 · confidence 0.93 · step 118"),
        (trace("plugin.gone", 3, 10, None), "right guess · plugin.gone · 11th of 4 · step 118"),
        (trace("prompt-lookup", 3, 0, None), "right guess · Prompt lookup · 1st of 4 · step 118"),
        (trace("draft", 3, 2, None), "right guess · Draft model · 3rd of 4 · step 118"),
    ],
)
def test_a_token_is_described_in_words(given: TokenTrace, text: str) -> None:
    known = Provenance(Sources(registry.available()))
    known.add(committed("", given, step=118, n_drafted=4))
    record = known.record_at(0)
    assert record is not None
    assert describe_token(record) == text


@pytest.mark.parametrize(
    ("accepted", "drafted", "ending"),
    [(0, 0, "step 7"), (2, 2, "bonus"), (1, 2, "wrong guess"), (0, 2, "wrong guess")],
)
def test_a_token_of_the_targets_says_after_what_it_came(
    accepted: int, drafted: int, ending: str
) -> None:
    known = Provenance()
    drafts = [trace("draft", end + 1, end) for end in range(accepted)]
    own = trace("target", accepted + 1, -1, None)
    known.add(committed("", *drafts, own, step=7, n_drafted=drafted))
    record = known.record_at(accepted)
    assert record is not None
    assert describe_token(record).endswith(ending)


# --------------------------------------------------------------------------------------- code


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_code_is_coloured_and_complete(theme: Theme) -> None:
    code = 'def f(x):\n    """Doc\n\n    string."""\n    return "é" + 1  # why\n\n'
    lines = highlight(code, "Python", theme.name)
    assert text_of(lines) == code
    colours = {run.text: run.style.colour for line in lines for run in line}
    assert colours["def"]
    assert colours["def"] != colours["# why"]
    accents = {LIGHT.accent, LIGHT.lookup, DARK.accent, DARK.lookup}
    assert accents.isdisjoint(colours.values())


def text_of(lines: Sequence[Sequence[CodeRun]]) -> str:
    return "\n".join("".join(run.text for run in line) for line in lines)


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("$ ls\na b", "console"),
        ("db=# select 1;\n 1", "psql"),
        (">>> 1\n1", "pycon"),
        ("text\n> f = 1", "literate-haskell"),
        ("\ufeffa\r\rb", "robotframework"),
        ("x = 1", ""),
        ("x = 1", "no-such-language"),
        ("x = 1\n" * MAX_HIGHLIGHT_CHARS, "python"),
    ],
)
def test_all_of_the_code_is_shown_whatever_its_grammar_makes_of_it(
    code: str, language: str
) -> None:
    lines = highlight(code, language, LIGHT.name)
    assert text_of(lines) == code
    if "=" in code and "1\n1" not in code and language in ("", "no-such-language", "python"):
        assert {run.style for line in lines for run in line} == {PLAIN}
