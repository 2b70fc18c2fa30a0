"""The draft model's book-keeping, on scripted models."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.token_grammar import TokenGrammar
from engine.workbench import workbench
from fake_model import EOG, N_VOCAB, ByteVocabulary, FakeModel, Logits
from paceline.engine.draft.draft_model import ModelDrafter
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext
from paceline.engine.sample.sampling import Sampler
from paceline.errors import CancelledError
from paceline.messages import SamplingParams

GREEDY = SamplingParams(temperature=0)


def counting(tokens: Sequence[int]) -> np.ndarray:
    """Logits that go on with the next number, surely."""
    row = np.zeros(N_VOCAB, np.float32)
    row[(tokens[-1] + 1) % 250] = 20
    return row


def unsure_at(*unsure: int) -> Logits:
    """Return logits like `counting`, but with 0.64 of the ten largest shares for these numbers."""

    def logits(tokens: Sequence[int]) -> np.ndarray:
        row = counting(tokens)
        if int(row.argmax()) in unsure:
            row[row.argmax()] = np.log(16)  # against nine others with weight 1: 0.64
        return row

    return logits


def random_language(tokens: Sequence[int]) -> np.ndarray:
    rng = np.random.default_rng(list(tokens[-2:]))
    return (rng.normal(size=N_VOCAB) * 3).astype(np.float32)


def drafter_for(
    model: FakeModel,
    *,
    n_max: int = 4,
    n_min: int = 0,
    p_min: float = 0.75,
    sampling: SamplingParams = GREEDY,
    chunk: int = 16,
    eog: Sequence[int] = (EOG,),
    context: CachedContext | None = None,
) -> ModelDrafter:
    bench = workbench(
        sampler=Sampler(sampling, 7),
        draft=context or CachedContext(model),
        eog=frozenset(eog),
        chunk=chunk,
    )
    return ModelDrafter(bench, {"n_max": n_max, "n_min": n_min, "p_min": p_min})


def begun(model: FakeModel, history: list[int], **options: object) -> ModelDrafter:
    drafter = drafter_for(model, **options)  # type: ignore[arg-type]
    drafter.begin(history, len(history))
    return drafter


def tokens_of(drafter: ModelDrafter, n_max: int = 99) -> list[int]:
    return list(drafter.propose(n_max).tokens)


def widths(model: FakeModel) -> list[int]:
    """The widths since the last call."""
    out = list(model.widths)
    model.widths.clear()
    return out


# -------------------------------------------------------------------------------- what it drafts


def test_a_token_that_its_model_does_not_know_ends_the_draft() -> None:
    """The target's vocabulary may be longer, and the grammar may want a token from there."""
    beyond = N_VOCAB + 3
    grammar = TokenGrammar(lambda text: {4} if not text else {beyond})
    target = Sampler(GREEDY, 7, n_vocab=N_VOCAB + 9, grammar=grammar)
    bench = workbench(
        sampler=target, draft=CachedContext(FakeModel(counting)), eog=frozenset({EOG})
    )
    drafter = ModelDrafter(bench, {"n_max": 9, "n_min": 0, "p_min": 0})
    history = [1, 2, 3]
    drafter.begin(history, 3)
    assert tokens_of(drafter) == [4]
    for token in (4, beyond):
        history.append(token)
        target.commit(token)
    drafter.observe(1)
    assert tokens_of(drafter) == []
    drafter.close()
    assert grammar.books.n_open == 1


def test_it_stops_where_it_is_unsure() -> None:
    model = FakeModel(unsure_at(6))
    drafter = begun(model, [1, 2, 3], n_max=9)
    draft = drafter.propose(99)
    assert list(draft.tokens) == [4, 5]
    assert len(draft.confidences) == 2
    assert widths(model) == [3, 1, 1]  # nothing is computed after that
    assert tokens_of(begun(FakeModel(unsure_at(6)), [3], p_min=0.63)) == [4, 5, 6, 7]
    assert tokens_of(begun(FakeModel(unsure_at(6)), [3], p_min=0.65)) == [4, 5]
    assert tokens_of(begun(FakeModel(unsure_at(4)), [3])) == []


