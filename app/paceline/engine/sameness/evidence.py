"""Results of comparing a model's rows at different batch widths, stored as one measured fact.

Each look is added to the fact's latest value, so that the looks of two programs at the same model
both count, and a difference that one has seen withdraws the other's promise.

A row that differed between two batch widths separates these two for good; rows that agreed are
counted. So no number of agreeing looks outweighs a differing one, and whether a choice of widths
holds can be derived for any choice, also for one that was never compared.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.facts import Facts
from paceline.engine.model.backend import LanguageModel
from paceline.engine.model.context import BatchWidths
from paceline.engine.model.own_kernels import processor

Pair = tuple[int, int]
"""Two widths, the smaller one first."""

_MAX_COUNT = 1 << 53
_MIN_RANGE = 4
"""Minimum distance of lowest and highest width, so that at least this much can be drafted."""
EXACT_WIDTH = 8
"""Width of every batch in exact mode, unless other widths are known to agree with it."""
RANGE_STARTS = (0, 256, 512, 1100)
"""Context lengths in tokens from which on other kernels may compute: llama.cpp's attention divides
a single query among threads from 256 or 512 cells on. Looks are counted separately for each."""
_WORST = 1e9  # stands for a difference that is NaN
_BASES = ((1, 1), (2, 1), (4, 4), (8, 8), (16, 16), (EXACT_WIDTH, 0))
"""Lowest width and multiple, the cheapest first; a multiple of 0 means that width alone."""


def evidence_key(model: LanguageModel) -> str:
    """Return the key of what rows of logits depend on: file, build, settings and processor."""
    return f"{model.facts_key}|{processor()}"


class Evidence:
    """The looks at one model with its settings: their number, and the differences found.

    Attributes:
        apart: Largest difference of one logit by pair of widths that differed. A width can differ
            from itself.

    Args:
        facts: The facts that store it.
        key: Result of `evidence_key`.
    """

    def __init__(self, facts: Facts, key: str) -> None:
        self.apart: dict[Pair, float] = {}
        self._looks: dict[BatchWidths, list[int]] = {}
        self._facts = facts
        self._name = f"rows|{key}"
        self._read(facts.get(self._name))

    def add(self, widths: BatchWidths, n_rows: int, n_cells: int, found: dict[Pair, float]) -> None:
        """Count a look at some of these widths.

        Args:
            widths: The widths that were compared.
            n_rows: Number of compared rows.
            n_cells: Number of tokens in the context.
            found: The pairs that differed, with the largest difference of a logit.
        """
        self._read(self._facts.newest(self._name))
        counts = self._looks.setdefault(widths, [0] * (1 + len(RANGE_STARTS)))
        counts[0] += n_rows
        counts[bisect_right(RANGE_STARTS, n_cells)] += 1
        for pair, difference in found.items():
            is_number = math.isfinite(difference)
            self.apart[pair] = max(self.apart.get(pair, 0.0), difference if is_number else _WORST)
        self._write()

    def looks(self, widths: BatchWidths) -> list[int]:
        """Return the number of looks at these widths for each range of `RANGE_STARTS`."""
        return self._looks.get(widths, [0] * (1 + len(RANGE_STARTS)))[1:]

    def n_rows(self, widths: BatchWidths) -> int:
        """Return how many rows were compared at these widths."""
        return self._looks.get(widths, [0])[0]

    @property
    def difference(self) -> float | None:
        """The largest difference of one logit between any two widths, or None if none was seen."""
        return max(self.apart.values(), default=0.0) if self._looks else None

    def refutes(self, widths: BatchWidths) -> bool:
        """Return whether two of these widths have differed."""
        every = widths.every
        return any(a in every and b in every for a, b in self.apart)

    def choices(self, n_most: int) -> list[BatchWidths]:
        """Return the choices that are not refuted, the cheapest first, each as wide as possible.

        Args:
            n_most: Maximum number of rows per decode.
        """
        found = []
        for lowest, multiple in _BASES:
            top = lowest if not multiple else n_most - n_most % multiple
            if not lowest <= top <= n_most:
                continue
            widths = BatchWidths(lowest, multiple or lowest, top)
            while self.refutes(widths):
                inner = [b for a, b in self.apart if a in widths.every and b in widths.every]
                top = min(inner) - widths.multiple
                if top < lowest:
                    break
                widths = widths._replace(highest=top)
            else:
                room = min(_MIN_RANGE, n_most - 1) if multiple else 0
                if widths.highest - lowest >= room:
                    found.append(widths)
        return found

    # ------------------------------------------------------------------------------------ keeping

    def _read(self, fact: object) -> None:
        """Read what earlier loads have stored; an invalid fact counts as nothing."""
        try:
            data = json.loads(str(fact))
            apart = {_pair(a, b): float(d) for a, b, d in data["apart"]}
            looks = {
                BatchWidths(*(_count(n, MAX_WIDTH) for n in (low, multiple, high))): [
                    _count(n) for n in counts
                ]
                for (low, multiple, high), counts in data["looks"]
            }
            if all(0 <= d <= _WORST for d in apart.values()) and all(
                w.multiple and w.lowest and len(counts) == 1 + len(RANGE_STARTS)
                for w, counts in looks.items()
            ):
                self.apart, self._looks = apart, looks
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return

    def _write(self) -> None:
        data = {
            "apart": [[*pair, difference] for pair, difference in self.apart.items()],
            "looks": [[[*widths], counts] for widths, counts in self._looks.items()],
        }
        self._facts.put(self._name, json.dumps(data))


def _count(value: object, most: int = _MAX_COUNT) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(value)
    return value


def _pair(a: object, b: object) -> Pair:
    return _count(a, MAX_WIDTH), _count(b, MAX_WIDTH)
