"""The tokenizer that both models share.

Byte-level BPE of 8,192 entries. Texts are first cut as Qwen2's are: digits stand alone, so that
numbers are copied digit by digit, a sign before a word goes with it (``.join``, ``_name``), and
line breaks go with the signs before them. llama.cpp knows this cut by the name ``qwen2``, so that
the same text has the same ids there; `judging.held_out` checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from demo_pair.chats.chat import END, SPECIAL, START, Chat
from demo_pair.learning.tokens import Tokens, assistants

N_VOCAB = 8_192
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_BATCH = 2_000


def train_tokenizer(texts: Iterable[str], n_vocab: int = N_VOCAB) -> Tokenizer:
    """Return a tokenizer whose entries are frequent in these texts; the special tokens come first.

    Raises:
        ValueError: The texts are too few for so many entries.
    """
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_vocab,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    if made.get_vocab_size() != n_vocab:
        found = made.get_vocab_size()
        raise ValueError(f"the texts give only {found} of {n_vocab} entries; give more of them")
    return made


def encode_chats(tokenizer: Tokenizer, chats: Sequence[Chat]) -> Tokens:
    """Return the ids of chats, one after the other, and which of them the assistant says."""
    header = np.array(tokenizer.encode(f"{START}assistant\n").ids, np.uint16)
    end = tokenizer.encode(END).ids[0]
    ids, said = [], []
    for encoded in _encoded(tokenizer, chats):
        ids.append(encoded)
        said.append(assistants(encoded, header, end))
    lengths = np.array([len(each) for each in ids], np.int64)
    return Tokens(np.concatenate(ids), np.concatenate(said), np.cumsum(lengths))


def _encoded(tokenizer: Tokenizer, chats: Sequence[Chat]) -> Iterator[np.ndarray]:
    for start in range(0, len(chats), _BATCH):
        texts = [chat.text() for chat in chats[start : start + _BATCH]]
        for encoding in tokenizer.encode_batch(texts):
            yield np.array(encoding.ids, np.uint16)
