"""Random walks through a grammar: a random allowed token at each step, until the text ends.

With equal chances for tens of thousands of tokens a text would never end and be noise, so a walk
first chooses a kind of token, by chances that depend on its `Bias`, and then a token of that kind.
"""

from __future__ import annotations

import random
import weakref
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paceline.engine.model.backend import Grammar, Vocabulary

GRACE = 600
"""Tokens that a walk may take beyond its limit, where it only tries to end."""


class WalkError(Exception):
    """The grammar allows nothing, or a token that writes nothing; says after which text."""


class Bias(NamedTuple):
    """Probabilities of the kinds of tokens in a walk where all kinds are allowed.

    Attributes:
        end: The end of the reply.
        closing: Begins with a quote or closing bracket.
        structure: Nothing but JSON's signs, digits and white space.
        word: Any other ASCII text.
        rare: Characters beyond ASCII, parts of such, control characters, backslashes.
        long: The power of its length by which a token's chance within its kind grows.
    """

    end: float
    closing: float
    structure: float
    word: float
    rare: float
    long: float = 0.0


BIASES = {
    "short": Bias(9, 3, 2, 1, 0.2),
    "even": Bias(1, 1, 1, 1, 1),
    "structure": Bias(1, 1, 6, 1, 0.1),
    "long": Bias(0.5, 1, 1, 3, 0.5, long=1),
    "rare": Bias(1, 1, 1, 1, 5),
    "endless": Bias(0.02, 0.2, 1, 1, 0.2),
}
_CLOSING = b'"]}'
_STRUCTURE = frozenset(b'{}[]:,"-+.eE0123456789 \n\r\t')
_N_KINDS = 5
_OUTSIDE = (b"}]", b",:", b'"0123456789tfn-.eE+', b"[{")
"""First bytes outside of strings, those first that bring a text to its end soonest.

A comma comes before a digit, or a number would never end where another property has to come.
"""


class _Tokens:
    """Texts and kinds of a vocabulary's tokens."""

    def __init__(self, vocab: Vocabulary) -> None:
        self.ids = np.arange(vocab.n_tokens, dtype=np.int64)
        self.pieces = [vocab.piece(token) for token in range(vocab.n_tokens)]
        self.eog = vocab.eog
        kinds = [
            0 if token in vocab.eog else _kind(piece) for token, piece in enumerate(self.pieces)
        ]
        self.kinds = np.array(kinds, np.int64)
        self.ranks_inside, self.ranks_outside = (
            np.array(
                [
                    -1 if token in vocab.eog else _rank(piece, ends)
                    for token, piece in enumerate(self.pieces)
                ]
            )
            for ends in ((b'"',), _OUTSIDE)
        )
        self.lengths = np.array([max(len(piece), 1) for piece in self.pieces], np.float64)


def _kind(piece: bytes) -> int:
    if piece[:1] and piece[0] in _CLOSING:
        return 1
    if _STRUCTURE.issuperset(piece):
        return 2
    return 3 if piece.isascii() and piece.decode().isprintable() and b"\\" not in piece else 4


_LAST = 9
"""The rank of a token that brings a text no nearer to its end."""


def _rank(piece: bytes, ends: Sequence[bytes]) -> int:
    """Return which of these sets of first bytes has the first byte of a token."""
    return next((i for i, first in enumerate(ends) if piece[:1] and piece[0] in first), _LAST)


_known: weakref.WeakKeyDictionary[Vocabulary, _Tokens] = weakref.WeakKeyDictionary()


def _tokens_of(vocab: Vocabulary) -> _Tokens:
    """Return the vocabulary's tokens, read once: that takes longer than a walk."""
    if vocab not in _known:
        _known[vocab] = _Tokens(vocab)
    return _known[vocab]


def walk(
    grammar: Grammar,
    vocab: Vocabulary,
    rng: random.Random,
    limit: int = 400,
    bias: str = "",
) -> str | None:
    """Walk at random from where a grammar is, which goes on with each token.

    Args:
        grammar: Is changed, and stays open.
        vocab: The tokens that the grammar is about.
        rng: Decides.
        limit: Tokens after which the walk only tries to end.
        bias: A key of `BIASES`, or empty for a random one.

    Returns:
        The text if it came to an end of generation; None where that was not reached within
        `GRACE` more tokens. Bytes that are no UTF-8 stand in it as `surrogateescape` has them.

    Raises:
        WalkError: Nothing is allowed, or a token that writes nothing.
    """
    tokens = _tokens_of(vocab)
    chances = BIASES[bias or rng.choice(list(BIASES))]
    text = bytearray()
    place = _Place()
    for n_written in range(limit + GRACE):
        allowed = grammar.allowed().flags.nonzero()[0]
        if not len(allowed):
            raise WalkError(f"nothing is allowed after {bytes(text)!r}")
        if n_written < limit:
            token = _drawn(tokens, allowed, chances, rng)
        else:
            token = _soonest_end(tokens, allowed, place, rng)
        grammar.accept(token)
        if token in tokens.eog:
            return text.decode(errors="surrogateescape")
        if not tokens.pieces[token]:
            raise WalkError(f"token {token}, which writes nothing, is allowed after {text!r}")
        text += tokens.pieces[token]
        place.go(tokens.pieces[token])
    return None


def _drawn(tokens: _Tokens, allowed: NDArray[np.int64], chances: Bias, rng: random.Random) -> int:
    kinds = tokens.kinds[allowed]
    present = np.bincount(kinds, minlength=_N_KINDS) > 0
    (kind,) = rng.choices(range(_N_KINDS), np.array(chances[:_N_KINDS]) * present)
    return _one_of(tokens, allowed[kinds == kind], chances.long, rng)


def _one_of(
    tokens: _Tokens, candidates: NDArray[np.int64], power: float, rng: random.Random
) -> int:
    ends = np.cumsum(tokens.lengths[candidates] ** power)
    at = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
    return int(candidates[min(at, len(candidates) - 1)])


class _Place:
    """Position in a JSON text: inside or outside of a string."""

    def __init__(self) -> None:
        self.in_string = False
        self.is_escaped = False

    def go(self, piece: bytes) -> None:
        for byte in piece:
            if self.is_escaped:
                self.is_escaped = False
            elif byte == ord('"'):
                self.in_string = not self.in_string
            else:
                self.is_escaped = self.in_string and byte == ord("\\")


def _soonest_end(
    tokens: _Tokens, allowed: NDArray[np.int64], place: _Place, rng: random.Random
) -> int:
    """Choose what leads to the end of the text: of a string, of an object, of the reply."""
    is_inside = place.in_string and not place.is_escaped
    ranks = (tokens.ranks_inside if is_inside else tokens.ranks_outside)[allowed]
    best = ranks.min()
    return _one_of(tokens, allowed[ranks == best], 0 if best == _LAST else -3, rng)
