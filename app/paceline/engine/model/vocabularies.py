"""May a draft model's tokens be read as the target's? llama.cpp's rules, and the words for them.

`common/speculative.cpp` of llama.cpp: same kind of vocabulary; BOS and EOS added alike and, where
they are added, the same; sizes within 128; the same text for every id from 5 on. The engine asks
after a load, the catalog before one; both say the same.

A vocabulary is known by a hash of its content, so that what was learned with it is found again.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal, Protocol

import numpy as np

from paceline.engine.model.backend import Vocabulary
from paceline.sentence import sentence


def name_or_piece(vocab: Vocabulary, token: int) -> bytes:
    """Return a token's bytes as a reply shows them; of a control token, its name."""
    return vocab.piece(token) or vocab.text(token)


def vocabulary_hash(vocab: Vocabulary) -> str:
    """Return 16 hex digits that are the same for vocabularies whose tokens have the same texts."""
    return hash_of_texts([vocab.text(token) for token in range(vocab.n_tokens)])


def hash_of_texts(texts: Sequence[bytes]) -> str:
    """Return the vocabulary's hash from every token's text by id."""
    lengths = np.fromiter(map(len, texts), "<u4", len(texts))
    digest = hashlib.sha256(len(texts).to_bytes(4, "little"))
    digest.update(lengths.tobytes())
    digest.update(b"".join(texts))
    return digest.hexdigest()[:16]


MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED = 5
"""Special tokens stand in front of it and may be named otherwise."""
_LONGEST_NAME = 40
BYTE_PAIR_ENCODING = 2
_KINDS = {
    1: "SentencePiece", BYTE_PAIR_ENCODING: sentence("byte-pair encoding"), 3: "WordPiece",
    4: "Unigram", 5: "RWKV", 6: "PLaMo-2",
}  # fmt: skip
"""`enum llama_vocab_type`."""

MismatchCode = Literal[
    "vocabulary-kind", "bos-differs", "eos-differs", "vocabulary-size", "token-differs"
]


class TokenTable(Protocol):
    """What the rules look at."""

    @property
    def kind(self) -> int:
        """`enum llama_vocab_type`."""

    @property
    def n_tokens(self) -> int:
        """Ids go from 0 to below it."""

    @property
    def bos(self) -> int:
        """Id of the token that begins a text; -1: none."""

    @property
    def eos(self) -> int:
        """Id of the token that ends one; -1: none."""

    @property
    def add_bos(self) -> bool:
        """Whether texts begin with it."""

    @property
    def add_eos(self) -> bool:
        """Whether texts end with it."""

    @property
    def text(self) -> Callable[[int], bytes]:
        """Gives a token's entry in the vocabulary."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why the draft's tokens cannot be read as the target's.

    Attributes:
        code: Which rule is broken.
        text: The reason as a clause that begins in lower case and has no full stop.
        token: The first id whose texts differ; -1 when it is about something else.
    """

    code: MismatchCode
    text: str
    token: int = -1


def vocabulary_mismatch(target: TokenTable, draft: TokenTable) -> Mismatch | None:
    """Return why the draft's tokens do not fit; None when they do.

    Takes about 20 ms for 262k tokens whose texts lie in tuples.
    """
    if target.kind != draft.kind:
        ours, theirs = (
            _KINDS.get(v.kind) or sentence("kind {kind}", kind=v.kind) for v in (target, draft)
        )
        text = sentence(
            "their tokenizers are of different kinds: {ours}, {theirs}", ours=ours, theirs=theirs
        )
        return Mismatch("vocabulary-kind", text)
    bos = _boundary("BOS", (target.add_bos, target.bos), (draft.add_bos, draft.bos))
    if bos:
        return Mismatch("bos-differs", bos)
    eos = _boundary("EOS", (target.add_eos, target.eos), (draft.add_eos, draft.eos))
    if eos:
        return Mismatch("eos-differs", eos)
    if abs(target.n_tokens - draft.n_tokens) > MAX_SIZE_DIFFERENCE:
        text = sentence(
            "their vocabularies differ in size: {ours:,} and {theirs:,} tokens",
            ours=target.n_tokens,
            theirs=draft.n_tokens,
        )
        return Mismatch("vocabulary-size", text)
    # Without a loop in Python: the texts of large vocabularies are a quarter of a million.
    ids = range(FIRST_COMPARED, min(target.n_tokens, draft.n_tokens))
    differ = map(operator.ne, map(target.text, ids), map(draft.text, ids))
    token = next(compress(ids, differ), None)
    if token is None:
        return None
    name, other = _names(target.text(token), draft.text(token))
    text = sentence(
        "token {token} is “{name}” in the main model and “{other}” in the draft model",
        token=token,
        name=name,
        other=other,
    )
    return Mismatch("token-differs", text, token)


def _boundary(name: str, target: tuple[bool, int], draft: tuple[bool, int]) -> str:
    """Return how the two differ in the token that begins or ends a text; empty: not at all."""
    where = sentence("begins") if name == "BOS" else sentence("ends")
    if target[0] != draft[0]:
        adding, other = sentence("main model"), sentence("draft model")
        if draft[0]:
            adding, other = other, adding
        return sentence(
            "the {adding} {where} a text with the {name} token, and the {other} does not",
            adding=adding,
            where=where,
            name=name,
            other=other,
        )
    if target[0] and target[1] != draft[1]:
        return sentence(
            "their {name} tokens differ: {target} and {draft}",
            name=name,
            target=target[1],
            draft=draft[1],
        )
    return ""


def _names(ours: bytes, theirs: bytes) -> tuple[str, str]:
    """Return two texts for people; as bytes where they would look alike."""
    names = [
        "".join(c if c.isprintable() else "�" for c in text.decode("utf-8", "replace"))
        for text in (ours, theirs)
    ]
    if names[0] == names[1]:
        names = [repr(text)[2:-1] for text in (ours, theirs)]
    at = next((i for i, (a, b) in enumerate(zip(*names, strict=False)) if a != b), 0)
    return _cut(names[0], at), _cut(names[1], at)


def _cut(name: str, at: int) -> str:
    """Keep a long name to the place where it differs."""
    if len(name) <= _LONGEST_NAME:
        return name
    first = max(0, min(at - _LONGEST_NAME // 2, len(name) - _LONGEST_NAME))
    end = first + _LONGEST_NAME
    return f"{'…' if first else ''}{name[first:end]}{'…' if end < len(name) else ''}"
