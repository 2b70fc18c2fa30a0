"""The controller's promise on simulated machines and texts that are hard for it.

Every turn takes at most 1.02 times plain decoding and four plain steps, from the first one on,
whatever drafters and machine are like; after a long prompt 3 % of its prefill are added, which are
there to read it with a draft model. Gains are held by `test_machines.py`.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from functools import cache

import pytest

from engine.auto.simulator import (
    CURVES,
    KINDS,
    MACHINES,
    PLAIN_S,
    USELESS,
    Kind,
    Kit,
    Machine,
    Reply,
    Text,
    calibrated,
    copy_into,
    decode,
    fixed,
    write,
)
from paceline.engine.auto import Knowledge

N_TOKENS = 600
NOISE = 0.6
"""Plain steps beyond the promise that the noise of 600 timings may make."""
LENGTHS = (*range(9), 12, 16)


@cache
def text(kind: str, run: int) -> Text:
    return write(random.Random(f"{kind}{run}"), KINDS.get(kind, USELESS), N_TOKENS)


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("n_tokens", [20, 60, 250])
def test_the_very_first_reply_keeps_the_promise(n_tokens: int, is_long: bool) -> None:
    """Short replies, long prompts, useless and expensive drafts, lookups that are always wrong."""
    kinds: dict[str, Kind] = {**KINDS, "useless": USELESS} if is_long else {"useless": USELESS}
    for kind in (*kinds.values(), KINDS["chat"]):
        for curve in CURVES:
            for draft in (0.03, 0.1, 0.25, 0.6):
                for n_prompt in (1, 100, 1000):
                    rng = random.Random(n_prompt)
                    written = write(rng, kind, n_tokens)
                    copy_into(written, rng, "suffix", share=0.3, false=0.5)
                    copy_into(written, rng, "wrong", share=0.0, false=0.9)
                    machine = Machine(CURVES[curve], draft, random.Random(1), cold=0.03)
                    knowledge = calibrated(CURVES[curve], draft)
                    result = decode(
                        knowledge, written, machine, n_tokens, n_prompt=n_prompt, n_most=32
                    )
                    assert result.excess <= 4 + NOISE, (curve, draft, n_prompt, result.excess)


def after_a_prompt(kit: Kit, kind: str, n_prompt: int, n: int, run: int = 0) -> Reply:
    """Return a reply to so many tokens, none of which the draft model has read."""
    machine = Machine(kit.curve, kit.draft, random.Random(run), cold=0.03, batched=kit.batched)
    knowledge = calibrated(kit.curve, kit.draft, kit.batched)
    return decode(
        knowledge, text(kind, run), machine, n, n_prompt=n_prompt, prefill=kit.prefill, n_most=32
    )


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("n_prompt", [200, 1000, 4000])
@pytest.mark.parametrize("curve", ["flat", "gpu"])
def test_after_a_long_prompt_the_model_is_used_and_pays(curve: str, n_prompt: int) -> None:
    """Compare the time of whole turns, including the prefill, which drafts do not shorten."""
    kit = Kit(CURVES[curve], 0.1, 0.1, 0.02)
    prefill_s = kit.prefill * n_prompt * PLAIN_S
    for run in range(3):
        reply = after_a_prompt(kit, "code", n_prompt, 500, run)
        assert (prefill_s + reply.plain) / (prefill_s + reply.seconds) > 1.3, run
        assert sum(step.drafter == "draft" for step in reply.steps) > 0.9 * len(reply.steps)
        # Its end is worth reading alone where the rest would cost more than it may.
        assert (reply.n_unread > 0) is (n_prompt > 200)


@pytest.mark.grid(short=9)
@pytest.mark.parametrize("n_prompt", [200, 1000, 4000])
@pytest.mark.parametrize("name", MACHINES)
def test_a_useless_model_reads_a_prompt_within_its_share(name: str, n_prompt: int) -> None:
    kit = MACHINES[name]
    for n in (20, 150):
        reply = after_a_prompt(kit, "useless", n_prompt, n)
        lost = reply.excess - (0.02 + 0.03) * kit.prefill * n_prompt
        assert lost <= 4 + NOISE, (n, lost)


def test_nothing_known_of_the_draft_model_and_a_long_prompt() -> None:
    """Leave the cost of catching up unmeasured, so that it is assumed to be high."""
    for draft in (0.03, 0.6):
        machine = Machine(CURVES["flat"], draft, random.Random(1))
        result = decode(Knowledge(), text("code", 0), machine, 300, n_prompt=2000)
        assert result.excess <= 4 + NOISE


@pytest.mark.parametrize("is_known", [True, False])
def test_long_sure_copies_cross_the_valley_of_expensive_short_batches(is_known: bool) -> None:
    """Let two tokens cost 2.5 plain steps and sixteen 6, so that only long drafts pay."""
    kit, gains = MACHINES["stock"], []
    for run in range(4):
        rng = random.Random(f"copied{run}")
        written = write(rng, KINDS["chat"], N_TOKENS)
        copy_into(written, rng, "suffix", share=0.6, length=120)
        knowledge = calibrated(kit.curve) if is_known else Knowledge()
        machine = Machine(kit.curve, kit.draft, random.Random(run))
        result = decode(knowledge, written, machine, N_TOKENS, model="", n_most=40)
        assert result.excess <= 4 + NOISE
        if is_known:
            assert all(step.n_drafted > 2 for step in result.steps if step.drafter)
        gains.append(result.gain)
    assert min(gains) > 1.2, gains


def test_later_replies_learn_from_earlier_ones() -> None:
    """A useless draft costs its trials once, not in every short reply."""
    curve, knowledge = CURVES["flat"], calibrated(CURVES["flat"])
    gains = []
    for run in range(12):
        machine = Machine(curve, 0.1, random.Random(run))
        gains.append(decode(knowledge, text("useless", run), machine, 60).gain)
    assert statistics.fmean(gains[6:]) > 0.98


def test_lookups_and_a_model_together() -> None:
    """The better of both is used; a lookup that is always wrong does no harm."""
    curve = CURVES["cpu"]
    gains = []
    for with_copies, with_model in ((True, True), (True, False), (False, True)):
        runs = []
        for run in range(4):
            rng = random.Random(run)
            written = write(rng, KINDS["chat"], N_TOKENS)
            if with_copies:
                copy_into(written, rng, "suffix", share=0.5, length=30)
                copy_into(written, rng, "wrong", share=0.0, false=0.9)
            machine = Machine(curve, 0.1, random.Random(run))
            model = "draft" if with_model else ""
            result = decode(calibrated(curve), written, machine, N_TOKENS, model=model, n_most=32)
            assert result.excess <= 4 + NOISE
            runs.append(result.gain)
        gains.append(statistics.fmean(runs))
    both, lookups, model_alone = gains
    assert both > 1.03 * max(lookups, model_alone)
    assert lookups > 1.2


def test_confidences_that_say_nothing_cost_little() -> None:
    for curve in ("flat", "moe"):
        gains, hindsight = [], []
        for run in range(4):
            written = write(random.Random(run), KINDS["chat"], N_TOKENS, noise=0.6)
            machine = Machine(CURVES[curve], 0.1, random.Random(run))
            gains.append(decode(calibrated(CURVES[curve]), written, machine, N_TOKENS).gain)
            hindsight.append(max(fixed(written, CURVES[curve], 0.1, k, N_TOKENS) for k in LENGTHS))
        assert statistics.fmean(gains) > 0.9 * statistics.fmean(hindsight)


def test_hiccups_and_noise_are_not_booked_to_speculation() -> None:
    """Delay steps now and then; drafting must continue."""
    curve = CURVES["gpu"]
    calm, rough = [], []
    for run in range(4):
        machine = Machine(curve, 0.1, random.Random(run))
        calm.append(decode(calibrated(curve), text("code", run), machine, N_TOKENS).gain)
        machine = Machine(curve, 0.1, random.Random(run), noise=0.1, hiccups=0.04, cold=0.02)
        result = decode(calibrated(curve), text("code", run), machine, N_TOKENS)
        rough.append(result.gain)
        assert result.excess <= 4 + NOISE
    assert statistics.fmean(rough) > 0.88 * statistics.fmean(calm)


@pytest.mark.parametrize("machine", ["own", "3090", "9950x"])
def test_what_was_slow_for_a_while_is_used_again_in_the_same_reply(machine: str) -> None:
    """Wide steps alone take 2.5 times as long for 200 of 2,000 tokens."""
    kit, later = MACHINES[machine], []
    for slow in (1.0, 2.5):
        curve = Machine(
            kit.curve, kit.draft, random.Random(1), batched=kit.batched,
            wide_pace=lambda n, slow=slow: slow if 200 < n < 400 else 1.0,
        )  # fmt: skip
        written = write(random.Random(1), KINDS["code"], 2000)
        result = decode(calibrated(kit.curve, kit.draft, kit.batched), written, curve, 2000)
        assert result.excess <= 4 + NOISE
        n, seconds, plain = 0, 0.0, 0.0
        for step in result.steps:
            n += step.n_committed
            if n > 1000:
                seconds, plain = seconds + step.seconds, plain + step.plain * step.n_committed
        later.append(plain / seconds)
    assert later[1] > 0.9 * later[0] > 1.3


def test_the_same_times_give_the_same_decisions() -> None:
    machines = [Machine(CURVES["cpu"], 0.1, random.Random(2)) for _ in range(2)]
    first, second = (decode(Knowledge(), text("chat", 2), m, N_TOKENS).steps for m in machines)
    assert first == second


@pytest.mark.grid(short=5)
@pytest.mark.parametrize("kind", ["hard", "useless", "chat"])
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_where_another_width_costs_nearly_a_step_that_is_speculations_loss(
    kind: str, curve: Callable[[int], float]
) -> None:
    """Use costs of tiny models, whose graph takes as long to build as to compute."""
    for run in range(6):
        text = write(random.Random(f"{kind}{run}"), KINDS.get(kind, USELESS), 300)
        machine = Machine(curve, 0.1, random.Random(run), cold=0.8)
        assert decode(calibrated(curve), text, machine, 300).excess <= 4.3, run


@pytest.mark.grid(short=3)
@pytest.mark.parametrize("share", [0.0, 0.35])
@pytest.mark.parametrize("believed", [0.0, 0.5, 1.0])
def test_short_and_long_prompts_by_turns_tell_what_the_context_adds_for_each_row(
    share: float, believed: float
) -> None:
    kit, rng, slope = MACHINES["own"], random.Random(5), 5e-4
    knowledge = calibrated(kit.curve)
    knowledge.costs.set_context(slope, believed)
    for n_prompt in (100, 4000) * 5:
        copied = write(rng, KINDS["hard"], 150)
        copy_into(copied, rng, "suffix", share=0.6, length=40)
        machine = Machine(kit.curve, 0.0, rng, noise=0.1, slope=slope, share=share)
        decode(knowledge, copied, machine, 150, model="", n_prompt=n_prompt, n_most=32)
    assert knowledge.costs.context.share == pytest.approx(share, abs=0.15)
    added = slope * 4000
    for width in (4, 8, 16):
        true = (kit.curve(width) + added * (1 + share * (width - 1))) / (1 + added)
        assert knowledge.costs.ratios(4000)[width] == pytest.approx(true, rel=0.25)