def test_the_favourites_probability_counts_whatever_the_noise_picks() -> None:
    """Use temperature 2, where the noise often picks another token than the likeliest one."""

    def sure(tokens: Sequence[int]) -> np.ndarray:
        row = np.full(N_VOCAB, -np.inf, np.float32)
        row[:2] = [4, 0]
        return row

    drafter = begun(
        FakeModel(sure), [1], n_max=200, p_min=0.98, sampling=SamplingParams(2.0, 0, 1.0, 0.0)
    )
    draft = drafter.propose(200)
    assert len(draft.tokens) == 200
    assert set(draft.tokens) == {0, 1}
    assert list(draft.confidences) == pytest.approx([1 / (1 + np.exp(-4))] * 200, abs=1e-6)


def test_short_drafts_are_thrown_away() -> None:
    history = [3]
    model = FakeModel(unsure_at(6))
    drafter = begun(model, history, n_max=9, n_min=3)
    draft = drafter.propose(99)
    assert list(draft.tokens) == list(draft.confidences) == []
    history.append(4)
    drafter.observe(None)
    assert model.tokens == [3, 4]  # what it held and was committed stays
    assert tokens_of(begun(FakeModel(unsure_at(6)), [3], n_max=9, n_min=2)) == [4, 5]


def test_too_little_room_for_the_shortest_draft_costs_nothing() -> None:
    model = FakeModel(counting)
    assert tokens_of(begun(model, [1, 2], n_max=9, n_min=5), 4) == []
    assert model.widths == []


def test_a_drafted_end_of_generation_is_the_last() -> None:
    def ending(tokens: Sequence[int]) -> np.ndarray:
        row = np.zeros(N_VOCAB, np.float32)
        row[EOG if tokens[-1] == 5 else tokens[-1] + 1] = 20
        return row

    model = FakeModel(ending)
    assert tokens_of(begun(model, [3], n_max=9)) == [4, 5, EOG]
    assert widths(model) == [1, 1, 1]
    # Where ends are suppressed they are tokens like any other.
    assert tokens_of(begun(FakeModel(lambda t: ending([min(t[-1], 5)])), [3], eog=()))[2:] == [
        EOG, EOG,
    ]  # fmt: skip


def test_it_draws_with_the_noise_of_the_position_it_predicts() -> None:
    sampling = SamplingParams(1.0, 0, 1.0, 0.0)
    sampler = Sampler(sampling, 7)
    history, n_prompt = [1, 2, 3, 4, 5], 2
    drafter = drafter_for(FakeModel(random_language), n_max=6, p_min=0, sampling=sampling)
    drafter.begin(history, n_prompt)
    text = list(history)
    for _ in range(6):
        text.append(sampler.sample(random_language(text), len(text) - n_prompt))
    assert tokens_of(drafter) == text[5:]


class Wider(FakeModel):
    """A model with 300 tokens, of which the last are its favourites."""

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        rows = super().decode(tokens, n_rows)
        more = np.full((n_rows, 300 - N_VOCAB), 50, np.float32)
        return np.concatenate([rows, more], axis=1)


def test_tokens_that_the_target_lacks_are_never_drafted() -> None:
    draft = begun(Wider(counting), [1, 2, 3]).propose(99)
    assert list(draft.tokens) == [4, 5, 6, 7]
    assert min(draft.confidences) > 0.999  # nor do they count in the confidence


class FewTokens(ByteVocabulary):
    """A vocabulary that ends before the target's."""

    n_tokens = 200


def test_a_text_with_tokens_that_the_draft_model_lacks_is_not_drafted_for() -> None:
    model = FakeModel(counting)
    model.vocab = FewTokens()
    history = [1, 2, 199]
    drafter = begun(model, history, n_max=1)
    assert tokens_of(drafter) == [200]
    history.append(200)
    drafter.observe(1)
    assert tokens_of(drafter) == []
    history.append(3)
    drafter.observe(None)
    assert tokens_of(drafter) == []
    assert 200 not in model.tokens


# ------------------------------------------------------------------------------ what it computes


