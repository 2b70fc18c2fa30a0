"""A reply from a stored state is the reply from the live context, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import make_pairs
import real_models
from paceline.engine import Pair, load_pair
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.stored_states import MIN_BLOCK_TOKENS, StateStore
from paceline.installation.kernel_files import find
from paceline.messages import ModelParams, StateOwner

CHAT, OTHER = StateOwner("a chat"), StateOwner("another")
KINDS = (
    "tiny-target", "tiny-swa", "tiny-mamba", "tiny-lfm2", "tiny-qwen35", "tiny-qwen35moe",
    "tiny-nemotron-h", "tiny-moe", "tiny-gemma4",
)  # fmt: skip
ROOM = 1 << 30


def opened(path: object, **params: object) -> Pair:
    model = ModelParams(str(path), n_ctx=2048, n_threads=1, **params)  # type: ignore[arg-type]
    return load_pair(model, mtp="off", kernels="own" if find() else "stock")


@pytest.fixture(params=(*KINDS, "tiny-target q8_0"))
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    name, _, kind = request.param.partition(" ")
    params = {"kv_type_k": kind, "kv_type_v": kind, "flash_attn": "on"} if kind else {}
    with opened(make_pairs.path(name), **params) as opened_pair:
        yield opened_pair


def same(live: list[np.ndarray], again: list[np.ndarray]) -> bool:
    return all(map(np.array_equal, live, again))


def nearly_same(live: list[np.ndarray], again: list[np.ndarray]) -> bool:
    return all(np.allclose(a, b, rtol=0, atol=0.2) for a, b in zip(live, again, strict=True))


def check_places(
    pair: Pair,
    n_tokens: int,
    n_places: int,
    agree: Callable[[list[np.ndarray], list[np.ndarray]], bool] = same,
) -> int:
    """Compare rows after stored states with those of the live context; return how many were warm.

    The context is left in mid-text for another text's sake, as a chat is for another one.
    """
    target = pair.loaded.target
    states = KeptStates(target, None, StateStore(ROOM))
    random = np.random.default_rng(7)
    n_vocab, n_warm = target.n_vocab, 0
    text = random.integers(0, n_vocab, n_tokens).tolist()
    other = random.integers(0, n_vocab, 40).tolist()
    after = random.integers(0, n_vocab, 9).tolist()
    for _ in range(n_places):
        place = int(random.integers(40, n_tokens))
        n_end = place % (target.model.n_block or n_tokens)
        place -= (
            n_end if n_end < MIN_BLOCK_TOKENS else 0
        )  # so few are read again, in a batch of their own
        states.begin(text[:place], CHAT, with_draft=False)
        target.prefill(text[:place], 63)
        while states.slice():
            pass
        live = [target.feed([token], 1)[0].copy() for token in after]
        states.begin(other, OTHER, with_draft=False)
        target.prefill(other, 63)
        warm = states.begin([*text[:place], *after], CHAT, with_draft=False)
        n_reused = target.reuse([*text[:place], *after])
        assert target.tokens == [*text[:place], *after][: len(target.tokens)]
        n_warm += warm == "memory" and n_reused >= place
        target.rollback(place)
        if len(target.tokens) < place:
            target.extend(text[:place], 63)
        again = [target.feed([token], 1)[0].copy() for token in after]
        assert agree(live, again), place
        target.clear()
        states.owner = None
    return n_warm


def test_a_stored_state_is_the_live_one(pair: Pair) -> None:
    assert check_places(pair, 1500, 6) >= 5


@pytest.mark.parametrize(
    ("name", "params"), [("tiny-swa", {"swa_full": False}), ("tiny-lfm2-swa", {})]
)
def test_windows_that_are_stored_as_a_whole_are_laid_out_anew(
    name: str, params: dict[str, bool]
) -> None:
    """llama.cpp leaves out cells that no window sees any more, and closes the gaps between others.

    So cells are at other places, and sums run in another order. The same text is not promised.
    """
    with opened(make_pairs.path(name), **params) as pair:
        assert not pair.loaded.promise.sameness.any_context
        assert check_places(pair, 1500, 6, nearly_same) >= 5


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("name", ["gemma3-270m", "smollm2-135m"])
def test_a_stored_state_of_a_real_model_is_the_live_one(name: str, *, is_long: bool) -> None:
    n_places = 200 if is_long else 2
    with opened(real_models.path_or_skip(name, "q8_0")) as pair:
        assert check_places(pair, 1200, n_places) == n_places
