"""Compiles grammars that take too much: ``python -m integration.hostile_grammars MODEL [all]``.

Without ``all``, those that take seconds are left out. Each is compiled and gone on with by ten
tokens, if that is allowed. Prints for each the outcome, the seconds of CPU time and the growth of
the process in MB as JSON.
"""

from __future__ import annotations

import json
import sys
import time

import psutil

from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import VocabularyFile
from paceline.errors import UserError

GRAMMARS = {
    "brackets": "root ::= " + "(" * 5000 + '"a"' + ")" * 5000,
    "deep brackets": "root ::= " + '("a" ' * 5000 + ")" * 5000,
    "open brackets": "root ::= " + "(" * 100_000,
    "stars on stars": 'root ::= "a"' + "*" * 5000,
    "stars on brackets": "root ::= " + "(" * 70 + '"a"' + "*)*" * 70,
    "chain": "".join(f"r{i} ::= r{i + 1}\n" for i in range(5000)) + 'r5000 ::= "a"\nroot ::= r0',
    "regular chain": "".join(f'r{i} ::= "a" r{i + 1}? "b"\n' for i in range(5000))
    + 'r5000 ::= "a"\nroot ::= r0',
    "recursive chain": "".join(f'r{i} ::= "a" r{i + 1} | "b"\n' for i in range(5000))
    + 'r5000 ::= "(" root ")" | "a"\nroot ::= r0',
    "doubling": "".join(f"r{i} ::= r{i + 1} r{i + 1}\n" for i in range(60))
    + 'r60 ::= "a"?\nroot ::= r0',
    "doubling lexemes": "".join(f"r{i} ::= r{i + 1} [b-z] r{i + 1}\n" for i in range(60))
    + 'r60 ::= [a-z]*\nroot ::= r0 "(" root ")" | "a"',
    "powers": 'root ::= (((("a"{1000}){1000}){1000}){1000}){1000}',
    "powers of rules": 'root ::= (((("a" r){1000}){1000}){1000}){1000}\nr ::= "(" r ")" | "b"',
    "far from the end": "root ::= [a-z]* [a-m] [a-z]{4000}",
    "words": "root ::= (" + " | ".join(f'"w{i * 7919 % 9973} "' for i in range(9000)) + ")*",
    "words in rules": "root ::= ("
    + " | ".join(f'"w{i * 7919 % 9973} " root?' for i in range(5000))
    + ")",
    "classes": "root ::= (" + " | ".join(f"[\\u{i:04x}-\\uffff]" for i in range(1, 5000)) + ")+",
    "ambiguous": "root ::= ((.? a | c) .)+ b\na ::= .* c\nb ::= .* a*\nc ::= b+ a? .* | a .+",
    "long text": 'root ::= "' + "a" * 250_000 + '"',
    "many rules": "".join(f"r{i} ::= [a-z]+\n" for i in range(5999)) + 'root ::= "a"',
    "names": "root ::= " + "x" * 200_000,
}  # fmt: skip


SLOW = ("doubling", "powers", "long text")


def outcome(vocab: VocabularyFile, text: str) -> str:
    """Compile a grammar and go on with it; returns the code of the error, if any."""
    try:
        grammar = vocab.grammar(text)
        for _ in range(10):
            allowed = [
                t for t in grammar.allowed().flags.nonzero()[0].tolist() if t not in vocab.eog
            ]
            if not allowed:
                break
            grammar.accept(allowed[len(allowed) // 2])
        grammar.close()
    except UserError as error:
        return error.code
    return "taken"


def main(path: str, *, with_slow: bool) -> None:
    vocab = LlamaBackend().load_vocabulary(path)
    vocab.prepare_grammars()
    process = psutil.Process()
    results = {}
    for name, text in GRAMMARS.items():
        if name in SLOW and not with_slow:
            continue
        before, began = process.memory_info().rss, time.process_time()
        found = outcome(vocab, text)
        grown = (process.memory_info().rss - before) >> 20
        results[name] = found, round(time.process_time() - began, 2), grown
        print(name, results[name], file=sys.stderr, flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1], with_slow="all" in sys.argv[2:])
