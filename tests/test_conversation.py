from time import process_time
from types import MappingProxyType

import pytest

from paceline.content import of_text
from paceline.conversation import Attachment, Conversation, Message, heading_of, title_of


def tree() -> Conversation:
    conversation = Conversation("c")
    for message in (
        Message.of_text("q1", None, "user", "First question"),
        Message.of_text("a1", "q1", "assistant", "One"),
        Message.of_text("q2", "a1", "user", "Second"),
        Message.of_text("a2", "q2", "assistant", "Two"),
    ):
        conversation = conversation.add(message)
    return conversation


def ids(conversation: Conversation) -> list[str]:
    return [m.message_id for m in conversation.path()]


def test_the_path_ends_at_what_was_added_last() -> None:
    assert ids(tree()) == ["q1", "a1", "q2", "a2"]
    assert ids(Conversation("c")) == []


def test_regenerating_makes_a_sibling_and_keeps_the_old_reply() -> None:
    conversation = tree().add(Message.of_text("a2b", "q2", "assistant", "Another"))
    assert ids(conversation) == ["q1", "a1", "q2", "a2b"]
    assert [m.message_id for m in conversation.siblings("a2b")] == ["a2", "a2b"]
    assert conversation.messages["a2"].text == "Two"


def test_editing_starts_a_branch_that_leaves_the_rest_untouched() -> None:
    conversation = tree().edit("q1", "q1b", of_text("Other question"))
    assert ids(conversation) == ["q1b"]
    assert [m.message_id for m in conversation.siblings("q1b")] == ["q1", "q1b"]
    assert ids(conversation.activate("q1")) == ["q1", "a1", "q2", "a2"]


def test_activating_a_message_continues_to_its_newest_leaf() -> None:
    conversation = (
        tree()
        .add(Message.of_text("a2b", "q2", "assistant", "Another"))
        .edit("q1", "q1b", of_text("x"))
    )
    assert ids(conversation.activate("a1")) == ["q1", "a1", "q2", "a2b"]
    assert ids(conversation.activate("a2")) == ["q1", "a1", "q2", "a2"]


def test_the_newest_leaf_may_be_in_a_branch_that_was_left() -> None:
    left = tree().add(Message.of_text("a1b", "q1", "assistant", "Left")).activate("a1")
    assert ids(left) == ["q1", "a1", "q2", "a2"]
    assert ids(left.activate("q1")) == ["q1", "a1b"], "a1b is newer than a2, which follows a1"
    gone_on = left.add(Message.of_text("q3", "a2", "user", "Third"))
    assert ids(gone_on.activate("q1")) == ["q1", "a1", "q2", "a2", "q3"]


def test_a_change_leaves_the_old_value_alone() -> None:
    old = tree()
    new = old.with_content("a2", of_text("Changed"))
    assert old.messages["a2"].text == "Two"
    assert new.messages["a2"].text == "Changed"
    assert list(new.messages) == list(old.messages)
    with pytest.raises(TypeError):
        new.messages["a2"] = old.messages["a2"]  # type: ignore[index]


@pytest.mark.parametrize(
    "message",
    [
        Message.of_text("q1", None, "user", "again"),
        Message.of_text("x", "nobody", "user", "no parent"),
    ],
)
def test_what_does_not_fit_into_the_tree_is_refused(message: Message) -> None:
    with pytest.raises(ValueError, match=message.message_id):
        tree().add(message)


def test_the_first_question_is_the_title_until_it_is_renamed() -> None:
    assert tree().title == "First question"
    assert tree().renamed("  My \n chat ").title == "My chat"
    assert tree().renamed("   ").title == "First question"


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("Short", "Short"),
        ("\n\n  Two   words\nsecond line", "Two words"),
        ("", ""),
        ("word " * 30, "word word word word word word word word word…"),
        ("x" * 200, "x" * 48 + "…"),
    ],
)
def test_titles_are_one_short_line(content: str, title: str) -> None:
    assert title_of(content) == title


