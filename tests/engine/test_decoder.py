"""The loop on scripted models: nothing here depends on weights."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from engine.harness import (
    PROMPT,
    Scripted,
    check_books,
    decoder_for,
    oracle,
    random_language,
    run,
)
from fake_model import EOG, FakeModel, scripted
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft.base import Draft
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.sample.sampling import Sampler
from paceline.errors import CancelledError, ContextFullError
from paceline.messages import SOURCE_TARGET, SamplingParams

REPLY = "The quick brown fox jumps."
GREEDY = SamplingParams(temperature=0)


def model(reply: str = REPLY, **options: object) -> FakeModel:
    return FakeModel(scripted(reply, len(PROMPT)), **options)  # type: ignore[arg-type]


def copying(text: str, n: int) -> Scripted:
    """Drafts the next `n` tokens of a text that it knows."""
    data = [*text.encode(), EOG]

    def propose(history: Sequence[int], n_max: int) -> list[int]:
        at = len(history) - len(PROMPT)
        return data[at : at + min(n, n_max)]

    return Scripted(propose)


@pytest.mark.parametrize("strategy", ["off", "suffix", "auto"])
def test_nothing_of_a_reply_waits_for_the_collector(strategy: str) -> None:
    decoder = decoder_for(model(), strategy)
    run(decoder)
    held = weakref.ref(decoder)
    del decoder
    assert held() is None


def test_plain_decoding_is_the_loop_without_drafts() -> None:
    decoder = decoder_for(model())
    steps = run(decoder)
    assert decoder.reply == REPLY
    assert decoder.finish_reason == "eog"
    assert [s.step for s in steps] == list(range(len(REPLY) + 1))
    assert all(len(s.tokens) == 1 and s.tokens[0].source == SOURCE_TARGET for s in steps)
    assert decoder.meter.n_steps == len(REPLY)
    assert decoder.meter.drafters == {}


def test_accepted_tokens_cost_no_step_of_their_own() -> None:
    decoder = decoder_for(model(), copying(REPLY, 4))
    steps = run(decoder)
    assert decoder.reply == REPLY
    assert len(steps) == 1 + -(-len(REPLY) // 5)
    second = steps[1]
    assert [t.source for t in second.tokens] == ["test"] * 4 + [SOURCE_TARGET]
    assert [t.position for t in second.tokens] == [0, 1, 2, 3, -1]
    assert [t.text_end for t in second.tokens] == [2, 3, 4, 5, 6]
    assert second.drafted[0].n_drafted == second.drafted[0].n_accepted == 4


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("length", [1, 2, 4, 9])
def test_an_end_of_generation_at_every_draft_position(n: int, length: int) -> None:
    reply = "x" * length
    decoder = decoder_for(model(reply), copying(reply + "zzzzzzzz", n))
    run(decoder)
    assert decoder.reply == reply
    assert decoder.generated[-1] == EOG
    assert decoder.finish_reason == "eog"
    drafted_end = decoder_for(model(reply), copying(reply, n))
    run(drafted_end)
    assert drafted_end.generated == decoder.generated
    meter = drafted_end.meter
    assert meter.n_discarded == 0  # nothing is drafted after a drafted end


def test_tokens_drafted_after_an_end_are_discarded_not_rejected() -> None:
    decoder = decoder_for(model("ab"), copying("abcdefgh", 6))
    run(decoder)
    stats = decoder.meter.freeze()
    # Step 0 gives "a"; then "b" is accepted, "c" is refuted by the end, "d…g" were never judged.
    assert (stats.n_drafted, stats.n_accepted, stats.n_discarded) == (6, 1, 4)
    assert stats.acceptance_rate == pytest.approx(1 / 2)


@pytest.mark.parametrize("n", range(7))
def test_a_stop_text_ends_the_reply_at_the_same_token_with_any_draft(n: int) -> None:
    decoder = decoder_for(model(), copying(REPLY, n), stop=["own f"])
    run(decoder)
    assert decoder.reply == "The quick br"
    assert bytes(decoder.generated) == b"The quick brown f"
    assert decoder.finish_reason == "stop"


class Refusing(FakeModel):
    """Counts the decodes that found no room, which a reply gets over by doing without its draft."""

    n_refused = 0

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        try:
            return super().decode(tokens, n_rows)
        except ContextFullError:
            self.n_refused += 1
            raise


@pytest.mark.parametrize("widths", [BatchWidths(), BatchWidths(4, 4, 60)], ids=["any", "fours"])
@pytest.mark.parametrize("n_ctx", [8, 9, 11, 14, 23])
@pytest.mark.parametrize("n", [1, 3, 9])
def test_no_draft_is_longer_than_the_context_has_room_for(
    n_ctx: int, n: int, widths: BatchWidths
) -> None:
    target = Refusing(scripted(REPLY, len(PROMPT)), n_ctx=n_ctx)
    context = CachedContext(target)
    context.widths = widths
    decoder = decoder_for(target, copying(REPLY, n), context=context)
    run(decoder)
    assert target.n_refused == 0
    assert decoder.meter.n_discarded == 0
    assert decoder.finish_reason == "context"
    assert len(decoder.history) == context.n_ctx + 1


@pytest.mark.parametrize("max_tokens", [1, 2, 5, 11])
@pytest.mark.parametrize("n", [0, 1, 4, 16])
def test_the_budget_is_kept_to_the_token(max_tokens: int, n: int) -> None:
    decoder = decoder_for(model(), copying(REPLY, n), max_tokens=max_tokens)
    run(decoder)
    assert decoder.finish_reason == "length"
    assert decoder.reply == REPLY[:max_tokens]
    stats = decoder.meter.freeze()
    assert stats.n_generated == max_tokens
    assert stats.n_discarded == 0  # the budget cuts the draft before it is made


@pytest.mark.parametrize("n_ctx", [40, 64])
def test_drafts_are_padded_where_a_wider_batch_is_cheaper(n_ctx: int) -> None:
    """Five tokens take longer than eight here; what pads them is taken back before it is told."""
    plain = decoder_for(model(n_ctx=n_ctx))
    run(plain)
    target = model(n_ctx=n_ctx)
    decoder = decoder_for(target, copying(REPLY, 4))
    for width, seconds in {1: 1.0, 4: 3.0, 5: 6.0, 8: 4.0}.items():
        for _ in range(2):
            decoder.knowledge.costs.add(width, 0, seconds)
    run(decoder)
    assert decoder.generated == plain.generated
    assert decoder.finish_reason == plain.finish_reason
    assert len(decoder.history) == len(plain.history)
    assert 8 in target.widths
    has_room = n_ctx > 3 + len(REPLY) + 8
    assert (5 in target.widths) is not has_room  # at the context's end
    assert target.tokens == plain.history[:-1]


@pytest.mark.parametrize("options", [{}, {"max_tokens": 7}, {"stop": ["own f"]}])
@pytest.mark.parametrize("n", [0, 1, 4, 16])
def test_a_reply_leaves_the_same_context_with_any_draft(n: int, options: dict[str, Any]) -> None:
    decoder = decoder_for(model(), copying(REPLY, n), **options)
    run(decoder)
    # Else the next prompt's prefill would be cut into other batches, which round otherwise.
    assert decoder.target.tokens == decoder.history[:-1]


@pytest.mark.parametrize("temperature", [0.0, 0.8, 1.2])
def test_a_drafter_that_knows_everything_is_accepted_whole(temperature: float) -> None:
    sampling = SamplingParams(temperature=temperature, top_k=0, top_p=1, min_p=0)
    target = FakeModel(random_language(7))
    decoder = decoder_for(target, oracle(target, Sampler(sampling, 1)), sampling=sampling)
    run(decoder)
    stats = decoder.meter.freeze()
    assert stats.n_accepted == stats.n_drafted - stats.n_discarded > 0


def test_drafts_are_cut_to_what_a_decode_can_verify() -> None:
    target = model(max_rows=4)
    decoder = decoder_for(target, copying(REPLY, 10_000))
    run(decoder)
    assert decoder.reply == REPLY
    assert max(target.widths[1:]) == 4


@pytest.mark.parametrize("at", [1, 2, 5, 11])
def test_closing_at_any_step_leaves_a_prefix_in_both_contexts(at: int) -> None:
    language = random_language(11)
    decoder = decoder_for(FakeModel(language), "draft:n_max=3:p_min=0", draft=FakeModel(language))
    steps = decoder.run(PROMPT, lambda _n: None)
    for _ in range(at):
        next(steps)
    steps.close()
    check_books(decoder)
    assert decoder.meter.decode_s >= 0


@pytest.mark.parametrize("at", [1, 2, 3, 5, 9, 16, 29])
def test_a_cancel_within_any_decode_leaves_a_prefix_in_both_contexts(at: int) -> None:
    """The flag rises within the `at`-th decode of either model: prefill, draft or verify."""
    language = random_language(5)
    flag = CancelFlag()
    n = 0

    class Counting(FakeModel):
        def decode(self, tokens, n_rows):  # type: ignore[no-untyped-def]
            nonlocal n
            n += 1
            if n == at:
                flag.set()
            return super().decode(tokens, n_rows)

    target = Counting(language, cancel=flag)
    decoder = decoder_for(
        target, "draft:n_max=3:p_min=0", draft=Counting(language, cancel=flag), max_tokens=200
    )
    with pytest.raises(CancelledError):
        run(decoder, PROMPT * 12)
    check_books(decoder)
    flag.clear()
    fresh = decoder_for(FakeModel(language), max_tokens=20)
    run(fresh)
    again = decoder_for(target, max_tokens=20, context=decoder.target)
    run(again)
    assert again.generated == fresh.generated


@pytest.mark.parametrize("proposal", [None, [1, 2], 7])
def test_a_proposal_of_a_wrong_kind_ends_drafting_only(proposal: object) -> None:
    drafter = copying(REPLY, 3)
    drafter.propose = lambda n_max: proposal  # type: ignore[assignment, method-assign, return-value]
    decoder = decoder_for(model(), drafter)
    run(decoder)
    assert decoder.reply == REPLY
    assert decoder.draft_failures


def test_arrays_are_welcome_as_a_proposal() -> None:
    drafter = copying(REPLY, 3)
    propose = drafter.propose
    drafter.propose = lambda n_max: Draft(  # type: ignore[method-assign]
        np.array(propose(n_max).tokens), np.array([0.5] * len(propose(n_max).tokens), np.float32)
    )
    decoder = decoder_for(model(), drafter)
    steps = run(decoder)
    assert decoder.reply == REPLY
    assert all(type(t.token) is int for step in steps for t in step.tokens)
    assert {type(t.confidence) for step in steps for t in step.tokens} == {float, type(None)}


def test_a_drafter_sees_what_became_of_its_proposals() -> None:
    drafter = copying("The quack", 6)
    run(decoder_for(model(), drafter))
    assert drafter.seen[:2] == [5, 2]  # "he qu" of "he qua", then "ck" of "ck" and an end
    assert drafter.closed == 1


def test_the_first_steps_after_a_load_are_plain() -> None:
    decoder = decoder_for(model(), copying(REPLY, 4), warm=False)
    steps = run(decoder)
    drafted = [sum(c.n_drafted for c in s.drafted) for s in steps]
    assert drafted[1:6] == [0] * 5  # the first builds the graph, four are timed
    assert drafted[6] > 0
    assert [s.plain for s in steps[:6]] == [False, False, True, True, True, True]
    assert decoder.meter.freeze().plain_tokens_per_s is not None
