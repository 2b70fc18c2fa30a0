"""The messages that are exchanged with the inspector's process.

Each question gets one answer. All are frozen structs in frames, checked field by field: the process
reads foreign files, so its answers are not trusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from paceline.catalog.card import ModelCard, Nature
from paceline.codec import Tagged
from paceline.engine.model.model_file import DryRun
from paceline.hosting.wire import decoder
from paceline.params import ModelParams
from paceline.sentence import UserText
from paceline.workers.frames import WireError

MAX_TEXT_BYTES = 11 << 20
"""Upper bound of the bytes of a vocabulary's texts, so that they fit into one frame as base64; the
largest known vocabularies have 5 MB."""
_HASH = re.compile(r"[0-9a-f]{16}")


class LookAt(Tagged, frozen=True):
    """Make a model's card, and load its vocabulary unless `card_only` is set.

    Attributes:
        files: The model's files in order.
        card_only: Whether the header is enough.
    """

    files: tuple[str, ...]
    card_only: bool


class TextsOf(Tagged, frozen=True):
    """Send the texts of a file's tokens."""

    file: str


class Measure(Tagged, frozen=True):
    """Do a dry run of a load, see `dry_run`."""

    params: ModelParams
    n_rows: int
    target: str = ""


class Know(Tagged, frozen=True):
    """Say whether llama.cpp knows an architecture."""

    architecture: str


class Seen(Tagged, frozen=True):
    """Facts of a model; `nature` is None where the header alone was asked for."""

    card: ModelCard
    nature: Nature | None


class Texts(Tagged, frozen=True):
    """The texts of a vocabulary: what `join_texts` gives, as base64."""

    joined: str


class Measured(Tagged, frozen=True):
    """Result of a dry run."""

    run: DryRun


class Supported(Tagged, frozen=True):
    """Reason why llama.cpp cannot load a model, in its words; empty if it can."""

    unknown: str


class Refused(Tagged, frozen=True):
    """There is no answer, for a reason that the user should read.

    Attributes:
        code: As in `errors.UserError`, and so are message and hint.
        message: One sentence.
        hint: One sentence.
        is_value: Whether a value that was given is at fault, and not the file.
        smaller_ctx: See `errors.ModelError`.
    """

    code: str
    message: UserText
    hint: UserText
    is_value: bool
    smaller_ctx: int


Question = LookAt | TextsOf | Measure | Know
Answer = Seen | Texts | Measured | Supported | Refused

decode_question: Callable[[bytes], Question] = decoder(Question)
_decode_any_answer: Callable[[bytes], Answer] = decoder(Answer)


def decode_answer(payload: bytes) -> Answer:
    """Return the answer that `encode_message` gave these bytes for.

    Raises:
        WireError: They are something else, or an answer that contradicts itself.
    """
    answer = _decode_any_answer(payload)
    if isinstance(answer, Seen):
        check_seen(answer)
    return answer


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


def join_texts(texts: Sequence[bytes]) -> bytes:
    """Return the texts of a vocabulary as one; no text that a GGUF file gives holds a NUL."""
    return b"\0".join(texts)


def split_texts(joined: bytes) -> tuple[bytes, ...]:
    """Return the texts that `join_texts` was given."""
    return tuple(joined.split(b"\0")) if joined else ()