def test_no_token_is_computed_twice() -> None:
    model, history = FakeModel(counting), [1, 2, 3]
    drafter = begun(model, history)
    assert tokens_of(drafter) == [4, 5, 6, 7]
    assert widths(model) == [3, 1, 1, 1]  # the prompt in one go; the last drafted is not decoded

    history += [4, 5, 6, 7, 8]  # all accepted, and the bonus token
    drafter.observe(4)
    assert model.tokens == [1, 2, 3, 4, 5, 6]
    assert tokens_of(drafter) == [9, 10, 11, 12]
    assert widths(model) == [2, 1, 1, 1]

    history += [9, 50]  # one accepted, the second replaced
    drafter.observe(1)
    assert model.tokens == history[:-1]
    assert tokens_of(drafter) == [51, 52, 53, 54]
    assert widths(model) == [1, 1, 1, 1]

    history += [99]  # the first one rejected
    drafter.observe(0)
    assert model.tokens == history[:-1]
    assert tokens_of(drafter, 1) == [100]
    assert widths(model) == [1]


def test_a_long_catch_up_goes_in_chunks() -> None:
    model = FakeModel(counting)
    assert tokens_of(begun(model, list(range(40)), chunk=16), 2) == [40, 41]
    assert widths(model) == [16, 16, 8, 1]
    model = FakeModel(counting)
    assert tokens_of(begun(model, list(range(32)), chunk=16), 1) == [32]
    assert widths(model) == [16, 16]


def test_a_later_turn_reuses_what_the_context_holds() -> None:
    model = FakeModel(counting)
    context = CachedContext(model)
    context.feed([1, 2, 3, 4, 5], 0)
    widths(model)
    drafter = drafter_for(model, context=context)
    drafter.begin([1, 2, 3, 9], 4)
    assert model.tokens == [1, 2, 3]
    assert tokens_of(drafter, 1) == [10]
    assert widths(model) == [1]


def read(drafter: ModelDrafter, n_read: int, n_max: int = 1) -> list[int]:
    """Return what it drafts after it has read so many of the last tokens."""
    return list(drafter.propose_while(n_max, lambda _: True, n_read).tokens)


def test_of_a_long_text_the_end_alone_can_be_read() -> None:
    model, history = FakeModel(counting), list(range(100))
    drafter = begun(model, history, chunk=16)
    assert (drafter.n_backlog, drafter.n_unread) == (100, 0)
    assert read(drafter, 20, 3) == [100, 101, 102]
    assert widths(model) == [16, 4, 1, 1]
    assert model.tokens == [*range(80, 100), 100, 101]
    history += [100, 77]  # one accepted, the second replaced
    drafter.observe(1)
    assert model.tokens == list(range(80, 101))
    assert drafter.n_backlog == 1
    assert read(drafter, 1, 2) == [78, 79]
    assert widths(model) == [1, 1]
    drafter.observe(0)
    drafter.close()
    assert model.tokens == history[80:]


def test_the_rest_of_it_can_be_read_later() -> None:
    model, history = FakeModel(counting), list(range(100))
    drafter = begun(model, history, n_max=1)
    read(drafter, 20)
    history += [100, 101]
    drafter.observe(1)
    assert drafter.n_unread > 0
    assert read(drafter, drafter.n_backlog + drafter.n_unread) == [102]
    assert model.tokens == history, "from the first token on, and once"
    assert (drafter.n_backlog, drafter.n_unread) == (1, 0)
    history.append(102)
    drafter.observe(1)
    widths(model)
    assert read(drafter, 1) == [103]
    assert widths(model) == [1]


def test_the_next_turn_reuses_nothing_of_a_window() -> None:
    """Check that nothing is reused, since the cached end of the text has other positions then."""
    for text in (list(range(100)), [7] * 100):
        model = FakeModel(counting)
        context = CachedContext(model)
        first = drafter_for(model, context=context)
        first.begin(text, len(text))
        read(first, 20)
        first.close()
        again = [*text, 200, 201]
        second = drafter_for(model, context=context, n_max=1)
        second.begin(again, len(again))
        assert model.tokens == again[: model.n_past]
        assert second.n_unread == 0
        assert second.n_backlog == len(again) - model.n_past
        assert tokens_of(second) == [202]
        assert model.tokens == again


