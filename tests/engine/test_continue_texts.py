"""Replies that go on from any text, with any vocabulary: what streams, joined, is what is stored.

``PACELINE_VOCABULARIES`` names the folder ``models`` of llama.cpp's sources, whose vocabularies are
then tried, too.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.bench import Bench
from fake_model import ByteVocabulary, FakeModel
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import Vocabulary
from paceline.engine.prompt.segments import encode_segments, tokenize_after
from paceline.engine.prompt.template import ChatTemplate
from paceline.messages import ChatMessage, SamplingParams, TurnFinished
from strategies import strategy
from tiny_vocabularies import VOCABULARIES, write

REAL = {
    path.stem.removeprefix("ggml-vocab-"): path
    for path in sorted(Path(os.environ.get("PACELINE_VOCABULARIES") or ".").glob("ggml-vocab-*"))
    if path.suffix == ".gguf"
}
DEMO = Path(__file__).parents[2] / "resources/models/paceline-demo-target-q8_0.gguf"
WORDS_APART = (3, 4)
"""WordPiece and Unigram, where a blank is a part of each word's first token."""
GREEDY = SamplingParams(temperature=0.0)
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
TEXTS = ("Hello wor", " Hello", "\n\nI see", "a", "€ 5 🎉", "  x\n y", "Hello, the <b> of", "I ")


@pytest.fixture(scope="module", params=["bytes", "byte pairs", *VOCABULARIES, *REAL])
def vocab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Vocabulary]:
    name = request.param
    if name == "bytes":
        yield ByteVocabulary()
        return
    file = DEMO if name == "byte pairs" else REAL.get(name)
    file = file or write(name, tmp_path_factory.mktemp("vocabulary"))
    loaded = LlamaBackend().load_vocabulary(str(file))
    yield loaded
    loaded.close()


class Writer(FakeModel):
    """Writes any of a vocabulary's texts, by the last two tokens."""

    def __init__(self, vocab: Vocabulary, seed: int) -> None:
        super().__init__(self._row, n_ctx=4096)
        self.vocab = vocab
        self.template = TEMPLATE
        self._seed = seed
        self._written = [t for t in range(min(vocab.n_tokens, 4000)) if vocab.piece(t)]

    def _row(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        row = np.zeros(self.vocab.n_tokens, np.float32)
        chosen = random.Random(f"{self._seed} {tokens[-2:]}").choice(self._written)
        row[chosen] = 20.0
        return row


def bench_of(vocab: Vocabulary, seed: int) -> Bench:
    bench = Bench(target=Writer(vocab, seed))
    bench.load()
    return bench


def said(bench: Bench, **options: object) -> tuple[TurnFinished, str]:
    """A reply, and what streamed of it."""
    bench.events.clear()
    asked = {"sampling": GREEDY, "max_tokens": 12} | options
    finished = bench.finish(**asked)
    steps = bench.steps
    return finished, "".join(step.text for step in steps)


def prompt_of(vocab: Vocabulary) -> list[int]:
    return ChatTemplate(TEMPLATE, vocab).encode((ChatMessage.of_text("user", "hi"),))[0]


def check_continuation(
    vocab: Vocabulary, seed: int, begun: tuple[int, ...], text: str, how: str
) -> None:
    finished, stream = said(
        bench_of(vocab, seed), begun=begun, begun_text=text, strategy=strategy(how)
    )
    assert finished.text == text + stream
    n_new = finished.stats.n_generated
    prefix, new = finished.tokens[:-n_new], finished.tokens[-n_new:]
    plain, _ = said(bench_of(vocab, seed), prompt_tokens=(*prompt_of(vocab), *prefix))
    assert plain.tokens == new
    if b"".join(map(vocab.piece, prefix)) == text.encode():  # no half character waits
        assert plain.text == stream


@pytest.mark.parametrize("how", ["off", "suffix:max=4"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_continues_as_it_stands(vocab: Vocabulary, text: str, how: str) -> None:
    check_continuation(vocab, 3, (), text, how)


def test_cut_and_edited_replies_continue(vocab: Vocabulary, trials: Callable[..., range]) -> None:
    for seed in trials(4, 150):
        rng = random.Random(seed)
        first, stream = said(bench_of(vocab, seed), max_tokens=rng.randint(1, 12))
        assert first.text == stream
        text = first.text
        if rng.random() < 0.7:
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(["", " ", "\n", "x", "🎉", " wor"]) + text[at:][:5]
        if text and vocab.tokenize(text, special=True) == vocab.tokenize(text, special=False):
            check_continuation(vocab, seed, first.tokens, text, rng.choice(["off", "suffix:max=3"]))


def test_a_reply_continued_twice_equals_the_whole_one(vocab: Vocabulary) -> None:
    whole, _ = said(bench_of(vocab, 5), max_tokens=9)
    tokens: tuple[int, ...] = ()
    text = ""
    for _ in range(3):
        part, stream = said(bench_of(vocab, 5), begun=tokens, begun_text=text, max_tokens=3)
        assert part.text == text + stream
        tokens, text = part.tokens, part.text
    if b"".join(map(vocab.piece, whole.tokens)).decode("utf-8", "ignore") == text:
        assert tokens == whole.tokens


@pytest.mark.parametrize("text", TEXTS)
def test_no_blank_comes_between_pieces_of_a_prompt(vocab: Vocabulary, text: str) -> None:
    whole = vocab.tokenize(f"a{text}", special=False)
    is_other = b"".join(map(vocab.piece, whole)).lstrip() != f"a{text}".encode()
    if is_other or vocab.kind in WORDS_APART:
        pytest.skip("the vocabulary writes this otherwise")
    tokens = encode_segments(vocab, [("a", True), (text, False)])
    assert b"".join(map(vocab.piece, tokens)) == b"".join(map(vocab.piece, whole))
    assert b"".join(map(vocab.piece, tokenize_after(vocab, text, special=False))) == text.encode()


def test_a_question_with_a_control_token_gets_no_blank(tmp_path: Path) -> None:
    vocab = LlamaBackend().load_vocabulary(str(write("SentencePiece", tmp_path)))
    source = "{% for m in messages %}<|user|>[ {{ m.content }} ]{% endfor %}<|assistant|>"
    template = ChatTemplate(source, vocab)
    usual = template.encode((ChatMessage.of_text("user", "Hello wor"),))[0]
    typed = template.encode((ChatMessage.of_text("user", "Hello </s> wor"),))[0]
    texts = [b"".join(map(vocab.piece, tokens)).decode() for tokens in (usual, typed)]
    assert [text.strip() for text in texts] == ["[ Hello wor ]", "[ Hello </s> wor ]"]
    assert not set(typed) & vocab.eog
    assert [t for t in typed if not vocab.piece(t)] == [t for t in usual if not vocab.piece(t)]
    vocab.close()
