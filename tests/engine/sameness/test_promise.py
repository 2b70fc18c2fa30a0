"""Choices of batch widths on models whose rows depend on their batch in known ways."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from msgspec import structs

from engine.harness import random_language
from fake_model import FakeModel
from paceline.engine.auto.costs import VerifyCosts
from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.idle import IdleWork
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import BatchWidths
from paceline.engine.pair import LoadedPair
from paceline.engine.sameness import evidence
from paceline.engine.sameness import promise as promise_module
from paceline.engine.sameness.evidence import EXACT_WIDTH, Evidence, evidence_key
from paceline.engine.sameness.promise import ENOUGH_LOOKS, PIECE_TOKENS
from paceline.errors import ComputeFailedError, DecodeMemoryError, EngineError
from paceline.figures import KernelUse

Rounding = Callable[[int, int, int], float]
"""The error of a row, by its batch's width, its place in there, and its token."""


def by_fours(width: int, place: int, token: int) -> float:
    """Rows left over from groups of four take another kernel, which differs for some tokens."""
    is_left_over = place >= width - width % 4
    return 0.25 * (is_left_over and token % 13 == 0)


class RoundingModel(FakeModel):
    """Adds an error to every row."""

    def __init__(
        self,
        rounding: Rounding = lambda *_: 0.0,
        n_ctx: int = 2048,
        max_rows: int = 63,
        cancel: CancelFlag | None = None,
    ) -> None:
        super().__init__(random_language(1), n_ctx=n_ctx, max_rows=max_rows, cancel=cancel)
        self.rounding = rounding
        self.failure: EngineError | None = None
        self.n_decodes_left = 10**9

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.n_decodes_left -= 1
        if self.n_decodes_left < 0 and self.cancel is not None:
            self.cancel.set()
        if self.failure is not None:
            raise self.failure
        rows = super().decode(tokens, n_rows)
        width, first = len(tokens), len(tokens) - n_rows
        errors = [self.rounding(width, first + i, tokens[first + i]) for i in range(n_rows)]
        return rows + np.array(errors, np.float32).reshape(n_rows, 1)


class Made:
    """A promise on such a model."""

    def __init__(
        self,
        rounding: Rounding = lambda *_: 0.0,
        *,
        is_exact: bool = False,
        facts: Facts | None = None,
        costs: VerifyCosts | None = None,
        **options: int,
    ) -> None:
        self.cancel = CancelFlag()
        self.model = RoundingModel(rounding, cancel=self.cancel, **options)
        self.facts = facts or Facts("")
        self.pair = pair = LoadedPair(self.model, None, self.facts, is_exact=is_exact)
        pair.knowledge.costs = costs or VerifyCosts()
        self.context, self.promise = pair.target, pair.promise
        self.work = IdleWork(pair, [self.promise])

    @property
    def holds(self) -> bool | None:
        return self.promise.sameness.holds

    @property
    def words(self) -> str:
        return self.promise.sameness.words

    def idle(self) -> None:
        """Use as much idle time as there is a use for, and settle."""
        while self.work.slice():
            pass
        self.promise.choose_widths()

    def live(self, n_replies: int) -> None:
        """Let the context hold other texts, with idle time after each of them."""
        for i in range(n_replies):
            self.context.clear()
            rng = random.Random(i)
            for _ in range(3):
                self.context.feed([rng.randrange(250) for _ in range(50 + 7 * i)], 0)
            self.idle()


def exact(rounding: Rounding, **options: int) -> Made:
    made = Made(rounding, is_exact=True, **options)
    made.promise.measure()
    assert made.context.tokens == made.model.tokens == []
    assert made.context.prefill_piece == PIECE_TOKENS
    return made


