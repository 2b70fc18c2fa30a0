"""The book of a context equals the context, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.harness import random_language
from fake_model import N_VOCAB, FakeModel
from paceline.engine.model.backend import Rows
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.model.tokens import common_prefix
from paceline.errors import CancelledError, ContextFullError, EngineError


def fingerprint(tokens: Sequence[int]) -> np.ndarray:
    """Return logits that depend on all tokens before."""
    row = np.zeros(N_VOCAB, np.float32)
    for place, token in enumerate(tokens):
        row[token] += place + 1
    return row


class Moody(FakeModel):
    """A model whose next decode can be stopped midway, or loses what it held."""

    def __init__(self, *, can_rollback: bool = True, n_ctx: int = 40) -> None:
        super().__init__(fingerprint, n_ctx=n_ctx, can_rollback=can_rollback)
        self.n_batch = 8
        self.trouble: tuple[str, int] | None = None
        self.rows_asked: list[int] = []

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.rows_asked.append(n_rows)
        if self.trouble is None:
            return super().decode(tokens, n_rows)
        (kind, n), self.trouble = self.trouble, None
        if kind == "cancel":
            self.tokens.extend(tokens[:n])
            raise CancelledError
        if kind == "fail":
            self.tokens.extend(tokens[:n])
            raise EngineError("decode-failed", "The decode failed.")
        del self.tokens[max(len(self.tokens) - n, 0) :]
        raise EngineError("lost", "The decode failed and took something along.")


def prefill(
    context: CachedContext,
    prompt: Sequence[int],
    chunk: int = 8,
    on_progress: Callable[[int], None] = lambda n: None,
) -> Rows:
    return context.prefill(prompt, chunk, on_progress)


TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=12)
TROUBLE = st.none() | st.tuples(st.sampled_from(["cancel", "fail", "lose"]), st.integers(0, 8))
OPERATIONS = st.lists(
    st.tuples(st.just("feed"), TOKENS, TROUBLE)
    | st.tuples(st.just("prefill"), TOKENS, TROUBLE)
    | st.tuples(st.just("reuse"), TOKENS, st.none())
    | st.tuples(st.just("rollback"), st.integers(0, 15), st.none())
    | st.tuples(st.just("clear"), st.none(), st.none()),
    max_size=25,
)


@given(OPERATIONS, st.booleans())
def test_the_book_equals_the_context(
    operations: list[tuple[str, object, tuple[str, int] | None]], can_rollback: bool
) -> None:
    model = Moody(can_rollback=can_rollback)
    context = CachedContext(model)
    for name, argument, trouble in operations:
        before = list(context.tokens)
        model.trouble = trouble
        try:
            match name, argument:
                case "feed", list(tokens):
                    rows = context.feed(tokens, 1)
                    assert context.tokens == before + tokens
                    assert (rows[0] == fingerprint(context.tokens)).all()
                case "prefill", list(tokens):
                    rows = prefill(context, tokens, 5)
                    assert context.tokens == tokens
                    assert (rows[0] == fingerprint(tokens)).all()
                case "reuse", list(tokens):
                    n = context.reuse(tokens)
                    assert context.tokens == tokens[:n]
                    assert n < len(tokens)
                case "rollback", int(n):
                    context.rollback(n)
                    assert context.tokens == before[: len(context.tokens)]
                    assert len(context.tokens) <= n
                case _:
                    context.clear()
                    assert context.tokens == []
        except (CancelledError, EngineError) as error:
            # A state that cannot go back is worth nothing once a decode broke off in it.
            full = isinstance(error, ContextFullError)
            assert can_rollback or full or context.tokens == []
        model.trouble = None
        assert len(context.tokens) == model.n_past
        assert context.tokens == model.tokens


# -------------------------------------------------------------------------------------- feed


def test_a_context_that_lost_something_is_emptied() -> None:
    model = Moody()
    context = CachedContext(model)
    context.feed([1, 2, 3], 0)
    model.trouble = ("lose", 1)
    with pytest.raises(EngineError):
        context.feed([4], 1)
    assert context.tokens == model.tokens == []


@pytest.mark.parametrize("error", [MemoryError, ValueError, KeyboardInterrupt])
def test_any_exception_leaves_a_true_book(error: type[BaseException]) -> None:
    model = FakeModel(fingerprint)

    def fail(tokens: Sequence[int], n_rows: int) -> Rows:
        model.tokens.extend(tokens)
        raise error

    model.decode = fail  # type: ignore[method-assign]
    context = CachedContext(model)
    with pytest.raises(error):
        context.feed([1, 2], 1)
    assert len(context.tokens) == model.n_past


# ----------------------------------------------------------------------------------- prefill


def test_prefill_decodes_in_chunks_and_reports_progress() -> None:
    model = Moody()
    context = CachedContext(model)
    progress: list[int] = []
    prefill(context, list(range(12)), 5, progress.append)
    assert model.widths == [5, 5, 2]
    assert model.rows_asked == [0, 0, 1]  # rows cost time and memory
    assert progress == [5, 10, 12]


@pytest.mark.parametrize(
    ("can_rollback", "first", "second", "widths"),
    [
        (True, [1, 2, 3, 4], [1, 2, 9, 8, 7], [3]),
        (True, [1, 2, 3], [1, 2, 3], [1]),  # the last row is wanted again
        (True, [1, 2, 3, 4, 5], [1, 2, 3], [1]),
        (False, [1, 2, 3], [1, 2, 3, 4, 5], [2]),
        (False, [1, 2, 3], [1, 2, 9], [3]),
    ],
)
def test_a_second_prompt_decodes_what_is_not_there(
    can_rollback: bool, first: list[int], second: list[int], widths: list[int]
) -> None:
    model = Moody(can_rollback=can_rollback)
    context = CachedContext(model)
    prefill(context, first)
    model.widths.clear()
    progress: list[int] = []
    rows = prefill(context, second, 8, progress.append)
    assert model.widths == widths
    assert progress == [len(second)]
    assert rows.shape == (1, N_VOCAB)
    assert (rows[0] == fingerprint(second)).all()
    assert model.tokens == second


@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_cancelled_prefill_continues_where_it_stopped(at: int) -> None:
    model = Moody()
    context = CachedContext(model)
    model.trouble = ("cancel", at)
    with pytest.raises(CancelledError):
        prefill(context, [1, 2, 3, 4, 5, 6])
    assert context.tokens == model.tokens == [1, 2, 3, 4, 5, 6][:at]
    prefill(context, [1, 2, 3, 4, 5, 6])
    assert model.widths == [6 - at]


class Narrow(Moody):
    """A model without room for more than `limit` tokens at once."""

    limit = 3

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        if len(tokens) > self.limit:
            self.rows_asked.append(n_rows)
            raise ContextFullError("context-full", "No room for so many.")
        return super().decode(tokens, n_rows)


@pytest.mark.parametrize("can_rollback", [True, False])
def test_a_prefill_is_halved_until_its_pieces_find_room(can_rollback: bool) -> None:
    model = Narrow(can_rollback=can_rollback)
    progress: list[int] = []
    prompt = list(range(19))
    rows = prefill(CachedContext(model), prompt, 8, progress.append)
    assert model.widths == [2] * 9 + [1]  # 8, 4, 2
    assert progress == [*range(2, 19, 2), 19]
    assert len(model.rows_asked) == 2 + 10
    assert (rows[0] == fingerprint(prompt)).all()


def test_a_prefill_fails_where_no_single_token_finds_room() -> None:
    model = Narrow()
    context = CachedContext(model)
    context.feed([1, 2], 0)
    model.limit = 0
    model.rows_asked.clear()
    with pytest.raises(ContextFullError):
        prefill(context, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert len(model.rows_asked) == 3  # 7, 3, 1
    assert context.tokens == model.tokens == [1, 2]


# ---------------------------------------------------------------------------------- rollback


def test_a_model_that_cannot_roll_back_forgets_everything_or_nothing() -> None:
    context = CachedContext(Moody(can_rollback=False))
    context.feed([1, 2, 3], 0)
    for n in (99, 3):
        context.rollback(n)
        assert context.tokens == [1, 2, 3]
    context.rollback(2)
    assert context.tokens == []
    assert context.model.n_past == 0


# ------------------------------------------------------------------------------ common prefix


@given(st.lists(st.integers(0, 2), max_size=8), st.lists(st.integers(0, 2), max_size=8))
def test_common_prefix(a: list[int], b: list[int]) -> None:
    n = common_prefix(a, b)
    assert n == common_prefix(a, tuple(b))
    assert a[:n] == b[:n]
    assert n == min(len(a), len(b)) or a[n] != b[n]
    assert common_prefix(b, a) == n


# ------------------------------------------------------------------------------ whole pieces


def test_whole_pieces_are_reused_and_nothing_else() -> None:
    model = Moody()
    context = CachedContext(model)
    context.prefill_piece = 4
    prefill(context, [1, 2, 3, 4, 5, 6])
    context.feed([7, 8, 9], 1)
    assert context.reuse([1, 2, 3, 4, 5, 6, 7, 8, 9]) == 4
    model.widths.clear()
    prefill(context, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert model.widths == [4, 1]
    assert context.reuse([1, 2, 3, 4, 5, 6, 7, 8, 0, 0]) == 8


def shorten(context: CachedContext) -> None:
    context.rollback(5)


@pytest.mark.parametrize(
    ("lose", "n_reused"),
    [(shorten, 4), (CachedContext.clear, 0), (lambda context: context.remake(40, 8), 0)],
    ids=["shortened", "cleared", "made again"],
)
def test_what_was_lost_and_computed_anew_in_another_batch_is_no_whole_piece(
    lose: Callable[[CachedContext], None], n_reused: int
) -> None:
    prompt = [1, 2, 3, 4, 5, 6, 7, 8]
    context = CachedContext(Moody())
    context.prefill_piece = 4
    prefill(context, prompt)
    lose(context)
    for token in prompt[len(context.tokens) :]:
        context.feed([token], 1)
    assert context.reuse([*prompt, 9]) == n_reused


def test_padding_gives_the_rows_asked_for_and_leaves_nothing_behind() -> None:
    model, plain = FakeModel(random_language(1)), FakeModel(random_language(1))
    context = CachedContext(model)
    context.widths = BatchWidths(4, 4, 60)
    for piece in ([1], [2, 3], [4, 5, 6, 7, 8], [9]):
        rows = context.feed(piece, len(piece))
        assert np.array_equal(rows, plain.decode(piece, len(piece)))
        assert model.tokens == plain.tokens == context.tokens
    assert model.widths == [4, 4, 8, 4]
    context.feed([1, 2], 0)  # nothing is output, so nothing is padded
    assert model.widths[-1] == 2


def test_a_batch_is_no_wider_than_agrees_and_finds_room() -> None:
    context = CachedContext(FakeModel(fingerprint, n_ctx=16))
    context.widths = BatchWidths(1, 1, 8)
    assert [context.width_of(3, wanted) for wanted in (0, 2, 3, 6, 8, 9, 63)] == [
        3,
        3,
        3,
        6,
        8,
        3,
        3,
    ]
    context.feed(list(range(11)), 0)
    assert [context.width_of(3, wanted) for wanted in (5, 6)] == [5, 3]
