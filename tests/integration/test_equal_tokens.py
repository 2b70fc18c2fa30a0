"""Several tokens that write the same: the one that llama.cpp's tokenizer takes in a running text.

Vocabularies are made at random here. Real ones are asked, too, Gemma 3 below and others where they
are at hand in `catalog/test_real_vocabularies.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import make_pairs
import real_models
from catalog.headers import gguf_bytes
from gguf_file import Gguf
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.translation import bytes_of_tokens, token_of_each_text

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6  # enum llama_token_type
CHARACTERS = "\n\t abcdeäß日"
CODE = (Path(__file__).parents[1] / "conftest.py").read_text("utf-8")


def random_vocabulary(rng: random.Random, *, adds_space: bool) -> Gguf:
    """SentencePiece's kind: bytes, characters and words in any order, some written twice."""
    words = {"".join(rng.choices(CHARACTERS, k=rng.randint(2, 4))) for _ in range(60)}
    marked = {word.replace(" ", "▁") for word in (*words, *CHARACTERS)}
    tokens = [(text, NORMAL) for text in sorted(marked)]
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    twice = rng.sample(sorted(word for word in words if " " in word), 5)
    # After tokens that users define llama.cpp adds a space once more: then two may stand for it.
    tokens += [
        (word, NORMAL if adds_space else rng.choice((NORMAL, USER_DEFINED))) for word in twice
    ]
    rng.shuffle(tokens)
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), *tokens]
    texts, kinds = zip(*tokens, strict=True)
    model = Gguf()
    model.set(general__architecture="llama", tokenizer__ggml__model="llama")
    model.set(tokenizer__ggml__tokens=list(texts))
    model.set(tokenizer__ggml__token_type=np.array(kinds, np.int32))
    model.set(tokenizer__ggml__add_space_prefix=adds_space)
    return model


def check(vocab: Vocabulary, text: str) -> int:
    """Each token of a text is the one that its bytes stand for; returns how many have equals."""
    written = bytes_of_tokens(vocab)
    ids = token_of_each_text(vocab, written)
    for token in vocab.tokenize(text, special=False)[1:]:
        assert ids[written[token]] == token, written[token]
    return len(written) - len({*written})


@pytest.mark.parametrize("adds_space", [False, True])
def test_each_token_of_a_text_is_that_of_its_bytes(
    adds_space: bool, tmp_path: Path, trials: Callable[[int, int], range]
) -> None:
    for seed in trials(4, 200):
        rng = random.Random(seed)
        file = tmp_path / f"{seed}.gguf"
        file.write_bytes(gguf_bytes(random_vocabulary(rng, adds_space=adds_space)))
        with closing(LlamaBackend().load_vocabulary(str(file))) as vocab:
            assert check(vocab, "".join(rng.choices(CHARACTERS, k=2000))) > 5


@pytest.mark.parametrize("name", ["tiny-target", "tiny-gemma4", "tiny-foreign"])
def test_in_the_vocabularies_of_tiny_models(name: str) -> None:
    with closing(LlamaBackend().load_vocabulary(str(make_pairs.path(name)))) as vocab:
        check(vocab, CODE)


@pytest.mark.parametrize(("name", "n_twice"), [("gemma3-270m", 110), ("smollm2-135m", 0)])
def test_in_real_vocabularies(name: str, n_twice: int) -> None:
    file = real_models.path_or_skip(name)
    with closing(LlamaBackend().load_vocabulary(str(file))) as vocab:
        assert check(vocab, CODE) == n_twice
        if n_twice:
            written = bytes_of_tokens(vocab)
            assert [token for token, text in enumerate(written) if text == b"\n"] == [107, 248]
            assert token_of_each_text(vocab, written)[b"\n"] == 107
