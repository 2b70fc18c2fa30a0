"""Patterns: what the written expression allows matches for Python's `re`, too."""

from __future__ import annotations

import json
import random
import re
import signal
import warnings
from types import FrameType

import pytest

from engine.schema.compiled import attempt, grammar_of, takes, walks
from paceline.engine.model.backend import VocabularyFile
from schemas.patterns import random_pattern
from trials import Trials

CHARACTERS = (
    *"abcxyzABC019_- ,:;=@#.+*?()[]{}|^$/é漢'\"\\\n\t\r\f\b", "\U0001f600", "€", "٣", "\u2028",
    "\u00a0", "\ufeff", "\u0085", "\x7f", "ß", "ſ", "\u212a", "\u200d",
)  # fmt: skip
INSERTED = ("^", "$", "(^|a)", "(b|$)", "|", "(?:)", "[^a]", "\\n?", '"', "\\\\")
AT_THE_ENDS = (
    r"^(a|b$)c?", r"(^a|b)$", r"a$|^b", "(a|)b$", "^(|a)$", "^a|", "|^$", "(^)a", "a($)", "(^|x)a",
    "^.$", r"^[^\n]$", r"^\D$", r"^\W+$", r"^[\D\s]$", r"^[^\D]$", r"^[^\W_]$", "^(a*)*$",
    "^(a|ab)(c|bcd)$", "^(a$)?$", "^(^a)?b$", "^x*$^", "$^", r"^[\b]$", r"^[\w-z]$", "^a{0}$",
    r"^[\x00-\x7f]$", r"^[\u0000-\uffff]$", "^[&&a]$", "^[a||b]$", "^[[a]$", r"^[\s\S]$",
    "a|b|^c$|", r"^((a|b$)|c)", "^\\\n$",
)  # fmt: skip


def changed_pattern(rng: random.Random) -> str:
    pattern = random_pattern(rng)
    if rng.random() < 0.3:
        at = rng.randrange(len(pattern) + 1)
        pattern = pattern[:at] + rng.choice(INSERTED) + pattern[at:]
    return pattern


class TooSlowError(Exception):
    """Python's search takes exponential time."""


def contradicts(pattern: str, text: str) -> bool:
    """Return whether Python finds no match; False, too, if it has not ended after two seconds."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2.0)
    try:
        return re.search(pattern, text) is None
    except TooSlowError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.skipif(not hasattr(signal, "SIGVTALRM"), reason="the system cannot end a search")
def test_what_is_allowed_matches(vocab: VocabularyFile, trials: Trials) -> None:
    n_taken = n_texts = 0
    for seed in trials(60, 3000):
        rng = random.Random(seed)
        pattern = AT_THE_ENDS[seed] if seed < len(AT_THE_ENDS) else changed_pattern(rng)
        schema = {"type": "string", "pattern": pattern}
        grammar = attempt(vocab, schema)
        if isinstance(grammar, str):
            continue
        n_taken += 1
        tried = ["".join(rng.choices(CHARACTERS, k=rng.choice((0, 1, 2, 3, 6)))) for _ in range(10)]
        tried += CHARACTERS
        tried = [
            each for each in tried if takes(vocab, grammar, json.dumps(each, ensure_ascii=False))
        ]
        tried += [
            json.loads(text) for text in walks(vocab, grammar, rng, 2, 30) if text is not None
        ]
        grammar.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            assert [text for text in tried if contradicts(pattern, text)] == [], pattern
        n_texts += len(tried)
    print(f"{n_taken} taken, {n_texts} texts")
    assert n_texts > n_taken > 30


def test_common_patterns_are_taken(vocab: VocabularyFile) -> None:
    for pattern, yes, no in (
        (r"^[^a-]b$", "xb", "ab"), (r"^[ -~]{1,3}$", 'a"\\', "abcd"), (r'^["x]{2}$', '"x', "x"),
        (r'^\\"\"$', '\\""', '\\"'), (r"^a\n[\t-]$", "a\n\t", "a\nx"), ("^ab|cd$", "xcd", "xab"),
        (r"^([\[\]-]|[^\n]|\.){2}$", "]-", "a\n"), (r"^\x22\u0041$", '"A', "A"),
        (r"^[\w.\-]{1,3}@\d\.\s\$$", "a.-@1. $", "a.-@1.x$"), (r"^\d{4}-\d{2}$", "2024-01", "x"),
        (r"^(?:[01]\d|2[0-3]):[0-5]\d$", "23:59", "24:00"), (r"\.json$", "a.json", "a.json\n"),
    ):  # fmt: skip
        grammar = grammar_of(vocab, {"type": "string", "pattern": pattern})
        assert takes(vocab, grammar, json.dumps(yes)), pattern
        assert not takes(vocab, grammar, json.dumps(no)), pattern
        grammar.close()


def test_names_that_match_no_pattern_for_sure_are_the_only_other_ones(
    vocab: VocabularyFile, trials: Trials
) -> None:
    for seed in trials(20, 400):
        rng = random.Random(seed)
        pattern = changed_pattern(rng)
        schema = {
            "type": "object",
            "patternProperties": {pattern: {"const": 1}},
            "additionalProperties": {"const": 2},
        }
        grammar = attempt(vocab, schema)
        if isinstance(grammar, str):
            continue
        for name in CHARACTERS:
            written = json.dumps(name, ensure_ascii=False)
            wrong = 2 if re.search(pattern, name) else 1
            assert not takes(vocab, grammar, f"{{{written}:{wrong}}}"), (pattern, name)
        grammar.close()
