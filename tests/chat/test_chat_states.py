"""Owners of stored states: those of deleted chats, and of private ones that are left, go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chat.chat_bench import ChatBench
from paceline.engine.model.state_files import drop_files
from paceline.messages import DropStates, EngineDied, StartTurn, StateOwner

if TYPE_CHECKING:
    from paceline.storage.archive import ConversationStore


def dropped(bench: ChatBench) -> list[tuple[str, ...]]:
    return [command.owners for command in bench.client.all(DropStates)]


def owners(bench: ChatBench) -> list[StateOwner | None]:
    return [command.owner for command in bench.client.all(StartTurn)]


def test_a_chats_replies_are_its_own(bench: ChatBench) -> None:
    bench.ask("One?", "1.")
    assert bench.regenerate()
    bench.client.reply("I.")
    assert bench.edit(bench.message(0), "Two?")
    bench.client.reply("2.")
    assert bench.continue_reply()
    bench.client.reply("!")
    assert owners(bench) == [StateOwner(bench.id)] * 4
    assert not dropped(bench)
    bench.new(private=True)
    bench.ask("Secret?", "Shh.")
    assert owners(bench)[-1] == StateOwner(bench.id, private=True), "nothing of it goes to a disk"


def test_a_chat_that_was_deleted_last_time_is_dropped(
    bench: ChatBench, store: ConversationStore
) -> None:
    bench.ask("One?", "1.")
    bench.session.conversations.remove(bench.id)
    later = ChatBench(store, prefix="later")
    later.session.conversations.purge(bench.id)
    assert dropped(later) == [(bench.id,)]


def test_a_deleted_message_takes_its_chats_states_along(bench: ChatBench) -> None:
    bench.ask("One?", "1.")
    bench.ask("Two?", "2.")
    assert bench.session.delete_message(bench.id, bench.message(2))
    assert dropped(bench) == [(bench.id,)]


def test_a_chat_that_continues_is_not_dropped(bench: ChatBench) -> None:
    bench.ask("One?", "1.")
    first = bench.id
    bench.session.rename(first, "Another name")
    bench.session.archive(first, on=True)
    bench.branch(bench.message(1))
    bench.new()
    bench.show(first)
    assert bench.session.edit_reply(first, bench.message(1), "One.")
    assert not dropped(bench)


def test_what_another_window_deletes_is_dropped_with_the_next_reply(
    bench: ChatBench, store: ConversationStore
) -> None:
    bench.ask("One?", "1.")
    gone = bench.id
    bench.new()
    other = ChatBench(store, prefix="other")
    other.session.remove(gone)
    other.session.conversations.purge(gone)
    bench.ask("Two?", "2.")
    bench.ask("Three?", "3.")
    assert dropped(bench) == [(gone,)]


def test_a_private_chat_is_dropped_when_it_is_left(bench: ChatBench) -> None:
    bench.new(private=True)
    secret = bench.id
    bench.ask("Secret?", "Shh.")
    assert not dropped(bench)
    bench.new()
    assert dropped(bench) == [(secret,)]


def test_a_private_chat_is_dropped_that_is_left_before_its_reply_ends(bench: ChatBench) -> None:
    bench.new(private=True)
    secret = bench.id
    assert bench.send("Secret?")
    bench.new()
    n = len(dropped(bench))
    bench.client.reply("Shh.")
    assert dropped(bench)[n:] == [(secret,)]


def test_a_new_chat_is_dropped_that_is_left_before_its_first_message(bench: ChatBench) -> None:
    unsent = bench.id
    bench.session.states.on_begin(unsent)  # what is being written is read ahead
    bench.take(bench.session.conversations.new())
    bench.take(bench.session.conversations.new())
    assert dropped(bench) == [(unsent,)]


def test_files_go_at_the_end_of_what_another_window_has_deleted(
    store: ConversationStore, tmp_path: Path
) -> None:
    bench = ChatBench(store, states_folder=str(tmp_path))
    bench.ask("One?", "1.")
    gone = bench.id
    bench.new()
    bench.ask("Two?", "2.")
    kept = bench.id
    other = ChatBench(store, prefix="other")
    other.session.remove(gone)
    left = [tmp_path / "model" / chat.encode().hex() / "0" for chat in (gone, kept)]
    for file in left:  # written by the engine at its end
        file.parent.mkdir(parents=True)
        file.touch()
    bench.session.states.close()
    assert [file.exists() for file in left] == [False, True]


def test_all_is_dropped(bench: ChatBench) -> None:
    bench.session.states.drop_all()
    assert dropped(bench) == [()]


# --------------------------------------------------------------------------- an engine that ends


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for owner in ("one", "two"):
        for model in "ab":
            file = tmp_path / "states" / model / owner.encode().hex() / "0"
            file.parent.mkdir(parents=True)
            file.write_bytes(b"cells")
    return tmp_path / "states"


def files(folder: Path) -> list[str]:
    found = {bytes.fromhex(f.parent.name).decode() for f in folder.rglob("*") if f.is_file()}
    return sorted(found)


def test_files_are_deleted_that_the_engine_did_not_come_to(
    store: ConversationStore, folder: Path
) -> None:
    bench = ChatBench(store, states_folder=str(folder))
    bench.client.drops_states = False
    bench.session.states.drop("one")
    assert bench.client.last(DropStates) == DropStates(("one",), str(folder))
    bench.client.emit(EngineDied("Killed.", ""))
    assert files(folder) == ["one", "two"]
    bench.session.states.close()
    assert files(folder) == ["two"]


def test_files_are_deleted_at_once_while_the_engine_is_busy(
    store: ConversationStore, folder: Path
) -> None:
    bench = ChatBench(store, states_folder=str(folder))
    bench.client.drops_states = False
    assert bench.send("Hello?")
    bench.client.running = bench.client.tickets[-1]
    bench.session.states.drop("one")
    assert files(folder) == ["two"]
    assert dropped(bench) == [("one",)], "it may write them meanwhile, and has them in memory"


def test_the_next_engine_is_asked_again(bench: ChatBench) -> None:
    bench.client.drops_states = False
    bench.session.states.drop("one")
    bench.client.emit(EngineDied("Killed.", ""))
    bench.client.drops_states = True
    bench.load()
    bench.ask("One?", "1.")
    bench.ask("Two?", "2.")
    assert dropped(bench) == [("one",), ("one",)]


def test_a_chat_without_a_message_leaves_no_file(store: ConversationStore, folder: Path) -> None:
    bench = ChatBench(store, prefix="one", states_folder=str(folder))
    file = folder / "a" / bench.id.encode().hex() / "0"
    file.parent.mkdir()
    file.touch()
    bench.session.states.on_begin(bench.id)
    bench.session.states.close()
    assert files(folder) == ["one", "two"]


def test_one_owners_files_go_for_all_models(folder: Path) -> None:
    drop_files(str(folder), ("one",))
    assert files(folder) == ["two"]
    drop_files(str(folder), ("..", "three"))
    assert files(folder) == ["two"]
    drop_files(str(folder), ())
    assert files(folder) == []


@pytest.mark.parametrize("place", ["", "none", "file"])
def test_nothing_is_deleted_where_nothing_is(
    tmp_path: Path,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: Callable[[str], None],
) -> None:
    if place == "file":
        allow_warnings("stored states stay in file: Not a directory")
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    drop_files(place, ("one",))
    drop_files(place, ())
    assert Path("file").exists()