@pytest.mark.parametrize(
    ("rounding", "widths"),
    [
        (lambda n, _i, _t: 0.0, (1, 1, 63)),
        (lambda n, _i, _t: 0.1 * (n == 1), (2, 1, 63)),
        (lambda n, _i, _t: 0.1 * (n <= 3), (4, 4, 60)),
        (lambda n, _i, _t: 0.1 * (n >= 9), (1, 1, 8)),
        (lambda n, _i, _t: 0.1 * (n == 1) + 0.2 * (n >= 33), (2, 1, 32)),
        (lambda n, _i, _t: 0.1 * (n % 2), (4, 4, 60)),
        (lambda n, _i, _t: 0.1 * (n % 8 != 0), (8, 8, 56)),
        (lambda n, _i, _t: 0.01 * (n if n % 8 else 0), (8, 8, 56)),
        (lambda n, _i, _t: 0.01 * (n if n < 16 else 0), (8, 8, 8)),
        (lambda n, i, _t: 0.01 * (i if n < 16 else 0), (16, 16, 48)),
        (lambda n, _i, _t: 0.01 * n, (8, 8, 8)),
        (by_fours, (4, 4, 60)),
    ],
)
def test_exact_mode_takes_the_cheapest_widths_that_agree(
    rounding: Rounding, widths: tuple[int, int, int]
) -> None:
    made = exact(rounding)
    assert made.context.widths == widths
    assert made.holds is True
    assert ("Single tokens are decoded as" in made.words) is (widths[0] > 1)
    assert (f"Drafts end at {widths[2] - 1} tokens" in made.words) is (widths[2] in {8, 32})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rounding", [by_fours, lambda n, _i, _t: 0.1 * (n % 8 != 0)])
def test_no_row_differs_within_a_promise(rounding: Rounding, seed: int) -> None:
    """Drafts of any length, any of them accepted: each row is what plain decoding gives."""
    made, plain = exact(rounding), exact(rounding)
    rng = random.Random(seed)
    text = [rng.randrange(250) for _ in range(400)]
    expected = [plain.context.feed([token], 1)[0].copy() for token in text]
    done = 0
    while done < len(text) - 60:
        n = rng.randint(1, made.context.widths.highest)
        rows = made.context.feed(text[done : done + n], n)
        assert np.array_equal(rows, expected[done : done + n])
        n_kept = rng.randint(1, n)
        made.context.rollback(done + n_kept)
        done += n_kept
        assert made.model.tokens == text[:done]


def test_a_device_that_never_computes_the_same_twice() -> None:
    rng = np.random.default_rng(0)
    made = exact(lambda *_: float(rng.normal()))
    assert made.holds is False
    assert made.context.widths == BatchWidths()
    assert "not possible" in made.words
    assert not made.work.slice()


def test_a_short_context() -> None:
    made = exact(lambda n, _i, _t: 0.1 * (n == 1), n_ctx=40)
    assert made.context.widths == (2, 1, 20)
    assert made.context.n_ctx == 33  # whatever the widths are
    assert exact(lambda n, _i, _t: 0.1 * (n == 1), n_ctx=16).holds is None  # no room to look


def test_looks_at_short_texts_promise_nothing_about_long_ones() -> None:
    facts = Facts("")
    rounding: Rounding = lambda n, _i, _t: 0.0  # noqa: E731
    short = Made(rounding, facts=facts, n_ctx=128)
    short.idle()
    assert short.holds is True
    long = Made(rounding, facts=facts, n_ctx=4096)
    assert long.holds is None
    for i in range(20):  # short chats
        long.context.clear()
        long.context.feed(list(range(60 + i)), 0)
        assert long.work.slice()
    assert long.holds is None
    long.context.clear()
    long.idle()
    assert long.holds is True


def test_what_is_far_into_the_context_is_looked_at() -> None:
    """Use a model whose single tokens take another kernel from 512 cells on."""
    made = Made(n_ctx=2048)
    made.model.rounding = lambda n, _i, _t: 0.1 * (n == 1 and made.model.n_past > 512)
    made.idle()
    assert made.holds is False


def test_no_more_text_is_put_in_front_than_there_is_time_for() -> None:
    facts = Facts("")
    Evidence(facts, evidence_key(RoundingModel(n_ctx=4096))).add(BatchWidths(), 1, 1, {})
    made = Made(facts=facts, n_ctx=4096)
    made.promise.look_at_a_text(until=0.0)
    assert made.model.widths
    assert max(made.model.widths) < PIECE_TOKENS, "nothing was prefilled"


