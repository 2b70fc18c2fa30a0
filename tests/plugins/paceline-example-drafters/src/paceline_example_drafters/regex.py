"""An automaton of regular expressions: where only one text can follow, it is drafted.

Much of what a reply consists of has a shape: dates (after ``2024`` comes ``-``), UUIDs, table
rows, the fence around a program, ``import numpy as``. A pattern describes the shape of the whole;
the automaton knows, at every byte within it, which bytes may come next. As soon as there is only
one, it is sure, and with it everything up to the next choice. What tokens the target makes of that
text remains its own business: the draft is the text's usual tokenization.

Patterns come from the file that ``PACELINE_PATTERNS`` names, one per line, in the language of
`automaton.py`. Every place of the reply may begin a match, so several attempts run at once; of
those in the same state only the oldest is kept, which bounds them by the number of states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from paceline.engine import NO_DRAFT, Draft, Parameter, Settings, UserError, Workbench
from paceline_example_drafters.automaton import DEAD, Automaton, PatternError, State
from paceline_example_drafters.lines import read_lines

VARIABLE = "PACELINE_PATTERNS"
PATTERNS = (
    r"\b\d{4}-\d{2}-\d{2}",
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"\bhttps?://www\.",
    r"\bfrom __future__ import annotations\n",
    r"\bif __name__ == \"__main__\":\n",
    r"\bimport (numpy as np|pandas as pd)\n",
    r"^```(python|bash|json|text)\n",
    r"^\|( *:?---+:? *\|)+\n",
)
_BYTES_PER_TOKEN = 6
_LOOK_BACK = 256  # tokens of a reply that is joined in the middle
_PRIOR = (1, 2)  # a pattern that was never tried counts as one that held once in two times


@dataclass(frozen=True, slots=True)
class Attempt:
    """A match that may be under way: pattern, state, and bytes that it has read."""

    pattern: int
    state: State
    n_read: int


@dataclass(frozen=True, slots=True)
class Reading:
    """State at the text's end: attempts to match, oldest first, and the last byte."""

    attempts: tuple[Attempt, ...] = ()
    last: int = 10  # a text begins like a line


class RegexDrafter:
    """Drafts what must follow within dates, table rows, fences and patterns of your own."""

    title = "Patterns"
    parameters = (
        Parameter("n_max", "int", 16, 1, 64, "Tokens ahead", "Tokens drafted per step at most."),
        Parameter(
            "min_match", "int", 3, 1, 256, "Shortest match",
            "Bytes of a pattern that must stand there before anything is drafted.",
        ),
        Parameter(
            "p_min", "float", 0.1, 0, 1, "Min. confidence",
            "A pattern whose drafts were accepted more rarely than this rests for the reply.",
        ),
    )  # fmt: skip

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._bench = bench
        self._settings = settings
        self._automata = _automata(bench)
        self._pieces: dict[int, bytes] = {}
        self._history: Sequence[int] = ()
        self._n_seen = 0
        self._reading = Reading()
        self._drafted: tuple[int, int] | None = None  # pattern and tokens of the last draft
        self._tally: dict[int, tuple[int, int]] = {}  # by pattern: tokens accepted, drafted

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Read the reply's end; the prompt is the user's and has no shape."""
        self._history = history
        self._reading = Reading()
        self._n_seen = max(n_prompt, len(history) - _LOOK_BACK)
        self._follow()

    def propose(self, n_max: int) -> Draft:
        """Draft what the oldest attempt forces."""
        return self.extend((), n_max)

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Draft what is forced after the text and then `ahead`."""
        self._drafted = None
        reading = self._read(self._reading, ahead)
        n_max = min(n_max, int(self._settings["n_max"]))
        for attempt in reading.attempts:
            sure = self._confidence(attempt.pattern)
            if attempt.n_read < self._settings["min_match"] or sure < self._settings["p_min"]:
                continue
            tokens = self._tokens(attempt, n_max)
            if tokens:
                self._drafted = (attempt.pattern, len(tokens))
                return Draft(tokens, [sure] * len(tokens))
        return NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Read on, and note how well the pattern did."""
        if n_accepted is not None and self._drafted is not None:
            pattern, n = self._drafted
            accepted, drafted = self._tally.get(pattern, _PRIOR)
            self._tally[pattern] = (accepted + n_accepted, drafted + n)
        self._drafted = None
        self._follow()

    def tune(self, settings: Settings) -> None:
        """Use other settings from now on."""
        self._settings = settings

    def close(self) -> None:
        """Let go of the text."""
        self._history = ()
        self._reading = Reading()

    def _confidence(self, pattern: int) -> float:
        accepted, drafted = self._tally.get(pattern, _PRIOR)
        return accepted / drafted

    def _follow(self) -> None:
        self._reading = self._read(self._reading, self._history[self._n_seen :])
        self._n_seen = len(self._history)

    def _read(self, reading: Reading, tokens: Iterable[int]) -> Reading:
        for token in tokens:
            piece = self._pieces.get(token)
            if piece is None:
                piece = self._pieces[token] = self._bench.vocab.piece(token)
            for byte in piece:
                reading = self._read_byte(reading, byte)
        return reading

    def _read_byte(self, reading: Reading, byte: int) -> Reading:
        begun = [
            Attempt(i, automaton.start, 0)
            for i, automaton in enumerate(self._automata)
            if _may_begin(automaton, reading.last)
        ]
        kept: dict[tuple[int, State], Attempt] = {}
        for attempt in (*reading.attempts, *begun):
            state = self._automata[attempt.pattern].step(attempt.state, byte)
            if state != DEAD:
                kept.setdefault(
                    (attempt.pattern, state), Attempt(attempt.pattern, state, attempt.n_read + 1)
                )
        return Reading(tuple(kept.values()), byte)

    def _tokens(self, attempt: Attempt, n_max: int) -> list[int]:
        forced = self._automata[attempt.pattern].forced(attempt.state, n_max * _BYTES_PER_TOKEN)
        if not forced or forced[0] & 0xC0 == 0x80:  # the text stands within a character
            return []
        text = forced.decode("utf-8", "ignore")
        # A space at the end would be one token with the word that follows it.
        return self._bench.vocab.tokenize(text.rstrip(" ") or text, special=False)[:n_max]


def _may_begin(automaton: Automaton, last: int) -> bool:
    match automaton.anchor:
        case "^":
            return last == 10
        case "\\b":
            return not (chr(last).isalnum() or last == ord("_") or last >= 128)
    return True


def _automata(bench: Workbench) -> tuple[Automaton, ...]:
    """Compile the patterns; the next turn of the same pair finds them on the shelf.

    Raises:
        UserError: One of them is no pattern.
    """
    patterns = read_lines(VARIABLE, PATTERNS)
    kept = bench.kept.get(VARIABLE)
    if kept is not None:
        of, automata = cast("tuple[tuple[str, ...], tuple[Automaton, ...]]", kept)
        if of == patterns:
            return automata
    automata = tuple(_compile(pattern) for pattern in patterns)
    bench.kept[VARIABLE] = (patterns, automata)
    return automata


def _compile(pattern: str) -> Automaton:
    try:
        return Automaton(pattern)
    except PatternError as error:
        raise UserError(
            "bad-pattern",
            f"The pattern {pattern} of {VARIABLE} cannot be used: {error}.",
            "The language is described in paceline_example_drafters/automaton.py.",
        ) from error
