"""Logits to one token: biases, penalties, grammar, truncation and coupled Gumbel noise.

The same code serves plain decoding, verification and drafting, so that a token depends on its
logits, on what was committed before and on (seed, position) alone. Order: logit bias, penalties,
grammar, top-k, top-p, min-p, temperature; then the noise takes the place of the random draw: the
argmax of ``logit / temperature + gumbel`` has exactly the truncated softmax distribution.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import Grammar, Row
from paceline.engine.model.tokens import last_ids
from paceline.engine.sample.gumbel_argmax import Race, argmax_of
from paceline.engine.sample.noise import gumbel_of, position_key
from paceline.engine.sample.truncation import Nucleus, largest, min_p_floor, survivors, weights_of
from paceline.errors import EngineError, NothingAllowedError, refuse
from paceline.parameters import check_fields
from paceline.params import SamplingParams

PENALTY_WINDOW = 64


class Biases:
    """Adds the logit biases and forbids tokens, in place.

    Args:
        params: Their biases; -inf forbids.
        suppress: More ids to forbid.
    """

    def __init__(self, params: SamplingParams, suppress: Iterable[int] = ()) -> None:
        forbidden = {b.token for b in params.logit_bias if b.bias == -math.inf}
        self._forbidden = np.array(sorted(forbidden.union(suppress)), np.int64)
        added = sorted((b.token, b.bias) for b in params.logit_bias if b.bias > -math.inf)
        self._tokens = np.array([token for token, _ in added], np.int64)
        self._added = np.array([bias for _, bias in added], np.float32)
        self._single = self._forbidden.tolist() if len(self._forbidden) <= _FEW else None
        self._n_vocab = 1 << 62

    def apply(self, row: Row) -> None:
        """Change the row; ids that it does not have are ignored."""
        if len(row) < self._n_vocab:
            self._fit(len(row))
        if len(self._tokens):
            row[self._tokens] += self._added
        if self._single is not None:
            for token in self._single:
                row[token] = -math.inf
        else:
            row[self._forbidden] = -math.inf

    def forbids_all(self, n_vocab: int) -> bool:
        """Return whether nothing is left of so many tokens."""
        return int((self._forbidden < n_vocab).sum()) >= n_vocab

    def _fit(self, n_vocab: int) -> None:
        """Forget the ids that rows of this length do not have."""
        self._n_vocab = n_vocab
        self._added = self._added[self._tokens < n_vocab]
        self._tokens = self._tokens[self._tokens < n_vocab]
        self._forbidden = self._forbidden[self._forbidden < n_vocab]
        if self._single is not None:
            self._single = self._forbidden.tolist()


class Penalties:
    """Penalises the tokens of a window that moves with the reply.

    They are llama.cpp's (`src/llama-sampler.cpp`, "penalties"): of the last 64 tokens of prompt and
    reply, gaps passed over, each one's logit is divided by the repeat penalty when it is positive
    and multiplied by it otherwise; then the frequency penalty is taken off once per occurrence, and
    the presence penalty once. They follow every committed token, so each row of a verify batch sees
    the drafted tokens before it that were accepted, as it would without a draft.
    """

    def __init__(self, params: SamplingParams) -> None:
        self._repeat = params.repeat_penalty
        self._presence = params.presence_penalty
        self._frequency = params.frequency_penalty
        self.is_active = self._repeat != 1 or self._presence != 0 or self._frequency != 0
        self._window: deque[int] = deque()
        self._counts: dict[int, int] = {}

    def start(self, prompt: Sequence[int]) -> None:
        """Begin after a prompt."""
        self._window.clear()
        self._counts.clear()
        for token in last_ids(prompt, PENALTY_WINDOW):
            self.add(token)

    def add(self, token: int) -> None:
        """Move on by one token."""
        window, counts = self._window, self._counts
        if len(window) == PENALTY_WINDOW:
            oldest = window.popleft()
            if counts[oldest] > 1:
                counts[oldest] -= 1
            else:
                del counts[oldest]
        window.append(token)
        counts[token] = counts.get(token, 0) + 1

    def follow(self, other: Penalties) -> None:
        """Take over another's window."""
        self._window = other._window.copy()
        self._counts = other._counts.copy()

    def apply(self, row: Row) -> None:
        """Change the row in place; ids that it does not have are ignored."""
        repeat, presence, frequency = self._repeat, self._presence, self._frequency
        n_vocab, item = len(row), row.item
        for token, count in self._counts.items():
            if token < n_vocab:
                logit = item(token)
                logit = logit / repeat if logit > 0 else logit * repeat
                row[token] = logit - count * frequency - presence


