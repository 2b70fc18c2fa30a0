"""A context, and every drafter, where a text has gaps: no draft and no match crosses one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.gaps import PROMPTS, gap, sequence
from engine.harness import (
    TIMED,
    Clock,
    PricedModel,
    decoder_for,
    draft_price,
    random_language,
    target_price,
)
from engine.workbench import workbench
from fake_model import N_VOCAB, FakeModel, Logits
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft import registry
from paceline.engine.draft.base import Drafter
from paceline.engine.draft.draft_model import ModelDrafter
from paceline.engine.draft.strategy import parse_strategy
from paceline.engine.facts import Facts
from paceline.engine.idle import PIECE_TOKENS, CatchingUp
from paceline.engine.measure.calibration import DecodeTimer, WidthTimings
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import Gap, TokenSequence, gaps_of
from paceline.engine.pair import LoadedPair
from paceline.engine.sample.sampling import Sampler
from paceline.errors import CancelledError, ContextFullError
from paceline.messages import SOURCE_TARGET, SamplingParams

Parts = list[int | Gap]


# ----------------------------------------------------------------------------------- contexts


def fingerprint(tokens: Sequence[int]) -> np.ndarray:
    """Return logits that depend on all tokens and gaps before, and on their positions."""
    row = np.zeros(N_VOCAB, np.float32)
    for place, token in enumerate(tokens):
        if token >= 0:
            row[token] += place + 1
    for start, part in gaps_of(tokens):
        row[ord(part.digest)] += 64 * start + part.n_cells
    return row


class Stopping(FakeModel):
    """Is cancelled by its next decode, and by its next gap, when it is told so."""

    def __init__(self, **options: Any) -> None:
        self.flag = CancelFlag()
        super().__init__(fingerprint, n_ctx=40, cancel=self.flag, **options)
        self.n_batch = 8
        self.batches: list[tuple[int, int]] = []

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        assert min(tokens) >= 0, "what has no id is never decoded as one"
        began = self.n_past
        rows = super().decode(tokens, n_rows)
        self.batches = [*self.batches[:began], *[(began, len(tokens))] * len(tokens)]
        return rows

    def decode_gap(self, gap: Gap) -> None:
        began = self.n_past
        super().decode_gap(gap)
        self.batches = [*self.batches[:began], *[(began, gap.n_cells)] * gap.n_cells]


OPERATIONS = st.lists(
    st.tuples(st.just("prefill"), PROMPTS)
    | st.tuples(st.just("stopped"), PROMPTS)
    | st.tuples(st.just("reuse"), PROMPTS)
    | st.tuples(st.just("feed"), st.lists(st.integers(0, 2), min_size=1, max_size=6))
    | st.tuples(st.just("draft"), st.lists(st.integers(0, 2), min_size=1, max_size=6))
    | st.tuples(st.just("rollback"), st.integers(0, 20)),
    max_size=12,
)


def carry_out(context: CachedContext, model: Stopping, name: str, argument: Any) -> None:
    before = TokenSequence(context.tokens)
    match name:
        case "prefill":
            rows = context.prefill(sequence(argument), 5)
            assert context.tokens == sequence(argument)
            assert (rows[0] == fingerprint(context.tokens)).all()
        case "stopped":
            model.flag.set()
            with pytest.raises(CancelledError):
                context.prefill(sequence(argument), 5)
            model.flag.clear()
        case "reuse":
            n = context.reuse(sequence(argument))
            assert context.tokens == sequence(argument).first(len(context.tokens))
            assert n == len(context.tokens) - context.n_owed
        case "feed" | "draft":
            rows = context.feed(argument, 1 if name == "feed" else len(argument))[-1:]
            assert context.tokens == sequence([*before_parts(before), *argument])
            assert (rows[0] == fingerprint(context.tokens)).all()
        case _:
            context.rollback(argument)
            assert len(context.tokens) <= max(argument, 0)
            assert context.tokens == before.first(len(context.tokens))


def before_parts(tokens: TokenSequence) -> Parts:
    """The ids and gaps that a sequence is made of."""
    gaps = dict(tokens.gaps)
    inside = {start + i for start, part in gaps.items() for i in range(part.n_cells)}
    return [gaps.get(i, token) for i, token in enumerate(tokens) if i in gaps or i not in inside]


@pytest.mark.parametrize("kind", ["cells", "copies", "nothing"])
@given(OPERATIONS)
def test_the_book_equals_the_context(kind: str, operations: list[tuple[str, Any]]) -> None:
    model = Stopping(can_rollback=kind == "cells", has_copies=kind == "copies")
    if kind != "cells":
        model.keep_states(0)
    context = CachedContext(model)
    for name, argument in operations:
        try:
            carry_out(context, model, name, argument)
        except ContextFullError:
            assert len(context.tokens) + len(argument) > 8
        assert model.n_past == len(context.tokens) - context.n_owed
        assert model.tokens == context.tokens.first(model.n_past)


@given(OPERATIONS)
def test_with_whole_pieces_a_prompt_is_computed_as_in_an_empty_context(
    operations: list[tuple[str, Any]],
) -> None:
    model = Stopping()
    context = CachedContext(model)
    context.prefill_piece = 4
    for name, argument in operations:
        try:
            carry_out(context, model, name, argument)
        except ContextFullError:
            continue
        if name == "prefill":
            alone = Stopping()
            empty = CachedContext(alone)
            empty.prefill_piece = 4
            carry_out(empty, alone, name, argument)
            assert model.batches[: model.n_past] == alone.batches


def test_the_same_picture_is_not_read_again() -> None:
    model = Stopping()
    context = CachedContext(model)
    context.prefill(sequence([1, gap("x", 6), 2, 2]), 8)
    assert context.reuse(sequence([1, gap("x", 6), 2, 3])) == 8
    assert context.reuse(sequence([1, gap("y", 6), 2, 3])) == 1


def test_with_whole_pieces_they_begin_anew_after_a_gap() -> None:
    model, alone = Stopping(), Stopping()
    shown, text = gap("x", 6), [0, 1, 2, 0, 1, 2, 1, 1, 1]
    context, empty = CachedContext(model), CachedContext(alone)
    context.prefill_piece = empty.prefill_piece = 4
    context.prefill(sequence([1, shown, 0]), 8)
    assert context.reuse(sequence([1, shown, 7])) == 7
    context.prefill(sequence([1, shown, *text]), 8)
    assert context.reuse(sequence([1, shown, 7])) == 7
    context.prefill(sequence([1, shown, *text]), 8)
    assert context.reuse(sequence([1, shown, *text[:7], 9, 9, 9])) == 11
    context.prefill(sequence([1, shown, *text[:7], 9, 9, 9]), 8)
    empty.prefill(sequence([1, shown, *text[:7], 9, 9, 9]), 8)
    assert model.batches == alone.batches


def test_what_is_owed_may_have_a_gap_in_it() -> None:
    model = Stopping(can_rollback=False, has_copies=True)
    model.keep_states(0)
    context = CachedContext(model)
    context.feed([1, 2], 1)
    context.feed([1, 1], 2)  # from here on it can go back
    context.extend(sequence([1, 2, 1, 1, gap("x", 6), 2, 0]), 8)
    context.rollback(11)
    assert (len(context.tokens), context.n_owed) == (11, 9)
    rows = context.feed([1, 1], 2)
    assert (rows[1] == fingerprint(context.tokens)).all()
    assert model.tokens == context.tokens == sequence([1, 2, 1, 1, gap("x", 6), 2, 1, 1])


def test_a_rollback_into_a_gap_takes_it_as_a_whole() -> None:
    context = CachedContext(Stopping())
    context.prefill(sequence([1, gap("x", 6), 2]), 8)
    context.rollback(5)
    assert context.tokens == [1]


# ----------------------------------------------------------------------------------- drafters

LOOKUPS = [
    "prompt-lookup",
    "ngram-simple:n=3",
    "ngram-map-k:n=3:m=2",
    "ngram-map-k4v:n=3:m=2",
    "ngram-mod:n_match=3:n_min=0",
    "ngram-cache",
    "suffix:p_min=0",
]
"""Each with settings by which it drafts as early as it can."""


def drafter_of(text: str, draft: FakeModel | None = None) -> Drafter:
    ((info, settings),) = parse_strategy(text).drafters
    bench = workbench(
        sampler=Sampler(SamplingParams(temperature=0), 1),
        draft=CachedContext(draft) if draft else None,
    )
    return info.make(bench, settings)


def drafted(text: str, parts: Parts) -> list[int]:
    """Return a drafter's proposal after this history, of which the last tokens are a reply."""
    history = sequence(parts)
    drafter = drafter_of(text)
    reply = [history.pop() for _ in range(3)]
    drafter.begin(history, len(history))
    for token in reversed(reply):
        history.append(token)
        drafter.observe(None)
    return list(drafter.propose(4).tokens)


