import pytest

from paceline.conversation import (
    Attachment,
    Conversation,
    Message,
    automatic_title,
    numbered,
    with_title,
)


def asked(*texts: str, files: tuple[str, ...] = ()) -> Conversation:
    """A conversation with these questions; the first one has the files."""
    conversation, parent = Conversation("c"), None
    for number, text in enumerate(texts):
        attachments = tuple(Attachment(name, "x", 1) for name in files) if not number else ()
        question = Message.of_text(f"q{number}", parent, "user", text, 0.0, attachments=attachments)
        answer = Message.of_text(f"a{number}", f"q{number}", "assistant", "An answer.")
        conversation = conversation.add(question).add(answer)
        parent = f"a{number}"
    return conversation


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["How do I read a file?"], "How do I read a file?"),
        (["Hi"], "Hi"),
        (["Hi!", "Good morning", "How do I read a file?"], "How do I read a file?"),
        (["Hello, how do I read a file?"], "Hello, how do I read a file?"),
        (["```python\ndef read(path):\n```"], "def read(path):"),
        (["```python\ndef read(path):\n```\nWhat is wrong here?"], "What is wrong here?"),
        (["````md\n```\nx\n```\n````\nWhat now?"], "What now?"),
        (["# A heading\ntext"], "A heading"),
        (["> - quoted"], "quoted"),
        (["```\n```"], "```"),
        (["…", "What is that?"], "What is that?"),
        (["你好，怎么读文件"], "你好，怎么读文件"),
        (["…"], "…"),
        ([], ""),
    ],
)
def test_a_title_says_what_was_asked(texts: list[str], title: str) -> None:
    assert automatic_title(asked(*texts)) == title


def test_a_file_without_a_word_gives_its_name() -> None:
    assert automatic_title(asked("", files=("notes.txt", "b.txt"))) == "notes.txt"
    assert automatic_title(asked("Hi", files=("notes.txt",))) == "Hi"
    assert automatic_title(asked("", "What is in it?", files=("notes.txt",))) == "What is in it?"


def test_a_title_of_the_users_own_is_left_alone() -> None:
    old = asked("Hi").renamed("Mine")
    new = old.add(Message.of_text("q9", "a0", "user", "How do I read a file?"))
    assert with_title(old, new).title == "Mine"
    old = asked("Hi")
    new = old.add(Message.of_text("q9", "a0", "user", "How do I read a file?"))
    assert with_title(old, new).title == "How do I read a file?"


def test_a_copy_gets_the_first_number_that_is_free() -> None:
    assert numbered("A", ["A"]) == "A (2)"
    assert numbered("A", ["A", "A (2)", "A (3)"]) == "A (4)"
    assert numbered("A (2)", ["A", "A (2)"]) == "A (3)"
