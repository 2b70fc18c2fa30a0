"""Gaps in a real model's context: positions, cells that are taken back, and what is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
import pytest

import make_pairs
from engine.gaps import sequence
from integration.engine import FEW, Engine, last_position, native_context, of_few_tokens
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.decode.decoder import Decoder
from paceline.engine.decode.text import TextAssembler
from paceline.engine.draft.base import Workbench
from paceline.engine.draft.strategy import parse_strategy
from paceline.engine.model.backend import DraftHead
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import Gap
from paceline.engine.pair import LoadedPair
from paceline.engine.sample.sampling import Sampler
from paceline.errors import CancelledError

BEFORE, SHOWN, AFTER = list(range(40, 60)), list(range(300, 312)), list(range(60, 90))


@pytest.fixture(scope="module")
def vectors(target_path: Path) -> np.ndarray:
    """The embedding of each token of `SHOWN`, float32 [n, n_columns]."""
    tensors = gguf.GGUFReader(target_path).tensors
    table = next(tensor for tensor in tensors if tensor.name == "token_embd.weight")
    rows = gguf.quants.dequantize(table.data[SHOWN], table.tensor_type)
    return np.asarray(rows, np.float32)


@pytest.fixture(scope="module")
def loaded(target_path: Path) -> Iterator[Engine]:
    with Engine(target_path) as engine:
        yield engine


@pytest.fixture
def context(loaded: Engine) -> CachedContext:
    loaded.pair.empty()
    return loaded.pair.target


def natively(context: CachedContext, tokens: Sequence[int], positions: Sequence[int]) -> np.ndarray:
    """The last token's row, of one batch of ids at these positions; the context is empty again."""
    native = native_context(context.model)
    context.clear()
    batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
    batch.n_tokens = len(tokens)
    for i, (token, position) in enumerate(zip(tokens, positions, strict=True)):
        batch.token[i], batch.pos[i], batch.logits[i] = token, position, i == len(tokens) - 1
        batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
    assert llama_cpp.llama_decode(native, batch) == 0
    llama_cpp.llama_batch_free(batch)
    row = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(native, -1), (context.n_vocab,))
    row = row.copy()
    context.clear()
    return row


