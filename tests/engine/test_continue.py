"""Continuation of a reply where it ended, as if it had never been cut."""

from __future__ import annotations

import pytest

from engine.bench import ASK, Bench, writer
from engine.harness import random_language
from fake_model import EOG, N_VOCAB, FakeModel
from paceline.messages import SamplingParams, StepCommitted, TurnFailed
from strategies import strategy

WARM = SamplingParams(0.9, repeat_penalty=1.2)


def talker() -> FakeModel:
    return FakeModel(random_language(5))


def bench_of(model: FakeModel) -> Bench:
    bench = Bench(target=model)
    bench.load()
    return bench


def streamed(bench: Bench, n_events: int) -> str:
    """Return the text that has come since an event."""
    new = bench.events[n_events:]
    return "".join(event.text for event in new if isinstance(event, StepCommitted))


@pytest.mark.parametrize("how", ["off", "suffix:max=4"])
@pytest.mark.parametrize("cut", [1, 7, 19, 38])
def test_a_cut_reply_continues_as_if_it_had_not_been_cut(how: str, cut: int) -> None:
    asked = {"sampling": WARM, "strategy": strategy(how), "ignore_eog": True}
    whole = bench_of(talker()).finish(max_tokens=40, **asked)
    bench = bench_of(talker())
    first = bench.finish(max_tokens=cut, **asked)
    assert first.reason == "length"
    n_events = len(bench.events)
    second = bench.finish(max_tokens=40 - cut, begun=first.tokens, begun_text=first.text, **asked)
    assert (second.tokens, second.text) == (whole.tokens, whole.text)
    assert second.stats.n_generated == 40 - cut, "the figures are those of the part"
    new = [event for event in bench.events[n_events:] if isinstance(event, StepCommitted)]
    assert tuple(t.token for step in new for t in step.tokens) == whole.tokens[cut:]
    assert new[-1].tokens[-1].text_end == len(whole.text), "places count from the reply's start"


def test_it_continues_within_a_character() -> None:
    bench = bench_of(writer("a€b"))
    first = bench.finish(max_tokens=2)
    assert first.text == "a"
    n_events = len(bench.events)
    assert bench.finish(begun=first.tokens, begun_text=first.text).text == "a€b"
    assert streamed(bench, n_events) == "€b"


def test_a_finished_reply_does_not_end_where_it_ended() -> None:
    bench = bench_of(writer())
    first = bench.finish()
    assert first.tokens[-1] == EOG
    second = bench.finish(begun=first.tokens, begun_text=first.text, max_tokens=1)
    assert second.tokens[:-1] == first.tokens[:-1]
    assert second.tokens[-1] != EOG
    assert second.text.startswith("Hello!")
    assert len(second.tokens) == len(first.tokens)


def test_a_stop_text_that_was_met_is_passed() -> None:
    bench = bench_of(writer("one, two, three"))
    first = bench.finish(stop=(", ",))
    assert (first.text, first.reason) == ("one", "stop")
    second = bench.finish(stop=(", ",), begun=first.tokens, begun_text=first.text)
    assert (second.text, second.reason) == ("one, two", "stop")


def test_a_text_of_other_tokens_is_read_as_text() -> None:
    bench = bench_of(writer())
    first = bench.finish(begun=(3, 4, N_VOCAB + 7), begun_text="Hel")
    assert first.text == "Hello!"
    assert first.tokens == (*b"Hello!", EOG)


def test_what_holds_control_tokens_cannot_continue() -> None:
    failed = bench_of(writer()).fail(begun_text="I say <end> and")
    assert failed.code == "cannot-continue"
    assert "control tokens" in failed.message


def test_where_the_context_is_full_nothing_continues() -> None:
    failed = bench_of(FakeModel(random_language(5), n_ctx=24)).ask(
        messages=ASK, begun=(97,) * 40, begun_text="a" * 40
    )
    assert isinstance(failed, TurnFailed)
    assert failed.code == "prompt-too-long"