def test_equality_has_a_basis() -> None:
    bases = {
        Made().promise.sameness.basis,
        Made(is_exact=True).promise.sameness.basis,
        exact(lambda n, _i, _t: 0.1 * (n == 1)).promise.sameness.basis,
    }
    assert len(bases) == 3
    assert Made().promise.sameness.basis in bases


@pytest.mark.parametrize(
    ("n_back", "words"),
    [(0, "without speculation"), (16, "is not known: this model's memory overwrites")],
)
def test_what_cannot_take_any_draft_back_is_not_compared(n_back: int, words: str) -> None:
    made = Made()
    made.model.can_rollback, made.model.max_rollback = False, n_back
    assert words in made.words
    assert not made.work.slice()


def test_other_widths_of_exact_mode_are_reported_once() -> None:
    is_met = False
    made = exact(lambda n, _i, _t: 0.5 * (is_met and n % 4 != 0))
    assert made.promise.take_news() == ()
    is_met = True
    made.context.feed(list(range(200)), 0)
    made.idle()
    (news,) = made.promise.take_news()
    assert "Single tokens are decoded as" in news or "Drafts end at" in news
    assert "the time of one" not in news  # it was never measured
    assert made.promise.take_news() == ()


def test_what_a_step_took_at_other_widths_is_not_reported() -> None:
    is_met = False
    made = exact(lambda n, _i, _t: 0.1 * (n == 1) + 0.5 * (is_met and n % 4 != 0))
    assert "the time of one" in made.words
    is_met = True
    made.live(3)
    assert made.context.widths.lowest == 8
    assert "the time of one" not in made.words


def test_nothing_is_known_of_what_steps_cost_at_other_widths() -> None:
    is_met = False
    made = exact(lambda n, _i, _t: 0.5 * (is_met and n % 4 != 0))
    for is_met in (False, True):
        made.pair.knowledge.costs.add(1, 0, 0.01)
        for _ in range(3):
            made.context.feed(list(range(50)), 0)
            while made.work.slice():
                pass
        assert made.pair.choose_widths() == is_met
        assert (made.pair.knowledge.costs.plain is None) == is_met


def test_another_processor_has_evidence_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts("")
    Made(by_fours, is_exact=True, facts=facts).promise.measure()
    assert Made(facts=facts).holds is False
    monkeypatch.setattr(evidence, "processor", lambda: "another one")
    assert Made(facts=facts).holds is None


def test_what_was_seen_is_not_looked_at_again() -> None:
    facts = Facts("")
    first = Made(by_fours, is_exact=True, facts=facts)
    first.promise.measure()
    again = Made(by_fours, is_exact=True, facts=facts)
    assert again.context.widths == (4, 4, 60)
    again.promise.measure()
    assert set(again.model.widths) == {1, 4}  # what a plain step costs, and no more
    assert again.holds is True


def test_exact_mode_stops_measuring_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promise_module, "LIMIT_S", 0.0)
    made = exact(lambda *_: 0.0)
    assert set(made.model.widths) == {1, EXACT_WIDTH}  # what a plain step costs, and no more
    assert made.holds is None
    assert "as far as was looked. Single tokens are decoded as 8, " in made.words
    assert "Once enough rows were compared, fewer may do, with the same text." in made.words
    made.idle()
    assert made.holds is True
    assert "fewer may do" not in made.words
    assert made.context.widths == BatchWidths()


class Divided(RoundingModel):
    """Model whose single tokens take another kernel from 300 cells on, as on two stock threads."""

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        rows = super().decode(tokens, n_rows)
        return rows + np.float32(0.3 * (len(tokens) == 1 and self.n_past > 300))


