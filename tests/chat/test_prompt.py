from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.prompt import GradualPrompt, build_messages
from paceline.conversation import Attachment, Message
from paceline.messages import ChatMessage


def path(*turns: tuple[str, str]) -> list[Message]:
    messages = []
    for number, (role, content) in enumerate(turns):
        assert role in ("user", "assistant")
        messages.append(Message.of_text(str(number), None, role, content))  # type: ignore[arg-type]
    return messages


def test_a_system_prompt_stands_first_and_a_blank_one_nowhere() -> None:
    assert build_messages(path(("user", "a")), " Be kind. ")[0] == ChatMessage.of_text(
        "system", "Be kind."
    )
    assert build_messages(path(("user", "a")), " \n") == (ChatMessage.of_text("user", "a"),)


def test_roles_alternate_after_a_reply_that_never_got_a_text() -> None:
    built = build_messages(path(("user", "a"), ("assistant", ""), ("user", "b")))
    assert built == (ChatMessage.of_text("user", "a\n\nb"),)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>\nHm.\n</think>\n\nYes.",
        "Hm.</think>Yes.",
        "[THINK]Hm.[/THINK]Yes.",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
    ],
)
def test_earlier_replies_go_without_their_reasoning(reply: str) -> None:
    messages = path(("user", "<think>a</think>b"), ("assistant", reply), ("user", "c"))
    built = build_messages(messages)
    assert [m.text for m in built] == ["<think>a</think>b", "Yes.", "c"]
    assert messages[1].text == reply


def test_a_reply_that_only_thought_is_left_out() -> None:
    built = build_messages(path(("user", "a"), ("assistant", "<think>Hm"), ("user", "b")))
    assert built == (ChatMessage.of_text("user", "a\n\nb"),)


def test_files_stand_before_the_text_in_fences_of_their_own() -> None:
    files = (Attachment("read.py", "print()\n", 8), Attachment("odd name", "plain", 5))
    message = Message.of_text("1", None, "user", "What is this?", 0.0, attachments=files)
    assert build_messages([message])[0].text == (
        "read.py\n```py\nprint()\n```\n\nodd name\n```\nplain\n```\n\nWhat is this?"
    )


def test_a_file_cannot_end_its_own_fence() -> None:
    evil = Attachment("a\n```\nb.md", "```\nout\n````\n", 9)
    built = build_messages([Message.of_text("1", None, "user", "", 0.0, attachments=(evil,))])[
        0
    ].text
    assert built == "a ``` b.md\n`````md\n```\nout\n````\n`````"


turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.sampled_from(["", "a", "<think>b</think>c", "<think>d</think>"]),
    ),
    max_size=200,
)


@given(turns, turns, st.sampled_from(["", "Be kind."]), st.booleans())
def test_a_prompt_that_is_built_in_turns_is_the_same(
    first: list[tuple[str, str]], more: list[tuple[str, str]], system: str, goes_on: bool
) -> None:
    prompt, before = GradualPrompt(), path(*first)
    while not prompt.take(before, "", -inf):
        pass
    after = [*(before if goes_on else path(*first)), *path(*more)]
    n_calls = 1
    while not prompt.take(after, system, -inf):
        n_calls += 1
    assert prompt.messages() == build_messages(after, system)
    unsent = path(("user", "unsent"))
    assert prompt.messages(*unsent) == build_messages([*after, *unsent], system)
    assert prompt.messages() == build_messages(after, system), "what is unsent is not kept"
    assert n_calls <= 1 + len(after) // 50
    if goes_on and not system:
        assert n_calls <= 1 + len(more) // 50, "what is known is not built again"


@given(turns, st.sampled_from(["", "Be kind."]))
def test_what_a_cut_keeps_begins_with_its_message(
    given_turns: list[tuple[str, str]], system: str
) -> None:
    prompt, messages = GradualPrompt(), path(*given_turns)
    while not prompt.take(messages, system, -inf):
        pass
    spoken = build_messages(messages)
    for n_cut in range(1, len(spoken)):
        begin = int(prompt.first_kept(n_cut))
        assert build_messages(messages[begin:]) == spoken[n_cut:]
    assert prompt.first_kept(0) == prompt.first_kept(len(spoken)) == ""


def test_a_path_that_becomes_shorter_is_built_anew() -> None:
    prompt, messages = GradualPrompt(), path(*[("user", "a"), ("assistant", "b")] * 60)
    assert prompt.take(messages, "", inf)
    assert prompt.take(messages[:3], "", inf)
    assert prompt.messages() == build_messages(messages[:3])
    assert not prompt.take(messages, "", -inf)
    assert prompt.take(messages, "", inf)
    assert prompt.messages() == build_messages(messages)
