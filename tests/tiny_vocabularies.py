"""Small vocabularies of the kinds that the demo pair's is not, as files without weights.

``SentencePiece`` as in Llama 2, Mistral 7B and Phi-3 (with a blank before every text) and as in
Gemma (without), WordPiece as in BERT, and Unigram as in T5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gguf_file import Gguf

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
"""Types of tokens in a GGUF file."""
WORDS = (
    "He", "Hel", "Hello", "▁Hello", "wo", "wor", "▁wor", "▁world", "ld", "or", "▁a", "▁the", "▁▁",
    "hello", "▁hello", "e,", "▁I", "▁see",
)  # fmt: skip
LETTERS = "▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;!?-_<>/|()[]'\"€ß"
EXTRA = ("<|user|>", "<|assistant|>", "<think>", "</think>")
"""Control tokens."""
INFILL = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
"""Control tokens that mark a gap to fill in, as Qwen2.5 Coder has them."""


def vocabulary(model: str, tokens: Sequence[tuple[str, int]], **settings: object) -> Gguf:
    """A vocabulary of these tokens with their types; later ones are less likely."""
    file = Gguf()
    file.set(general__architecture="llama", tokenizer__ggml__model=model, **settings)
    file.set(tokenizer__ggml__tokens=[text for text, _ in tokens])
    file.set(tokenizer__ggml__token_type=np.array([kind for _, kind in tokens], np.int32))
    scores = -np.arange(len(tokens), dtype=np.float32)
    file.set(tokenizer__ggml__scores=scores)
    return file


def sentencepiece(*, blank: bool, extra: Sequence[str] = EXTRA) -> Gguf:
    """SentencePiece, with a blank before every text or without."""
    special = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    special += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    special += [(text, CONTROL) for text in extra]
    words = [(text, NORMAL) for text in (*sorted(WORDS, key=len, reverse=True), *LETTERS)]
    return vocabulary(
        "llama", special + words, tokenizer__ggml__add_space_prefix=blank,
        tokenizer__ggml__bos_token_id=1, tokenizer__ggml__eos_token_id=2,
    )  # fmt: skip


def wordpiece() -> Gguf:
    """WordPiece, which writes in small letters and with single blanks."""
    special = [(name, CONTROL) for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")]
    words = dict.fromkeys(
        (*(word.lower() for word in WORDS), *(f"▁{c.lower()}" for c in LETTERS), *LETTERS.lower())
    )
    return vocabulary("bert", special + [(word, NORMAL) for word in words])


def unigram() -> Gguf:
    """Unigram, which takes several blanks for one."""
    special = [("<pad>", CONTROL), ("</s>", CONTROL), ("<unk>", UNKNOWN)]
    words = [(text, NORMAL) for text in (*WORDS, *LETTERS)]
    return vocabulary(
        "t5", special + words, tokenizer__ggml__add_space_prefix=True,
        tokenizer__ggml__eos_token_id=1, tokenizer__ggml__unknown_token_id=2,
    )  # fmt: skip


VOCABULARIES: dict[str, Callable[[], Gguf]] = {
    "SentencePiece": lambda: sentencepiece(blank=True),
    "SentencePiece without a blank": lambda: sentencepiece(blank=False),
    "WordPiece": wordpiece,
    "Unigram": unigram,
}


def write(name: str, folder: Path) -> Path:
    """Write a vocabulary of this name and return its file."""
    file = folder / f"{name}.gguf"
    with file.open("wb") as out:
        VOCABULARIES[name]().write(out)
    return file
