"""Verdicts on pairs: the engine's refusals, and remarks that refuse nothing."""

from __future__ import annotations

import pytest

from catalog.made_models import CARD, DRAFT, TARGET, changed, resized, with_text
from paceline.catalog.card import Examined, Memory
from paceline.catalog.judge.pairing import PairVerdict, bytes_per_token, judge, size_ratio
from paceline.installation import kernel_files


def codes(verdict: PairVerdict, level: str = "") -> list[str]:
    return [r.code for r in verdict.reasons if not level or r.level == level]


def test_a_pair_of_one_family_fits_and_says_why() -> None:
    verdict = judge(TARGET, DRAFT)
    assert verdict.ok
    assert codes(verdict) == ["draft-small", "vocabulary-fits", "same-family"]
    assert verdict.gain.startswith("Expect")
    assert verdict.remedy is None
    for reason in verdict.reasons:
        assert reason.text[0].isupper()
        assert reason.text.endswith(".")


@pytest.mark.parametrize(
    ("draft", "code", "words"),
    [
        (changed(DRAFT, kind=1), "vocabulary-kind", "Their tokenizers are of different kinds"),
        (changed(DRAFT, add_bos=False), "bos-differs", "The main model begins a text with the BOS"),
        (changed(DRAFT, bos=7), "bos-differs", "Their BOS tokens differ: 0 and 7."),
        (changed(DRAFT, add_eos=True), "eos-differs", "The draft model ends a text with the EOS"),
        (resized(DRAFT, 529), "vocabulary-size", "400 and 529 tokens."),
        (with_text(DRAFT, 333, b"x"), "token-differs", "Token 333 is “word333” in the main model"),
        (changed(DRAFT, writes=False), "draft-does-not-write", "so it cannot draft."),
    ],
)
def test_what_the_engine_refuses_is_refused_before(draft: Examined, code: str, words: str) -> None:
    verdict = judge(TARGET, draft)
    assert not verdict.ok
    assert codes(verdict) == [code]
    assert words in verdict.reasons[0].text
    assert verdict.gain == ""


def test_a_target_that_cannot_speculate() -> None:
    verdict = judge(changed(TARGET, writes=False), DRAFT)
    assert not verdict.ok
    assert codes(verdict) == ["target-does-not-write"]


def test_several_refusals_are_all_said() -> None:
    verdict = judge(TARGET, changed(DRAFT, writes=False, kind=3))
    assert codes(verdict) == ["draft-does-not-write", "vocabulary-kind"]


@pytest.mark.parametrize("memory", ["recurrent", "hybrid"])
def test_a_recurrent_memory_is_remarked_on(memory: Memory) -> None:
    target, draft = changed(TARGET, memory=memory), changed(DRAFT, memory=memory)
    assert codes(judge(target, DRAFT), "note") == ["target-has-states"]
    assert codes(judge(TARGET, draft), "note") == ["draft-has-states"]
    assert judge(target, draft).ok


@pytest.mark.parametrize(
    "draft",
    [
        resized(DRAFT, 528),
        resized(DRAFT, 272),
        with_text(DRAFT, 4, b"<other>"),
        changed(DRAFT, eos=9),
    ],
    ids=["128 more", "128 fewer", "a special token", "an EOS that nobody adds"],
)
def test_differences_that_llama_cpp_allows(draft: Examined) -> None:
    assert judge(TARGET, draft).ok


def test_a_tail_is_told() -> None:
    longer = judge(TARGET, resized(DRAFT, 410))
    assert "vocabulary-tail" in codes(longer, "good")
    (text,) = [r.text for r in longer.reasons if r.code == "vocabulary-tail"]
    assert "The first 400 tokens are the same; the draft model has 10 more" in text