@pytest.mark.parametrize(
    "rounding",
    [
        lambda *_: 0.0,
        lambda n, _i, _t: 0.1 * (n == 1),
        lambda n, _i, _t: 0.1 * (n <= 3),
        lambda n, _i, _t: 0.1 * (n >= 9),
        lambda n, _i, _t: 0.1 * (n % 8 != 0),
        lambda n, _i, _t: 0.01 * (n if n % 8 else 0),
        lambda n, _i, _t: 0.01 * n,
        lambda n, _i, t: 0.1 * (n == 5 and t % 29 == 0),
        by_fours,
    ],
)
def test_the_text_does_not_depend_on_how_much_was_compared(
    rounding: Rounding, monkeypatch: pytest.MonkeyPatch, trials: Callable[[int, int], range]
) -> None:
    """A load beside other work compares less, and idle work continues between two replies."""
    monkeypatch.setattr(f"{__name__}.RoundingModel", Divided)
    for seed in trials(2, 20):
        rng = random.Random(seed)
        prompt = [rng.randrange(250) for _ in range(rng.randint(240, 500))]
        text = [rng.randrange(250) for _ in range(100)]
        made = Made(rounding, is_exact=True)
        expected: list[bytes] = []
        for _ in range(40):
            made.context.rollback(rng.randint(0, len(made.context.tokens)))
            rows = [made.context.prefill(prompt, 512)[0].tobytes()]
            while len(rows) <= 60:
                n = rng.choice((1, 2, rng.randint(1, made.context.widths.highest)))
                piece = text[len(rows) - 1 : len(rows) - 1 + n]
                found = [row.tobytes() for row in made.context.feed(piece, len(piece))]
                rows += found[: rng.randint(1, len(found))]
                made.context.rollback(len(prompt) + len(rows) - 1)
            expected = expected or rows[:60]
            assert rows[:60] == expected, made.context.widths
            if made.holds:
                break
            made.promise.look_at_a_text()
            made.promise.choose_widths()
        assert made.holds


# ------------------------------------------------------------------------------------ idle time


def test_idle_time_tells_what_holds() -> None:
    made = Made()
    assert made.holds is None
    assert "not known yet" in made.words
    made.idle()
    assert made.holds is True
    sameness = made.promise.sameness
    assert sameness.difference == 0.0
    assert sameness.n_rows > 8 * ENOUGH_LOOKS
    assert f"(checked, {sameness.n_rows:,} rows)" in made.words
    assert made.model.tokens == []


def test_a_row_that_differs_is_reported_with_its_difference() -> None:
    made = Made(by_fours)
    made.idle()
    assert made.holds is False
    assert made.promise.sameness.difference == pytest.approx(0.25, abs=1e-6)
    assert "up to 0.25" in made.words
    assert made.context.widths == BatchWidths(), "the user asked for no expensive steps"


def test_a_cheap_padding_is_taken_by_itself() -> None:
    costs = VerifyCosts()
    for width in (1, 2, 4, 8):
        costs.add(width, 0, 0.01 * (1 + width / 200))
    made = Made(by_fours, costs=costs)
    while made.holds is not False:
        assert made.work.slice()
    made.promise.choose_widths()
    assert made.context.widths == BatchWidths(), "these were looked at too little"
    made.idle()
    assert made.context.widths == (4, 4, 60)
    assert made.holds is True
    made.pair.knowledge.costs.__init__()  # type: ignore[misc]  # what padded steps cost is not known at once
    made.idle()
    assert made.context.widths == (4, 4, 60)


def test_an_expensive_one_is_not() -> None:
    costs = VerifyCosts()
    for width in (1, 2, 4, 8):
        costs.add(width, 0, 0.01 * (1 + width / 10))
    made = Made(by_fours, costs=costs)
    made.idle()
    made.live(12)
    assert made.context.widths == BatchWidths()
    assert made.holds is False


def test_each_reply_is_looked_at_once_and_stays_as_it_is() -> None:
    made = Made()
    made.idle()
    made.context.feed(list(range(200)), 0)
    made.model.widths.clear()
    n_rows = made.promise.sameness.n_rows
    made.idle()
    assert made.model.widths
    assert made.promise.sameness.n_rows > n_rows
    assert made.context.tokens == made.model.tokens == list(range(200))
    made.model.widths.clear()
    made.idle()
    assert made.model.widths == []


