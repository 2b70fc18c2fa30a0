"""Grammars cut into lexemes: as far as the parts that follow need it, and no further."""

from __future__ import annotations

import pytest

from paceline.engine.llama.grammars.gbnf import read
from paceline.engine.llama.grammars.lexemes import write


def lines(gbnf: str) -> list[str]:
    return write(read(gbnf)).lines


def n_lexemes(line: str) -> int:
    return line.count("/") // 2


def test_what_is_regular_is_one_lexeme() -> None:
    assert lines('root ::= "a" ("b" | [c-d])* "e"{2,3}') == [
        r"r0: /\x{61}(?:(?:\x{62}|[\x{63}-\x{64}]))*(?:\x{65}){2,3}/"
    ]


def test_rules_that_are_regular_are_parts_of_a_lexeme() -> None:
    rules = lines('root ::= word " " word\nword ::= [a-z]+')
    assert rules[0] == "r0: T0"
    assert len(rules) == 2


def test_a_recursive_rule_keeps_lexemes_that_leave_what_follows() -> None:
    first = lines('root ::= "[" [a-z]+ ", " root "]" | [0-9]+')[0]
    assert n_lexemes(first) == 3  # two words beside the recursion, and a number


@pytest.mark.parametrize(
    ("gbnf", "first"),
    [
        ('root ::= word "s" root | "."\nword ::= [a-z]+', r"r0: /\x{2e}/ | r1 /\x{73}/ r0"),
        ('root ::= ("a" | "ab") r\nr ::= "b" root | "."', "r0: r1 r2"),
        ('root ::= [à-ü]+ r\nr ::= "é" root | "."', r"r0: /[\x{e0}-\x{fc}]/+ r1"),
        ('root ::= "a"{50,60} r\nr ::= "a" root | "."', r"r0: /\x{61}/{50,60} r1"),
    ],
)
def test_a_lexeme_that_could_take_what_follows_is_cut(gbnf: str, first: str) -> None:
    assert lines(gbnf)[0] == first


def test_free_text_between_recursive_parts_is_one_lexeme() -> None:
    rules = lines('root ::= ([^()] | "(" root ")")*')
    assert r"/(?:[\x{0}-\x{27}\x{2a}-\x{d7ff}\x{e000}-\x{10ffff}])*/" in rules[0]


def test_each_rule_of_the_library_is_known_by_the_users_rule() -> None:
    written = write(read('root ::= item ","\nitem ::= ("a" item | "b" root) | "c"'))
    assert {line.partition(":")[0] for line in written.lines} <= set(written.owners)
    assert set(written.owners.values()) <= {"root", "item"}
