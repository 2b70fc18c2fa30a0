"""Rules for reading a draft model's tokens as the target's: llama.cpp's, with their messages.

The rules of `common/speculative.cpp` in llama.cpp: same kind of vocabulary; BOS and EOS both added
or both not and, if added, the same; sizes within 128; the same text for every id from 5 on. The
engine applies them after a load, the catalog before one; both get the same result.

A vocabulary is identified by a hash of its content, so that what was learned with it is found
again.
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
    """Return a token's bytes as shown in a reply; for a control token, its name."""
    return vocab.piece(token) or vocab.text(token)


def vocabulary_hash(vocab: Vocabulary) -> str:
    """Return 16 hex digits that are the same for vocabularies with the same texts of tokens."""
    return hash_of_texts([vocab.text(token) for token in range(vocab.n_tokens)])


def hash_of_texts(texts: Sequence[bytes]) -> str:
    """Return the vocabulary's hash, given every token's text by id."""
    lengths = np.fromiter(map(len, texts), "<u4", len(texts))
    digest = hashlib.sha256(len(texts).to_bytes(4, "little"))
    digest.update(lengths.tobytes())
    digest.update(b"".join(texts))
    return digest.hexdigest()[:16]


MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED = 5
"""First compared id; special tokens before it may have other names."""
_MAX_NAME_CHARS = 40
BYTE_PAIR_ENCODING = 2
_KINDS = {
    1: "SentencePiece", BYTE_PAIR_ENCODING: sentence("byte-pair encoding"), 3: "WordPiece",
    4: "Unigram", 5: "RWKV", 6: "PLaMo-2",
}  # fmt: skip
"""Names of the values of `enum llama_vocab_type`."""

MismatchCode = Literal[
    "vocabulary-kind", "bos-differs", "eos-differs", "vocabulary-size", "token-differs"
]


class TokenTable(Protocol):
    """A vocabulary as far as the rules need it."""

    @property
    def kind(self) -> int:
        """The kind, a value of `enum llama_vocab_type`."""

    @property
    def n_tokens(self) -> int:
        """The number of tokens; ids go from 0 to below it."""

    @property
    def bos(self) -> int:
        """The id of the token that begins a text, or -1."""

    @property
    def eos(self) -> int:
        """The id of the token that ends a text, or -1."""

    @property
    def add_bos(self) -> bool:
        """Return whether texts begin with `bos`."""

    @property
    def add_eos(self) -> bool:
        """Return whether texts end with `eos`."""

    @property
    def text(self) -> Callable[[int], bytes]:
        """Return a function from a token to its entry in the vocabulary."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why the draft's tokens cannot be read as the target's.

    Attributes:
        code: Code of the violated rule.
        text: The reason as a clause that begins in lower case and has no full stop.
        token: First id whose texts differ, or -1 for another reason.
    """

    code: MismatchCode
    text: str
    token: int = -1


def vocabulary_mismatch(target: TokenTable, draft: TokenTable) -> Mismatch | None:
    """Return the reason why the draft's tokens do not fit, or None if they do.

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
    # Without a loop in Python: large vocabularies have a quarter of a million texts.
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
    """Return how the two differ in the token that begins or ends a text; empty if they do not."""
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
    """Return two texts for users; as bytes if they would look the same."""
    names = [
        "".join(c if c.isprintable() else "�" for c in text.decode("utf-8", "replace"))
        for text in (ours, theirs)
    ]
    if names[0] == names[1]:
        names = [repr(text)[2:-1] for text in (ours, theirs)]
    at = next((i for i, (a, b) in enumerate(zip(*names, strict=False)) if a != b), 0)
    return _cut(names[0], at), _cut(names[1], at)


def _cut(name: str, at: int) -> str:
    """Cut a long name after the index where it differs."""
    if len(name) <= _MAX_NAME_CHARS:
        return name
    first = max(0, min(at - _MAX_NAME_CHARS // 2, len(name) - _MAX_NAME_CHARS))
    end = first + _MAX_NAME_CHARS
    return f"{'…' if first else ''}{name[first:end]}{'…' if end < len(name) else ''}"
