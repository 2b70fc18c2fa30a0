"""Feeds llama.cpp broken grammars, in a process of its own: ``python -m integration.grammar_fuzz``.

What our reader lets through must be taken by llama.cpp and survive a random walk; what it refuses
for its notation must be refused by llama.cpp, too, so that nobody's good grammar is refused. What
would end the process, or not end, is only counted. Prints the counts as JSON.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys

import numpy as np
from numpy.typing import NDArray

from paceline.engine.llama import LlamaBackend
from paceline.engine.llama.gbnf import GrammarError, check_recursion, read
from paceline.engine.llama.grammar import _sampler
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
    "x::=x",
]  # fmt: skip
# Refused although llama.cpp takes them, or never comes to an answer.
DEADLY = (
    "contradict", "begin with itself", "ways to begin", "single tokens", "cannot be counted",
    "written out", "nested more than",
)  # fmt: skip


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


def verdict(text: str) -> str:
    try:
        check_recursion(read(text))
    except GrammarError as error:
        return str(error)
    return ""


def walk(grammar: Grammar, ids: NDArray[np.int64], rng: random.Random) -> int:
    """Accept random tokens; returns how many."""
    n = 0
    for _ in range(8):
        allowed = ids[grammar.allowed(ids)]
        if not len(allowed):
            break
        grammar.accept(int(rng.choice(allowed)))
        n += 1
    return n


def main(path: str, n_cases: int) -> None:
    rng = random.Random(3)
    vocab = LlamaBackend().load_vocabulary(path)
    pointer = ctypes.cast(vocab._pointer, ctypes.c_void_p).value
    assert pointer
    counts = {"taken": 0, "refused": 0, "deadly": 0, "walked": 0, "slow": 0}
    # Within a token the ways to read it multiply unseen, so a walk takes single characters.
    short = [token for token in range(vocab.n_tokens) if len(vocab.piece(token)) == 1]
    for _ in range(n_cases):
        text = (broken if rng.random() < 0.7 else scribbled)(rng)
        reason = verdict(text)
        if not reason:
            counts["taken"] += 1
            grammar = vocab.grammar(text)
            try:
                counts["walked"] += walk(grammar, np.array(short, np.int64), rng)
            except EngineError as error:
                if error.code != "grammar-too-slow":
                    raise
                counts["slow"] += 1
            grammar.close()
            continue
        try:
            vocab.grammar(text)
        except ValueOutOfRangeError:
            pass
        else:
            raise AssertionError(text)
        if any(words in reason for words in DEADLY):
            counts["deadly"] += 1
        elif "NUL" not in reason and text.strip():
            counts["refused"] += 1
            made = _sampler().init(pointer, text.encode(), b"root")
            assert not made, f"llama.cpp takes this: {reason}\n{text!r}"
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
