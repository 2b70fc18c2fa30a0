"""Grammars on the real sampler: what may come next, in whose copy, and what is refused how."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Grammar, VocabularyFile
from paceline.errors import EngineError, ValueOutOfRangeError

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


def everything(vocab: VocabularyFile) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(vocab.n_tokens, dtype=np.int64)


def some(vocab: VocabularyFile, rng: random.Random) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Every ASCII character, every end, and some tokens of whole characters.

    llama.cpp allows bytes that make no character together, as half surrogates and overlong forms.
    """
    usable = []
    for token in range(vocab.n_tokens):
        piece = vocab.piece(token)
        is_short = len(piece) == 1 and piece.isascii()
        if token in vocab.eog or is_short or (is_text(piece) and rng.random() < 0.05):
            usable.append(token)
    return np.array(usable, np.int64)


def is_text(piece: bytes) -> bool:
    try:
        return bool(piece.decode())
    except UnicodeDecodeError:
        return False


def next_pieces(vocab: VocabularyFile, grammar: Grammar) -> set[bytes]:
    """The pieces of all tokens that may come next; an end of generation is written as nothing."""
    allowed = grammar.allowed(everything(vocab)).nonzero()[0]
    return {b"" if int(t) in vocab.eog else vocab.piece(int(t)) for t in allowed}


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
        starts = next_pieces(vocab, grammar)
        assert bytes([byte]) in starts
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
        grammar, text, ended = begun.clone(), b"", False
        ids = some(vocab, rng)
        for _ in range(120):
            allowed = ids[grammar.allowed(ids)].tolist()
            assert allowed
            closing = [t for t in allowed if set(vocab.piece(t)) <= set(b'"]} \n')]
            token = rng.choice(closing if closing and rng.random() < 0.6 else allowed)
            grammar.accept(token)
            text += vocab.piece(token)
            if ended := token in vocab.eog:
                break
        grammar.close()
        if ended:
            assert isinstance(json.loads(text), dict)
            finished += len(text) > 4
    assert finished > 3
    begun.close()


def test_an_end_is_allowed_when_the_text_is_complete_and_nothing_after_it(
    vocab: VocabularyFile,
) -> None:
    grammar = vocab.grammar('root ::= "ab"')
    eog = np.array(sorted(vocab.eog), np.int64)
    assert not grammar.allowed(eog).any()
    with pytest.raises(EngineError, match="does not allow"):
        grammar.accept(int(eog[0]))
    go(vocab, grammar, "ab")
    assert grammar.allowed(eog).all()
    grammar.accept(int(eog[0]))
    assert not grammar.allowed(everything(vocab)).any()
    twin = grammar.clone()
    assert not twin.allowed(eog).any()
    with pytest.raises(EngineError):
        grammar.accept(int(eog[0]))
    twin.close()
    grammar.close()


def test_a_refused_token_leaves_the_state(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar(JSON)
    go(vocab, grammar, '{"a": [1')
    before = grammar.allowed(everything(vocab))
    for token in (*(~before).nonzero()[0][::400].tolist(), -1, vocab.n_tokens, 2**31 + 5, 2**40):
        with pytest.raises(EngineError) as caught:
            grammar.accept(token)
        assert caught.value.code == "grammar-refuses"
    np.testing.assert_array_equal(grammar.allowed(everything(vocab)), before)
    grammar.close()


def test_ids_outside_the_vocabulary_are_never_allowed(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar("root ::= .+")
    inside = vocab.tokenize("a", special=False)[0]
    ids = np.array([-1, inside, vocab.n_tokens, 2**40, -(2**63), inside + 2**32], np.int64)
    assert grammar.allowed(ids).tolist() == [False, True, False, False, False, False]
    assert grammar.allowed(np.empty(0, np.int64)).tolist() == []
    grammar.close()


def test_a_control_token_is_not_the_text_of_its_name(vocab: VocabularyFile) -> None:
    (control,) = vocab.tokenize("<|im_start|>", special=True)
    grammar = vocab.grammar('root ::= "<|im_start|>"')
    assert not grammar.allowed(np.array([control])).any()
    go(vocab, grammar, "<|im_start|>")
    assert next_pieces(vocab, grammar) == {b""}
    grammar.close()


def test_order_and_number_of_candidates_do_not_matter(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar(JSON)
    go(vocab, grammar, '{"key": ')
    whole = grammar.allowed(everything(vocab))
    rng = np.random.default_rng(4)
    for n in (1, 40, 255, 257, 5000):
        ids = rng.choice(vocab.n_tokens, n)
        np.testing.assert_array_equal(grammar.allowed(ids), whole[ids])
        np.testing.assert_array_equal(grammar.allowed(np.repeat(ids, 2)[::2]), whole[ids])
    grammar.close()


def test_clones_go_their_own_ways(vocab: VocabularyFile) -> None:
    first = vocab.grammar('root ::= "a" ("b" | "c" "d")')
    go(vocab, first, "a")
    second = first.clone()
    go(vocab, first, "b")
    go(vocab, second, "c")
    assert next_pieces(vocab, first) == {b""}
    first.close()
    assert next_pieces(vocab, second) == {b"d"}
    second.close()


def test_a_closed_grammar_is_refused_and_closing_twice_harmless(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar('root ::= "a"')
    grammar.close()
    grammar.close()
    for call in (
        lambda: grammar.allowed(np.array([5])), lambda: grammar.accept(5), grammar.clone,
    ):  # fmt: skip
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
        ('root ::= "a"{1,100000000}', "more than 2000 repetitions"),
        ('root ::= ("a" "b"{0,50}){0,60}', "2000 rules"),
        ('root ::= "' + "a" * 5000 + '"{2000}', "too long"),
        ('root ::= root "a" | "b"', "“root” can begin with itself"),
        ('root ::= a\na ::= b "x"\nb ::= "y" | a', "“a” → “b” can begin with itself"),
        # Empty only by way of another rule, which llama.cpp's own check does not see.
        ('root ::= e root "x" | "y"\ne ::= f\nf ::= ""', "begin with itself"),
        ("root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000, "nested more than"),
        ("root ::= <[5]>", "single tokens"),
        ('root ::= "a" !<[5]>', "single tokens"),
        ('root ::= "a\0b"', "NUL"),
        ('root ::= "\ud800"', "surrogate"),
        ("#" * 2_000_000, "characters"),
        (
            "root ::= r0\n"
            + "".join(f"r{i} ::= r{i + 1} | r{i + 1}\n" for i in range(40))
            + 'r40 ::= "a"',
            "ways to begin",
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
        'root ::= "a"{2000}',
        'root ::= ("a" "b"?){0,200}',
        "root ::= " + "(" * 5000 + '"a"' + ")" * 5000,
        "root ::= r0\n" + "".join(f"r{i} ::= r{i + 1}\n" for i in range(5000)) + 'r5000 ::= "a"',
        "root ::= " + " | ".join(f'"a{i}"' for i in range(3000)),
        '# a comment\r\nroot ::= # more\r\n  ( "a" # and more\n | "b" )\r\n',
    ],
)
def test_large_and_odd_grammars_work(vocab: VocabularyFile, gbnf: str) -> None:
    grammar = vocab.grammar(gbnf)
    assert b"a" in next_pieces(vocab, grammar)
    grammar.close()


def test_a_grammar_that_reads_a_text_in_ever_more_ways_is_stopped(vocab: VocabularyFile) -> None:
    grammar = vocab.grammar('root ::= a\na ::= "x" (a | b | c)*\nb ::= "x" a* c*\nc ::= "x" b* a*')
    (token,) = vocab.tokenize("x", special=False)
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        deque(map(grammar.accept, [token] * 100))
    assert caught.value.code == "grammar-too-slow"
    assert time.monotonic() - began < 60
    grammar.close()


def test_broken_grammars_do_not_end_the_process(target_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "integration.grammar_fuzz", str(target_path), "2500"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS.parent / "app"), str(TESTS)))},
        cwd=TESTS,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    counts = json.loads(result.stdout)
    assert min(counts[kind] for kind in ("taken", "refused", "deadly", "walked")) > 50


# ---------------------------------------------------------------------------------- schemas


def samples(vocab: VocabularyFile, schema: object, n: int = 12) -> list[object]:
    """Random values that the schema's grammar allows."""
    begun, rng, found = vocab.grammar_of_schema(json.dumps(schema)), random.Random(5), []
    for _ in range(n):
        grammar, text, ids = begun.clone(), b"", some(vocab, rng)
        for _ in range(200):
            allowed = ids[grammar.allowed(ids)].tolist()
            allowed = allowed or grammar.allowed(everything(vocab)).nonzero()[0].tolist()
            assert allowed, text
            ends = [t for t in allowed if vocab.piece(t).strip() in (b'"', b"}", b"]", b"")]
            token = rng.choice(ends if ends and rng.random() < 0.5 else allowed)
            if token in vocab.eog:
                found.append(json.loads(text))
                break
            grammar.accept(token)
            text += vocab.piece(token)
        grammar.close()
    begun.close()
    assert found
    return found


def test_objects_with_names_that_need_escaping(vocab: VocabularyFile) -> None:
    name, constant = 'a "b"\\\n', 'ü😀\\ "x" \t'
    schema = {
        "type": "object",
        "properties": {name: {"const": constant}, "é": {"enum": [1, None, "x"]}},
        "required": [name, "é"],
    }
    for value in samples(vocab, schema):
        assert isinstance(value, dict)
        assert value[name] == constant
        assert value["é"] in (1, None, "x")
        assert len(value) == 2


def test_long_enumerations(vocab: VocabularyFile) -> None:
    words = [f"name {i * 7919 % 5000}" for i in range(3000)] + ["name", 1, 12, 123, None, "\\"]
    assert all(value in words for value in samples(vocab, {"enum": words}))
    grammar = vocab.grammar_of_schema(json.dumps({"enum": [*range(9), 12, 123, 'a"b']}))
    assert {b"1", b"12", b"123", b'"'} & next_pieces(vocab, grammar) >= {b"1", b'"'}
    go(vocab, grammar, "12")
    assert next_pieces(vocab, grammar) == {b"3", b""}
    grammar.close()


def test_lengths_are_kept(vocab: VocabularyFile) -> None:
    text = {"type": "string", "minLength": 2, "maxLength": 4}
    lists = samples(vocab, {"type": "array", "items": text, "minItems": 1, "maxItems": 3}, 30)
    assert {len(value) for value in lists} <= {1, 2, 3}  # type: ignore[arg-type]
    assert all(2 <= len(each) <= 4 for value in lists for each in value)  # type: ignore[attr-defined]
    assert samples(vocab, {"type": "array", "items": text, "maxItems": 0}, 2) == [[], []]
    samples(vocab, {"type": "string", "maxLength": 2000}, 5)


@pytest.mark.grid(short=5)
@pytest.mark.parametrize(
    "pattern",
    [
        "^[^a-]b$", "^a.b$", "^[ -~]{1,3}$", r'^["x]{2}$', r'^\\"\"$', r"^a\n[\t-]$", "^ab|cd$",
        r"^[\x00-é]{1,2}$", r"^([\[\]-]|[^\n]|\.){2}$",
        r"^\x22\u0041$",
        r"^[\w.\-]{1,3}@\d\.\s\$$",
    ],
)  # fmt: skip
def test_what_a_pattern_allows_is_json(vocab: VocabularyFile, pattern: str) -> None:
    alternatives = pattern.replace("^ab|cd$", "^(ab|cd)$")
    found = samples(vocab, {"type": "array", "items": {"type": "string", "pattern": pattern}}, 20)
    texts = [text for value in found for text in value]  # type: ignore[attr-defined]
    assert texts
    for text in texts:
        assert re.fullmatch(alternatives, text), text


def test_a_broken_pattern_is_refused_at_once(vocab: VocabularyFile) -> None:
    began = time.perf_counter()
    with pytest.raises(ValueOutOfRangeError):
        vocab.grammar_of_schema(
            json.dumps({"type": "string", "pattern": "^" + "[" * 200_000 + "$"})
        )
    assert time.perf_counter() - began < 5


def test_quotes_and_backslashes_match_a_class_that_holds_them(vocab: VocabularyFile) -> None:
    for text in (r"\"", r"\\", "x"):
        grammar = vocab.grammar_of_schema('{"type": "string", "pattern": "^[ -~]$"}')
        go(vocab, grammar, f'"{text}"')
        grammar.close()


def test_a_property_without_a_name(vocab: VocabularyFile) -> None:
    schema = {"type": "object", "properties": {"": {"type": "integer"}}, "required": [""]}
    for value in samples(vocab, schema):
        assert isinstance(value, dict)
        assert list(value) == [""]


def test_references_within_the_schema_are_followed(vocab: VocabularyFile) -> None:
    tree = {"type": "array", "items": {"$ref": "#/$defs/tree"}, "maxItems": 2}
    for value in samples(vocab, {"$ref": "#/$defs/tree", "$defs": {"tree": tree}}):
        assert re.fullmatch(r"[\[\], ]+", json.dumps(value))


def test_references_of_the_same_last_name_are_told_apart(vocab: VocabularyFile) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x/string"}, "ref-0": {"$ref": "#/$defs/y/string"}},
        "required": ["a", "ref-0"],
        "$defs": {"x": {"string": {"const": 1}}, "y": {"string": {"const": [2]}}},
    }
    assert samples(vocab, schema, 2) == [{"a": 1, "ref-0": [2]}] * 2
    whole = {"type": "object", "properties": {"more": {"$ref": "#"}}}
    assert all(value.keys() <= {"more"} for value in samples(vocab, whole))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("", "no JSON: line 1, column 1"),
        ('{"type": }', "no JSON: line 1, column 10"),
        ("[1]", "JSON object"),
        ('"text"', "JSON object"),
        ('{"const": NaN}', "NaN is no JSON value"),
        ('{"const": 1e999}', "Out of range"),
        ('{"type": "sentence"}', "sentence"),
        ('{"type": 5}', "5"),
        ('{"$ref": "https://example.org/x.json"}', "“https://example.org/x.json”"),
        ('{"$ref": "#/nowhere"}', "nowhere"),
        ('{"type": "string", "pattern": "abc"}', "Pattern"),
        ('{"type": "string", "pattern": "^a{1000000000}$"}', "1000000000"),
        ('{"type": "string", "maxLength": 100000}', "100000"),
        ('{"type": "array", "items": {}, "minItems": -1}', "“minItems”"),
        ('{"type": "string", "minLength": 5, "maxLength": 2}', "at least 5 and at most 2"),
        ('{"enum": []}', ""),
        ("[" * 100_000, "nested too deep"),
        ('{"items": ' * 100 + "{}" + "}" * 100, "64 deep"),
        ('{"description": "' + "x" * 300_000 + '"}', "256 kB"),
        ('{"const": "\\ud800"}', "surrogate"),
        (
            '{"$ref": "#/x", "x": {"properties": {"y": {"allOf": [{"$ref": "#/x"}]}}}}',
            "too many parts",
        ),
        (
            json.dumps(
                {
                    f"d{i}": {"properties": {k: {"allOf": [{"$ref": f"#/d{i + 1}"}]} for k in "ab"}}
                    for i in range(60)
                }
                | {"d60": {"properties": {"z": {"type": "null"}}}, "allOf": [{"$ref": "#/d0"}]}
            ),
            "too much time",
        ),
    ],
)
def test_a_bad_schema_is_refused_in_clear_words(
    vocab: VocabularyFile, schema: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    with pytest.raises(ValueOutOfRangeError) as caught:
        vocab.grammar_of_schema(schema)
    assert caught.value.code == "bad-json-schema"
    assert words in caught.value.message
    assert len(caught.value.message) < 400
    assert time.monotonic() - began < 20
    assert capfd.readouterr() == ("", "")