def test_every_lookup_is_asked() -> None:
    lookups = {info.id for info in registry.available() if info.family == "lookup"}
    assert {text.partition(":")[0] for text in LOOKUPS} == lookups - {"earlier"}


@pytest.mark.parametrize("n_cells", [1, 3, 50])
@pytest.mark.parametrize("lookup", LOOKUPS)
def test_no_lookup_crosses_a_gap(lookup: str, n_cells: int) -> None:
    seen, after, new, picture = [1, 2, 3, 4, 5], [6, 7, 8, 9], [10, 11, 12], gap("x", n_cells)
    assert drafted(lookup, [*seen, *after, *new, *seen])[:2] == [6, 7], "it drafts without a gap"
    assert drafted(lookup, [*seen, picture, *after, *new, *seen]) == [], "not what is after it"
    assert drafted(lookup, [*seen, *after, picture, *new, *seen])[:2] == [6, 7], "but before it"
    assert drafted(lookup, [*new, picture, *seen, *after, *seen])[:2] == [6, 7], "and after it"
    for n in (1, 2):  # a copy ends where a gap begins
        draft = drafted(lookup, [*seen, *after[:n], picture, *new, *seen])
        assert draft == after[: len(draft)]
    cut = [*seen[:2], picture, *seen[2:], *after, *new, *seen[:2], picture, *seen[2:]]
    assert drafted(lookup, cut)[:2] in ([6, 7], []), "three tokens agree"
    assert drafted(lookup, [1, 2, picture, 3, 4, 5, 6, *new, 1, 2, 3])[:1] in ([], [4])
    assert drafted("suffix:min_match=3", [1, 2, picture, 3, 4, *new, 1, 2, 3]) == []


