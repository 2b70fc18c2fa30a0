"""Markdown of which it is known, by how it was made, which character of it is seen where.

Everything is a row of atoms: what stands in the source, and what is seen of it. So the reference of
the tests needs neither a parser nor a search.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st


class Atom(NamedTuple):
    """Source text and what is seen of it: itself, nothing, or (an entity) another text."""

    source: str
    seen: str


Line = tuple[Atom, ...]
Inline = tuple[Atom, ...]


def hidden(text: str) -> Atom:
    return Atom(text, "")


def plain(text: str) -> Atom:
    return Atom(text, text)


def source_of(atoms: list[Atom]) -> str:
    return "".join(atom.source for atom in atoms)


def seen_in(atoms: list[Atom]) -> list[tuple[str, int]]:
    """Each character that is seen and no blank, and its place in the source."""
    result = []
    offset = 0
    for source, seen in atoms:
        last = len(source) - 1
        for index, char in enumerate(seen):
            if not char.isspace():
                result.append((char, offset + (index if seen == source else last)))
        offset += len(source)
    return result


WORDS = st.one_of(
    st.sampled_from(("a", "b", "aa", "ab", "x1", "the", "Zürich", "e\u0301", "日本語", "क्षि")),
    st.sampled_from(("😀", "👩‍👩‍👧", "🇩🇪🇫🇷", "👍🏽", "ﬁ", "שלום", "\u200bz", "𝒳y")),
    st.text(alphabet="abc12é漢🎉\u0308", min_size=1, max_size=5),
).map(plain)

SIGNS = st.sampled_from(
    (
        *((hidden("\\"), plain(sign)) for sign in "*_`[]()#+-.!|\\<>&~$"),
        (Atom("&amp;", "&"),),
        (Atom("&lt;", "<"),),
        (Atom("&#x1F600;", "😀"),),
        (Atom("&nbsp;", "\xa0"), plain("n")),
        (Atom("&NotEqualTilde;", "≂̸"),),
        (plain("&"),),
        (plain("<b>"), plain("R&D"), plain("</b>")),
        (plain("("), plain("a)")),
        (plain("$\\input a_1*b_2*c$"),),  # no formula: a page and a window show its source
        (plain("\\(\\input a_1*b\\)"),),
        (plain("H"), hidden("<sub>"), plain("2"), hidden("</sub>"), plain("O")),
        (plain("x"), hidden("<sup>"), plain("n*1*"), hidden("</sup>")),
        (plain("<sub>"),),
        (plain("1."),),
        (plain("~"),),
        (plain("https://a.org/x_y~z?q=1"),),
        (hidden("<"), plain("https://a.org/%20ä"), hidden(">")),
        (plain("a_b_c"),),
        (plain("[^1]"),),
        (plain("是"), hidden("**"), plain("“引用”"), hidden("**"), plain("文字")),
        (hidden("~~"), plain("旧："), hidden("~~"), plain("10")),
    )
)


def code(text: str) -> Inline:
    return hidden("`"), plain(text), hidden("`")


CODE = st.one_of(
    st.sampled_from(("a", "a*b*", "&amp;", "\\*", "[a](b)", "🎉 a", "x = 1")).map(code),
    st.just((hidden("`` "), plain("a`b"), hidden(" ``"))),
    st.just((hidden("``` "), plain("`` "), hidden("```"))),
)


def wrapped(mark: str) -> st.SearchStrategy[Inline]:
    def wrap(words: list[Inline]) -> Inline:
        return hidden(mark), *spaced(words), hidden(mark)

    inner = st.lists(
        WORDS.filter(lambda w: w.source.isalnum()).map(lambda w: (w,)), min_size=1, max_size=3
    )
    return inner.map(wrap)


@st.composite
def links(draw: st.DrawFn) -> Inline:
    inner = draw(
        st.one_of(
            WORDS.map(lambda w: (w,)), CODE, wrapped("**"), st.just((plain("https://a.org/a"),))
        )
    )
    address = draw(st.sampled_from(("https://a.org/a", "a", "x.html", "https://b.org/?a=a")))
    title = draw(st.sampled_from(("", ' "a a"')))
    before = draw(st.sampled_from(("[", "![")))
    return hidden(before), *inner, hidden(f"]({address}{title})")


def spaced(parts: list[Inline]) -> Inline:
    result: list[Atom] = []
    for part in parts:
        if result:
            result.append(plain(" "))
        result += part
    return tuple(result)


def inlines(max_size: int = 6) -> st.SearchStrategy[Inline]:
    part = st.one_of(
        WORDS.map(lambda w: (w,)),
        WORDS.map(lambda w: (w,)),
        SIGNS,
        CODE,
        wrapped("**"),
        wrapped("*"),
        wrapped("~~"),
        wrapped("***"),
        links(),
    )
    # A letter in front: else a sign could open a block.
    return st.lists(part, min_size=1, max_size=max_size).map(lambda p: spaced([(plain("w"),), *p]))


def paragraphs() -> st.SearchStrategy[list[Line]]:
    return st.lists(inlines(), min_size=1, max_size=3)


def headings() -> st.SearchStrategy[list[Line]]:
    def build(args: tuple[int, Inline, str]) -> list[Line]:
        level, inline, tail = args
        return [(hidden("#" * level + "  "), *inline, hidden(tail))]

    return st.tuples(st.integers(1, 6), inlines(4), st.sampled_from(("", " #", " ###"))).map(build)


def fences() -> st.SearchStrategy[list[Line]]:
    rows = st.lists(
        st.sampled_from(
            ("a", "a | b", "  **a**", "", "x = '&amp;'", "\ta\tb", "<b> 🎉", "- a", "# é")
        ),
        max_size=5,
    )

    def build(args: tuple[str, str, list[str]]) -> list[Line]:
        mark, language, lines = args
        return [
            (hidden(mark + language),),
            *((plain(line),) for line in lines),
            (hidden(mark),),
        ]

    return st.tuples(
        st.sampled_from(("```", "~~~~", "````")), st.sampled_from(("", "python", "a b")), rows
    ).map(build)


@st.composite
def tables(draw: st.DrawFn) -> list[Line]:
    n_columns = draw(st.integers(1, 3))
    cell = st.one_of(
        inlines(3).filter(lambda atoms: "|" not in source_of(list(atoms))),
        st.just((plain("a"), hidden("\\"), plain("|"), plain("a"))),
        st.just(()),
    )
    rows: list[Line] = []
    for number in range(draw(st.integers(1, 4)) + 1):
        if number == 1:
            rule = draw(st.sampled_from(("---", ":-:", "--:", "-")))
            rows.append((hidden("|" + "|".join([rule] * n_columns) + "|"),))
        row: list[Atom] = [hidden("|")]
        for _ in range(n_columns):
            row += [plain(" "), *draw(cell), plain(" "), hidden("|")]
        rows.append(tuple(row))
    return rows


def prefixed(lines: list[Line], first: str, other: str) -> list[Line]:
    return [(hidden(other if number else first), *line) for number, line in enumerate(lines)]


@st.composite
def bullets(draw: st.DrawFn, depth: int = 2) -> list[Line]:
    mark = draw(st.sampled_from(("- ", "* ", "7. ", "1) ", "- [ ] ", "- [x] ")))
    indent = " " * (2 if mark[0] in "-*" else 3)
    lines: list[Line] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += prefixed(draw(paragraphs()), mark, indent)
        if depth and draw(st.booleans()):
            lines += [(), *prefixed(draw(bullets(depth - 1)), indent, indent)]
    return lines


def quotes() -> st.SearchStrategy[list[Line]]:
    inner = st.one_of(paragraphs(), bullets(1), fences(), tables())
    return st.tuples(inner, st.sampled_from(("> ", "> > "))).map(
        lambda args: prefixed(args[0], args[1], args[1])
    )


BLOCKS = st.one_of(
    paragraphs(),
    paragraphs(),
    headings(),
    fences(),
    tables(),
    bullets(),
    quotes(),
    st.just([(hidden("---"),)]),
    st.just(
        [
            (hidden("---"),),
            (),
            (hidden("    "), plain("a *b* | &amp;")),
            (hidden("    "), plain("c")),
        ]
    ),
    st.just([(plain("[^1]: word"),)]),
    st.just([(plain("<div>a</div>"),)]),
    inlines(3).map(lambda line: [line, (hidden("==="),)]),
)


@st.composite
def documents(draw: st.DrawFn, max_blocks: int = 5) -> list[Atom]:
    """A whole text as atoms."""
    atoms: list[Atom] = []
    for block in draw(st.lists(BLOCKS, min_size=1, max_size=max_blocks)):
        for line in block:
            atoms += [*line, hidden("\n")]
        atoms.append(hidden("\n"))
    return atoms
