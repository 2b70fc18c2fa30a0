"""A chat owns its settings: they stay with it, and old chats have those of their last reply."""

from __future__ import annotations

import contextlib
import math
import sqlite3
from typing import TYPE_CHECKING

import pytest

from chat.chat_bench import ChatBench
from paceline.chat.exchange.chat_json import from_json, to_json
from paceline.errors import UserError
from paceline.messages import StartTurn
from paceline.params import LogitBias, ReplySettings, SamplingParams
from paceline.storage.archive import Archive
from paceline.storage.database import copies, user_version
from storage.before_settings import OldReply, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from paceline.storage.archive import ConversationStore

COLD = ReplySettings(
    SamplingParams(0.0, logit_bias=(LogitBias(3, -math.inf),), json_schema="{}"),
    99, 7, "Be kind. 🙂", ("END", "\n\n"),
)  # fmt: skip
HOT = ReplySettings(SamplingParams(1.5), system_prompt="Sing.")
MINE = ReplySettings(SamplingParams(0.4), 300, None, "Of the defaults.")


# ------------------------------------------------------------------------------------ its own


def test_each_chat_keeps_its_own_and_a_new_one_begins_with_the_defaults(
    store: ConversationStore,
) -> None:
    bench = ChatBench(store, defaults=MINE)
    assert bench.settings == MINE
    bench.set_settings(COLD)
    bench.ask("One", "1")
    cold = bench.id
    turn = bench.client.last(StartTurn)
    assert (turn.sampling, turn.max_tokens, turn.seed, turn.stop) == (
        COLD.sampling, 99, 7, ("END", "\n\n"),
    )  # fmt: skip
    assert turn.prompt.messages[0].text == "Be kind. 🙂"
    bench.new()
    assert bench.settings == MINE
    bench.ask("Two", "2")
    assert bench.client.last(StartTurn).prompt.messages[0].text == "Of the defaults."
    bench.show(cold)
    assert bench.settings == COLD
    bench.regenerate()
    assert bench.client.last(StartTurn).seed == 7


def test_they_are_there_after_a_restart_and_other_defaults_change_no_chat(
    store: ConversationStore,
) -> None:
    first = ChatBench(store, defaults=MINE)
    first.ask("One", "1")
    first.new()
    first.ask("Two", "2")
    two = first.id
    first.set_settings(COLD)
    first.session.conversations.keep_settings(first.id)
    again = ChatBench(store, prefix="again", defaults=HOT)
    assert again.settings == HOT
    for chat in again.session.summaries:
        again.show(chat.conversation_id)
        assert again.settings == (COLD if chat.conversation_id == two else MINE)


def test_what_was_set_is_kept_with_the_next_message_or_the_next_chat(
    store: ConversationStore,
) -> None:
    bench = ChatBench(store)
    bench.ask("One", "1")
    one = bench.id
    changed_s = store.load(one).changed_s
    bench.set_settings(COLD)
    assert store.load(one).settings == ReplySettings(), "a slider that moves writes nothing"
    bench.new()
    assert store.load(one).settings == COLD
    assert store.load(one).changed_s == changed_s
    bench.set_settings(HOT)
    bench.session.conversations.keep_settings(bench.id)
    assert [chat.conversation_id for chat in store.summaries()] == [one], "it has no message yet"
    bench.show(one)
    bench.set_settings(HOT)
    bench.session.remove(one)
    bench.restore(one)
    assert bench.settings == HOT


def test_a_running_reply_keeps_what_it_began_with_while_chats_change(bench: ChatBench) -> None:
    bench.set_settings(COLD)
    bench.send("One")
    reply, cold = bench.session.active, bench.id
    assert reply is not None
    bench.client.start_turn()
    bench.set_settings(HOT)
    bench.new()
    assert bench.settings == ReplySettings()
    bench.client.step("1", 0)
    bench.client.finish_turn("1")
    assert reply.options.settings == COLD
    record = bench.store.runs(cold)[reply.message_id]
    assert (record.sampling, record.max_tokens) == (COLD.sampling, 99)
    bench.show(cold)
    assert bench.settings == HOT