def test_a_window_that_does_not_fit_leaves_the_books_right() -> None:
    model, history = FakeModel(counting, n_ctx=32), list(range(100))
    drafter = begun(model, history, n_max=3)
    assert read(drafter, 40, 3) == []
    drafter.observe(None)
    assert read(drafter, 30, 3) == [100, 101]  # as many as fit
    assert model.tokens == [*range(70, 100), 100]
    history += [100, 101, 102, 103]
    drafter.observe(2)
    assert drafter.n_backlog == 16  # half of the context
    assert drafter.n_unread == 0
    assert read(drafter, 16, 3) == [104, 105, 106]
    assert model.tokens == [*history[88:], 104, 105]


def test_closing_leaves_a_prefix_of_the_history() -> None:
    model, history = FakeModel(counting), [1, 2, 3]
    drafter = begun(model, history)
    drafter.propose(99)
    drafter.close()
    assert model.tokens == [1, 2, 3]
    drafter.close()  # once more does no harm
    drafter_for(model).close()  # nor does it before the beginning


class Stopping(FakeModel):
    """Stops at its n-th decode from now, after a part of the tokens."""

    countdown = -1

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.countdown -= 1
        if self.countdown == 0:
            self.tokens.extend(tokens[: len(tokens) // 2])
            raise CancelledError
        return super().decode(tokens, n_rows)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_cancelled_in_the_middle(n: int) -> None:
    model, history = Stopping(counting), list(range(1, 40))
    drafter = begun(model, history, chunk=16)
    model.countdown = n
    with pytest.raises(CancelledError):
        drafter.propose(4)
    drafter.observe(None)
    assert model.tokens == history[: model.n_past]
    assert tokens_of(drafter, 2) == [40, 41]


@given(st.integers(0, 10_000), st.integers(0, 3), st.sampled_from([0.0, 0.2, 0.5]))
def test_any_course_keeps_the_book(seed: int, n_min: int, p_min: float) -> None:
    """Random replies: the context holds the history from some token on, and nothing is lost."""
    rng = random.Random(seed)
    model = FakeModel(random_language, n_ctx=90)
    history = [rng.randrange(250) for _ in range(rng.randrange(1, 30))]
    drafter = drafter_for(
        model, n_min=n_min, p_min=p_min, chunk=rng.choice([1, 3, 16]),
        sampling=SamplingParams(1.0, 0, 1.0, 0.0),
    )  # fmt: skip
    drafter.begin(history, len(history))
    origin = 0
    while len(history) < 100:
        n_max = rng.randrange(1, 7)
        draft: list[int] | None = None
        if rng.random() < 0.7:
            n_read = drafter.n_backlog
            is_full = len(history) - origin >= model.n_ctx
            # Every token is decoded once: those that were missing, and the drafted ones but for
            # the last, or with the one that was too unsure.
            lacks = max(len(history) - origin - model.n_past, 1)
            assert n_read == (model.n_ctx // 2 if is_full else lacks)
            if is_full or rng.random() < 0.2:
                n_read = rng.randrange(1, model.n_ctx)
                if is_full or n_read != drafter.n_backlog:
                    n_read = min(n_read, len(history))
                    origin = len(history) - n_read
            draft = read(drafter, n_read, n_max)
            assert len(draft) <= min(n_max, 4)
            assert not draft or len(draft) >= n_min
            if model.widths:
                assert sum(widths(model)) - n_read in range(4)
        n_accepted = rng.randrange(len(draft) + 1) if draft else 0
        history += (draft or [])[:n_accepted]
        agreed = model.tokens[: len(history) - origin]
        history.append(rng.randrange(250))
        drafter.observe(n_accepted if draft else None)
        assert model.tokens == history[origin : origin + model.n_past]
        if draft:
            assert model.n_past >= len(agreed)  # what agrees is kept
    drafter.close()
    assert model.tokens == history[origin : origin + model.n_past]
