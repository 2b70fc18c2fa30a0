"""The tokenizers of real models: what is said of them is llama.cpp's own, and comes quickly."""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from paceline.catalog.inspect.inspector import Inspector
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.vocabularies import hash_of_texts, vocabulary_hash

ENCODERS = {"bert-bge", "nomic-bert-moe"}
MOST_CPU_S = 0.3
"""Of the process, for the card of the largest vocabulary that is known: 262,144 tokens."""


def test_texts_natures_and_hashes_are_the_engines(
    inspector: Inspector, vocabularies: dict[str, Path]
) -> None:
    hashes: dict[str, str] = {}
    texts: dict[str, tuple[bytes, ...]] = {}
    for name, path in vocabularies.items():
        examined = inspector.examine(path)
        vocab = LlamaBackend().load_vocabulary(str(path))
        try:
            assert examined.texts == tuple(vocab.text(token) for token in range(vocab.n_tokens))
            assert examined.card.vocabulary == vocabulary_hash(vocab)
            for field in ("kind", "n_tokens", "bos", "eos", "add_bos", "add_eos"):
                assert getattr(examined.nature, field) == getattr(vocab, field), (name, field)
        finally:
            vocab.close()
        assert examined.nature.writes == (name not in ENCODERS), name
        assert examined.nature.memory == "attention"
        assert examined.card.n_vocab == len(examined.texts)
        assert examined.card.name
        hashes[name] = examined.card.vocabulary
        texts[examined.card.vocabulary] = examined.texts
    assert len(texts) == len(set(texts.values()))
    assert len(texts) > 0.8 * len(hashes)
    assert hashes["qwen2"] == hashes["qwen35"]  # its pre-tokenizer alone is another


def test_a_card_is_cheap(
    inspector: Inspector, vocabularies: dict[str, Path], tmp_path: Path
) -> None:
    inspector.card(vocabularies["gpt-2"])  # the process is up, the library is loaded
    process = psutil.Process(inspector.pid)
    best = 9.9
    for _ in range(3):  # other work on the machine makes it look dearer
        before = sum(process.cpu_times()[:2])
        card = inspector.card(vocabularies["gemma-4"])
        best = min(best, sum(process.cpu_times()[:2]) - before)
    assert card.n_vocab == 262_144
    assert best <= MOST_CPU_S


def test_the_hash_is_cheap(inspector: Inspector, vocabularies: dict[str, Path]) -> None:
    texts = inspector.examine(vocabularies["gemma-4"]).texts
    best = 9.9
    for _ in range(5):
        before = time.thread_time()
        hash_of_texts(texts)
        best = min(best, time.thread_time() - before)
    assert best <= 0.1
