"""Gaps filled in by llama.cpp: a random model with marks for them, and the demo pair without."""

from __future__ import annotations

from pathlib import Path

import pytest

from paceline.engine import Infill, SamplingParams, UserError, generate, load_pair
from paceline.engine.draft.strategy import read_strategy
from random_model import random_model
from tiny_vocabularies import INFILL, sentencepiece

GAP = Infill("Hello the", "world.")
GREEDY = SamplingParams(temperature=0.0)


def test_a_gap_is_filled_in_with_any_strategy(tmp_path: Path) -> None:
    vocabulary, file = tmp_path / "vocabulary.gguf", tmp_path / "random.gguf"
    with vocabulary.open("wb") as out:
        sentencepiece(blank=True, extra=INFILL).write(out)
    with file.open("wb") as out:
        random_model(vocabulary, n_layers=1).write(out)
    with load_pair(file, kernels="stock") as pair:
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


def test_a_model_without_marks_says_so(demo_pair: tuple[Path, Path]) -> None:
    with load_pair(demo_pair[0], kernels="stock") as pair:
        with pytest.raises(UserError) as caught:
            generate(pair, GAP)
        assert caught.value.code == "no-infill"
        assert caught.value.hint
        assert generate(pair, "A list is", max_tokens=2).finish().tokens