def test_what_was_seen_after_an_id_is_not_found_after_a_gap() -> None:
    """A number below 0 could look like an id to an index that packs ids into few bits."""
    seen = [1, 2, 3, 4, 9, 5, 2, 3, 4, 8]
    cell = 512 - 1 - 1  # whose number has the lowest nine bits of the id 1
    picture = gap("x", cell + 1 - len(seen))
    assert drafted("ngram-cache", [*seen, picture, 2, 3, 4])[:1] == [8]
    ends = [0, 1, 2, 3, 9, 8, 7, 6]  # the id 0 adds nothing to a hash
    assert drafted("ngram-mod:n_match=4:n_min=0", [*ends, gap("x", 30), 1, 2, 3]) == []


def test_a_draft_model_reads_what_is_after_the_last_gap() -> None:
    model = FakeModel(lambda tokens: np.eye(N_VOCAB, dtype=np.float32)[tokens[-1] + 1] * 20)
    drafter = drafter_of("draft", model)
    assert isinstance(drafter, ModelDrafter)
    history = sequence([1, gap("x", 5), 2, gap("y", 3), 3, 4, 5])
    drafter.begin(history, len(history))
    assert drafter.n_backlog == 3
    assert drafter.n_unread == 0
    assert drafter.propose(3).tokens == [6, 7, 8]
    assert model.tokens == [3, 4, 5, 6, 7]
    history.extend([6, 9])
    drafter.observe(1)
    assert drafter.propose(1).tokens == [10]
    assert drafter.n_decoded == 3 + 2 + 1, "what it has read is not read again"
    drafter.close()
    drafter.begin(history, len(history))
    assert model.tokens == [3, 4, 5, 6, 9], "nor in the next turn"


