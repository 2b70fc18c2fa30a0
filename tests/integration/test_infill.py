"""Gaps filled in by llama.cpp: a random model with marks for them, and the demo pair without."""

from __future__ import annotations

from pathlib import Path

import pytest

import llama_files
from paceline.engine import Infill, RawText, SamplingParams, UserError, generate, load_pair
from paceline.engine.draft.strategy import read_strategy
from random_model import random_model
from tiny_vocabularies import INFILL, sentencepiece

GAP = Infill("Hello the", "world.")
CODE = ("def area(r):\n    return ", "\n\nprint(area(2))\n")
GREEDY = SamplingParams(temperature=0.0)


def test_a_gap_is_filled_in_with_any_strategy(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocabulary.gguf"
    with vocabulary.open("wb") as out:
        sentencepiece(blank=True, extra=INFILL).write(out)
    with load_pair(random_file(vocabulary, tmp_path), kernels="stock") as pair:
        by_name = {pair.vocab.text(token).decode(): token for token in range(pair.vocab.n_tokens)}
        replies = [
            generate(
                pair, GAP, strategy=strategy, sampling=GREEDY, max_tokens=12, ignore_eog=True
            ).finish()
            for strategy in ("off", "suffix:min_match=1")
        ]
        assert replies[0].tokens == replies[1].tokens
        assert replies[1].strategy != read_strategy("off")
        tokens = [
            by_name["<s>"], by_name[INFILL[0]], *pair.vocab.tokenize("Hello the", special=False),
            by_name[INFILL[1]], *(by_name[letter] for letter in ("wor", "ld", ".")),
            by_name[INFILL[2]],
        ]  # fmt: skip
        assert replies[0].stats.n_prompt == len(tokens)
        same = generate(pair, tokens, sampling=GREEDY, max_tokens=12, ignore_eog=True).finish()
        assert same.tokens == replies[0].tokens


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("starcoder", ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]),
        ("refact", ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]),
        ("deepseek-coder", ["<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"]),
    ],
)
def test_a_vocabulary_that_was_made_for_it_fills_in_a_gap(
    name: str, marks: list[str], tmp_path: Path
) -> None:
    with load_pair(random_file(llama_files.vocabulary(name), tmp_path), kernels="stock") as pair:
        vocab = pair.vocab
        assert vocab.infill is not None
        assert [vocab.text(mark).decode() for mark in vocab.infill] == marks
        before, after = (vocab.tokenize(text, special=False) for text in CODE)
        begin = [vocab.bos] if vocab.add_bos else []
        first, second, last = vocab.infill
        tokens = [*begin, first, *before, second, *after, last]
        options = {"sampling": GREEDY, "max_tokens": 8, "ignore_eog": True}
        filled = generate(pair, Infill(*CODE), **options).finish()
        assert filled.stats.n_prompt == len(tokens)
        assert filled.tokens == generate(pair, tokens, **options).finish().tokens
        whole = RawText(f"{marks[0]}{CODE[0]}{marks[1]}{CODE[1]}{marks[2]}", special=True)
        assert generate(pair, whole, **options).finish().tokens == filled.tokens


@pytest.mark.parametrize("name", ["gpt-2", "llama-spm"])
def test_a_vocabulary_that_was_not_made_for_it_says_so(name: str, tmp_path: Path) -> None:
    with load_pair(random_file(llama_files.vocabulary(name), tmp_path), kernels="stock") as pair:
        with pytest.raises(UserError) as caught:
            generate(pair, Infill(*CODE))
        assert caught.value.code == "no-infill"
        assert "no tokens that mark one" in caught.value.message
        assert generate(pair, CODE[0], max_tokens=2, ignore_eog=True).finish().tokens


def random_file(vocabulary: Path, folder: Path) -> Path:
    """A model of random weights with a vocabulary."""
    file = folder / "random.gguf"
    with file.open("wb") as out:
        random_model(vocabulary, n_layers=1).write(out)
    return file