@pytest.mark.parametrize("has_own_kernels", [True, False])
@pytest.mark.parametrize(
    ("quantisation", "expensive_with"),
    [
        ("TQ1_0", {True, False}),
        ("Q2_0", {True, False}),
        ("NVFP4", {True, False}),
        ("IQ1_M", {False}),
        ("IQ2_XXS", {False}),
        ("IQ3_S", {False}),
        ("Q2_K_S", {False}),
        ("Q3_K_M", set()),
        ("Q4_0", set()),
        ("IQ4_XS", set()),
        ("Q8_0", set()),
        ("", set()),
    ],
)
def test_a_target_whose_tokens_are_expensive_to_check_is_named(
    quantisation: str,
    expensive_with: set[bool],
    has_own_kernels: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_files, "is_possible", lambda: has_own_kernels)
    verdict = judge(changed(TARGET, quantisation=quantisation), DRAFT)
    assert verdict.ok
    is_named = "target-slow-to-verify" in [reason.code for reason in verdict.reasons]
    assert is_named == (has_own_kernels in expensive_with)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"n_bytes": 2_000_000_000, "layer_bytes": (100_000_000,) * 20}, "draft-large"),
        ({"n_bytes": 9_000_000_000, "layer_bytes": (400_000_000,) * 20}, "draft-larger"),
        ({"family": "Bear-1"}, "other-family"),
        ({"quantisation": "Q2_K", "n_bytes": 170_000_000}, "draft-few-bits"),
        ({"n_params": 1_200_000_000, "n_bytes": 2_400_000_000}, "draft-many-bits"),
        ({"n_ctx_train": 4096}, "draft-context"),
        ({"license": "llama3.2"}, "other-license"),
    ],
)
def test_remarks_about_the_draft_refuse_nothing(changes: dict[str, object], code: str) -> None:
    verdict = judge(TARGET, changed(DRAFT, **changes))
    assert verdict.ok
    assert codes(verdict, "note") == [code]
    assert verdict.reasons[0].level == "note", "what is worth knowing comes before praise"


def test_remarks_about_the_target() -> None:
    assert codes(judge(changed(TARGET, has_template=False), DRAFT), "note") == ["no-template"]
    moe = changed(TARGET, n_experts=8, expert_bytes=(120_000_000,) * 32)
    assert codes(judge(moe, DRAFT), "note") == ["target-has-experts"]
    assert "less than with a dense model" in judge(moe, DRAFT).gain


def test_the_same_model_twice_whatever_its_name() -> None:
    verdict = judge(TARGET, changed(TARGET, name="a copy"))
    assert verdict.ok
    assert codes(verdict, "note") == ["same-model"]
    assert "slower" in verdict.gain


def test_a_related_family_speaks_for_a_pair() -> None:
    target = changed(TARGET, family="DeepSeek-R1-Distill-Qwen")
    assert "related-family" in codes(judge(target, changed(DRAFT, family="Qwen2.5")), "good")
    other = changed(DRAFT, family="Small-Instruct")
    assert "other-family" in codes(judge(changed(TARGET, family="Instruct-V2"), other), "note")


def test_the_gain_falls_with_the_draft_s_size_and_the_target_s() -> None:
    clear = judge(changed(TARGET, layer_bytes=(300_000_000,) * 32), DRAFT).gain
    some = judge(TARGET, changed(DRAFT, layer_bytes=(40_000_000,) * 20)).gain
    little = judge(TARGET, changed(DRAFT, layer_bytes=(60_000_000,) * 20)).gain
    small = judge(changed(TARGET, n_params=1_700_000_000), DRAFT).gain
    assert clear.startswith("Expect a clear gain")
    assert some.startswith("Expect a gain")
    assert little.startswith("Expect little: the draft model is too large")
    assert small.startswith("Expect little on a GPU")


def test_bytes_that_a_token_reads() -> None:
    blocks = 32 * 140_000_000
    assert bytes_per_token(CARD) == blocks + 210_000_000
    tied = changed(
        TARGET, input_bytes=900_000_000, output_bytes=16_384, tied_bytes=210_000_000
    ).card
    assert bytes_per_token(tied) == blocks + 16_384 + 210_000_000, "the embeddings are the output"
    moe = changed(TARGET, n_experts=8, n_experts_used=2, expert_bytes=(120_000_000,) * 32).card
    assert bytes_per_token(moe) == 32 * (20_000_000 + 30_000_000) + 210_000_000
    unsaid = changed(TARGET, n_experts=8, expert_bytes=(120_000_000,) * 32).card
    assert bytes_per_token(unsaid) == bytes_per_token(CARD)
    assert size_ratio(CARD, DRAFT.card) == pytest.approx(530 / 4690)
