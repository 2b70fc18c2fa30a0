"""Texts and figures of replies are kept, and are there after a restart."""

from dataclasses import replace
from typing import Any

from chat.chat_bench import PAIR, ChatBench
from gui.fake_client import STATS, described
from paceline import __version__
from paceline.chat.reply import TurnOptions, to_record, to_reply
from paceline.content import Content
from paceline.hosting.broker import Ticket
from paceline.messages import SamplingParams, StartTurn, TurnStarted
from paceline.params import ReplySettings
from paceline.run_record import RunRecord
from paceline.storage.archive import ConversationStore
from strategies import strategy
from strategies import whole as whole_strategy


class Diary(ConversationStore):
    """Writes down what happens in which order, the engine's commands included."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def save(self, conversation: Any, changed: Any = (), removed: Any = ()) -> None:
        roles = [conversation.messages[name].role for name in changed]
        self.lines.append(f"save {' '.join(roles)}")
        super().save(conversation, changed, removed)

    def begin_run(self, conversation_id: str, record: RunRecord) -> None:
        self.lines.append("begin")
        super().begin_run(conversation_id, record)

    def extend_run(self, conversation_id: str, message_id: str, text: str, steps: Any) -> None:
        self.lines.append(f"extend {text}")
        super().extend_run(conversation_id, message_id, text, steps)

    def end_run(self, conversation_id: str, record: RunRecord, content: Content) -> None:
        self.lines.append(f"end {record.status} {content[-1].text}")
        super().end_run(conversation_id, record, content)


def test_question_and_answer_are_saved_together_before_the_engine_hears_of_them() -> None:
    diary = Diary()
    bench = ChatBench(diary)
    request = bench.client.request

    def noted(command: Any, *rest: Any, **named: Any) -> Ticket:
        diary.lines.append(type(command).__name__)
        return request(command, *rest, **named)

    bench.client.request = noted  # type: ignore[method-assign]
    bench.send("One")
    before = diary.lines[: diary.lines.index("StartTurn")]
    assert before == ["save user assistant", "begin"]
    bench.client.start_turn()
    bench.client.step("1", 0)
    bench.client.step("2", 1)
    bench.client.finish_turn("12")
    assert diary.lines[-3:] == ["extend 1", "extend 2", "end finished 12"]
    bench.edit(bench.message(0), "Uno")
    assert [line for line in diary.lines if "save" in line][1:] == ["save user assistant"]
    bench.client.finish_turn("12")
    bench.regenerate()
    assert diary.lines[-3:] == ["save assistant", "begin", "StartTurn"]


def test_what_was_asked_and_answered_is_there_after_a_restart(store: ConversationStore) -> None:
    first = ChatBench(store)
    first.options = TurnOptions(strategy("draft:n_max=4"))
    settings = ReplySettings(SamplingParams(0.0), 99, 7, "Be kind.")
    first.set_settings(settings)
    first.fingerprints["/models/target.gguf"] = "abc"
    first.session.describe_engine()
    first.client.emit(described())
    first.ask("One", "1 and more")
    second = ChatBench(first.store, prefix="second")
    assert (second.path, second.session.summaries) == ([], first.session.summaries)
    second.show(first.id)
    assert second.path == first.path
    lean = second.reply()
    assert (lean.steps, lean.traces, lean.stats) == ([], [], STATS)
    whole = second.full_reply(lean.message_id)
    assert whole is not None
    was = first.reply()
    assert (whole.steps, whole.traces) == (was.steps, was.traces)
    assert to_record(whole) == to_record(was)
    asked = to_record(whole).asked_strategy
    assert asked == "draft:n_max=4"
    assert whole.options == TurnOptions(whole_strategy(asked), settings=settings)
    assert whole.target is not None
    assert whole.draft is not None
    assert (whole.target.file, whole.target.fingerprint) == ("target.gguf", "abc")
    assert (whole.draft.file, whole.draft.fingerprint) == ("draft.gguf", "")
    assert (whole.app_version, whole.engine_version) == (__version__, "0.3.36")


def test_a_reply_that_is_cut_off_by_a_crash_keeps_its_seed(store: ConversationStore) -> None:
    """It goes on as it was drawn."""
    first = ChatBench(store)
    first.send("One")
    first.client.start_turn()
    first.client.step("Half", 0)
    second = ChatBench(store, prefix="second")
    second.show(first.id)
    assert (second.texts, second.reply().seed) == (["One", "Half"], 7)


def test_a_record_survives_the_way_to_a_reply_and_back(store: ConversationStore) -> None:
    bench = ChatBench(store)
    bench.ask("One", "1")
    was = to_record(bench.reply())
    record = replace(was, strategy="suffix", cuts=not was.cuts)  # nothing is as by default
    assert to_record(to_reply(record, bench.id, "1")) == record


def test_stop_texts_and_cuts_reach_the_engine_and_the_record(store: ConversationStore) -> None:
    bench = ChatBench(store)
    bench.options = TurnOptions(cuts=True)
    bench.set_settings(ReplySettings(stop=("END", "\n\n")))
    bench.send("One")
    command = bench.client.last(StartTurn)
    assert (command.stop, command.prompt.cuts) == (("END", "\n\n"), True)
    bench.client.emit(TurnStarted(10, 0, 7, n_cut=4))
    bench.client.step("1", 0)
    bench.client.finish_turn("1")
    record = bench.store.runs(bench.id)[bench.message(1)]
    assert (record.stop, record.cuts, record.n_cut) == (("END", "\n\n"), True, 4)
    assert record.started_s == bench.today


def test_a_fingerprint_that_is_found_during_the_reply_is_kept(store: ConversationStore) -> None:
    bench = ChatBench(store)
    bench.send("One")
    bench.fingerprints["/models/target.gguf"] = "late"
    bench.client.reply("1")
    target = bench.store.runs(bench.id)[bench.message(1)].target
    assert target is not None
    assert target.fingerprint == "late"


def test_a_question_whose_chat_was_deleted_elsewhere_fails_and_the_next_one_works(
    store: ConversationStore,
) -> None:
    bench = ChatBench(store)
    bench.ask("One", "1")
    first = bench.id
    bench.loader.load(PAIR)
    bench.send("Two")  # waits for the models
    waiting = bench.reply()
    bench.new()
    store.remove(first)  # as another window does
    store.purge(first)
    bench.client.finish_load()
    assert bench.session.active is None
    assert waiting.error is not None
    assert waiting.error.code == "no-such-chat"
    bench.ask("Three", "3")
    assert bench.texts == ["Three", "3"]
