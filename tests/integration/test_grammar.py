"""Grammars on the real sampler: what may come next, in whose copy, and what is refused how."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Grammar, VocabularyFile
from paceline.errors import EngineError, ValueOutOfRangeError
from schemas.walks import walk

if TYPE_CHECKING:
    from trials import Trials

TESTS = Path(__file__).resolve().parent.parent
JSON = r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" ["\\bfnrt] )* "\"" ws
number ::= "-"? ([0-9] | [1-9] [0-9]{0,15}) ("." [0-9]+)? ws
ws     ::= | " " | "\n" [ \t]{0,20}
"""


@pytest.fixture(scope="module")
def vocab(target_path: Path) -> Iterator[VocabularyFile]:
    vocab = LlamaBackend().load_vocabulary(str(target_path))
    yield vocab
    vocab.close()


def next_pieces(vocab: VocabularyFile, grammar: Grammar) -> set[bytes]:
    """The pieces of all tokens that may come next; an end of generation is written as nothing."""
    allowed = grammar.allowed().flags.nonzero()[0].tolist()
    return {b"" if t in vocab.eog else vocab.piece(t) for t in allowed}


def may_follow(vocab: VocabularyFile, grammar: Grammar) -> set[bytes]:
    """The same for all tokens that would be taken.

    Of a text that must follow, only the tokens that the tokenizer makes of it are allowed.
    """
    found = set()
    for token in range(vocab.n_tokens):
        copy = grammar.clone()
        try:
            copy.accept(token)
        except EngineError:
            continue
        finally:
            copy.close()
        found.add(b"" if token in vocab.eog else vocab.piece(token))
    return found


def go(vocab: VocabularyFile, grammar: Grammar, text: str) -> None:
    for token in vocab.tokenize(text, special=False):
        grammar.accept(token)


def test_a_list_of_words_against_plain_prefixes(vocab: VocabularyFile) -> None:
    words = [b"return", b"returns", b"reset", b"def f():", "naïve".encode()]
    pieces = {vocab.piece(t) for t in range(vocab.n_tokens) if t not in vocab.eog} - {b""}
    grammar = vocab.grammar('root ::= "return" "s"? | "reset" | "def f():" | "naïve"')
    done = b""
    for text in ("re", "turn", "s"):
        expected = {p for p in pieces if any(w.startswith(done + p) for w in words)}
        ends = {b""} if done in words else set()
        assert next_pieces(vocab, grammar) == expected | ends
        go(vocab, grammar, text)
        done += text.encode()
    assert next_pieces(vocab, grammar) == {b""}
    grammar.close()


