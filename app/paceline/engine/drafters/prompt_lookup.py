"""Prompt lookup: the longest n-gram that ends the text and stood there before tells what follows.

After Apoorv Saxena's prompt lookup decoding (2023), with three changes: the reply itself is
searched, too; of several places the latest counts, since texts drift; and a copy may run on into
the tokens that it has just drafted, so that a short period fills a long draft.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.drafters.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)


class PromptLookup:
    """An index from every n-gram of up to `max_ngram` tokens to the place behind its last copy.

    Feeding costs `max_ngram` dictionary writes per token, proposing at most as many reads plus the
    copy, whatever the length of the history.
    """

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._eog = bench.eog
        self._max_ngram = int(settings["max_ngram"])
        self._n_pred = int(settings["n_pred"])
        self._history: Sequence[int] = ()
        self._index: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Index the history."""
        del n_prompt
        self._history = history
        self._index.clear()
        self._indexed = 0
        self._catch_up()

    def propose(self, n_max: int) -> Draft:
        """Copy what followed the longest known n-gram at the history's end."""
        history = self._history
        for n in range(min(self._max_ngram, len(history) - 1), 0, -1):
            start = self._index.get(tuple(history[-n:]))
            if start is not None:
                return Draft(self._copy(start, min(n_max, self._n_pred)))
        return NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Index what was committed."""
        del n_accepted
        self._catch_up()

    def close(self) -> None:
        """Forget the text."""
        self._history = ()
        self._index.clear()

    def _catch_up(self) -> None:
        """Index every n-gram that has a token behind it: all but those that end the history."""
        history, index = self._history, self._index
        for end in range(max(self._indexed, 1), len(history)):
            for n in range(1, min(self._max_ngram, end) + 1):
                index[tuple(history[end - n : end])] = end
        self._indexed = len(history)

    def _copy(self, start: int, n: int) -> list[int]:
        """Copy up to `n` tokens from `start` on, up to and with an end of generation."""
        history = self._history
        out: list[int] = []
        period = len(history) - start
        for i in range(n):
            token = history[start + i] if i < period else out[i - period]
            out.append(token)
            if token in self._eog:
                break
        return out


INFO = DrafterInfo(
    id="prompt-lookup",
    title="Prompt lookup",
    summary="Copies what followed the same words earlier in this chat; needs no second model.",
    family="lookup",
    parameters=(
        Parameter(
            "max_ngram", "int", 3, 1, 16, "Longest match",
            "Tokens that must agree with an earlier place, tried from this length downwards. "
            "Longer matches are rarer and surer.",
        ),
        Parameter(
            "n_pred", "int", 8, 1, 64, "Tokens ahead",
            "Tokens copied per step. More pays where the text repeats itself for long stretches.",
        ),
    ),
    make=PromptLookup,
)  # fmt: skip
