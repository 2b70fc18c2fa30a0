"""Instructions of folders go before a chat's own system prompt; deleting one keeps its chats."""

from __future__ import annotations

from dataclasses import replace

from chat.chat_bench import ChatBench
from paceline.conversation import Folder
from paceline.messages import StartTurn
from paceline.params import ReplySettings

WORK = Folder("work", "Work", "Be brief.")


def sent(bench: ChatBench) -> list[tuple[str, str]]:
    """Return the messages that the engine was asked with last."""
    return [(m.role, m.text) for m in bench.client.last(StartTurn).prompt.messages]


def in_folder(bench: ChatBench, folder: Folder = WORK) -> str:
    """Show a chat with one answer in a folder; returns its id."""
    bench.ask("One", "1")
    bench.session.put_folder(folder)
    bench.session.move(bench.id, folder.folder_id)
    return bench.id


def test_instructions_go_before_the_system_prompt(bench: ChatBench) -> None:
    bench.set_settings(ReplySettings(system_prompt="You are a cook."))
    in_folder(bench)
    bench.ask("Two", "2")
    assert sent(bench)[0] == ("system", "Be brief.\n\nYou are a cook.")
    assert bench.settings.system_prompt == "You are a cook."
    bench.session.put_folder(replace(WORK, instructions="  "))
    bench.ask("Three", "3")
    assert sent(bench)[0] == ("system", "You are a cook.")


def test_the_record_has_what_was_sent_and_repeats_it(bench: ChatBench) -> None:
    in_folder(bench)
    bench.ask("Two", "2")
    assert bench.reply().options.settings.system_prompt == "Be brief."
    bench.session.put_folder(replace(WORK, instructions="Be long."))
    bench.continue_reply()
    assert sent(bench)[0] == ("system", "Be brief."), "it goes on as it began"
    bench.client.reply(" and more")
    bench.regenerate()
    assert sent(bench)[0] == ("system", "Be long.")


def test_a_new_chat_in_a_folder_has_its_instructions(bench: ChatBench) -> None:
    bench.session.put_folder(WORK)
    bench.take(bench.session.conversations.new(folder_id="work"))
    bench.ask("One", "1")
    assert sent(bench) == [("system", "Be brief."), ("user", "One")]
    assert bench.session.summaries[0].folder_id == "work"


def test_folders_that_could_not_be_read_before_are_found_again(bench: ChatBench) -> None:
    bench.session.put_folder(WORK)
    bench.store.save_folder(Folder("home", "Home"))
    bench.session.look_again()
    assert [folder.name for folder in bench.session.conversations.folders.all] == ["Home", "Work"]


def test_a_deleted_folder_leaves_its_chats_and_comes_back(bench: ChatBench) -> None:
    chat = in_folder(bench)
    bench.session.remove_folder("work")
    assert bench.session.conversations.folders.all == ()
    assert [one.conversation_id for one in bench.session.summaries] == [chat]
    bench.ask("Two", "2")
    assert sent(bench)[0] == ("user", "One")
    bench.session.put_folder(WORK)
    bench.ask("Three", "3")
    assert sent(bench)[0] == ("system", "Be brief.")


def test_a_chat_that_continues_leaves_the_archive(bench: ChatBench) -> None:
    bench.ask("One", "1")
    bench.session.archive(bench.id, True)
    bench.ask("Two", "2")
    assert not bench.session.summaries[0].archived


def test_a_folder_keeps_a_name_and_no_blanks(bench: ChatBench) -> None:
    bench.session.put_folder(Folder("f", "  My \n work ", "  Be brief.\n"))
    assert bench.session.conversations.folders.all == (Folder("f", "My work", "Be brief."),)
    bench.session.put_folder(Folder("f", " ", "Be kind."))
    assert bench.session.conversations.folders.all == (Folder("f", "My work", "Be kind."),)
    bench.session.put_folder(Folder("g", " "))
    assert len(bench.session.conversations.folders.all) == 1


def test_a_private_chat_is_in_a_folder_in_memory_alone(bench: ChatBench) -> None:
    bench.session.put_folder(WORK)
    bench.new(private=True)
    bench.ask("A secret", "1")
    bench.session.move(bench.id, "work")
    bench.ask("Two", "2")
    assert sent(bench)[0] == ("system", "Be brief.")
    assert bench.store.summaries() == ()