def test_characters_may_be_split_over_tokens(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar('root ::= "€" [à-ü]')
    data = "€é".encode()
    by_byte = {vocab.piece(t): t for t in range(vocab.n_tokens) if len(vocab.piece(t)) == 1}
    for i, byte in enumerate(data):
        starts = may_follow(vocab, grammar)
        assert bytes([byte]) in starts
        assert next_pieces(vocab, grammar) <= starts
        assert b"" not in starts
        if i < 3:
            assert all(data[i:].startswith(p) or p.startswith(data[i:3]) for p in starts)
        grammar.accept(by_byte[bytes([byte])])
    assert next_pieces(vocab, grammar) == {b""}
    grammar.close()


def test_random_texts_of_the_json_grammar_are_json(vocab: VocabularyFile) -> None:
    rng = random.Random(1)
    begun = vocab.grammar(JSON)
    finished = 0
    for _ in range(25):
        grammar = begun.clone()
        text = walk(grammar, vocab, rng, limit=120)
        grammar.close()
        if text is not None:
            assert isinstance(json.loads(text), dict)
            finished += len(text) > 4
    assert finished > 3
    begun.close()


def test_a_control_token_is_not_the_text_of_its_name(vocab: VocabularyFile) -> None:
    (control,) = vocab.tokenize("<|im_start|>", special=True)
    for gbnf in ('root ::= "<|im_start|>"', "root ::= .+"):
        grammar = vocab.grammar(gbnf)
        assert not grammar.allowed().flags[control]
        with pytest.raises(EngineError):
            grammar.accept(control)
        go(vocab, grammar, "<|im_start|>")
        assert b"" in next_pieces(vocab, grammar)
        grammar.close()


def test_a_closed_grammar_is_refused_and_closing_twice_harmless(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar('root ::= "a"')
    grammar.close()
    grammar.close()
    calls: tuple[Callable[[], object], ...] = (
        grammar.allowed, grammar.forced, grammar.clone, lambda: grammar.accept(5),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(EngineError) as caught:
            call()
        assert caught.value.code == "grammar-closed"


def test_what_is_closed_is_freed(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar(JSON)
    process = psutil.Process()

    def copies(n: int) -> int:
        before = process.memory_info().rss
        for _ in range(n):
            grammar.clone().close()
        return process.memory_info().rss - before

    kept = [grammar.clone() for _ in range(200)]
    for clone in kept:
        clone.close()
    copies(200)
    assert copies(10_000) < 4 << 20  # a copy of this grammar takes several kB
    grammar.close()


# --------------------------------------------------------------------- texts cut into lexemes


@pytest.mark.parametrize(
    ("gbnf", "text"),
    [
        # A word that begins like another one, and a letter that the word before could take.
        ('root ::= [a-z]+ "b" r\nr ::= "(" r ")" | ""', "aab()"),
        ('root ::= item | "(" root ")"\nitem ::= "in" [ ]* [a-z]+ | [a-z]+ "!" root', "in!(in a)"),
        ('root ::= word "er" r\nword ::= [a-z]+\nr ::= "(" r ")" | ""', "lower()"),
        ('root ::= ("a" | "ab") ("c" | "bc") r\nr ::= "(" r ")" | ""', "abbc"),
        ('root ::= text "</" r\ntext ::= [^/]*\nr ::= "(" r ")" | ""', "a<b</()"),
        ('root ::= day day r\nday ::= [0-9]{1,2}\nr ::= "(" r ")" | ""', "12()"),
        ('root ::= [à-ü]+ "é" r\nr ::= "(" r ")" | ""', "éé"),
        ('root ::= [^x]* "é" r\nr ::= "è" r "ü" | ""', "aéèü"),
        ('root ::= ([^()] | p)*\np ::= "(" root ")"', "a(b(c)d)e"),
        ('root ::= l\nl ::= [^<] l | "<" l ">" | ""', "a<b<c>>"),
        ('root ::= root "+" root | [0-9]+ | "(" root ")"', "1+22+(3)"),
    ],
)
def test_a_part_leaves_what_follows_it(vocab: VocabularyFile, gbnf: str, text: str) -> None:
    by_char = {vocab.piece(t): t for t in range(vocab.n_tokens)}
    grammar = vocab.grammar(gbnf)
    for byte in text.encode():
        grammar.accept(by_char[bytes([byte])])
    assert grammar.allowed().flags[sorted(vocab.eog)].all()
    grammar.close()


# --------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("gbnf", "words"),
    [
        ("", "empty"),
        ("  \n# nothing\n", "no rule “root”"),
        ('start ::= "a"', "no rule “root”"),
        ("root", "line 1, column 5: “::=”"),
        ('root ::= "a"\nb_c ::= "d"', "line 2, column 2: “::=”"),
        ("root ::= item", "line 1, column 10: there is no rule “item”"),
        ('root ::= "abc', "line 1, column 10: a text in quotes is not closed"),
        ("root ::= [a-z", "“[” is not closed"),
        ('root ::= ("a" | "b"', "“)” is missing"),
        ('root ::= "a")', "“)” does not belong here"),
        ('root ::= "\\q"', "no such escape"),
        ("root ::= * ", "nothing before this to repeat"),
        ('root ::= "a"{}', "a number is expected"),
        ('root ::= "a"{1', "“}” is expected"),
        ('root ::= "a"{5,2}', "at least 5 and at most 2"),
        ('root ::= "a"{1,100000000}', "more than 20,000 repetitions"),
        ("root ::= []", "line 1, column 10: “[]” is no character"),
        ("root ::= [^]", "“[^]” is no character"),
        ("root ::= [z-a]", "runs backwards"),
        ('root ::= "\\ud800"', "there is no character “\\ud800”"),
        ('root ::= "\\U00110000"', "there is no character “\\U00110000”"),
        ('root ::= "a" | b\nb ::= "b" b', "the rule “b” never comes to an end"),
        ("root ::= root", "the rule “root” never comes to an end"),
        ("root ::= " + '("a" ' * 200 + ")" * 200, "nested more than 80 deep"),
        ("root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000, "nested more than 10,000"),
        ("root ::= <[5]>", "single tokens"),
        ('root ::= "a" !<[5]>', "single tokens"),
        ('root ::= "a\0b"', "NUL"),
        ('root ::= "\ud800"', "surrogate"),
        ("#" * 2_000_000, "characters"),
        ("root ::= r0\n" + "".join(f"r{i} ::= [a]\n" for i in range(7000)), "6,000 rules"),
        (
            "root ::= ((.? a | c) .)+ b\na ::= .* c\nb ::= .* a*\nc ::= b+ a? .* | a .+",
            "too complex",
        ),
    ],
)
def test_a_bad_grammar_is_refused_in_clear_words(
    vocab: VocabularyFile, gbnf: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    with pytest.raises(ValueOutOfRangeError) as caught:
        vocab.grammar(gbnf)
    assert caught.value.code == "bad-grammar"
    assert words in caught.value.message
    assert caught.value.hint
    assert time.monotonic() - began < 10
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "gbnf",
    [
        'root ::= "a"{20000}',
        'root ::= ("a" "b"?){0,200}',
        "root ::= " + "(" * 5000 + '"a"' + ")" * 5000,
        "root ::= r0\n" + "".join(f"r{i} ::= r{i + 1}\n" for i in range(5000)) + 'r5000 ::= "a"',
        "root ::= r0\n"
        + "".join(f'r{i} ::= "a" r{i + 1} | "b"\n' for i in range(3000))
        + 'r3000 ::= "a" root',
        "root ::= r0\n"
        + "".join(f"r{i} ::= r{i + 1} | r{i + 1} r{i + 1}\n" for i in range(40))
        + 'r40 ::= "a"',
        "root ::= " + " | ".join(f'"a{i}"' for i in range(3000)),
        "root ::= (" + " | ".join(f'"a{i}"' for i in range(3000)) + ') ("(" root ")")?',
        'root ::= root "a" | "b" | "a"',
        '# a comment\r\nroot ::= # more\r\n  ( "a" # and more\n | "b" )\r\n',
        'root ::= "b" |\n  "a"\n',
        "root ::= [\\]a\\[-] | [\\x41-\\u0042\\U00000043]",
        'T0 ::= "a"\nstart ::= T0\nroot ::= start before | "a" root\nbefore ::= T0',
    ],
)
def test_large_and_odd_grammars_work(vocab: VocabularyFile, gbnf: str) -> None:
    grammar = vocab.grammar(gbnf)
    assert b"a" in may_follow(vocab, grammar)
    grammar.close()


def test_a_grammar_that_reads_a_text_in_ever_more_ways_is_stopped(vocab: VocabularyFile) -> None:
    names = [f"a{i}" for i in range(12)]
    rule = " | ".join(f"{name} {name} a0" for name in names)
    rules = "".join(f'{name} ::= {rule} | "x"\n' for name in names)
    grammar = vocab.grammar(f'root ::= "!" a0 "!"\n{rules}')
    go(vocab, grammar, "!")
    (token,) = vocab.tokenize("x", special=False)
    began = time.monotonic()

    def go_on() -> None:
        grammar.allowed()
        grammar.accept(token)

    with pytest.raises(EngineError):
        deque(iter(go_on, True))
    for call in (go_on, grammar.allowed, lambda: grammar.accept(token)):  # and stays so
        with pytest.raises(EngineError) as caught:
            call()
        assert caught.value.code == "grammar-too-slow"
    assert time.monotonic() - began < 60
    grammar.close()


def test_grammars_are_read_as_llama_cpp_reads_them(target_path: Path, trials: Trials) -> None:
    n = sum(1 for _ in trials(250, 10_000))
    counts = in_child("integration.grammar_fuzz", target_path, str(n))
    assert counts["wrong"] == []
    for kind in ("taken", "refused", "compared"):
        assert counts[kind] > n / 6, counts
    assert counts["slow"] < counts["taken"] / 10


def test_grammars_that_would_take_too_much_do_not_end_the_process(
    target_path: Path, *, is_long: bool
) -> None:
    found = in_child("integration.hostile_grammars", target_path, *["all"] * is_long)
    assert len(found) > 15
    for name, (outcome, seconds, megabytes) in found.items():
        assert outcome in {"taken", "bad-grammar", "grammar-too-slow"}, name
        assert seconds < 30, name
        assert megabytes < 300, name
    assert {outcome for outcome, *_ in found.values()} > {"taken", "bad-grammar"}


def in_child(module: str, *arguments: str | Path) -> dict[str, Any]:
    """Return the output of a program that may die."""
    result = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS.parent / "app"), str(TESTS)))},
        cwd=TESTS,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=1800,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed
