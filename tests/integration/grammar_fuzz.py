"""Compares grammars with llama.cpp's: ``python -m integration.grammar_fuzz MODEL N [SEED]``.

Random texts in GBNF, sound and broken ones. What ours takes llama.cpp must take, and through a
random walk both must allow the same tokens and ends at every step; what ours refuses llama.cpp must
refuse, but for a few kinds that are refused on purpose. Grammars that llama.cpp does not survive,
or that take it forever, are asked of ours alone. Prints counts, and what was wrong, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
import time

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from paceline.engine.llama import LlamaBackend
from paceline.engine.llama.grammars.gbnf import Alternation, Chars, Node, Ref, Repeat, parts, read
from paceline.engine.llama.vocabulary import LlamaVocabularyFile
from paceline.engine.model.backend import Grammar
from paceline.errors import EngineError, ValueOutOfRangeError

SEEDS = (
    'root ::= object\nvalue ::= object | array | string | ("true" | "false") ws\n'
    'object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws\n'
    'array ::= "[" ws (value ("," ws value)*)? "]" ws\n'
    'string ::= "\\"" ([^"\\\\\\x7F\\x00-\\x1F] | escape)* "\\"" ws\n'
    'escape ::= "\\\\" (["\\\\bfnrt] | "u" [0-9a-fA-F]{4})\n'
    'ws ::= | " " | "\\n" [ \\t]{0,20}\n',
    'root ::= (expr "=" ws term "\\n")+ # sums\nexpr ::= term ([-+*/] term)*\n'
    'term ::= ident | num | "(" ws expr ")" ws\nident ::= [a-z] [a-z0-9_]* ws\n'
    "num ::= [0-9]{1,3} ws\nws ::= [ \\t\\n]*\n",
    'root ::= "- " item ("\\n- " item){0,4}\r\n'
    'item ::= [^\\n]{3,} | "é\\u00e9\\U0001F600" "x"?\r\n',
)
PIECES = [
    *'"[](){}|*+?.,:=#<>!-^\\ \n\r\t0159axré😀', "::=", '""', "[]", "[^]", "{2,1}", "{3}", "{,3}",
    "{2,}", "{9999}", "{99999999999999999999}", "\\x4", "\\u12", "\\U00110000", "\\q", "root",
    "<[1]>", "!<[99999999999]>", "<|im_end|>", "ws", "(((", ")))", "\nroot ::= ", '"', "| |",
    "x::=x", "\\ud800", "[z-a]", "[a-]", "[-a]", "[\\]]", "()", "{ 1 , 2 }", "*+", "a_b", "А",
]  # fmt: skip
ON_PURPOSE = (
    "contradict", "cannot be counted", "single tokens", "nested more than", "is no character",
    "runs backwards", "there is no character", "no text is allowed", "too large",
    "never comes to an end",
)  # fmt: skip
"""Parts of messages that refuse grammars which llama.cpp accepts, or never ends with."""
MOST_BEGINNINGS = 300
MOST_REPEATS = 2000
"""Repetitions of an item that llama.cpp takes; Paceline takes more."""
STEPS = 14
SLOW_S = 0.002


def broken(rng: random.Random) -> str:
    text = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randrange(len(text) + 1), rng.randrange(4)
        end = min(len(text), at + rng.randint(1, 12))
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + text[at:end] * 2 + text[end:]
        else:
            text = text[:at] + rng.choice(PIECES) + text[at if kind == 2 else end :]
    return text


def scribbled(rng: random.Random) -> str:
    """A grammar of right notation and no sense: empty rules, recursion, alternatives alike."""

    def choice(depth: int) -> str:
        return " | ".join(
            " ".join(item(depth) for _ in range(rng.randrange(4))) for _ in range(rng.randint(1, 3))
        )

    def item(depth: int) -> str:
        made = rng.choice(('"x"', '"y"', "[a-zé ]", "[^x]", ".", "", "a", "b", "c", "("))
        if made == "(":
            made = f"({choice(depth + 1)})" if depth < 3 else '"y"'
        if not made:
            return '""'
        return made + rng.choice(("", "", "", "?", "*", "+", "{0,3}", "{2}"))

    return "\n".join(f"{name} ::= {choice(0)}" for name in ("root", "a", "b", "c"))


WORDS = (
    "a", "b", "ab", "aab", "in", "int", "x", "(", ")", "<", "</", ",", " ", "\\n", '\\"', "\\\\",
    "\\[", "-", "\\x41", "\\u00e9", "\\U0001F600", "é", "/", "\\t", "1", "10",
)  # fmt: skip
CLASSES = (
    "[a-z]", "[ab]", "[^a]", "[^<]", "[^\\n]", '[^"\\\\\\x7F\\x00-\\x1F]', "[0-9]", "[ \\t\\n]",
    "[a-zA-Z_]", "[\\]\\[-]", "[-a]", "[a-]", "[\\x61-\\x63]", "[à-ü]", "[^à-ü]", ".", "[a\\-c]",
    "[\\u0061-\\u007a1]", "[\\U0001F600-\\U0001F64F]", "[\\\\^]", "[^^]", "[\"']", "[/.]", "[=#]",
    "[\\x00-\\x20b]", "[^\\x00-\\x60]", "[\\x01-z]", "[.*]",
)  # fmt: skip
NAMES = ("expr", "a-b", "Item", "x1", "1", "T0", "r0", "ws", "start", "before")


def sensible(rng: random.Random) -> str:
    """A grammar whose recursive rules begin with a character, so that llama.cpp takes it."""
    names = rng.sample(NAMES, rng.randint(1, 4))

    def choice(depth: int) -> str:
        made = [row(depth) for _ in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.1:
            made.append("")
        rng.shuffle(made)
        return rng.choice((" | ", " |\n  ", "|")).join(made)

    def row(depth: int) -> str:
        return " ".join(item(depth) for _ in range(rng.choice((1, 1, 2, 2, 3))))

    def item(depth: int) -> str:
        kind = rng.random()
        if kind < 0.3:
            made = f'"{rng.choice(WORDS)}"'
        elif kind < 0.6:
            made = rng.choice(CLASSES)
        elif kind < 0.75:
            made = f"({choice(depth + 1)})" if depth < 2 else '"b"'
        elif kind < 0.88:
            first, last = rng.choice(("(", "<", "a", "in", "é")), rng.choice(WORDS)
            made = f'"{first}" {rng.choice(names)} "{last}"'
        else:
            made = rng.choice(names)
        repeat = ("", "", "", "", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}", "{3,40}")
        return made + rng.choice(repeat)

    comment = rng.choice(("", "", ' # said | "so"'))
    end = rng.choice(("\n", "\n", "\r\n", "\n\n# more\n"))
    return "".join(f"{name} ::= {choice(0)}{comment}{end}" for name in ("root", *names))


def is_bearable(rules: dict[str, Node]) -> bool:
    """Return whether llama.cpp takes a grammar and ends with it.

    So it has no left recursion, few alternatives, and no more repetitions than llama.cpp takes.
    """
    empty: set[str] = set()
    while more := {name for name, rule in rules.items() if may_be_empty(rule, empty)} - empty:
        empty |= more
    nodes = (node for rule in rules.values() for node in parts(rule))
    for repeat in (node for node in nodes if isinstance(node, Repeat)):
        n_repeats = repeat.most or repeat.least
        if n_repeats > MOST_REPEATS or (repeat.most is None and may_be_empty(repeat.item, empty)):
            return False
        if n_repeats > 3 and has_rules(repeat.item):
            return False  # it counts the rules that nested repetitions come to
    try:
        beginnings = Beginnings(rules, empty)
        return all(beginnings.count(Ref(name)) <= MOST_BEGINNINGS for name in rules)
    except RecursionError:
        return False


def has_rules(node: Node) -> bool:
    return any(isinstance(part, Alternation | Repeat) for part in parts(node))


class Beginnings:
    """Counts in how many ways a part of a grammar can begin."""

    def __init__(self, rules: dict[str, Node], empty: set[str]) -> None:
        self._rules = rules
        self._empty = empty
        self._known: dict[str, int] = {}
        self._open: set[str] = set()

    def count(self, node: Node) -> int:
        """Return how many.

        Raises:
            RecursionError: A rule begins with itself.
        """
        if isinstance(node, Chars):
            return 1
        if isinstance(node, Ref):
            return self._of_rule(node.rule)
        if isinstance(node, Repeat):
            n = self.count(node.item)
            is_empty = may_be_empty(node.item, self._empty)
            return n * min(node.most or 1, 100) if is_empty else n + 1
        if isinstance(node, Alternation):
            return 1 + sum(map(self.count, node.items))
        n = 1
        for each in node.items:
            n += self.count(each)
            if not may_be_empty(each, self._empty):
                break
        return n

    def _of_rule(self, name: str) -> int:
        if name in self._open:
            raise RecursionError
        if name not in self._known:
            self._open.add(name)
            self._known[name] = self.count(self._rules[name])
            self._open.remove(name)
        return self._known[name]


def may_be_empty(node: Node, empty: set[str]) -> bool:
    if isinstance(node, Chars):
        return False
    if isinstance(node, Ref):
        return node.rule in empty
    if isinstance(node, Repeat):
        return node.least == 0 or may_be_empty(node.item, empty)
    return (any if isinstance(node, Alternation) else all)(
        may_be_empty(n, empty) for n in node.items
    )


class Reference:
    """llama.cpp's own sampler for a grammar.

    Attributes:
        is_slow: True if the last token took long; the parses of a text may multiply per token.

    Raises:
        ValueError: llama.cpp refuses the grammar.
    """

    def __init__(self, vocab: LlamaVocabularyFile, text: str, ids: NDArray[np.int64]) -> None:
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab._pointer, text.encode(), b"root")
        if not self._sampler:
            raise ValueError(text)
        self.is_slow = False
        self._ids = ids
        self._data = (llama_cpp.llama_token_data * len(ids))()

    def allowed(self) -> NDArray[np.bool_]:
        """Return those of the ids that may come next."""
        for entry, token in zip(self._data, self._ids.tolist(), strict=True):
            entry.id, entry.logit, entry.p = token, 0.0, 0.0
        array = llama_cpp.llama_token_data_array(
            data=self._data, size=len(self._ids), selected=-1, sorted=False
        )
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.array([entry.logit == 0.0 for entry in self._data])

    def accept(self, token: int) -> None:
        began = time.thread_time()
        llama_cpp.llama_sampler_accept(self._sampler, token)
        self.is_slow = time.thread_time() - began > SLOW_S

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._sampler)


def usable(vocab: LlamaVocabularyFile, rng: random.Random) -> NDArray[np.int64]:
    """Ends, every ASCII character, and some tokens of whole characters.

    llama.cpp allows bytes that make no character together, as half surrogates and overlong forms.
    """
    found = []
    for token in range(vocab.n_tokens):
        piece = vocab.piece(token)
        is_one = len(piece) == 1 and piece.isascii() and piece != b"\0"
        is_whole = 1 < len(piece) < 7 and rng.random() < (0.02 if piece.isascii() else 0.3)
        if token in vocab.eog or is_one or (is_whole and is_text(piece)):
            found.append(token)
    return np.array(found, np.int64)


def is_text(piece: bytes) -> bool:
    try:
        return "\0" not in piece.decode()
    except UnicodeDecodeError:
        return False


def compare(
    grammar: Grammar,
    reference: Reference,
    vocab: LlamaVocabularyFile,
    ids: NDArray[np.int64],
    rng: random.Random,
) -> int:
    """Walk through both at once; returns how many steps.

    Raises:
        AssertionError: They allow different tokens.
    """
    text = b""
    for n in range(STEPS):
        flags = grammar.allowed().flags
        ours, theirs = flags[ids], reference.allowed()
        if flags.sum() == 1:  # of a text that must follow only the usual tokens are
            ours |= [
                bool(other) and accepts(grammar, int(t))
                for t, other in zip(ids, theirs, strict=True)
            ]
        if (ours != theirs).any():
            pieces = [
                (vocab.piece(int(t)) or b"END", bool(o))
                for t, o in zip(ids[ours != theirs], ours[ours != theirs], strict=True)
            ]
            raise AssertionError(f"after {text!r} ours differs: {pieces[:12]}")
        going = [int(t) for t in ids[ours] if int(t) not in vocab.eog]
        if not going or reference.is_slow:
            return n
        token = rng.choice([t for t in going if len(vocab.piece(t).decode()) == 1] or going)
        grammar.accept(token)
        reference.accept(token)
        text += vocab.piece(token)
    return STEPS


def accepts(grammar: Grammar, token: int) -> bool:
    copy = grammar.clone()
    try:
        copy.accept(token)
    except EngineError:
        return False
    finally:
        copy.close()
    return True


def walk(grammar: Grammar, ids: NDArray[np.int64], rng: random.Random) -> None:
    for _ in range(8):
        allowed = ids[grammar.allowed().flags[ids]]
        if not len(allowed):
            break
        grammar.accept(int(rng.choice(allowed)))


class Trial:
    """Grammars one after the other, and what came of them."""

    def __init__(self, vocab: LlamaVocabularyFile, rng: random.Random) -> None:
        self.counts = dict.fromkeys(("taken", "refused", "on purpose", "alone", "slow"), 0)
        self.n_compared = 0
        self.wrong: list[str] = []
        self._vocab = vocab
        self._rng = rng
        self._ids = usable(vocab, rng)

    def run(self, text: str) -> None:
        try:
            grammar = self._vocab.grammar(text)
        except ValueOutOfRangeError as error:
            self.refused(text, error.message)
            return
        try:
            self.counts["taken"] += 1
            self.taken(text, grammar)
        except EngineError as error:
            if error.code != "grammar-too-slow":
                raise
            self.counts["slow"] += 1
        except (AssertionError, ValueError) as error:
            self.wrong.append(f"{error}\n{text}")
        finally:
            grammar.close()

    def refused(self, text: str, reason: str) -> None:
        if any(words in reason for words in ON_PURPOSE):
            self.counts["on purpose"] += 1
            return
        self.counts["refused"] += 1
        try:
            Reference(self._vocab, text, self._ids).close()
        except ValueError:
            return
        self.wrong.append(f"llama.cpp takes this: {reason}\n{text}")

    def taken(self, text: str, grammar: Grammar) -> None:
        if not is_bearable(read(text)):
            self.counts["alone"] += 1
            walk(grammar, self._ids, self._rng)
            return
        reference = Reference(self._vocab, text, self._ids)
        try:
            self.n_compared += compare(grammar, reference, self._vocab, self._ids, self._rng)
        finally:
            reference.close()


def main(path: str, n_cases: int, seed: int = 3) -> None:
    rng = random.Random(seed)
    trial = Trial(LlamaBackend().load_vocabulary(path), rng)
    for _ in range(n_cases):
        trial.run(rng.choice((broken, scribbled, sensible, sensible))(rng))
    print(json.dumps({**trial.counts, "compared": trial.n_compared, "wrong": trial.wrong}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
