"""The sampler of a reply: settings, grammar and penalties, and the drawer of its rows.

The same class serves plain decoding, verification and drafting, so that a token depends only on its
logits, on the committed tokens and on (seed, position); see `drawing.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from paceline.engine.model.backend import Grammar, Row, Rows
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.sample import native_rows
from paceline.engine.sample.drawing import Likely, MakeDrawer, RowSettings
from paceline.engine.sample.edits import Biases, Penalties, forbid
from paceline.engine.sample.native_rows import NativeRows
from paceline.engine.sample.plain_rows import PlainRows
from paceline.errors import EngineError, refuse
from paceline.parameters import check_fields
from paceline.params import SamplingParams

_MAX_BIASES = 10_000
_MAX_BIAS = 1e6  # beside a larger one, float32 loses the digits of a logit


def check_sampling(params: SamplingParams, n_vocab: int | None = None) -> None:
    """Refuse invalid values.

    Args:
        params: The user's settings.
        n_vocab: Size of the vocabulary, if known already.

    Raises:
        ValueOutOfRangeError: A value is out of range; the error names both.
    """
    check_fields(params)
    _check_biases(params, n_vocab)


def _check_biases(params: SamplingParams, n_vocab: int | None) -> None:
    biases = params.logit_bias
    if len(biases) > _MAX_BIASES:
        refuse(
            "There are {n} logit biases.", "Give at most {most}.", n=len(biases), most=_MAX_BIASES
        )
    seen: set[int] = set()
    for token, bias in ((b.token, b.bias) for b in biases):
        if token < 0 or (n_vocab is not None and token >= n_vocab):
            refuse(
                "A logit bias names token {token}, which does not exist.",
                "Give ids from 0 on." if n_vocab is None else "Give ids from 0 to {last}.",
                token=token,
                last=(n_vocab or 0) - 1,
            )
        if not (bias == -math.inf or abs(bias) <= _MAX_BIAS):
            refuse(
                "The logit bias of token {token} is {bias:g}.",
                "Give a number between -1,000,000 and 1,000,000, or -inf to forbid the token.",
                token=token,
                bias=bias,
            )
        if token in seen:
            refuse("Token {token} has two logit biases.", "Give it one.", token=token)
        seen.add(token)


class Sampler:
    """Draws tokens for one reply from one model's rows; a draft model gets its own.

    Not thread-safe.

    Attributes:
        has_memory: Whether a token depends on earlier ones other than by the logits: only then must
            `start`, `commit` and `follow` be called.

    Args:
        params: The user's settings.
        seed: 0 or more.
        suppress: Ids that are never drawn.
        n_vocab: Length of the rows, if known: then biases for other tokens are refused.
        grammar: Grammar of the reply in its initial state; `close` frees it.
        n_likely: Number of most likely tokens to report of each row; -1 reports nothing.
        make_drawer: Factory of the drawer, or None for the best installed one.

    Raises:
        ValueOutOfRangeError: See `check_sampling`.
    """

    def __init__(
        self,
        params: SamplingParams,
        seed: int,
        suppress: Iterable[int] = (),
        *,
        n_vocab: int | None = None,
        grammar: Grammar | None = None,
        n_likely: int = -1,
        make_drawer: MakeDrawer | None = None,
    ) -> None:
        check_sampling(params, n_vocab)
        self.params = params
        self.seed = seed
        self.grammar = grammar
        self._suppress = sorted(suppress)
        self._penalties = Penalties(params)
        self.has_memory = self._penalties.is_active or grammar is not None
        biases = Biases(params, self._suppress)
        settings = RowSettings(params, seed, biases, self._penalties, n_likely)
        self._make_drawer = make_drawer or drawers()
        self._drawer = self._make_drawer(settings)
        self._accepted: list[int] = []  # tokens that the grammar has accepted

    def twin(self, n_vocab: int | None = None) -> Sampler:
        """Return a sampler with the same settings for another model's rows, [n_vocab].

        Call `follow` before it draws, and `close` at the end.
        """
        suppress = [t for t in self._suppress if n_vocab is None or t < n_vocab]
        biases = tuple(b for b in self.params.logit_bias if n_vocab is None or b.token < n_vocab)
        params = replace(self.params, logit_bias=biases)
        twin = Sampler(params, self.seed, suppress, n_vocab=n_vocab, make_drawer=self._make_drawer)
        twin.follow(self)
        return twin

    def start(self, prompt: Sequence[int]) -> None:
        """Begin a reply after this prompt, whose end counts for penalties."""
        self._penalties.start(prompt)

    def commit(self, token: int) -> None:
        """Append a token to the reply: advances penalties and grammar.

        Raises:
            EngineError: The grammar does not allow it here.
        """
        self._penalties.recent.append(token)
        if self.grammar:
            self.grammar.accept(token)
            self._accepted.append(token)

    def follow(self, other: Sampler) -> None:
        """Copy the state of `other` in the reply; for twins."""
        self._penalties.follow(other._penalties)
        if other.grammar is None:
            return
        theirs, n = other._accepted, len(self._accepted)
        if self.grammar and theirs[:n] == self._accepted:  # all drafted tokens were accepted
            for token in theirs[n:]:
                self.grammar.accept(token)
        else:
            self.close()
            self.grammar = other.grammar.clone()
            self.has_memory = True
        self._accepted = theirs.copy()

    def close(self) -> None:
        """Free the grammar."""
        if self.grammar:
            self.grammar.close()
            self.grammar = None

    def draws(self, rows: Rows, draft: Sequence[int], position: int) -> Iterable[int]:
        """Return the tokens of rows in order, up to the first one that disagrees with the draft.

        Each must be committed before the next one is taken from the iterator.

        Args:
            rows: float32 [len(draft) + 1, n_vocab]; modified: biases, penalties and some of what
                the grammar forbids are written into it.
            draft: The drafted tokens; may be empty.
            position: Index within the reply of the first row's token, from 0 on.

        Raises, when the token of such a row is taken:
            NothingAllowedError: Biases and grammar allow no token.
            SamplingError: The grammar is too ambiguous to continue.
            EngineError: The row contains NaN or +inf, or nothing but -inf.
        """
        if self.grammar is not None:  # it needs each token before it allows the next
            return (self.sample(row, position + i) for i, row in enumerate(rows))
        tokens = self._drawer.draw(rows, draft, position)
        failure = self._drawer.failure
        return tokens if failure is None else _then_raise(tokens, failure)

    def sample(self, row: Row, position: int, without: Iterable[int] = ()) -> int:
        """Return the token of one row; raises the errors of `draws`.

        Args:
            row: float32 [n_vocab]; see `draws`.
            position: Index of the token within the reply.
            without: Ids that must not be drawn this time.
        """
        return self._drawn(row, position, without)

    def draft(self, row: Row, position: int) -> tuple[int, float]:
        """Return the token that `sample` gives, and the row's confidence, 0..1.

        The confidence is the probability of the most likely token, not of the one that the noise
        picks: softmax over the ten largest logits at temperature 1, which llama.cpp compares with
        p_min (`common/speculative.cpp`); under a grammar, over the allowed ones.
        """
        token = self._drawn(row, position, has_confidence=True)
        return token, self._drawer.confidence

    def take_likely(self) -> list[Likely]:
        """Return the likelihoods of the tokens drawn since the last call, if they are reported."""
        likely, self._drawer.likely = self._drawer.likely, []
        return likely

    def forbid(self, row: Row) -> None:
        """Write -inf into a row for all tokens that the grammar does not allow next."""
        allowed = self.grammar.allowed() if self.grammar else None
        if allowed is not None:
            forbid(row, allowed)

    def _drawn(
        self,
        row: Row,
        position: int,
        without: Iterable[int] = (),
        *,
        has_confidence: bool = False,
    ) -> int:
        allowed = self.grammar.allowed() if self.grammar else None
        if without:
            rest = np.ones(len(row), np.bool_) if allowed is None else allowed.flags
            rest[[token for token in without if token < len(rest)]] = False
            allowed = TokenMask.of(rest)
        drawer = self._drawer
        tokens = drawer.draw(row, (), position, allowed, has_confidence=has_confidence)
        if drawer.failure is not None:
            raise drawer.failure
        return tokens[0]


def _then_raise(tokens: Sequence[int], failure: EngineError) -> Iterator[int]:
    yield from tokens
    raise failure


def drawers(cache_dir: str = "") -> MakeDrawer:
    """Return the factory of drawers: native ones if the library is found.

    Args:
        cache_dir: The user's cache folder, where it may have been built; empty for the installed
            one only.
    """
    library = native_rows.library(cache_dir)
    return partial(NativeRows, library) if library else PlainRows
