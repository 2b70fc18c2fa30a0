"""A reply is generated once more without drafts and compared; the engine's part is scripted."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from msgspec import structs

from chat.chat_bench import Shown
from gui.fake_client import STATS, FakeClient, model_info
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.reply import TurnOptions, to_record
from paceline.chat.sameness import CannotCompare, Differs, Result, Same, SamenessCheck
from paceline.chat.session import ChatSession
from paceline.messages import (
    ChatMessage,
    EngineDied,
    FinishReason,
    ModelParams,
    Sameness,
    SamenessChanged,
    SamplingParams,
    StartTurn,
    StepCommitted,
    TextDiverged,
    Tokens,
    TokenTrace,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import DraftModel, Prompting, ReplySettings, Strategy
from paceline.run_record import ModelRecord, RunRecord
from strategies import strategy

PAIR = Pair(ModelParams("models/target.gguf"), DraftModel(ModelParams("models/draft.gguf")))
TEXT = ["The", " sky", " is", " blue", "."]
IDS = (11, 12, 13, 14, 15)


class Bench(Shown):
    """A session with a reply of five tokens, and a check of it."""

    def __init__(self) -> None:
        self.client = FakeClient()
        self.progress: list[tuple[int, int]] = []
        self.results: list[Result] = []
        self.prints = {"models/target.gguf": ""}
        numbers = count()
        self.loader = PairLoader(self.client)
        session = ChatSession(
            self.client,
            self.loader,
            defaults=lambda: ReplySettings(
                SamplingParams(temperature=0.9), 50, 7, "Be brief.", ("END",)
            ),
            new_id=lambda: f"id-{next(numbers)}",
        )
        prompting = Prompting("{{ messages }}", "off")
        self.begin(session, TurnOptions(strategy("draft:n_max=4"), prompting=prompting))
        self.check = SamenessCheck(
            self.client,
            session,
            self.loader,
            self,
            fingerprint_of=lambda path: self.prints.get(path, ""),
        )
        self.loader.load(PAIR)
        self.client.finish_load()
        self.send("What colour is the sky?")
        self.ticket = self.client.tickets[-1]
        self.client.start_turn()
        self.emit_steps()
        self.finish("eog", IDS, "".join(TEXT))

    def sameness_progressed(self, message_id: str, n_same: int, n_tokens: int) -> None:
        assert message_id == self.check.message_id
        self.progress.append((n_same, n_tokens))

    def sameness_ended(self, message_id: str, result: Result) -> None:
        assert message_id in self.current.messages
        self.results.append(result)

    @property
    def record(self) -> RunRecord:
        reply = self.reply_of(self.current.path()[1].message_id)
        assert reply is not None
        return to_record(reply)

    def start(self, record: RunRecord | None = None) -> bool:
        record = record or self.record
        path = self.current.path()
        has_begun = self.check.start(record, path[1].text, path[:1])
        self.ticket = self.client.tickets[-1]
        return has_begun

    def emit_steps(self, ids: tuple[int, ...] = IDS) -> None:
        end = 0
        for number, (token, text) in enumerate(zip(ids, TEXT, strict=False)):
            end += len(text)
            trace = TokenTrace(token, "target", -1, None, end)
            step = StepCommitted(number, (trace,), text, (), 0, 0, 0, 0.01)
            self.client.emit(step, self.ticket)

    def differ(self, then: dict[str, object], now: dict[str, object]) -> Differs:
        """Check the reply, whose figures were `then`, and find that its third token differs."""
        record = self.record
        assert record.stats is not None
        self.start(replace(record, stats=structs.replace(record.stats, **then)))  # type: ignore[arg-type]
        self.emit_steps((11, 12))
        self.client.emit(TextDiverged(2, 13, 99, 0.04))
        self.finish("cancelled", (11, 12, 99), "The sky was!", **now)
        (found,) = self.results
        assert isinstance(found, Differs)
        return found

    def finish(
        self, reason: FinishReason, ids: tuple[int, ...], text: str, **stats: object
    ) -> None:
        figures = structs.replace(STATS, **stats)  # type: ignore[arg-type]
        end = TurnFinished(reason, text, ids, 7, Strategy.of("off"), figures)
        self.client.emit(end, self.ticket)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_replay_is_the_same_turn_without_drafts(bench: Bench) -> None:
    asked = bench.client.last(StartTurn)
    assert bench.start()
    replay = bench.client.last(StartTurn)
    assert replay.strategy == strategy("off")
    assert replay.expected == IDS
    assert not replay.remember
    same = ("sampling", "max_tokens", "seed", "stop")
    assert [getattr(replay, name) for name in same] == [getattr(asked, name) for name in same]
    assert replay.prompt.messages[0] == ChatMessage.of_text("system", "Be brief.")
    assert bench.check.is_running
    assert bench.progress == [(0, 5)]


def test_what_began_with_an_empty_context_is_checked_with_one(bench: Bench) -> None:
    bench.start()
    before = bench.client.all(StartTurn)[-2]
    assert before.prompt == Tokens(IDS[:1]), "with which no prompt of this reply begins"
    assert (before.strategy, before.max_tokens) == (strategy("off"), 1)
    assert not before.remember
    bench.ticket = bench.client.tickets[-2]
    bench.client.emit(TurnStarted(1, 0, 7), bench.ticket)
    bench.finish("length", (99,), "x")
    assert bench.check.is_running
    assert not bench.results


def test_a_reply_that_began_after_an_earlier_prompt_says_so_where_it_differs(bench: Bench) -> None:
    assert bench.differ({"n_reused": 300}, {"n_reused": 9}).reused == (300, 9)
    assert len(bench.client.all(StartTurn)) == 2, "the reply and the check"


def test_equal_tokens_are_the_same(bench: Bench) -> None:
    bench.start()
    bench.client.emit(TurnStarted(10, 0, 7))
    bench.emit_steps()
    bench.finish("eog", IDS, "".join(TEXT))
    assert bench.results == [Same(5)]
    assert bench.progress[-1] == (5, 5)
    assert not bench.check.is_running
    assert bench.current.path()[1].text == "The sky is blue."


def test_the_first_difference_is_reported_with_its_margin_and_texts(bench: Bench) -> None:
    bench.start()
    bench.emit_steps((11, 12))
    trace = TokenTrace(99, "target", -1, None, 12)
    bench.client.emit(StepCommitted(2, (trace,), " was!", (), 0, 0, 0, 0.01))
    bench.client.emit(TextDiverged(2, 13, 99, 0.04))
    bench.finish("cancelled", (11, 12, 99), "The sky was!", logit_difference=0.3)
    found = Differs(
        2, 5, " is", " was!", 0.04, "The sky",
        is_promised=False, logit_difference=0.3, reused=(0, 0),
    )  # fmt: skip
    assert bench.results == [found]
    assert bench.client.cancelled == [bench.client.last(StartTurn)]


SURE: dict[str, object] = {"batch_invariant": True, "basis": "a"}


@pytest.mark.parametrize(
    ("then", "now", "is_promised"),
    [
        (SURE, SURE, True),
        (SURE, SURE | {"batch_invariant": None}, False),
        (SURE | {"batch_invariant": None}, SURE, False),
        (SURE, SURE | {"batch_invariant": False}, False),
        (SURE, SURE | {"n_reused": 7}, False),
        (SURE, SURE | {"basis": "b"}, False),
        (SURE | {"basis": ""}, SURE | {"basis": ""}, False),  # a record of before
    ],
)
def test_equality_is_promised_where_both_turns_had_such_rows(
    bench: Bench, then: dict[str, object], now: dict[str, object], is_promised: bool
) -> None:
    assert bench.differ(then, now).is_promised is is_promised


def test_it_is_promised_whatever_was_reused_where_any_context_gives_the_same(bench: Bench) -> None:
    sameness = Sameness(True, 400, 0.0, False, "Sure.", "a", any_context=True)
    bench.client.emit(SamenessChanged(sameness))
    assert bench.loader.state.sameness == sameness
    found = bench.differ(SURE | {"n_reused": 300}, SURE)
    assert (found.is_promised, found.any_context) == (True, True)


@pytest.mark.parametrize("reason", ["context", "cancelled"])
def test_a_reply_that_did_not_end_by_itself_is_compared_as_far_as_it_goes(
    bench: Bench, reason: FinishReason
) -> None:
    bench.start(replace(bench.record, reason=reason))
    assert bench.client.last(StartTurn).max_tokens == 5
    bench.emit_steps()
    bench.finish("length", IDS, "".join(TEXT))
    assert bench.results == [Same(5)]


def test_a_replay_that_ends_sooner_or_later_differs(bench: Bench) -> None:
    bench.start()
    bench.emit_steps(IDS[:3])
    bench.client.emit(TextDiverged(3, 14, 2, 1.5))
    bench.finish("cancelled", (*IDS[:3], 2), "The sky is")
    bench.start()
    bench.emit_steps()
    bench.finish("length", (*IDS, 16), "The sky is blue. And")
    early, late = bench.results
    assert isinstance(early, Differs)
    assert (early.index, early.expected, early.found) == (3, " blue", "")
    assert isinstance(late, Differs)
    assert (late.index, late.expected, late.found) == (5, "", " And")


def test_messages_that_had_no_room_are_left_out_again(bench: Bench) -> None:
    bench.send("And the sea?")
    bench.ticket = bench.client.tickets[-1]
    bench.client.start_turn()
    bench.emit_steps()
    bench.finish("eog", IDS, "".join(TEXT))
    path = bench.current.path()
    reply = bench.reply_of(path[3].message_id)
    assert reply is not None
    bench.check.start(replace(to_record(reply), n_cut=2), path[3].text, path[:3])
    sent = bench.client.last(StartTurn).prompt.messages
    assert [(m.role, m.text) for m in sent] == [("system", "Be brief."), ("user", "And the sea?")]


def test_cancelling_is_no_difference(bench: Bench) -> None:
    bench.start()
    bench.emit_steps(IDS[:2])
    bench.check.cancel("Stopped.")
    bench.check.cancel("Again.")
    assert bench.client.cancelled == [bench.client.last(StartTurn)]
    bench.finish("cancelled", IDS[:2], "The sky")
    assert bench.results == [CannotCompare("stopped", "Stopped.")]
    bench.check.cancel("Later.")
    assert bench.client.cancelled == [bench.client.last(StartTurn)]


def test_it_gives_way_to_a_reply(bench: Bench) -> None:
    bench.start()
    check = bench.client.last(StartTurn)
    assert bench.send("Another question")
    bench.emit_steps(IDS[:1])
    assert bench.client.cancelled == [check]
    bench.finish("cancelled", IDS[:1], "The")
    (result,) = bench.results
    assert isinstance(result, CannotCompare)
    assert "gave way" in result.message
    assert bench.session.active is not None
    assert not bench.session.active.has_ended


def test_it_gives_way_to_other_models(bench: Bench) -> None:
    bench.start()
    bench.loader.load(PAIR)
    bench.emit_steps(IDS[:1])
    assert bench.client.last(StartTurn) in bench.client.cancelled


def test_only_one_at_a_time_and_not_beside_a_reply(bench: Bench) -> None:
    bench.start()
    assert not bench.start()
    bench.finish("eog", IDS, "".join(TEXT))
    bench.send("Another question")
    obstacle = bench.check.obstacle(bench.record)
    assert obstacle is not None
    assert obstacle.code == "busy"


@pytest.mark.parametrize(
    ("target", "fingerprint", "code"),
    [
        (None, "", "no-model-known"),
        (ModelRecord("", "other.gguf", size_bytes=1), "", "other-model"),
        (ModelRecord("", "target.gguf", size_bytes=2), "", "other-model"),
        (ModelRecord("", "target.gguf", size_bytes=1, fingerprint="a"), "b", "other-model"),
        (ModelRecord("", "renamed.gguf", size_bytes=1, fingerprint="a"), "a", None),
        (ModelRecord("", "target.gguf", size_bytes=1, fingerprint="a"), "", None),
    ],
)
def test_another_model_is_not_compared(
    bench: Bench, target: ModelRecord | None, fingerprint: str, code: str | None
) -> None:
    assert model_info("x").size_bytes == 1
    bench.prints["models/target.gguf"] = fingerprint
    obstacle = bench.check.obstacle(replace(bench.record, target=target))
    assert (obstacle.code if obstacle else None) == code


def test_a_reply_without_tokens_or_seed_is_not_compared(bench: Bench) -> None:
    for record in (replace(bench.record, steps=()), replace(bench.record, seed=None)):
        assert not bench.start(record)
    assert [result.code for result in bench.results if isinstance(result, CannotCompare)] == [
        "no-tokens"
    ] * 2


def test_what_goes_wrong_is_reported(bench: Bench) -> None:
    bench.start()
    bench.client.emit(TurnFailed("prompt-too-long", "Too long.", "Shorten it."))
    bench.start()
    bench.client.emit(EngineDied("It crashed.", "Start it again."))
    assert bench.results == [
        CannotCompare("prompt-too-long", "Too long.", "Shorten it."),
        CannotCompare("engine-died", "It crashed.", "Start it again."),
    ]


def test_a_shorter_context_is_no_difference(bench: Bench) -> None:
    bench.start()
    bench.emit_steps(IDS[:3])
    bench.client.emit(TextDiverged(3, 14, -1))
    bench.finish("cancelled", IDS[:3], "The sky is")
    (result,) = bench.results
    assert isinstance(result, CannotCompare)
    assert result.code == "context-too-short"