_TOP_OF_CONFIDENCE = 10
COLD = 1e-6
"""A lower temperature is 0: the noise could only decide between logits less than 3e-5 apart."""
_FEW = 8  # up to here single writes are faster than an index array
_SAFE = 1e-9  # relative; more than any rounding of a weight
_CHEAP = 400_000  # logits that may be passed over once more before they are compared
_FEW_LIKELY = 40  # tokens whose noise Python's own arithmetic computes as fast as numpy's calls
_MANY = 1024  # tokens from which a race is cheaper than noise for each
_MAX_BIASES = 10_000
_MAX_BIAS = 1e6  # float32 has no digits for a logit beside a larger one


def check_sampling(params: SamplingParams, n_vocab: int | None = None) -> None:
    """Refuse values without a meaning.

    Args:
        params: What the user set.
        n_vocab: Tokens of the vocabulary, if it is known already.

    Raises:
        ValueOutOfRangeError: Names the value and its range.
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
    """Draws tokens for one reply from one model's rows; a draft model gets one of its own.

    Not thread-safe.

    Attributes:
        has_memory: Whether a token depends on those before it other than by the logits: only then
            need `start`, `commit` and `follow` be called.

    Args:
        params: What the user set.
        seed: 0 or more.
        suppress: Ids that are never drawn.
        n_vocab: Length of the rows, if known: biases for other tokens are refused then.
        grammar: What the reply must follow, at its beginning; `close` frees it.

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
    ) -> None:
        check_sampling(params, n_vocab)
        self.params = params
        self.seed = seed
        self.grammar = grammar
        self._suppress = sorted(suppress)
        is_biased = params.logit_bias or self._suppress
        self._biases = Biases(params, self._suppress) if is_biased else None
        penalties = Penalties(params)
        self._penalties = penalties if penalties.is_active else None
        self.has_memory = self._penalties is not None or grammar is not None
        self._race = Race()
        self._accepted: list[int] = []  # by the grammar

    def twin(self, n_vocab: int | None = None) -> Sampler:
        """Return a sampler that draws the same, for another model's rows, [n_vocab].

        Call `follow` before it draws, and `close` at the end.
        """
        suppress = [t for t in self._suppress if n_vocab is None or t < n_vocab]
        biases = tuple(b for b in self.params.logit_bias if n_vocab is None or b.token < n_vocab)
        params = replace(self.params, logit_bias=biases)
        twin = Sampler(params, self.seed, suppress, n_vocab=n_vocab)
        twin.follow(self)
        return twin

    def start(self, prompt: Sequence[int]) -> None:
        """Begin a reply after this prompt: penalties look at its tail, too."""
        if self._penalties:
            self._penalties.start(prompt)

    def commit(self, token: int) -> None:
        """Take a token into the reply: penalties and grammar go on by it.

        Raises:
            EngineError: The grammar does not allow it here.
        """
        if self._penalties:
            self._penalties.add(token)
        if self.grammar:
            self.grammar.accept(token)
            self._accepted.append(token)

    def follow(self, other: Sampler) -> None:
        """Take over how far `other` has come in the reply; for twins."""
        if self._penalties and other._penalties:
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

    def sample(self, row: Row, position: int) -> int:
        """Return the token for the generated position, 0 for a reply's first token.

        Args:
            row: float32 [n_vocab]; biases, penalties and what the grammar forbids are written into
                it.
            position: Index of the token within the reply.

        Raises:
            NothingAllowedError: Biases and grammar leave nothing.
            SamplingError: The grammar is too ambiguous to go on with.
            EngineError: The row holds NaN or +inf, or nothing but -inf.
        """
        best, top = self._best(row)
        if self.params.temperature < COLD:
            return best
        token = self._among_likely(row, best, top, position)
        return self._draw(row, best, top, position)[0] if token is None else token

    def draft(self, row: Row, position: int) -> tuple[int, float]:
        """Return the token that `sample` gives, and the row's confidence, 0..1.

        The confidence is the probability of the most likely token, not of the one the noise picks:
        softmax over the ten largest logits at temperature 1, which llama.cpp compares with p_min
        (`common/speculative.cpp`); under a grammar, over the allowed ones.
        """
        best, top = self._best(row)
        if self.params.temperature < COLD:
            return best, _confidence(row, top)
        token, weights = self._draw(row, best, top, position)
        if weights is not None and len(weights) >= _TOP_OF_CONFIDENCE:
            return token, 1.0 / sum(weights[:_TOP_OF_CONFIDENCE])
        return token, _confidence(row, top)

    # ------------------------------------------------------------------------------ within

    def _best(self, row: Row) -> tuple[int, float]:
        """Bias, penalise and mask the row, and return its largest logit and whose it is."""
        if self._biases:
            self._biases.apply(row)
        if self._penalties:
            self._penalties.apply(row)
        best = int(row.argmax())  # the lowest id among equals; the first NaN if there is one
        top = row.item(best)
        if not math.isfinite(top):
            if top == -math.inf and self._biases and self._biases.forbids_all(len(row)):
                raise NothingAllowedError(
                    "all-forbidden",
                    "Every token is forbidden, so nothing can be written.",
                    "Remove logit biases of -inf.",
                )
            raise EngineError(
                "invalid-numbers",
                "The model produced invalid numbers instead of logits.",
                "The file may be damaged: verify or download it again, or try another one.",
            )
        allowed = self.grammar.allowed() if self.grammar else None
        return (best, top) if allowed is None else _best_allowed(row, allowed)

    def _among_likely(self, row: Row, best: int, top: float, position: int) -> int | None:
        """Return the token where min-p leaves few; None where it does not, or top-p may decide.

        The winner among all that min-p leaves also wins among those of them that top-k and top-p
        leave, if it is one of these: so neither the k largest logits nor their sum is needed.
        """
        p = self.params
        if p.min_p == 0:
            return None
        found = _likely(row, best, top, p.min_p)
        n = len(found)
        if not n or 0 < p.top_k < n:
            return None
        if n == 1:
            return best
        key = position_key(self.seed, position)
        scores = [logit / p.temperature + gumbel_of(key, token) for logit, token in found]
        first = scores.index(max(scores))
        if first and p.top_p < 1:
            weights = [math.exp(logit - top) for logit, _ in found]
            if sum(weights[:first]) > p.top_p * sum(weights) * (1 - _SAFE):
                return None
        return found[first][1]

    def _draw(
        self, row: Row, best: int, top: float, position: int
    ) -> tuple[int, list[float] | None]:
        """Return the token, and exp(logit - top) of the largest logits where they were sorted."""
        p = self.params
        key = position_key(self.seed, position)
        if 0 < p.top_k < len(row):
            tokens, logits = largest(row, p.top_k)
            weights = weights_of(logits, top)
            enough = p.top_p * sum(weights) if p.top_p < 1 else math.inf
            n = survivors(weights, enough, p.min_p)
            return argmax_of(tokens[:n], logits[:n], p.temperature, key), weights
        floor = min_p_floor(top, p.min_p)
        if p.top_p < 1:
            nucleus = Nucleus(row, top, p.top_p)
            kept = nucleus.sort(p.min_p)
            if kept:
                tokens, logits, weights, n = kept
                return argmax_of(tokens[:n], logits[:n], p.temperature, key), weights
            after = floor, len(row)
            while True:
                token = self._race.winner(row, best, p.temperature, key, after)
                if token == best or nucleus.holds(token):
                    return token, None
                after = row.item(token), token
        if p.min_p > 0:
            likely = row >= floor
            if np.count_nonzero(likely) <= _MANY:
                tokens = likely.nonzero()[0]
                return argmax_of(tokens, row[tokens], p.temperature, key), None
        return self._race.winner(row, best, p.temperature, key, (floor, len(row))), None