def test_the_vectors_of_tokens_stand_for_them(context: CachedContext, vectors: np.ndarray) -> None:
    by_ids = context.prefill([*BEFORE, *SHOWN, *AFTER], 512)[0].copy()
    context.clear()
    shown = Gap("x", len(SHOWN), len(SHOWN), vectors)
    by_vectors = context.prefill(sequence([*BEFORE, shown, *AFTER]), 512)[0]
    assert np.abs(by_ids - by_vectors).max() < 1e-3 * np.abs(by_ids).max()
    assert context.model.n_past == len(context.tokens) == last_position(context.model) + 1


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("n_positions", [1, 12, 5])
def test_what_follows_a_gap_stands_at_the_positions_after_it(
    context: CachedContext, vectors: np.ndarray, n_positions: int
) -> None:
    n, start = len(SHOWN), len(BEFORE)
    positions = [
        *range(start),
        *(start + i * n_positions // n for i in range(n)),
        *range(start + n_positions, start + n_positions + len(AFTER)),
    ]
    expected = natively(context, [*BEFORE, *SHOWN, *AFTER], positions)
    other = natively(context, [*BEFORE, *SHOWN, *AFTER], range(len(positions)))
    prompt = sequence([*BEFORE, Gap("x", n, n_positions, vectors), *AFTER])
    row = context.prefill(prompt, 16)[0].copy()
    nearest = np.abs(row - expected).max()
    assert nearest < 1e-3 * np.abs(expected).max()
    if n_positions < n:
        assert nearest < 0.1 * np.abs(row - other).max(), "positions matter"
    assert last_position(context.model) == start + n_positions + len(AFTER) - 1

    # Taken back and read again, in pieces of other sizes.
    context.rollback(len(prompt) - 7)
    assert context.model.n_past == len(context.tokens) == len(prompt) - 7
    assert last_position(context.model) == start + n_positions + len(AFTER) - 8
    again = context.prefill(prompt, 3)[0]
    assert np.abs(row - again).max() < 1e-3 * np.abs(row).max()
    context.rollback(start + 3)
    assert context.tokens == BEFORE
    assert last_position(context.model) == start - 1
    again = context.prefill(prompt, 16)[0]
    assert np.abs(row - again).max() < 1e-3 * np.abs(row).max()


def test_a_gap_that_was_stopped_leaves_nothing(
    loaded: Engine,
    context: CachedContext,
    vectors: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, flag = context.model, loaded.client.flag
    context.prefill(BEFORE, 512)
    decode, shown = llama_cpp.llama_decode, Gap("x", 12, 4, vectors)

    def stop(native: object, batch: object) -> int:
        code = int(decode(native, batch))
        flag.set()
        return 2 if code == 0 else code  # as if it was stopped when all was there

    with monkeypatch.context() as patched:
        patched.setattr(llama_cpp, "llama_decode", stop)
        with pytest.raises(CancelledError):
            context.feed_gap(shown)
    flag.clear()
    assert context.tokens == BEFORE
    assert model.n_past == len(BEFORE) == last_position(context.model) + 1
    context.feed_gap(shown)
    with monkeypatch.context() as patched:
        patched.setattr(llama_cpp, "llama_decode", stop)
        with pytest.raises(CancelledError):
            context.feed(AFTER[:5], 1)
    flag.clear()
    assert context.tokens == sequence([*BEFORE, shown, *AFTER[:5]]), "of text all counts"
    assert model.n_past == len(context.tokens)
    assert last_position(context.model) == len(BEFORE) + 4 + 5 - 1


STRATEGIES = "draft:p_min=0", "suffix+draft:suffix.p_min=0:draft.p_min=0", "mtp:p_min=0", "auto"
MODELS = {
    "": STRATEGIES[0],
    "tiny-lfm2": STRATEGIES[1],
    "tiny-lfm2-swa": STRATEGIES[1],
    "tiny-mamba": STRATEGIES[1],
    "tiny-qwen35": STRATEGIES[1],
    "tiny-qwen35 with copies": STRATEGIES[1],
    "tiny-mtp": STRATEGIES[2],
    "tiny-mtp-step35": STRATEGIES[2],
    "tiny-gemma4": STRATEGIES[2],
}
"""A model of each kind of memory and head, by its name ("": the demo pair), and what drafts."""


@pytest.mark.grid(short=5)
@pytest.mark.parametrize("name", MODELS)
def test_a_reply_after_a_gap_is_the_same(demo_pair: tuple[Path, Path], name: str) -> None:
    target = make_pairs.path(name.partition(" ")[0]) if name else demo_pair[0]
    draft = demo_pair[1] if "draft" in MODELS[name] else None
    head = make_pairs.path("tiny-gemma4-assistant") if name == "tiny-gemma4" else "auto"
    text = [*FEW, *FEW, FEW[0]]
    with Engine(target, draft, mtp=head) as engine:
        pair = engine.pair
        model = pair.target.model
        if name.endswith(
            "copies"
        ):  # as where memory is too short for states beside the present one
            model.keep_states(0)
        n_columns = llama_cpp.llama_model_n_embd(llama_cpp.llama_get_model(native_context(model)))
        rows = np.random.default_rng(1).normal(size=(2, 12, n_columns)).astype(np.float32)
        first, second = Gap("x", 12, 5, rows[0]), Gap("y", 12, 12, rows[1])
        prompts = [sequence([*text, first, *text]), sequence([*text, first, *text, second, *text])]
        replies: dict[str, list[list[int]]] = {}
        sources = set()
        for strategy in ("off", MODELS[name], "auto"):
            pair.empty()
            replies[strategy] = []
            for prompt in (prompts[0], prompts[1], prompts[0]):
                decoder = decoder_of(pair, strategy)
                for step in decoder.run(prompt, lambda _n: None):
                    sources |= {trace.source for trace in step.tokens}
                assert decoder.draft_failures == []
                replies[strategy].append(decoder.generated)
                if strategy.startswith("mtp"):
                    assert isinstance(pair.draft.model, DraftHead)
                    first = pair.draft.model.origin
                    assert first >= prompt.gaps.end
                    assert pair.draft.tokens == decoder.history[first:][: len(pair.draft.tokens)]
                held, n_owed = pair.target.tokens, pair.target.n_owed
                assert held == decoder.history.first(len(held))
                assert model.n_past == len(held) - n_owed
                assert n_owed or last_position(model) == held.gaps.position(len(held)) - 1
    assert replies[MODELS[name]] == replies["auto"] == replies["off"]
    assert len(sources) > 1, "drafts were accepted"


def decoder_of(pair: LoadedPair, strategy: str) -> Decoder:
    vocab = pair.target.model.vocab
    bench = Workbench(vocab, Sampler(of_few_tokens(2.0), 3), pair.draft, frozenset(), 512)
    knowledge = Knowledge()
    while knowledge.recent.n_needed:  # plain steps after a load
        knowledge.recent.add(1.0)
    return Decoder(
        pair.target, bench, parse_strategy(strategy),
        text=TextAssembler(vocab, ()), max_tokens=50, knowledge=knowledge,
    )  # fmt: skip