def test_of_a_long_text_after_a_gap_a_draft_model_can_read_the_end_and_later_the_rest() -> None:
    model = FakeModel(lambda tokens: np.eye(N_VOCAB, dtype=np.float32)[tokens[-1] + 1] * 20)
    drafter = drafter_of("draft", model)
    assert isinstance(drafter, ModelDrafter)
    text = list(range(100))
    history = sequence([gap("x", 50), *text])
    drafter.begin(history, len(history))
    drafter.propose_while(1, lambda _sure: False, 20)
    assert model.tokens == text[-20:]
    assert drafter.n_unread == 100
    drafter.propose_while(1, lambda _sure: False, 1000)
    assert model.tokens == text


def test_idle_time_brings_a_draft_model_to_the_text_after_the_last_gap() -> None:
    model = FakeModel(fingerprint)
    pair = LoadedPair(FakeModel(fingerprint), model, Facts(""))
    assert pair.draft is not None
    pair.uses_draft = True
    text = [i % 200 for i in range(PIECE_TOKENS + 9)]
    pair.target.prefill(sequence([1, 2, gap("x", 30), *text]), 16)
    work = CatchingUp(pair)
    while work.slice():
        pass
    assert model.tokens == pair.draft.tokens == text


def test_a_timed_decode_takes_ids_alone() -> None:
    model = Stopping()
    context = CachedContext(model)
    context.prefill(sequence([7, 8, gap("x", 6), 9]), 8)
    DecodeTimer().run(WidthTimings(context, 3))
    DecodeTimer().run(WidthTimings(context, 6))  # more than there are
    assert context.tokens == model.tokens == sequence([7, 8, gap("x", 6), 9])


# ------------------------------------------------------------------------------------ replies

MODELS = ["draft", "suffix+draft:suffix.p_min=0", "prompt-lookup+suffix", "auto"]


def few_letters(seed: int) -> Logits:
    """Logits of three letters by the last two cells: texts repeat themselves."""
    language = random_language(seed)
    mask = np.where(np.arange(N_VOCAB) < 3, 0, -99).astype(np.float32)
    return lambda tokens: language(tokens) + mask


@pytest.mark.parametrize("strategy", [*LOOKUPS, *MODELS])
def test_there_are_drafts_after_a_gap(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That they change no text is said by `test_state_machine.py`, with gaps in any place."""
    clock = Clock()
    for module in TIMED:
        monkeypatch.setattr(module, "_clock", clock)
    target, draft = PricedModel(few_letters(1)), PricedModel(few_letters(1))
    target.price, draft.price = target_price, draft_price
    target.time = draft.time = clock
    text = [1, 2, 0, 1, 1, 2, 0] * 3
    decoder = decoder_for(target, strategy, draft=draft, max_tokens=60)
    steps = list(decoder.run(sequence([0, *text, gap("x", 9), *text]), lambda _n: None))
    assert decoder.draft_failures == []
    assert {trace.source for step in steps for trace in step.tokens} > {SOURCE_TARGET}


def test_penalties_pass_over_a_gap() -> None:
    ids = [i % 5 for i in range(80)]
    params = SamplingParams(temperature=1, repeat_penalty=1.2, frequency_penalty=0.3)
    rows = []
    for prompt in (ids, sequence([*ids[:-3], gap("x", 70), *ids[-3:]])):
        sampler = Sampler(params, 1)
        sampler.start(prompt)
        row = np.arange(10, dtype=np.float32)
        sampler.sample(row, 0)
        rows.append(row)
    assert (rows[0] == rows[1]).all()
    assert (rows[0] != np.arange(10)).any()