def _best_allowed(row: Row, allowed: NDArray[np.bool_]) -> tuple[int, float]:
    """Mask the row, in place, and return its largest logit and whose it is.

    The row of a draft model may be longer or shorter than the mask.
    """
    n = min(len(row), len(allowed))
    np.copyto(row[:n], -math.inf, where=~allowed[:n])
    row[n:] = -math.inf
    best = int(row.argmax())
    top = row.item(best)
    if top == -math.inf:
        raise NothingAllowedError(
            "grammar-stuck",
            "The grammar allows no token that the model could go on with.",
            "Check that every text that the grammar begins can be completed, and that no logit "
            "bias forbids what it needs.",
        )
    return best, top


def _likely(row: Row, best: int, top: float, min_p: float) -> list[tuple[float, int]]:
    """Return what min-p leaves, logits and tokens sorted downwards; nothing where that is not few.

    Nothing either where a logit is so near the floor that its weight may be beyond by rounding.
    With cold caches another pass over a row that is not too long costs less than a comparison.
    """
    floor, doubt, found = top + math.log(min_p), _SAFE * (1.0 + abs(top)), [(top, best)]
    n_most = min(max(_CHEAP // len(row), 1), _FEW)
    while len(found) <= n_most:
        row[found[-1][1]] = -math.inf
        token = int(row.argmax())
        logit = row.item(token)
        if logit < floor - doubt:
            break
        found.append((logit, token))
    for logit, token in found:
        row[token] = logit
    if len(found) > n_most:
        tokens = (row >= floor - doubt).nonzero()[0]
        if len(tokens) > _FEW_LIKELY:
            return []
        pairs = zip(row[tokens].tolist(), tokens.tolist(), strict=True)
        found = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    return found if found[-1][0] >= floor + doubt else []


def _confidence(row: Row, top: float) -> float:
    _, few = largest(row, min(_TOP_OF_CONFIDENCE, len(row)))
    return 1.0 / sum(weights_of(few, top))
