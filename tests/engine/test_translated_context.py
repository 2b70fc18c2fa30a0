"""A draft model reads the text in its own tokens, whatever the target's are and however it changes.

Both tokenizers are made of fixed words here, cut greedily, so that a word may be completed by what
follows; the model's context must then be what its tokenizer makes of the whole text.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from fake_model import FakeModel, scripted
from paceline.engine.auto.acceptance import Acceptance
from paceline.engine.facts import Facts
from paceline.engine.measure.known import keep_acceptance, recall_acceptance
from paceline.engine.model.context import CachedContext
from paceline.engine.model.translation import TranslatedContext, Translation
from paceline.engine.pair import LoadedPair
from paceline.errors import CancelledError, NothingAllowedError
from paceline.messages import Translating

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


class GreedyVocabulary:
    """All bytes, and some words; a text is cut into the longest ones from its beginning."""

    kind, eos, add_eos, eog = 1, -1, False, frozenset[int]()

    def __init__(self, *words: str, bos: str = "", adds_space: bool = False) -> None:
        self.words = (*BYTES, *words, *([bos] if bos else []))
        self.n_tokens = len(self.words)
        self.add_bos = bool(bos)
        self.bos = self.n_tokens - 1 if bos else -1
        self._adds_space = adds_space
        self._ids = {word.encode(): 256 + i for i, word in enumerate(words)}

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        data, at, out = text.encode(), 0, []
        if self._adds_space and data:
            data = b" " + data
        while at < len(data):
            n = next((n for n in range(12, 1, -1) if data[at : at + n] in self._ids), 1)
            out.append(self._ids[data[at : at + n]] if n > 1 else data[at])
            at += n
        return out

    def piece(self, token: int) -> bytes:
        if token == self.bos:
            return b""
        return bytes([token]) if token < 256 else self.words[token].encode()

    def text(self, token: int) -> bytes:
        return self.words[token].encode()


PLAIN = Translating()
OURS = GreedyVocabulary("the ", "cat", " sat", "on", "ch", "ar", "é", " ü", bos="<bos>")
THEIRS = (" the", " cat", "cats", "char", "chart", "art", "at", "on the", "é", "ü")


def rows_of(n_vocab: int) -> object:
    def logits(tokens: Sequence[int]) -> np.ndarray:
        rng = np.random.default_rng([len(tokens), *tokens[-3:]])
        return rng.normal(size=n_vocab).astype(np.float32)

    return logits


def made(
    how: Translating = PLAIN, *, adds_space: bool = False, bos: str = "", **options: object
) -> TranslatedContext:
    vocab = GreedyVocabulary(*THEIRS, bos=bos, adds_space=adds_space)
    model = FakeModel(rows_of(vocab.n_tokens), **options)  # type: ignore[arg-type]
    model.vocab = vocab  # type: ignore[assignment]
    return TranslatedContext(model, Translation(OURS, vocab, how))


def written(tokens: Sequence[int]) -> str:
    """The text, with U+FFFD for a part of a character that something else follows."""
    return b"".join(map(OURS.piece, tokens)).decode(errors="replace")


def check(context: TranslatedContext, text: str | None = None) -> None:
    """The model holds what it should, and the last row is that of a model that read it at once."""
    own, model = context.own, context.model
    assert model.n_past == len(own.tokens) - own.n_owed
    pieces = [model.vocab.piece(token) for token in own.tokens]
    told = b"".join(pieces).decode()
    assert told.strip() == (written(context.tokens) if text is None else text).strip()


def test_the_model_reads_the_text_in_its_own_tokens() -> None:
    context = made(bos="<s>")
    tokens = [OURS.bos, *OURS.tokenize("the cat", special=False)]
    row = context.feed(tokens, 1)[0]
    vocab = context.model.vocab
    assert context.own.tokens == [vocab.bos, *vocab.tokenize("the cat", special=False)]
    assert len(row) == OURS.n_tokens
    assert np.isneginf(row[OURS.tokenize("ch", special=False)]).all(), "no token of the model"
    ours, theirs = (v.tokenize("é", special=False)[0] for v in (OURS, vocab))
    plain = CachedContext(context.model).model.decode([0], 1)[0]
    assert len(plain) == vocab.n_tokens
    assert np.isfinite(row[ours])
    assert theirs != ours


def test_a_word_that_is_completed_is_read_anew() -> None:
    context = made()
    tokens = OURS.tokenize("chart", special=False)
    assert [written([token]) for token in tokens] == ["ch", "ar", "t"]
    seen = []
    for token in tokens:
        context.feed([token], 1)
        seen.append([context.model.vocab.piece(t) for t in context.own.tokens])
        check(context)
    assert seen == [[b"c", b"h"], [b"char"], [b"chart"]]


def test_nothing_follows_a_part_of_a_character() -> None:
    context = made()
    first, second = "ß".encode()
    context.feed([ord("a")], 1)
    with pytest.raises(NothingAllowedError):
        context.feed([first], 1)
    assert context.tokens == [ord("a")]
    context.feed([first], 0)
    check(context, "a")
    context.feed([second], 1)
    check(context, "aß")
    context.rollback(2)
    context.feed([second, ord("b")], 1)
    check(context, "aßb")


def test_a_context_without_text_has_no_row() -> None:
    context = made()
    with pytest.raises(NothingAllowedError):
        context.feed([OURS.bos], 1)
    assert len(context.feed([OURS.bos], 0)) == 0
    assert context.tokens == [OURS.bos]
    context.feed(OURS.tokenize("cat", special=False), 1)
    check(context)


@pytest.mark.parametrize("adds_space", [False, True])
@pytest.mark.parametrize("options", [{}, {"can_rollback": False, "has_copies": True}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_any_text_that_grows_and_is_taken_back(
    seed: int, options: dict[str, object], *, adds_space: bool
) -> None:
    rng = random.Random(seed)
    context = made(adds_space=adds_space, **options)
    model = context.model
    if not model.can_rollback:
        model.keep_states(0)
    parts = ["the ", "cat", " sat", "on", "ch", "ar", "t", "s", " ü", "é", "\n", "x ", "日", " the"]
    for _ in range(60):
        n_held = len(context.tokens)
        if n_held and rng.random() < 0.3:
            context.rollback(rng.randrange(max(n_held - 40, 0), n_held))
            continue
        text = "".join(rng.choices(parts, k=rng.choice([1, 1, 2, 30])))
        row = context.feed(OURS.tokenize(text, special=False), 1)[0].copy()
        check(context)
        # What is settled stays as it is, so words are whole nearly everywhere, not everywhere.
        whole = model.vocab.tokenize(written(context.tokens), special=True)
        assert abs(len(context.own.tokens) - len(whole)) <= 0.05 * len(whole) + 1
        again = context.translation.row(model.logits(context.own.tokens))  # type: ignore[attr-defined]
        assert np.array_equal(row, again), "the row is that of what the context holds"
        if len(context.tokens) > 400:
            context.clear()
            assert context.own.tokens == []


def test_only_the_end_is_tokenized_again() -> None:
    context = made(n_ctx=4096)
    sizes = []
    tokenize = context.model.vocab.tokenize

    def counted(text: str, *, special: bool) -> list[int]:
        sizes.append(len(text))
        return tokenize(text, special=special)

    context.model.vocab.tokenize = counted  # type: ignore[method-assign]
    context.feed(OURS.tokenize("the cat sat on the chart. " * 60, special=False), 1)
    sizes.clear()
    for token in OURS.tokenize("the cat sat on the chart. " * 5, special=False):
        context.feed([token], 1)
        check(context)
    assert max(sizes) < 300
    context.rollback(20)  # into what was settled first
    context.feed(OURS.tokenize("cat", special=False), 1)
    check(context)


def test_a_text_that_outgrows_the_model_is_read_from_its_end() -> None:
    context = made(n_ctx=64)
    text = "the cat sat on the chart. " * 30
    for token in OURS.tokenize(text, special=False):
        context.feed([token], 1)
        assert len(context.own.tokens) < 64
    told = b"".join(map(context.model.vocab.piece, context.own.tokens)).decode()
    assert text.endswith(told)
    assert len(told) > 60
    context.rollback(3)
    context.feed([ord("x")], 1)
    check(context)


def test_what_is_replaced_is_read_so() -> None:
    context = made(Translating((("sat on", "chart"),)))
    context.feed(OURS.tokenize("the cat sat", special=False), 1)
    check(context, "the cat sat")
    context.feed(OURS.tokenize(" on the cats", special=False), 1)
    check(context, "the cat  the cats".replace("cat  ", "cat sat on ").replace("sat on", "chart"))
    for token in OURS.tokenize(" sat on" * 40, special=False):
        context.feed([token], 1)
    check(context, "the cat chart the cats" + " chart" * 40)


def test_a_stopped_decode_leaves_all_as_it_was() -> None:
    context = made()
    context.feed(OURS.tokenize("the cat", special=False), 1)
    before = list(context.tokens)
    context.model.cancel.set()  # type: ignore[attr-defined]
    with pytest.raises(CancelledError):
        context.feed(OURS.tokenize(" sat on", special=False), 1)
    assert context.tokens == before
    context.model.cancel.clear()  # type: ignore[attr-defined]
    context.feed(OURS.tokenize(" sat", special=False), 1)
    check(context)


def test_tokens_without_a_text_are_of_both() -> None:
    context = made()
    tokens = context.any_tokens(50)
    assert len(tokens) == 50
    assert set(tokens) <= set(context.translation.ids.tolist())
    assert tokens == context.any_tokens(50)


def test_what_is_kept_of_acceptance_is_that_of_the_translation_chosen() -> None:
    facts = Facts("")
    ways = (
        PLAIN,
        Translating(bridges=True),
        Translating((("a", "b"),)),
        Translating((("a", "c"),)),
    )

    def pair(how: Translating) -> LoadedPair:
        models = FakeModel(scripted("x", 1)), FakeModel(scripted("x", 1))
        translation = Translation(OURS, GreedyVocabulary(*THEIRS), how)
        return LoadedPair(*models, facts, translation=translation)

    for number, how in enumerate(ways, 1):
        learned = pair(how)
        learned.knowledge.rates["draft"] = Acceptance()
        for _ in range(number):
            learned.knowledge.rates["draft"].add([0], 1, 1)
        keep_acceptance(learned)
    for number, how in enumerate(ways, 1):
        again = pair(how)
        recall_acceptance(again)
        assert again.knowledge.rates["draft"].n_judged == number
    assert "acceptance|fake|fake" in facts.below("acceptance|"), "as where there is nothing to say"