@pytest.mark.parametrize("text", ["{", "7", '{"seed": "x"}', '{"max_tokens": 0}', "[" * 100_000])
def test_damaged_settings_are_those_of_the_last_reply(tmp_path: Path, text: str) -> None:
    archive = Archive(tmp_path / "chats.db")
    archive.open()
    bench = ChatBench(archive)
    bench.set_settings(COLD)
    bench.ask("One", "1")
    bench.ask("Two", "2")
    archive.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "chats.db")) as connection:
        connection.execute("UPDATE conversations SET settings = ?", (text,))
        connection.commit()
    archive = Archive(tmp_path / "chats.db")
    archive.open()
    again = ChatBench(archive, prefix="again")
    chats = again.session.conversations
    from_json(to_json(*chats.with_records(bench.id)))  # an export can be imported all the same
    again.show(bench.id)
    assert again.settings == COLD
    archive.close()


# -------------------------------------------------------------------------- export and import


def test_an_older_export_has_those_of_its_last_reply_and_a_newer_one_may_say_more(
    bench: ChatBench,
) -> None:
    bench.set_settings(COLD)
    bench.ask("One", "1")
    bench.ask("Two", "2")
    conversation, records = bench.session.conversations.with_records(bench.id)
    data = to_json(conversation, records)
    data["conversation"]["settings"] |= {"mood": "good", "max_tokens": 98}
    data["conversation"]["settings"]["sampling"]["warmth"] = 3
    newer, _ = from_json(data)
    assert newer.settings is not None
    assert newer.settings.max_tokens == 98
    del data["conversation"]["settings"]
    older, records = from_json(data)
    assert older.settings is None
    bench.import_copy(older, records)
    assert bench.settings == COLD


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (7, "settings must be an object, not 7"),
        ({"max_tokens": "many"}, "must be a whole number, not 'many'"),
        ({"max_tokens": 0}, "Longest reply is 0"),
        ({"stop": ["", "x"]}, "A stop string is empty"),
    ],
)
def test_settings_of_a_file_that_no_reply_can_use_are_refused_in_words(
    bench: ChatBench, settings: object, words: str
) -> None:
    bench.ask("One", "1")
    data = to_json(*bench.session.conversations.with_records(bench.id))
    data["conversation"]["settings"] = settings
    with pytest.raises(UserError) as raised:
        from_json(data)
    assert "settings" in raised.value.message
    assert words in raised.value.message


# --------------------------------------------------------------------- the version before

BEFORE: dict[str, list[OldReply]] = {}
SHOWN: dict[str, int] = {}
EXPECTED: dict[str, ReplySettings] = {}


def sampling(number: int) -> SamplingParams:
    return SamplingParams(
        temperature=number / 100,
        top_k=number,
        repeat_penalty=1.1,
        logit_bias=(LogitBias(number, -math.inf),),
        json_schema=f'{{"const": {number}}}' if number % 2 else "",
    )


def data_of(number: int, seed: int) -> dict[str, object]:
    """A record's fields, as they were written then."""
    drawn = sampling(number)
    return {
        "sampling": {
            "temperature": drawn.temperature, "top_k": number, "repeat_penalty": 1.1,
            "logit_bias": [{"token": number, "bias": -math.inf}],
            "json_schema": drawn.json_schema,
        },
        "max_tokens": 100 + number, "system_prompt": f"You are number {number}.",
        "stop": [f"END{number}"], "seed": seed,
    }  # fmt: skip


def expected(number: int, seed: int | None) -> ReplySettings:
    return ReplySettings(
        sampling(number), 100 + number, seed, f"You are number {number}.", (f"END{number}",)
    )


