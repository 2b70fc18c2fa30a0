"""Suffix drafting: the longest match of any length, in this chat or an earlier one.

After SuffixDecoding (arXiv 2411.04975): the longest end of the text that stood there before is
looked up in the present chat and among earlier ones; what mostly followed is drafted, token by
token, for as long as that is likely enough. Unlike there, the longest match alone counts, with
this chat before the others; and counts in this chat are those of PPM (`suffix_automaton.py`), where
what long contexts explain does not blur the short ones.

How likely is the next token? What followed in a share s of the places, behind L tokens that agree,
comes with s * L / (L + 1): a text that has agreed L times in a row goes on agreeing, by Laplace's
reasoning, about that often. So one single place is no certainty, a short match makes a short
draft, and a long match a long one: with all places alike, L / (L + k) for k tokens.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from paceline.engine.drafters.base import NO_DRAFT, Draft, DrafterInfo, Parameter
from paceline.engine.drafters.chat_log import ChatLog, Tokens
from paceline.engine.drafters.lookup import Lookup
from paceline.engine.drafters.suffix_automaton import SuffixAutomaton
from paceline.engine.drafters.suffix_forgetting import forget_texts
from paceline.engine.drafters.suffix_segment import CONTEXT
from paceline.engine.drafters.suffix_store import SuffixStore

_log = logging.getLogger(__name__)

FOLDER = "suffix"
"""The store's name within `Workbench.memory`."""


class Suffix(Lookup[SuffixAutomaton]):
    """Confidences say how likely a token is, given those before it; see the module."""

    name = "suffix"
    _store: SuffixStore | None = None
    _untold: Sequence[int] = ()

    def new_index(self) -> SuffixAutomaton:
        """Return an empty automaton."""
        return SuffixAutomaton()

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Open the store, and catch up with the history."""
        super().begin(history, n_prompt)
        if self._store:
            self._store.close()
        memory = self.bench.memory
        self._store = SuffixStore(memory / FOLDER) if memory else None

    def look_up(
        self, index: SuffixAutomaton, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Follow the longest match, in this chat if it is as long there as in earlier ones."""
        n = min(n_max, int(self.settings["max"]))
        shortest, p_min = int(self.settings["min_match"]), self.settings["p_min"]
        here, elsewhere = index.match(ahead), None
        length = here[1]
        if self._store:
            tail = [*history[-CONTEXT:], *ahead][-CONTEXT:]
            elsewhere = self._store.find(tail, max(shortest, length + 1))
        if elsewhere:
            length = elsewhere.length
            tokens, shares = elsewhere.follow(n, p_min)
        else:
            tokens, shares = index.follow(history, here, n, shortest, p_min)
        return _likely(tokens, shares, length, p_min) if tokens else NO_DRAFT

    def close(self) -> None:
        """Keep the automaton for the next turn, and let go of the chat."""
        if self._store and self._history:
            self._untold = self._history
        super().close()

    def keep(self) -> None:
        """Add the text to what other chats look up, which takes up to a second for long ones."""
        history, self._untold = self._untold, ()
        store, self._store = self._store, None
        if store:
            store.remember(history)


def _likely(tokens: list[int], shares: list[float], length: int, p_min: float) -> Draft:
    """Return the tokens that are likely enough behind a match of `length` tokens."""
    product = 1.0
    confidences: list[float] = []
    for agreed, share in enumerate(shares, length):
        confidence = share * agreed / (agreed + 1)
        product *= confidence
        if product < p_min:
            break
        confidences.append(confidence)
    return Draft(tokens[: len(confidences)], confidences)


def forget(memory: Path, log: ChatLog) -> None:
    """Take a chat's texts out of the store; what other chats share with it stays.

    Raises:
        OSError: The store cannot be read or written.
    """
    forget_texts(memory / FOLDER, log.texts(), partial(_texts_of_others, log))


def _texts_of_others(log: ChatLog) -> Iterator[Tokens]:
    for other in log.others():
        try:
            yield from other.texts()
        except OSError as error:  # then what they share is not kept, rather than nothing forgotten
            _log.warning("%s cannot be read: %s", other.path.name, error)


INFO = DrafterInfo(
    id=Suffix.name,
    title="Suffix match",
    summary="Copies what mostly followed the longest match in this chat or earlier ones; "
    "needs no second model.",
    family="lookup",
    parameters=(
        Parameter(
            "max", "int", 32, 1, 62, "Tokens ahead",
            "Tokens drafted per step at most. More pays where the text repeats itself for long "
            "stretches.",
            can_be_auto=True,
        ),
        Parameter(
            "min_match", "int", 2, 1, 32, "Shortest match",
            "Tokens that must agree with an earlier place. More makes drafts rarer and surer.",
        ),
        Parameter(
            "p_min", "float", 0.4, 0, 1, "Least probability",
            "A draft ends where it becomes less likely than this, judged by the match's length "
            "and by how often each token followed. Lower makes longer drafts.",
        ),
    ),
    make=Suffix,
    forget=forget,
)  # fmt: skip
