"""The messages that are exchanged with the inspector's process.

Down go questions, up come answers; every question has one last answer, and only the texts of a
vocabulary come in several pieces. All are frozen dataclasses in JSON frames, checked field by
field: the process reads what strangers have written, so nothing that it says is taken on trust.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paceline.catalog.card import ModelCard, Nature
from paceline.codec import by_name
from paceline.engine.model.model_file import DryRun
from paceline.hosting.wire import Dying, Ready, WireError, decode_message
from paceline.params import ModelParams

MOST_TEXT = 256 << 20
"""Bytes of all texts of a vocabulary; the largest ones that are known have 5 MB."""
MOST_TOKENS = 1 << 20
_PIECE = 2 << 20
"""Bytes of texts in one answer; with the text that reaches beyond its end, twice as many."""
_HASH = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class LookAt:
    """Make a model's card, and unless told otherwise load its vocabulary.

    Attributes:
        files: The model's files in order.
        card_only: Whether the header is enough.
    """

    files: tuple[str, ...]
    card_only: bool


@dataclass(frozen=True, slots=True)
class TextsOf:
    """Send the texts of a file's tokens."""

    file: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Do a dry run of a load, see `dry_run`."""

    params: ModelParams
    n_rows: int
    target: str = ""


@dataclass(frozen=True, slots=True)
class Leave:
    """End the process."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a model; `nature` is None where the header alone was asked for."""

    card: ModelCard
    nature: Nature | None


@dataclass(frozen=True, slots=True)
class Texts:
    """A piece of a vocabulary.

    Attributes:
        lengths: Bytes of each token's text, as base64 of little-endian uint32.
        joined: The texts one after the other, as base64.
        is_last: Whether nothing follows.
    """

    lengths: str
    joined: str
    is_last: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What a dry run told."""

    run: DryRun


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no answer, for a reason that the user should read.

    Attributes:
        code: As in `errors.UserError`, and so are message and hint.
        message: One sentence.
        hint: One sentence.
        is_value: Whether a value that was given is at fault, and not the file.
        smaller_ctx: See `errors.ModelError`.
    """

    code: str
    message: str
    hint: str
    is_value: bool
    smaller_ctx: int


Question = LookAt | TextsOf | Measure | Leave
Answer = Ready | Seen | Texts | Measured | Refused

_QUESTIONS = by_name(Question)
_ANSWERS = by_name(Answer | Dying)


def decode_question(payload: bytes) -> Question:
    """Return the question that `encode_message` gave these bytes for.

    Raises:
        WireError: They are something else.
    """
    question: Question = decode_message(payload, _QUESTIONS)
    return question


def decode_answer(payload: bytes) -> Answer | Dying:
    """Return the answer that `encode_message` gave these bytes for.

    Raises:
        WireError: They are something else, or an answer that contradicts itself.
    """
    answer: Answer | Dying = decode_message(payload, _ANSWERS)
    if isinstance(answer, Seen):
        check_seen(answer)
    return answer


def is_last(answer: Answer) -> bool:
    """Whether nothing follows it."""
    return not isinstance(answer, Texts) or answer.is_last


def check_seen(seen: Seen) -> None:
    """Refuse a card with values that no card can have.

    Raises:
        WireError: It contradicts itself.
    """
    card, nature = seen.card, seen.nature
    lengths = len(card.layer_bytes), len(card.expert_bytes), len(card.kv_elements)
    if lengths != (card.n_layers,) * 3:
        raise WireError("a card of different numbers of layers")
    if card.vocabulary and not _HASH.fullmatch(card.vocabulary):
        raise WireError("a card with a hash that is none")
    if nature is not None and nature.n_tokens != card.n_vocab:
        raise WireError("a card and a nature of different vocabularies")


def pack_texts(texts: Sequence[bytes]) -> Iterator[Texts]:
    """Yield the pieces in which texts travel.

    Raises:
        ValueError: They are more than any vocabulary has.
    """
    lengths = np.fromiter(map(len, texts), "<u4", len(texts))
    ends = np.cumsum(lengths, dtype=np.int64)
    n_bytes = int(ends[-1]) if len(ends) else 0
    is_too_long = len(texts) > 0 and int(lengths.max()) > _PIECE
    if is_too_long or n_bytes > MOST_TEXT or len(texts) > MOST_TOKENS:
        raise ValueError("more text than any vocabulary has")
    cuts = [0, *np.searchsorted(ends, np.arange(_PIECE, n_bytes, _PIECE)).tolist(), len(texts)]
    spans = [(a, b) for a, b in pairwise(cuts) if b > a] or [(0, 0)]
    for first, end in spans:
        yield Texts(
            base64.b64encode(lengths[first:end].tobytes()).decode("ascii"),
            base64.b64encode(b"".join(texts[first:end])).decode("ascii"),
            is_last=end == len(texts),
        )


def unpack_texts(pieces: Sequence[Texts]) -> tuple[bytes, ...]:
    """Return the texts that `pack_texts` was given.

    Raises:
        WireError: The pieces are not those of `pack_texts`.
    """
    found: list[bytes] = []
    try:
        for piece in pieces:
            joined = base64.b64decode(piece.joined, validate=True)
            lengths = np.frombuffer(base64.b64decode(piece.lengths, validate=True), "<u4")
            found += split_texts(lengths, joined)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"texts that are none: {error}") from None
    return tuple(found)


def split_texts(lengths: np.typing.NDArray[np.uint32], joined: bytes) -> list[bytes]:
    """Cut texts apart.

    Args:
        lengths: Bytes of each, uint32 [n].
        joined: All of them, one after the other.

    Raises:
        ValueError: The lengths do not add up.
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    if (int(ends[-1]) if len(ends) else 0) != len(joined):
        raise ValueError("the lengths do not add up")
    bounds = [0, *ends.tolist()]
    return [joined[a:b] for a, b in pairwise(bounds)]
