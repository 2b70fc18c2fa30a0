"""The tokenizers of real models: what is said of them is llama.cpp's own, and comes quickly."""

from __future__ import annotations

from pathlib import Path

import psutil

from paceline.catalog.inspect.inspector import Inspector
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.translation import _SAMPLE, bytes_of_tokens, share_of, token_of_each_text
from paceline.engine.model.vocabularies import vocabulary_hash

ENCODERS = {"bert-bge", "nomic-bert-moe"}
MOST_CPU_S = 0.3
"""Limit of the process's CPU time for a card of the largest known vocabulary (262,144 tokens)."""


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
    for _ in range(3):  # other work on the machine makes it look more expensive
        before = sum(process.cpu_times()[:2])
        card = inspector.card(vocabularies["gemma-4"])
        best = min(best, sum(process.cpu_times()[:2]) - before)
    assert card.n_vocab == 262_144
    assert best <= MOST_CPU_S


def test_what_tokens_write_is_what_llama_cpp_writes(vocabularies: dict[str, Path]) -> None:
    for name, path in vocabularies.items():
        vocab = LlamaBackend().load_vocabulary(str(path))
        try:
            if name in ENCODERS:
                continue
            written = bytes_of_tokens(vocab)
            other = [
                token
                for token in range(vocab.n_tokens)
                if vocab.piece(token) not in (b"", written[token])
            ]
            # Some letters of DeepSeek are added tokens, and Command R lacks bytes that it names.
            assert len(other) <= 0.006 * vocab.n_tokens, name
            assert not other or name in ("command-r", "deepseek-coder", "deepseek-llm"), name
        finally:
            vocab.close()


def test_of_equal_tokens_that_of_the_tokenizer_stands_for_a_text(
    vocabularies: dict[str, Path],
) -> None:
    text = Path(__file__).read_text("utf-8") + _SAMPLE.decode() + "\n\n\t 日本 Zoë “¼” 🚴\r\n"
    twice: set[str] = set()
    for name, path in vocabularies.items():
        vocab = LlamaBackend().load_vocabulary(str(path))
        try:
            written = bytes_of_tokens(vocab)
            ids = token_of_each_text(vocab, written)
            for token in vocab.tokenize(text, special=False)[1:]:
                assert ids[written[token]] == token, (name, written[token])
            if len(ids) < len(written) - written.count(b""):
                twice.add(name)
        finally:
            vocab.close()
    assert {"baichuan", "command-r", "gemma-4", "gpt-neox", "llama-spm", "mpt", "phi-3"} <= twice


def test_the_share_that_can_be_translated(vocabularies: dict[str, Path]) -> None:
    names = ("qwen2", "llama-bpe", "llama-spm", "gemma-4", "gpt-2", "falcon")
    loaded = {name: LlamaBackend().load_vocabulary(str(vocabularies[name])) for name in names}
    try:
        shares = {(a, b): share_of(loaded[a], loaded[b]) for a in names for b in names}
        written = {name: bytes_of_tokens(vocab) for name, vocab in loaded.items()}
        texts = {name: set(tokens) for name, tokens in written.items()}
        for (target, draft), share in shares.items():
            cut = loaded[target].tokenize(_SAMPLE.decode(), special=False)
            n_equal = sum(written[target][token] in texts[draft] for token in cut)
            assert abs(share - n_equal / len(cut)) < 0.02, (target, draft)
    finally:
        for vocab in loaded.values():
            vocab.close()
    assert all(shares[name, name] == 1.0 for name in names)
    assert shares["qwen2", "llama-bpe"] > 0.99
    assert shares["llama-bpe", "qwen2"] > 0.95
    assert shares["llama-spm", "qwen2"] > 0.97 > 0.92 > shares["qwen2", "llama-spm"] > 0.85