def test_a_message_sets_the_time_of_change_and_an_edit_keeps_the_attachments() -> None:
    files = (Attachment("a.txt", "a", 1),)
    conversation = Conversation("c", created_s=1.0, changed_s=5.0).add(
        Message.of_text("q1", None, "user", "x", 9.0, attachments=files)
    )
    assert conversation.changed_s == 9.0
    edited = conversation.edit("q1", "q1b", of_text("y"), created_s=7.0)
    assert (edited.changed_s, edited.messages["q1b"].created_s) == (9.0, 7.0)
    assert edited.messages["q1b"].attachments == files
    assert edited.edit("q1b", "q1c", of_text("z"), attachments=()).messages["q1c"].attachments == ()


def test_siblings_end_at_the_first_and_the_last_one() -> None:
    conversation = tree().add(Message.of_text("a2b", "q2", "assistant", "Another"))
    sibling = conversation.sibling("a2b", -1)
    assert sibling is not None
    assert sibling.message_id == "a2"
    assert conversation.place_of("a2b") == (1, 2)
    assert conversation.place_of("q1") == (0, 1)
    assert conversation.sibling("a2b", 1) is None
    assert conversation.sibling("a2", -1) is None
    assert [m.message_id for m in conversation.children("q2")] == ["a2", "a2b"]
    assert [m.message_id for m in conversation.children(None)] == ["q1"]
    assert conversation.children("a2b") == ()


def test_a_path_of_ten_thousand_messages_is_walked_in_linear_time() -> None:
    messages = {
        str(n): Message.of_text(str(n), str(n - 1) if n else None, "user", "x")
        for n in range(10_000)
    }
    conversation = Conversation("c", messages=MappingProxyType(messages), leaf_id="9999")
    start = process_time()
    path = conversation.path()
    assert all(conversation.siblings(message.message_id) == (message,) for message in path)
    assert conversation.activate("0").leaf_id == "9999"
    assert process_time() - start < 1.0  # searching all messages for each takes a minute
    assert len(path) == 10_000


def test_adding_a_message_leaves_the_siblings_of_the_old_value_alone() -> None:
    old = tree()
    assert len(old.siblings("a2")) == 1
    new = old.add(Message.of_text("a2b", "q2", "assistant", "Another"))
    assert (len(old.siblings("a2")), len(new.siblings("a2"))) == (1, 2)
    assert old == tree()


def test_versions_of_a_reply_answer_the_same_question_in_any_branch() -> None:
    chat = tree().add(Message.of_text("a2b", "q2", "assistant", "Another"))
    chat = chat.edit("q1", "q1b", of_text("Other question")).add(
        Message.of_text("a1b", "q1b", "assistant", "B")
    )
    chat = chat.add(Message.of_text("q2b", "a1b", "user", chat.messages["q2"].text))
    chat = chat.add(Message.of_text("a2c", "q2b", "assistant", "C"))
    chat = chat.add(Message.of_text("q3", "a2c", "user", chat.messages["q1"].text))
    chat = chat.add(Message.of_text("a3", "q3", "assistant", "D"))
    assert [m.message_id for m in chat.versions("a1")] == ["a1", "a1b"]
    assert [m.message_id for m in chat.versions("a2c")] == ["a2", "a2b", "a2c"]
    assert [m.message_id for m in chat.versions("q1b")] == ["q1", "q1b"]
    assert [m.message_id for m in chat.versions("a3")] == ["a3"]


def test_a_heading_has_more_of_the_first_question_than_the_title() -> None:
    question = "Write a Python function that sorts a list of words by their length, please.\nNow."
    chat = (
        Conversation("c")
        .add(Message.of_text("m", None, "user", question))
        .renamed(title_of(question))
    )
    assert chat.title == "Write a Python function that sorts a list of…"
    assert heading_of(chat) == question.splitlines()[0]
    assert heading_of(chat.renamed("Sorting")) == "Sorting"
