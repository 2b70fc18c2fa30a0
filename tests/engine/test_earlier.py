"""A reply that replaces another one: the same text, fewer steps, and what it kept."""

from __future__ import annotations

import pytest

from engine.bench import writer
from engine.harness import TIMED, Clock, PricedModel, random_language, target_price
from engine.test_continue import WARM, bench_of
from fake_model import N_VOCAB, FakeModel
from paceline.messages import EarlierReply, SamplingParams, TurnFailed
from strategies import strategy

OTHER = SamplingParams(0.85, repeat_penalty=1.2)


def talker() -> FakeModel:
    return FakeModel(random_language(5))


@pytest.mark.parametrize("how", ["earlier", "earlier+draft", "auto", "suffix+earlier"])
def test_the_text_is_that_of_plain_decoding_in_fewer_steps(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    for module in TIMED:
        monkeypatch.setattr(module, "_clock", clock)
    target = PricedModel(random_language(5))
    target.price, target.time = target_price, clock
    bench = bench_of(target)
    if "draft" in how:
        bench.models["draft"] = FakeModel(random_language(6))
        bench.load(draft="draft")
    old = bench.finish(sampling=WARM, max_tokens=120, ignore_eog=True)
    asked = {"sampling": OTHER, "max_tokens": 120, "ignore_eog": True}
    plain = bench.finish(**asked)
    assert plain.tokens != old.tokens
    assert plain.stats.kept is None
    new = bench.finish(**asked, strategy=strategy(how), earlier=(EarlierReply(old.tokens),))
    assert (new.tokens, new.text) == (plain.tokens, plain.text)
    by_drafter = {stats.drafter: stats for stats in new.stats.by_drafter}
    assert by_drafter["earlier"].tokens_accepted > 60
    assert new.stats.n_steps < plain.stats.n_steps / 2
    assert new.stats.kept is not None
    assert new.stats.kept.share > 0.5


def test_after_another_prompt_the_earlier_reply_drafts_less_at_first() -> None:
    bench = bench_of(FakeModel(random_language(5)))
    old = bench.finish(sampling=WARM, max_tokens=40, ignore_eog=True)
    n_drafted = []
    for same_prompt in (True, False):
        new = bench.finish(
        sampling=WARM, max_tokens=8, ignore_eog=True, strategy=strategy("earlier"),
            earlier=(EarlierReply(old.tokens, same_prompt=same_prompt),),
        )  # fmt: skip
        n_drafted.append(new.stats.n_drafted / new.stats.n_steps)
    assert n_drafted[0] > 1.5 * n_drafted[1]


def test_a_reply_that_replaces_none_asks_nothing_for_it() -> None:
    stats = bench_of(talker()).finish(sampling=WARM, strategy=strategy("auto")).stats
    assert "earlier" not in {each.drafter for each in stats.by_drafter}
    assert stats.kept is None


def test_a_text_that_other_tokens_made_is_tokenized_anew() -> None:
    """Such are a reply of another model, and one that was imported."""
    bench = bench_of(writer("Hello there, my friend!"))
    for tokens in ((), (3, 4), (N_VOCAB + 7,)):
        new = bench.finish(
        strategy=strategy("earlier"),
            earlier=(EarlierReply(tokens, "Hello where, my friend!"),),
        )  # fmt: skip
        assert new.stats.kept is not None
        assert (new.stats.kept.n_earlier, new.stats.kept.n_kept) == (23, 22)
        assert new.stats.n_accepted > 0


def test_tokens_that_do_not_exist_are_refused() -> None:
    failed = bench_of(writer()).ask(earlier=(EarlierReply((N_VOCAB,)),))
    assert isinstance(failed, TurnFailed)
    assert failed.code == "no-such-token"


def test_a_continued_reply_is_drafted_from_another_version() -> None:
    bench = bench_of(talker())
    whole = bench.finish(sampling=WARM, max_tokens=60, ignore_eog=True)
    cut = whole.tokens[:30]
    text = bytes(cut).decode("utf-8", "replace")
    new = bench.finish(
        sampling=WARM, max_tokens=30, ignore_eog=True, strategy=strategy("earlier"),
        begun=cut, begun_text=text, earlier=(EarlierReply(whole.tokens),),
    )  # fmt: skip
    assert new.tokens == whole.tokens
    assert new.stats.n_steps < 10
    assert new.stats.kept is None
