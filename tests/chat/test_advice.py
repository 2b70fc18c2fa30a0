"""Advice: each rule from figures that call for it, and silence where they do not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.advice import MIN_STEPS, MIN_TOKENS, MOST, advise
from paceline.engine.draft.registry import available
from paceline.engine.draft.strategy import parse_strategy
from paceline.messages import DrafterStats, TurnStats

FAST, SLOW = 30.0, 9.0
PLAIN = 10.0


def did(
    drafter: str,
    tokens: int,
    accepted: int,
    *,
    drafts: int | None = None,
    calls: int | None = None,
    draft_s: float = 0.0,
) -> DrafterStats:
    """What one drafter did; without `drafts` ten tokens in each."""
    n = max(tokens // 10, 1) if drafts is None else drafts
    return DrafterStats(
        drafter, 1, n if calls is None else calls, n, 0.0, draft_s, 0.0, n, n, tokens, accepted, ()
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


def told(stats: TurnStats, strategy: str) -> list[tuple[str, str]]:
    return [(advice.code, advice.strategy) for advice in advise(stats, strategy)]


def test_drafts_that_are_accepted_to_their_end_may_be_longer() -> None:
    stats = figures(did("draft", 1000, 800, drafts=65))
    (advice,) = advise(stats, "draft")
    assert advice.code == "longer-drafts"
    assert advice.text == "Try draft:n_max=24: longer drafts."
    assert advice.strategy == "draft:n_max=24"
    assert advice.reason == (
        "80 % of 1000 drafted tokens were accepted, 12.3 of at most 16 per draft."
    )


@pytest.mark.parametrize(
    ("strategy", "longer"),
    [
        ("draft:n_max=4:p_min=0", "draft:p_min=0:n_max=6"),
        ("draft:n_max=1", "draft:n_max=2"),
        ("prompt-lookup:n_pred=4", "prompt-lookup:n_pred=6"),
        ("prompt-lookup:n_pred=60", "prompt-lookup:n_pred=62"),
    ],
)
def test_how_much_longer(strategy: str, longer: str) -> None:
    ((info, settings),) = parse_strategy(strategy).drafters
    length = int(settings.get("n_max", settings.get("n_pred", 0)))
    stats = figures(did(info.id, 20 * length + 40, 20 * length + 40, drafts=20))
    assert told(stats, strategy) == [("longer-drafts", longer)]


@pytest.mark.parametrize("n_max", [62, 64, 10_000])
def test_a_draft_that_the_batch_cuts_cannot_be_longer(n_max: int) -> None:
    stats = figures(did("draft", 6200, 6200, drafts=100))
    assert told(stats, f"draft:n_max={n_max}:p_min=0") == []


def test_good_drafts_that_end_early_may_be_bolder() -> None:
    stats = figures(did("draft", 300, 270, drafts=100))
    assert told(stats, "draft:n_max=16") == [("lower-p-min", "draft:n_max=16:p_min=0.25")]
    assert told(stats, "draft:p_min=0") == []


def test_a_fair_acceptance_needs_no_advice() -> None:
    assert told(figures(did("draft", 1000, 500)), "draft") == []


def test_a_low_acceptance_wants_surer_and_shorter_drafts() -> None:
    stats = figures(did("draft", 1000, 300, drafts=100))
    assert told(stats, "draft:p_min=0") == [
        ("higher-p-min", "draft:p_min=0.5"),
        ("shorter-drafts", "draft:p_min=0:n_max=5"),
    ]
    assert told(stats, "draft:p_min=0.9") == [("shorter-drafts", "draft:p_min=0.9:n_max=5")]
    reason = advise(stats, "draft:p_min=0")[0].reason
    assert reason == "30 % of 1000 drafted tokens were accepted."


def test_a_lookup_is_not_called_a_draft_model() -> None:
    (advice, *_) = advise(figures(did("suffix", 1000, 300, drafts=100)), "suffix:p_min=0.4")
    assert advice.code == "higher-p-min"
    assert advice.text == "Try suffix:p_min=0.5: drafts end where the lookup is unsure."


def test_a_shorter_draft_takes_the_shortest_one_along() -> None:
    stats = figures(did("draft", 1000, 300, drafts=100))
    strategies = [strategy for _, strategy in told(stats, "draft:n_min=8:p_min=0.9")]
    assert strategies == ["draft:p_min=0.9:n_max=5:n_min=5"]


def test_a_hopeless_draft_model_wants_another_drafter() -> None:
    stats = figures(did("draft", 1000, 20, drafts=100))
    codes = [code for code, _ in told(stats, "draft:p_min=0.9")]
    assert codes == ["another-drafter"]
    (advice,) = advise(stats, "draft:p_min=0.9")
    assert parse_strategy(advice.strategy).infos[0].family == "lookup"


def test_a_hopeless_member_is_left_out_of_a_chain() -> None:
    stats = figures(did("prompt-lookup", 800, 40, drafts=100), did("draft", 500, 250))
    strategy = "prompt-lookup+draft:n_pred=8:draft.n_max=4"
    assert ("another-drafter", "draft:draft.n_max=4") in told(stats, strategy)


def test_each_member_of_a_chain_is_judged_by_itself() -> None:
    stats = figures(did("prompt-lookup", 800, 720, drafts=100), did("draft", 600, 180, drafts=100))
    assert told(stats, "draft+prompt-lookup:p_min=0") == [
        ("higher-p-min", "draft+prompt-lookup:draft.p_min=0.5"),
        ("shorter-drafts", "draft+prompt-lookup:p_min=0:draft.n_max=3"),
        ("longer-drafts", "draft+prompt-lookup:p_min=0:prompt-lookup.n_pred=12"),
    ]
    assert "of prompt-lookup were accepted" in advise(stats, "draft+prompt-lookup")[-1].reason


def test_no_speed_up_because_the_draft_model_is_expensive() -> None:
    stats = figures(did("draft", 1000, 900, draft_s=4.0), speed=SLOW)
    (advice,) = advise(stats, "draft")
    assert advice.code == "expensive-draft"
    assert "smaller draft model" in advice.text
    assert parse_strategy(advice.strategy).infos[0].family == "lookup"
    assert advice.reason == (
        "9.0 tokens/s against 9.5 to 10.5 plain, although 90 % of 1000 drafted tokens were "
        "accepted; the draft model took 40 % of the time."
    )
    assert advise(stats, "prompt-lookup+draft")[0].strategy == "prompt-lookup"


@pytest.mark.parametrize("drafter", ["draft", "prompt-lookup"])
def test_no_speed_up_because_verifying_is_expensive(drafter: str) -> None:
    stats = figures(did(drafter, 1000, 900, draft_s=0.5), speed=SLOW)
    assert told(stats, drafter) == [("expensive-verify", "off")]


@pytest.mark.parametrize("draft_s", [0.5, 4.0])
def test_what_may_be_as_fast_as_plain_is_no_loss(draft_s: float) -> None:
    code = "expensive-draft" if draft_s == 4.0 else "expensive-verify"
    stats = figures(did("draft", 1000, 500, draft_s=draft_s), speed=0.949 * PLAIN)
    assert [code for code, _ in told(stats, "draft")] == [code]
    for speed in (0.951, 0.99, 1.0, 1.02, 1.1):  # below the estimate, but within its interval
        assert told(replace(stats, tokens_per_s=speed * PLAIN), "draft") == []


def test_without_a_plain_estimate_nothing_is_said_about_speed() -> None:
    drafter = did("draft", 1000, 500)
    for stats in (
        figures(drafter, speed=SLOW, plain=None),
        figures(drafter, speed=SLOW, sure=False),  # as replies of old are kept
    ):
        assert advise(stats, "draft") == ()


def test_slow_because_of_rejection_is_told_as_such() -> None:
    stats = figures(did("draft", 1000, 300, drafts=100), speed=SLOW)
    codes = [code for code, _ in told(stats, "draft:p_min=0.75")]
    assert codes == ["higher-p-min", "shorter-drafts"]


@pytest.mark.parametrize(
    ("strategy", "next_one"),
    [
        ("ngram-simple", "ngram-simple:n=6"),
        ("ngram-map-k:min_hits=3", "ngram-map-k:min_hits=1:n=6"),
        ("ngram-map-k4v:n=3", "ngram-map-k4v:n=2"),
        ("ngram-mod", "ngram-mod:n_match=16:n_min=16"),
        ("ngram-mod+draft", "ngram-mod+draft:ngram-mod.n_match=16:ngram-mod.n_min=16"),
    ],
)
def test_a_lookup_that_finds_nothing_looks_for_too_much(strategy: str, next_one: str) -> None:
    lookup = parse_strategy(strategy).infos[0].id
    stats = figures(did(lookup, 0, 0, drafts=0, calls=80))
    assert told(stats, strategy) == [("shorter-match", next_one)]
    (advice,) = advise(stats, strategy)
    assert advice.reason == f"{lookup} found nothing in 80 steps."


def test_a_lookup_that_cannot_look_for_less_makes_room_for_another() -> None:
    stats = figures(did("prompt-lookup", 0, 0, drafts=0, calls=80))
    ((code, strategy),) = told(stats, "prompt-lookup")
    assert code == "another-drafter"
    assert parse_strategy(strategy).infos[0].id != "prompt-lookup"
    assert told(stats, "prompt-lookup+draft") == [("another-drafter", "draft")]


def test_a_lookup_that_finds_something_now_and_then_is_well() -> None:
    stats = figures(did("prompt-lookup", 30, 20, drafts=4, calls=80))
    assert told(stats, "prompt-lookup") == []


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("speed", [FAST, SLOW])
def test_small_samples_give_no_advice(rate: float, speed: float) -> None:
    n = MIN_TOKENS - 1
    few_tokens = figures(did("draft", n, int(rate * n), drafts=2), speed=speed)
    few_steps = figures(did("draft", 1000, int(rate * 1000)), speed=speed, n_steps=MIN_STEPS - 1)
    few_calls = figures(did("prompt-lookup", 0, 0, drafts=0, calls=MIN_STEPS - 1), speed=speed)
    assert advise(few_tokens, "draft") == advise(few_steps, "draft") == ()
    assert advise(few_calls, "prompt-lookup") == ()


@pytest.mark.parametrize("strategy", ["off", "gone-with-an-update", "draft:n_max=x", ""])
def test_nothing_to_advise(strategy: str) -> None:
    assert advise(figures(did("draft", 1000, 100)), strategy) == ()


def test_what_is_no_part_of_the_strategy_is_passed_over() -> None:
    stats = figures(did("grammar", 1000, 100), did("draft", 1000, 500))
    assert advise(stats, "draft") == ()


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
    advice = advise(stats, strategy)
    assert len(advice) <= MOST
    for piece in advice:
        assert piece.text.startswith(f"Try {piece.strategy}: ")
        assert piece.reason.endswith(".")
        assert piece.strategy != strategy
        parse_strategy(piece.strategy)


@pytest.mark.parametrize("strategy", ["auto", "draft:n_max=auto", "suffix+draft:draft.n_max=auto"])
def test_what_a_controller_decides_needs_no_advice(strategy: str) -> None:
    stats = figures(did("draft", 1000, 800, drafts=65))
    assert advise(stats, "draft") != ()
    assert advise(stats, strategy) == ()
