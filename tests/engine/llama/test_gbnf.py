"""The meaning of texts in GBNF, written as regular expressions where there is no recursion."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.llama.grammars.gbnf import (
    Alternation,
    Chars,
    Concatenation,
    GrammarError,
    Node,
    Ref,
    Repeat,
    read,
)


def regex(rules: dict[str, Node], node: Node) -> str:
    if isinstance(node, Chars):
        return "[" + "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in node.ranges) + "]"
    if isinstance(node, Ref):
        return regex(rules, rules[node.rule])
    if isinstance(node, Repeat):
        most = "" if node.most is None else node.most
        return f"(?:{regex(rules, node.item)}){{{node.least},{most}}}"
    parts = [regex(rules, each) for each in node.items]
    return f"(?:{'|'.join(parts)})" if isinstance(node, Alternation) else "".join(parts)


def matches(gbnf: str, text: str) -> bool:
    rules = read(gbnf)
    return re.fullmatch(regex(rules, rules["root"]), text) is not None


@pytest.mark.parametrize(
    ("gbnf", "right", "wrong"),
    [
        ('root ::= "a" | "b" "c"', ["a", "bc"], ["ac", "b", ""]),
        ('root ::= "ab"*', ["", "abab"], ["abb"]),
        ('root ::= "a" "b"*', ["a", "abb"], ["abab"]),
        ('root ::= ("a" "b")+ "c"?', ["ab", "ababc"], ["c"]),
        ('root ::= "a"{2} "b"{1,} "c"{0,1} "d"{0}', ["aab", "aabbc"], ["ab", "aabccc", "aabd"]),
        ('root ::= "a"{ 1 , 2 }', ["a", "aa"], ["", "aaa"]),
        ('root ::= "a"{2}{2}', ["aaaa"], ["aa"]),
        ("root ::= [a-c]", ["a", "b", "c"], ["d", "-"]),
        ("root ::= [a-] | [-b]", ["a", "-", "b"], ["c"]),
        ("root ::= [a\\-c]", ["a", "-", "c"], ["b"]),
        ("root ::= [\\]\\[^\\\\]", ["]", "[", "^", "\\"], ["a"]),
        ("root ::= [^a\\n]", ["b", "\r", "é", "😀", "\0"], ["a", "\n"]),
        ("root ::= .", ["a", "\n", "\0", "😀"], ["", "ab"]),
        (r'root ::= "\x41\u00e9\U0001F600\t\r\n\"\\\[\]"', ['Aé😀\t\r\n"\\[]'], ["A"]),
        ("root ::= [\\x41-\\u0043]", ["A", "B", "C"], ["D"]),
        ('root ::= "x" |', ["x", ""], ["xx"]),
        ('root ::= | "x"', ["x", ""], ["xx"]),
        ("root ::=", [""], ["x"]),
        ('root ::= () "" "a"', ["a"], [""]),
        ('root ::= "a" # | "b"\n', ["a"], ["b"]),
        ('root ::= "a#b"', ["a#b"], ["a"]),
        ('root ::= "a" |\n "b"', ["a", "b"], [""]),
        ('root ::= (\n"a"\r\n| "b"\n)', ["a", "b"], [""]),
        ('root ::= ws "a"\r\nws ::= " "*\r\n', ["a", "  a"], ["a "]),
        ('root ::= A-1\nA-1 ::= 2\n2 ::= "b"', ["b"], ["a"]),
        ('root ::= "a"\nroot ::= "b"', ["b"], ["a"]),
        ('root::="a"b\nb::="c"', ["ac"], ["a"]),
    ],
)
def test_a_grammar_means(gbnf: str, right: list[str], wrong: list[str]) -> None:
    for text in right:
        assert matches(gbnf, text), text
    for text in wrong:
        assert not matches(gbnf, text), text


def test_what_is_read_does_not_depend_on_brackets_around_it() -> None:
    plain, wrapped = read('root ::= "a"'), read("root ::= " + "(" * 5000 + '"a"' + ")" * 5000)
    assert isinstance(plain["root"], Chars)
    assert isinstance(wrapped["root"], Chars)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_can_be_written_in_codes(text: str) -> None:
    codes = "".join(f"\\U{ord(c):08x}" for c in text)
    assert matches(f'root ::= "{codes}"', text)
    assert matches("root ::= " + " ".join(f"[\\U{ord(c):08x}]" for c in text), text)


@given(st.characters(exclude_categories=["Cs"]), st.characters(exclude_categories=["Cs"]))
def test_a_class_and_its_opposite_share_nothing_and_leave_nothing(member: str, char: str) -> None:
    code = f"\\U{ord(member):08x}"
    assert matches(f"root ::= [{code}]", char) != matches(f"root ::= [^{code}]", char)
    assert matches(f"root ::= [{code}]", char) == (member == char)


@given(st.text('ab|()[]{}"*+?.,:=^-#\\ \n\r019', max_size=30))
def test_any_other_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(GrammarError):
        assert "root" in read("root ::= " + text)


def test_empty_rows_are_nothing() -> None:
    root = read('root ::= "" | "a"')["root"]
    assert isinstance(root, Alternation)
    assert isinstance(root.items[0], Concatenation)
    assert root.items[0].items == ()