def _make_chats() -> None:
    """Fill the tables above: ten chats of five kinds."""
    for number in range(10):
        name, own = f"chat{number}", data_of(number, 4_000_000_000 + number)
        other = data_of(number + 1, 5)
        question = f"Question {number}"
        match number % 5:
            case 0:  # a seed was drawn
                replies, wanted = [OldReply(question, "1", own)], expected(number, None)
            case 1:  # the seed was fixed
                fixed = data_of(number, 5)
                replies = [OldReply(question, "1", other), OldReply("More", "2", fixed, 0)]
                wanted = expected(number, 5)
            case 2:  # from another program: no record
                replies, wanted = [OldReply(question, "1", None)], MINE
            case 3:  # the newest reply is on a path that is not shown
                replies = [OldReply(question, "1", own), OldReply(question, "2", other)]
                SHOWN[name], wanted = 0, expected(number, None)
            case _:  # the last reply has no record, or none that says anything
                broken = None if number % 2 else {"max_tokens": 0}
                replies = [OldReply(question, "1", own), OldReply("More", "2", broken, 0)]
                wanted = expected(number, None)
        BEFORE[name], EXPECTED[name] = replies, wanted


_make_chats()


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Archive]:
    """The archive over a database of the version before."""
    write(tmp_path / "chats.db", BEFORE, SHOWN)
    archive = Archive(tmp_path / "chats.db")
    assert archive.open().notes == ()
    yield archive
    archive.close()


def test_chats_of_the_version_before_have_what_their_last_reply_had(
    old: Archive, tmp_path: Path
) -> None:
    bench = ChatBench(old, defaults=MINE)
    assert {chat.conversation_id for chat in bench.session.summaries} == BEFORE.keys()
    for name, replies in BEFORE.items():
        bench.show(name)
        assert bench.settings == EXPECTED[name], name
        assert bench.current.title == replies[0].question
        said = [text for reply in replies for text in (reply.question, reply.answer)]
        assert [m.text for m in bench.current.messages.values()] == said
        assert len(old.runs(name)) == sum(reply.record is not None for reply in replies)
    assert len(old.search("question 7")) == 2, "title and message are found"
    (copy,) = copies(tmp_path / "chats.db")
    with contextlib.closing(sqlite3.connect(copy)) as before:
        assert user_version(before) == 1
        assert before.execute("SELECT count(*) FROM messages").fetchone()[0] == sum(
            2 * len(replies) for replies in BEFORE.values()
        )


def test_what_an_old_chat_had_stays_when_it_continues(old: Archive) -> None:
    bench = ChatBench(old, defaults=MINE)
    bench.show("chat0")
    bench.ask("More", "2")
    turn = bench.client.last(StartTurn)
    assert (turn.sampling, turn.seed, turn.max_tokens) == (sampling(0), None, 100)
    bench.delete_message(bench.message(1))
    again = ChatBench(old, prefix="again", defaults=HOT)
    again.show("chat0")
    assert again.current.settings == EXPECTED["chat0"]
    assert again.settings == EXPECTED["chat0"]


def test_the_defaults_seed_says_that_it_was_fixed(old: Archive) -> None:
    bench = ChatBench(old, defaults=ReplySettings(seed=4_000_000_000))
    bench.show("chat0")
    assert bench.settings.seed == 4_000_000_000
    bench.show("chat5")
    assert bench.settings.seed is None


def test_a_damaged_database_of_the_version_before_loses_nothing_that_can_be_read(
    tmp_path: Path, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("was salvaged")
    path = tmp_path / "chats.db"
    write(path, BEFORE, SHOWN)
    with path.open("r+b") as file:  # the header, and so the layout, is gone
        file.write(bytes(100))
    archive = Archive(path)
    try:
        assert archive.open().salvaged
        bench = ChatBench(archive, defaults=MINE)
        for name, wanted in EXPECTED.items():
            bench.show(name)
            assert bench.settings == wanted
    finally:
        archive.close()
