"""Prompts out of JSON: what passes, and the sentence for what does not."""

from __future__ import annotations

import pytest

from paceline.chat.prompt import (
    PromptDataError,
    read_conversation,
    read_earlier,
    read_token_ids,
)
from paceline.messages import ChatMessage, EarlierReply


def test_a_conversation() -> None:
    data = [
        {"role": "system", "content": ""},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Bye"},
    ]
    assert read_conversation(data, "in f") == tuple(
        ChatMessage.of_text(item["role"], item["content"]) for item in data
    )


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("Hi", "Message 1 in f is not an object with role and content alone."),
        ({"role": "user"}, "Message 1 in f is not an object with role and content alone."),
        ({"role": "user", "content": "Hi", "name": "x"}, "Message 1 in f is not an object"),
        ({"role": [], "content": "Hi"}, "Message 1 in f has the role [], not system, user"),
        ({"role": "user", "content": 3}, "Message 1 in f has a content that is not text."),
        ({"role": "user", "content": "\ud800"}, "Message 1 in f has a content that is not text."),
        ({"role": "user", "content": ""}, "Message 1 in f is empty."),
        ({"role": "assistant", "content": ""}, "The last message in f is from the assistant."),
    ],
)
def test_what_is_no_message(item: object, sentence: str) -> None:
    with pytest.raises(PromptDataError) as caught:
        read_conversation([item], "in f")
    assert caught.value.message.startswith(sentence)


@pytest.mark.parametrize("data", [None, {}, [], "text", 3])
def test_what_is_no_list(data: object) -> None:
    for read, what in ((read_conversation, "messages"), (read_token_ids, "token ids")):
        with pytest.raises(PromptDataError, match=f"a list of {what} in f"):
            read(data, "in f")


@pytest.mark.parametrize("item", [-1, 1.0, True, "1", None, 2**31])
def test_what_is_no_token(item: object) -> None:
    assert read_token_ids([0, 2**31 - 1], "in f") == (0, 2**31 - 1)
    with pytest.raises(PromptDataError, match="Item 2 in f is"):
        read_token_ids([5, item], "in f")


def test_an_earlier_reply() -> None:
    assert read_earlier({"tokens": [1, 2]}, "in f") == EarlierReply((1, 2))
    for tokens in (None, []):
        assert read_earlier({"tokens": tokens, "text": "Hi"}, "in f") == EarlierReply((), "Hi")


@pytest.mark.parametrize("tokens", [0, "", False, {}, 5, "12", [True], [-1], [1.0], [2**31]])
def test_tokens_of_an_earlier_reply_are_ids_beside_a_text_too(tokens: object) -> None:
    with pytest.raises(PromptDataError, match="token id"):
        read_earlier({"tokens": tokens, "text": "Hi"}, "in f")