@pytest.mark.parametrize("is_exact", [False, True])
def test_one_row_in_thousands_withdraws_the_promise(is_exact: bool) -> None:
    """The token that is rounded otherwise stands in the user's texts alone."""
    is_met = False

    def rounding(width: int, _place: int, token: int) -> float:
        return 0.5 * (is_met and token == 199 and width % 4 != 0)

    made = Made(rounding, is_exact=is_exact)
    made.promise.measure()
    made.idle()
    assert made.holds is True
    is_met = True
    made.context.feed(list(range(200)), 0)
    made.idle()
    assert made.holds is (None if is_exact else False)
    assert (made.context.widths == BatchWidths()) is not is_exact
    for n in range(100, 100 + 3 * ENOUGH_LOOKS):
        made.context.clear()
        made.context.feed(list(range(200 - n, 200)), 0)
        made.idle()
    made.context.clear()
    made.idle()
    assert made.holds is is_exact
    assert made.context.widths == ((4, 4, 60) if is_exact else BatchWidths())


@pytest.mark.parametrize("n_before", [0, 100])
def test_a_look_that_is_stopped_leaves_the_context_as_it_was(n_before: int) -> None:
    for n_decodes in range(12):
        made = Made()
        made.context.feed(list(range(n_before)), 0) if n_before else None
        made.model.n_decodes_left = n_decodes
        made.work.slice()
        assert made.cancel.is_set()
        assert made.context.tokens == made.model.tokens == list(range(n_before))
        assert made.context.widths == BatchWidths()
        made.cancel.clear()
        made.model.n_decodes_left = 10**9
        assert made.work.slice()
        assert made.promise.sameness.n_rows


def test_a_look_that_fails_is_the_last_one() -> None:
    made = Made()
    made.context.feed(list(range(100)), 0)
    made.model.failure = DecodeMemoryError("no-memory", "No memory.")
    assert made.work.slice()
    assert made.context.tokens == []
    assert not made.work.slice()


def test_a_broken_device_is_reported() -> None:
    made = Made()
    made.model.failure = ComputeFailedError("broken", "Broken.")
    with pytest.raises(ComputeFailedError):
        made.work.slice()


def test_a_full_context_has_no_room_for_a_look() -> None:
    made = Made(n_ctx=100)
    made.context.feed([i % 50 for i in range(95)], 0)
    made.idle()
    assert made.promise.sameness.n_rows == 0
    assert len(made.context.tokens) == 95


def test_words_promise_no_more_than_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promise_module, "LIMIT_S", 0.0)
    is_met = False
    made = exact(lambda n, _i, t: 0.5 * (is_met and n % 4 != 0))
    assert "as far as was looked." in made.words
    made.idle()
    assert "as far as was looked (" in made.words
    is_met = True
    made.context.feed(list(range(200)), 0)
    while made.work.slice():
        pass
    assert "goes on with other batch widths" in made.words
    made.promise.choose_widths()
    assert made.context.widths != BatchWidths()
    assert "as far as was looked" in made.words


def test_only_own_kernels_are_sure_without_a_look() -> None:
    made = Made()
    made.model.computes_here = True
    for by, holds in ((("own", "stock"), None), (("stock", "own"), None), (("own", "own"), True)):
        uses = tuple(map(KernelUse, ("q4_K", "attention"), by))  # type: ignore[arg-type]
        made.model.info = structs.replace(made.model.info, kernels=uses)
        assert made.holds is holds
        assert made.promise.sameness.any_context is (holds is True)
    assert "whatever was in the context before: each token is computed as if" in made.words
    assert "as far as" not in made.words
    made.model.can_rollback, made.model.max_rollback = False, 16
    assert made.holds is None, "what recurrent operators do was never compared"
    assert not made.promise.sameness.any_context


def test_exact_mode_cuts_a_prompt_only_where_that_makes_a_difference() -> None:
    model = RoundingModel()
    model.computes_here = True
    for by, piece in (("stock", PIECE_TOKENS), ("own", 0)):
        uses = tuple(KernelUse(kind, by) for kind in ("q4_K", "attention"))  # type: ignore[arg-type]
        model.info = structs.replace(model.info, kernels=uses)
        pair = LoadedPair(model, None, Facts(""), is_exact=True)
        assert pair.target.prefill_piece == piece
        sameness = pair.promise.sameness
        assert sameness.any_context
        assert ("are prefilled again" in sameness.words) is (piece > 0)
