from paceline.chat.prompt import build_messages
from paceline.conversation import Message
from paceline.messages import ChatMessage


def path(*turns: tuple[str, str]) -> list[Message]:
    messages = []
    for number, (role, content) in enumerate(turns):
        assert role in ("user", "assistant")
        messages.append(Message(str(number), None, role, content))  # type: ignore[arg-type]
    return messages


def test_the_path_becomes_messages_in_order() -> None:
    built = build_messages(path(("user", "a"), ("assistant", "b"), ("user", "c")))
    assert built == (
        ChatMessage("user", "a"), ChatMessage("assistant", "b"), ChatMessage("user", "c"),
    )  # fmt: skip


def test_a_system_prompt_stands_first_and_a_blank_one_nowhere() -> None:
    assert build_messages(path(("user", "a")), " Be kind. ")[0] == ChatMessage("system", "Be kind.")
    assert build_messages(path(("user", "a")), " \n") == (ChatMessage("user", "a"),)


def test_roles_alternate_after_a_reply_that_never_got_a_text() -> None:
    built = build_messages(path(("user", "a"), ("assistant", ""), ("user", "b")))
    assert built == (ChatMessage("user", "a\n\nb"),)
