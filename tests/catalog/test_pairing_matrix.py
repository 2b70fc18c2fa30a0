"""Verdicts on files: real vocabularies as llama.cpp reads them, and what flips a verdict."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import make_pairs
from catalog.headers import gguf_bytes
from gguf_file import Gguf, read, strings
from paceline.catalog.card import Examined
from paceline.catalog.inspect.inspector import Inspector
from paceline.catalog.judge.pairing import judge, mismatch
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Vocabulary


@pytest.fixture(scope="module")
def shared_inspector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspector]:
    inspector = Inspector(tmp_path_factory.mktemp("inspector"), idle_s=600)
    inspector.examine(make_pairs.DEMO_TARGET)  # its process is there before a test looks for some
    yield inspector
    inspector.close()


# ----------------------------------------------------------------------------- real vocabularies


def rule(target: Vocabulary, draft: Vocabulary) -> tuple[str, int] | None:
    """common_speculative_are_compatible, step by step, on what llama_vocab_* says."""
    if target.kind != draft.kind:
        return "vocabulary-kind", -1
    if target.add_bos != draft.add_bos or (target.add_bos and target.bos != draft.bos):
        return "bos-differs", -1
    if target.add_eos != draft.add_eos or (target.add_eos and target.eos != draft.eos):
        return "eos-differs", -1
    if abs(target.n_tokens - draft.n_tokens) > 128:
        return "vocabulary-size", -1
    for token, texts in enumerate(zip(texts_of(target), texts_of(draft), strict=False)):
        if token >= 5 and texts[0] != texts[1]:
            return "token-differs", token
    return None


@functools.cache  # a call into native code per token and pair would take half a minute
def texts_of(vocabulary: Vocabulary) -> tuple[bytes, ...]:
    return tuple(vocabulary.text(token) for token in range(vocabulary.n_tokens))


def test_all_pairs_of_real_vocabularies(
    vocabularies: dict[str, Path], inspector: Inspector
) -> None:
    backend = LlamaBackend()
    loaded = {name: backend.load_vocabulary(str(path)) for name, path in vocabularies.items()}
    try:
        seen = {name: inspector.examine(path) for name, path in vocabularies.items()}
        found: dict[str, int] = {}
        for target, draft in itertools.product(vocabularies, repeat=2):
            expected = rule(loaded[target], loaded[draft])
            differs = mismatch(seen[target], seen[draft])
            said = (differs.code, differs.token) if differs else None
            assert said == expected, (target, draft)
            kind = expected[0] if expected else "fits"
            found[kind] = found.get(kind, 0) + 1
            if target != "qwen2" and expected is not None:
                continue  # what the verdict adds takes half a second where they differ
            verdict = judge(seen[target], seen[draft])
            codes = {reason.code for reason in verdict.reasons}
            assert bool(codes & {kind, "by-translation"}) == (expected is not None)
            assert (verdict.translated is None) == (expected is None)
    finally:
        for vocabulary in loaded.values():
            vocabulary.close()
    assert found["fits"] >= len(vocabularies)
    assert {"vocabulary-kind", "bos-differs", "vocabulary-size", "token-differs"} <= found.keys()


# --------------------------------------------------------------------------------- changed files


@pytest.fixture(scope="module")
def examined(
    shared_inspector: Inspector, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Examined]:
    """Write the demo draft with a change, and look into the file."""
    folder = tmp_path_factory.mktemp("changed")
    count = itertools.count()

    def look(change: Callable[[Gguf], object] = lambda _: None, name: str = "") -> Examined:
        model = read(make_pairs.DEMO_DRAFT)
        change(model)
        path = folder / (name or f"changed-{next(count)}.gguf")
        path.write_bytes(gguf_bytes(model))
        return shared_inspector.examine(path)

    return look


@pytest.fixture(scope="module")
def target(shared_inspector: Inspector) -> Examined:
    return shared_inspector.examine(make_pairs.DEMO_TARGET)


def with_token(token: int, text: str) -> Callable[[Gguf], None]:
    def change(model: Gguf) -> None:
        tokens = strings(model.metadata["tokenizer.ggml.tokens"])
        tokens[token] = text
        model.set(tokenizer__ggml__tokens=tokens)

    return change


def with_values(**values: Any) -> Callable[[Gguf], None]:
    return lambda model: model.set(**values)


@pytest.mark.parametrize("token", [5, 4000, 8191])
def test_one_changed_token_makes_translation_needed(
    target: Examined, examined: Callable[..., Examined], token: int
) -> None:
    verdict = judge(target, examined(with_token(token, f"Ġchanged{token}")))
    assert verdict.translated == 1.0
    assert verdict.reasons[0].code == "by-translation"
    assert f"Token {token} is “" in verdict.reasons[0].text
    assert f"“Ġchanged{token}” in the draft" in verdict.reasons[0].text


def test_a_special_token_may_have_another_name(
    target: Examined, examined: Callable[..., Examined]
) -> None:
    assert judge(target, examined(with_token(3, "<|renamed|>"))).ok


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"tokenizer__ggml__add_bos_token": True}, "bos-differs"),
        ({"tokenizer__ggml__add_eos_token": True}, "eos-differs"),
    ],
)
def test_a_changed_flag_makes_translation_needed(
    target: Examined, examined: Callable[..., Examined], values: dict[str, object], code: str
) -> None:
    other = examined(with_values(**values))
    differs = mismatch(target, other)
    assert differs is not None
    assert differs.code == code
    assert judge(target, other).translated == 1.0


@pytest.mark.parametrize(("n_more", "fits"), [(128, True), (129, False)])
def test_a_longer_tail_makes_translation_needed(
    target: Examined, examined: Callable[..., Examined], n_more: int, fits: bool
) -> None:
    def grow(model: Gguf) -> None:
        import numpy as np

        tokens = strings(model.metadata["tokenizer.ggml.tokens"])
        kinds = np.frombuffer(model.metadata["tokenizer.ggml.token_type"], np.int32, offset=16)
        more = np.full(n_more, 5, np.int32)
        model.set(tokenizer__ggml__tokens=tokens + [f"<|tail_{i}|>" for i in range(n_more)])
        model.set(tokenizer__ggml__token_type=np.concatenate((kinds, more)))

    verdict = judge(target, examined(grow))
    assert (verdict.translated is None) is fits
    assert ("differ in size" in " ".join(r.text for r in verdict.reasons)) is not fits


@pytest.mark.parametrize(
    ("draft", "code"),
    [
        ("tiny-other-vocab", "token-differs"),
        ("tiny-big-vocab-mismatch", "vocabulary-size"),
        ("tiny-bos", "bos-differs"),
    ],
)
def test_models_whose_drafts_are_translated(
    shared_inspector: Inspector, target: Examined, draft: str, code: str
) -> None:
    other = shared_inspector.examine(make_pairs.path(draft))
    verdict = judge(target, other)
    assert verdict.ok
    assert verdict.reasons[0].code == "by-translation"
    assert verdict.translated == 1.0, "nearly all tokens are the same"
    differs = mismatch(target, other)
    assert differs is not None
    assert differs.code == code
    assert differs.text[1:] in verdict.reasons[0].text


def test_a_model_that_the_engine_refuses(shared_inspector: Inspector, target: Examined) -> None:
    verdict = judge(target, shared_inspector.examine(make_pairs.path("tiny-foreign")))
    assert [reason.code for reason in verdict.reasons] == ["token-differs"]
    assert verdict.translated is not None
    assert 0.1 < verdict.translated < 0.6


def test_neither_states_nor_a_window_are_refused(
    shared_inspector: Inspector, target: Examined
) -> None:
    for name in ("tiny-mamba", "tiny-qwen35", "tiny-swa"):
        other = shared_inspector.examine(make_pairs.path(name))
        assert judge(target, other).ok
        assert judge(other, target).ok
