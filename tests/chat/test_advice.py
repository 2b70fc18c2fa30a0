"""Advice: each rule from figures that call for it, and silence where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from paceline.chat.advice import (
    CACHE_BYTES,
    MAX_ADVICE,
    MIN_JUDGED,
    MIN_STEPS,
    MIN_TOKENS,
    advise,
    pair_advice,
)
from paceline.engine.draft.registry import available
from paceline.engine.draft.strategy import brief, complete, strategy_named, strategy_text
from paceline.figures import Outlook, WidthCost
from paceline.messages import ControlReported, DrafterStats, ModelInfo, TurnStats

FAST, SLOW, PLAIN = 30.0, 9.0, 10.0


def did(
    drafter: str,
    tokens: int,
    accepted: int,
    *,
    drafts: int = 100,
    calls: int | None = None,
    draft_s: float = 0.0,
) -> DrafterStats:
    """The figures of one drafter."""
    n = drafts if calls is None else calls
    return DrafterStats(
        drafter, 1, n, drafts, 0.0, draft_s, 0.0, drafts, drafts, tokens, accepted, ()
    )


def figures(
    *drafters: DrafterStats,
    speed: float = FAST,
    plain: float | None = PLAIN,
    sure: bool = True,
    n_steps: int = 100,
) -> TurnStats:
    """Figures of a reply; plain decoding is known to a twentieth, or not at all if not `sure`."""
    n_drafted = sum(d.tokens for d in drafters)
    n_accepted = sum(d.tokens_accepted for d in drafters)
    return TurnStats(
        True, 10, 0, 200, 0.1, 10.0, 10.1, speed, plain, n_steps, n_drafted, n_accepted, 0,
        n_accepted / n_drafted if n_drafted else None, 2.0, 0.1, drafters,
        plain_low=0.95 * plain if plain and sure else None,
        plain_high=1.05 * plain if plain and sure else None,
    )  # fmt: skip


def nothing(lookup: str) -> DrafterStats:
    return did(lookup, 0, 0, drafts=0, calls=80)


TOO_MANY = did("draft", 1000, 300)
CHAIN = did("prompt-lookup", 800, 720), did("draft", 600, 180)


@pytest.mark.parametrize(
    ("drafters", "strategy", "advised"),
    [
        # Drafts that are accepted to their end may be longer, as far as a batch goes.
        ([did("draft", 1000, 800, drafts=65)], "draft", ["longer-drafts draft:n_max=24"]),
        ([did("draft", 400, 400)], "draft:n_max=4", ["longer-drafts draft:n_max=6"]),
        ([did("draft", 100, 100)], "draft:n_max=1", ["longer-drafts draft:n_max=2"]),
        (
            [did("prompt-lookup", 6000, 6000)], "prompt-lookup:n_pred=60",
            ["longer-drafts prompt-lookup:n_pred=62"],
        ),
        ([did("draft", 6200, 6200)], "draft:n_max=62:p_min=0", []),
        ([did("draft", 6200, 6200)], "draft:n_max=10000:p_min=0", []),
        # Good drafts that end early may be bolder.
        ([did("draft", 300, 270)], "draft:n_max=16", ["lower-p-min draft:p_min=0.25"]),
        ([did("draft", 300, 270)], "draft:p_min=0", []),
        ([did("draft", 1000, 500)], "draft", []),
        # Drafts that are mostly rejected should be surer and shorter.
        (
            [TOO_MANY], "draft:p_min=0",
            ["higher-p-min draft:p_min=0.5", "shorter-drafts draft:p_min=0:n_max=5"],
        ),
        ([TOO_MANY], "draft:p_min=0.9", ["shorter-drafts draft:p_min=0.9:n_max=5"]),
        (
            [TOO_MANY], "draft:n_min=8:p_min=0.9",
            ["shorter-drafts draft:n_min=5:p_min=0.9:n_max=5"],
        ),
        ([did("draft", 1000, 20)], "draft:p_min=0.9", ["another-drafter suffix"]),
        # Each drafter of a chain is judged by itself, and a hopeless one is left out.
        (
            [did("prompt-lookup", 800, 40), did("draft", 500, 250)],
            "prompt-lookup+draft:n_pred=8:draft.n_max=4",
            ["another-drafter draft:n_max=4"],
        ),
        (
            CHAIN, "draft+prompt-lookup:p_min=0",
            ["higher-p-min prompt-lookup+draft:draft.p_min=0.5",
             "shorter-drafts prompt-lookup+draft:draft.p_min=0:draft.n_max=3",
             "longer-drafts prompt-lookup+draft:prompt-lookup.n_pred=12:draft.p_min=0"],
        ),
        # A lookup that finds nothing looks for too much, or makes room for another one.
        ([nothing("ngram-simple")], "ngram-simple", ["shorter-match ngram-simple:n=6"]),
        (
            [nothing("ngram-map-k")], "ngram-map-k:min_hits=3",
            ["shorter-match ngram-map-k:min_hits=1:n=6"],
        ),
        (
            [nothing("ngram-mod")], "ngram-mod+draft",
            ["shorter-match ngram-mod+draft:ngram-mod.n_match=16:ngram-mod.n_min=16"],
        ),
        ([nothing("prompt-lookup")], "prompt-lookup", ["another-drafter suffix"]),
        ([nothing("prompt-lookup")], "prompt-lookup+draft", ["another-drafter draft"]),
        ([did("prompt-lookup", 30, 20, drafts=4, calls=80)], "prompt-lookup", []),
        # A controller sees more than this; of other drafters nothing is known.
        ([did("draft", 1000, 800, drafts=65)], "suffix+draft:draft.n_max=auto", []),
        ([TOO_MANY], "auto", []),
        ([TOO_MANY], "gone-with-an-update", []),
        ([TOO_MANY], "draft:n_max=x", []),
        ([did("grammar", 1000, 100), did("draft", 1000, 500)], "draft", []),
    ],
)  # fmt: skip
def test_what_is_advised(drafters: list[DrafterStats], strategy: str, advised: list[str]) -> None:
    found = advise(figures(*drafters), strategy_named(strategy))
    assert [f"{a.code} {strategy_text(a.strategy)}" for a in found if a.strategy] == advised


@pytest.mark.parametrize(
    ("drafter", "strategy", "advised"),
    [
        (did("draft", 1000, 900, draft_s=4.0), "draft", ["expensive-draft suffix"]),
        (
            did("draft", 1000, 900, draft_s=4.0), "prompt-lookup+draft",
            ["expensive-draft prompt-lookup"],
        ),
        (did("draft", 1000, 900, draft_s=0.5), "draft", ["expensive-verify off"]),
        (did("suffix", 1000, 900, draft_s=0.5), "suffix", ["expensive-verify off"]),
        (
            TOO_MANY, "draft:p_min=0.75",
            ["higher-p-min draft:p_min=0.9", "shorter-drafts draft:p_min=0.75:n_max=5"],
        ),
    ],
)  # fmt: skip
def test_a_loss_is_the_drafters_or_the_batches(
    drafter: DrafterStats, strategy: str, advised: list[str]
) -> None:
    found = advise(figures(drafter, speed=SLOW), strategy_named(strategy))
    assert [f"{a.code} {strategy_text(a.strategy)}" for a in found if a.strategy] == advised


@pytest.mark.parametrize(
    "stats",
    [
        *(figures(did("draft", 1000, 500), speed=speed * PLAIN) for speed in (0.951, 1.0, 1.1)),
        figures(did("draft", 1000, 500), speed=SLOW, plain=None),
        figures(did("draft", 1000, 500), speed=SLOW, sure=False),  # as replies of old are kept
    ],
)
def test_what_may_be_as_fast_as_plain_is_no_loss(stats: TurnStats) -> None:
    assert advise(stats, strategy_named("draft")) == ()


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("speed", [FAST, SLOW])
def test_small_samples_give_no_advice(rate: float, speed: float) -> None:
    n = MIN_TOKENS - 1
    few_tokens = figures(did("draft", n, int(rate * n), drafts=2), speed=speed)
    few_steps = figures(did("draft", 1000, int(rate * 1000)), speed=speed, n_steps=MIN_STEPS - 1)
    few_calls = figures(did("prompt-lookup", 0, 0, drafts=0, calls=MIN_STEPS - 1), speed=speed)
    assert (
        advise(few_tokens, strategy_named("draft"))
        == advise(few_steps, strategy_named("draft"))
        == ()
    )
    assert advise(few_calls, strategy_named("prompt-lookup")) == ()


@st.composite
def strategies(draw: st.DrawFn) -> str:
    infos = [info for info in available() if info.family != "off"]
    chosen = draw(st.lists(st.sampled_from(infos), min_size=1, max_size=3, unique=True))
    parts = ["+".join(info.id for info in chosen)]
    for info in chosen:
        for p in info.parameters:
            if draw(st.booleans()):
                value = draw(st.integers(int(p.low), min(int(p.high), 80)))
                parts.append(f"{info.id}.{p.name}={value}")
    return ":".join(parts)


@st.composite
def any_figures(draw: st.DrawFn) -> TurnStats:
    drafters = []
    for info in available():
        tokens = draw(st.integers(0, 2000))
        drafts = draw(st.integers(min(tokens, 1), tokens))
        accepted = draw(st.integers(0, tokens))
        seconds = draw(st.floats(0, 10))
        calls = draw(st.integers(0, 2000))
        drafters.append(did(info.id, tokens, accepted, drafts=drafts, calls=calls, draft_s=seconds))
    speed, plain = draw(st.floats(0, 100)), draw(st.none() | st.floats(0, 100))
    return figures(*drafters, speed=speed, plain=plain, sure=draw(st.booleans()))


@given(any_figures(), strategies())
def test_every_strategy_that_is_named_can_be_used(stats: TurnStats, strategy: str) -> None:
    advice = advise(stats, strategy_named(strategy))
    assert len(advice) <= MAX_ADVICE
    for piece in advice:
        assert piece.strategy is not None
        complete(piece.strategy)
        text = strategy_text(piece.strategy)
        assert piece.text.startswith(f"Try {text}: ")
        assert brief(piece.strategy) != brief(strategy_named(strategy))


# ---------------------------------------------------------------------------- about the loaded pair

INFO = ModelInfo(
    "m.gguf", "", "llama", "", 1, 70 << 20, 2048, 2048, 100, 2, 1, 1, 0,
    can_rollback=True, has_template=True,
)  # fmt: skip
DRAFT = Outlook("draft", True, 0.001, (0.5,), (), 0.9, MIN_JUDGED, 900, -2.0)
FLAT, DEAR = (1.0, 1.05, 1.1, 1.2), (1.0, 1.95, 2.9, 3.8)


def told(
    *drafters: Outlook,
    curve: tuple[float, ...] = FLAT,
    draft: ModelInfo | None = INFO,
    target: ModelInfo = INFO,
) -> tuple[str, int]:
    """The code and the bytes that could be freed."""
    costs = tuple(WidthCost(n, 0.01 * t, 5) for n, t in enumerate(curve, 1))
    report = ControlReported(9, 0.01, 1.0, 0.0, costs, drafters)
    found = pair_advice(report, models={"draft"}, target=target, draft=draft)
    if found is None:
        return "", 0
    assert found.strategy is None
    return found.code, found.frees_bytes


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        ({}, True),
        ({"n_judged": MIN_JUDGED - 1}, False),
        ({"saved_s": 5.0, "gain": 1.02}, True),
        ({"saved_s": 5.0, "gain": 1.5}, False),
        ({"saved_s": 5.0, "gain": None}, False),
        ({"saved_s": 0.0, "gain": None}, True),
        ({"drafter": "suffix"}, False),
    ],
)
def test_a_draft_model_in_vain_takes_many_tokens_and_no_gain(
    changes: dict[str, object], is_found: bool
) -> None:
    outlook = structs.replace(DRAFT, **changes)  # type: ignore[arg-type]
    assert told(outlook) == (("draft-does-not-pay", 70 << 20) if is_found else ("", 0))
    assert told(outlook, draft=None) == ("", 0)


def test_steps_that_cost_like_their_tokens_cannot_pay() -> None:
    assert told(curve=DEAR) == told(DRAFT, curve=DEAR) == ("cannot-pay-cached", 70 << 20)
    big, on_gpu = (
        structs.replace(INFO, size_bytes=CACHE_BYTES + 1),
        structs.replace(INFO, n_gpu_layers=4),
    )
    for target in (big, on_gpu):
        assert told(curve=DEAR, target=target, draft=None) == ("cannot-pay", 0)
    # Many experts: expensive from the second token on, whatever the cache.
    assert told(curve=(1.0, 3.05, 3.5, 3.9))[0] == "cannot-pay"


@pytest.mark.parametrize("curve", [DEAR[:3], (1.0, 1.8, 2.9, 3.8), (1.0, 1.9, 2.9, 3.3)])
def test_what_is_not_measured_proves_nothing(curve: tuple[float, ...]) -> None:
    assert told(curve=curve) == ("", 0)
