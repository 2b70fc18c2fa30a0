"""The draft model catches up with the text in idle time, which changes no reply."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.engine import GREEDY, Engine
from paceline.engine.idle import PIECE_TOKENS, CatchingUp, IdleWork
from paceline.errors import ComputeFailedError, EngineError
from paceline.messages import ChatMessage, TurnFinished

LONG = "What do these functions do? " + "os.path.join, os.path.split, os.path.exists. " * 30


class Idling(Engine):
    """An engine whose idle time a test spends with catching up alone."""

    def catch_up(self) -> int:
        """Spend it to the end; returns how many slices there were."""
        work, n = IdleWork(self.pair, [CatchingUp(self.pair)]), 0
        while work.slice():
            n += 1
            assert n < 100
        return n

    def first(self, strategy: str = "auto") -> TurnFinished:
        return self.reply(LONG, strategy=strategy, max_tokens=12, ignore_eog=True)

    def next(self, first: TurnFinished) -> TurnFinished:
        said = (ChatMessage.of_text("user", LONG), ChatMessage.of_text("assistant", first.text))
        messages = (*said, ChatMessage.of_text("user", "And os.path.split?"))
        return self.reply("", messages=messages, strategy="draft", sampling=GREEDY, max_tokens=40)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("exact", [False, True], ids=["plain", "exact"])
def test_after_a_long_prompt_the_model_is_ready_for_the_next_reply(
    demo_pair: tuple[Path, Path], *, exact: bool
) -> None:
    def two_replies(*, idles: bool) -> TurnFinished:
        with Idling(*demo_pair, n_ctx=1024, exact=exact) as engine:
            first = engine.first()
            draft = engine.pair.draft
            assert draft is not None
            n_before = len(draft.tokens)
            if idles:
                assert n_before < 300 < len(engine.pair.target.tokens)
                assert (
                    engine.catch_up() >= (len(engine.pair.target.tokens) - n_before) // PIECE_TOKENS
                )
                assert draft.tokens == engine.pair.target.tokens
                assert draft.model.n_past == len(draft.tokens)
                assert engine.catch_up() == 0
            return engine.next(first)

    expected, found = two_replies(idles=False), two_replies(idles=True)
    assert found.tokens == expected.tokens
    assert found.stats.n_reused == expected.stats.n_reused
    # Its drafts are those of a model that has read everything, as without idle time.
    assert abs(found.stats.n_accepted - expected.stats.n_accepted) <= 2


def test_who_does_not_use_it_does_not_pay(demo_pair: tuple[Path, Path]) -> None:
    with Idling(*demo_pair) as engine:
        engine.first("off")
        assert engine.catch_up() == 0
        engine.first("suffix")
        assert engine.catch_up() == 0
        engine.first("auto")
        rates = engine.pair.knowledge.rates["draft"]
        while not rates.is_given_up:
            rates.gained(-1.0)
        assert engine.catch_up() == 0


def test_a_command_stops_it(demo_pair: tuple[Path, Path]) -> None:
    with Idling(*demo_pair) as engine:
        engine.first()
        draft = engine.pair.draft
        assert draft is not None
        held = list(draft.tokens)  # the text's end, which is no beginning of it
        assert held == engine.pair.target.tokens[: len(held)] or len(held) < 300
        flag = engine.client.flag
        flag.set()
        work = IdleWork(engine.pair, [CatchingUp(engine.pair)])
        assert work.slice()
        assert draft.tokens in (held, [])
        flag.clear()
        assert engine.catch_up() > 0
        assert draft.tokens == engine.pair.target.tokens


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_decode_that_fails_ends_it(
    demo_pair: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_lost: bool,
) -> None:
    def fail(*_: object) -> None:
        raise (ComputeFailedError if is_lost else EngineError)("decode-failed", "It failed.")

    with Idling(*demo_pair) as engine:
        engine.first()
        assert engine.pair.draft
        work = IdleWork(engine.pair, [CatchingUp(engine.pair)])
        with monkeypatch.context() as patch:
            patch.setattr(engine.pair.draft.model, "decode", fail)
            if is_lost:
                with pytest.raises(ComputeFailedError):
                    work.slice()
            else:
                assert work.slice()
        assert engine.pair.is_lost is is_lost
        assert is_lost or not work.slice()
