from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import structs

from paceline.chat.exchange.words import to_markdown
from paceline.chat.syntax.open_blocks import closed
from paceline.conversation import Attachment, Conversation, Message
from paceline.run_record import RunError, RunRecord
from storage.chats import record

REPLY = "<think>\nHm.\n\nSo.\n</think>\n\nUse:\n\n```py\nx = 1\n```"


def made() -> Conversation:
    conversation = Conversation("c", "A title")
    file = Attachment("a.py", "print('```')\n", 13)
    conversation = conversation.add(
        Message.of_text("q", None, "user", "How?", 0.0, attachments=(file,))
    )
    conversation = conversation.add(Message.of_text("old", "q", "assistant", "another version"))
    return conversation.add(Message.of_text("a", "q", "assistant", REPLY))


def test_the_shown_path_as_markdown() -> None:
    text = to_markdown(made(), {"a": replace(record("a"), error=RunError("x", "It broke."))})
    assert text == (
        "# A title\n\n"
        "## System prompt\n\nBe brief.\n\n"
        "## You\n\n"
        "a.py\n````py\nprint('```')\n````\n\n"
        "How?\n\n"
        "## Reply\n\n"
        "> **Reasoning**\n>\n> Hm.\n>\n> So.\n\n"
        "Use:\n\n```py\nx = 1\n```\n\n"
        "*This reply failed: It broke.*\n\n"
        "*part 2 of the reply · 30.0 tokens/s · 2.0× · alone about 15.0"
        " · 68 % of 88 guesses were right · first token 0.12 s · draft for A model*\n"
    )


def test_a_ratio_is_shown_only_where_tokens_were_drafted_and_plain_decoding_is_known() -> None:
    known = record("a")
    assert known.stats is not None
    for stats in (
        structs.replace(known.stats, plain_low=None, plain_high=None),
        structs.replace(known.stats, n_drafted=0, n_accepted=0, acceptance_rate=None),
    ):
        text = to_markdown(made(), {"a": replace(known, stats=stats)})
        assert "30.0 tokens/s" in text
        assert "*30.0 tokens/s" in to_markdown(made(), {"a": replace(known, n_parts=1)})
        assert "plain" not in text
        assert "×" not in text


def test_a_chat_without_runs_and_without_messages() -> None:
    assert "System prompt" not in to_markdown(made())
    assert to_markdown(Conversation("c")) == "# Reply\n"


def test_a_reply_that_was_cut_says_so_with_and_without_figures() -> None:
    chat = made()
    reply = chat.path()[-1]
    assert reply.role == "assistant"
    record = RunRecord(reply.message_id, "finished", reason="length", max_tokens=1024)
    for with_figures in (True, False):
        text = to_markdown(chat, {reply.message_id: record}, with_figures=with_figures)
        assert text.rstrip().endswith("*Cut off at the limit of 1,024 tokens.*")


READER = MarkdownIt("commonmark").enable("table")


def rendered(tokens: list[Token]) -> str:
    """The tokens as HTML; line ends after the last line of a block are not seen."""
    html = str(READER.renderer.render(tokens, READER.options, {}))
    return re.sub(r"\n+(?=<|$)", "", html)


def read_back(text: str) -> list[str]:
    """The parts of an exported chat below the headings of its messages, each as it is rendered."""
    tokens = READER.parse(text)
    starts = [
        index
        for index, token in enumerate(tokens)
        if (token.type, token.tag, token.level) == ("heading_open", "h2", 0)
        and tokens[index + 1].content in {"You", "Reply"}
    ]
    ends = [*starts[1:], len(tokens)]
    return [rendered(tokens[start + 3 : end]) for start, end in zip(starts, ends, strict=True)]


def chat_of(texts: list[str]) -> Conversation:
    chat, parent = Conversation("c", "A title"), None
    for index, text in enumerate(texts):
        role = "assistant" if index % 2 else "user"
        chat = chat.add(Message.of_text(str(index), parent, role, text))
        parent = str(index)
    return chat


OPEN = (
    "```python\ndef f(:",
    "~~~\nx",
    "`````md\n```\n````",
    "   ```\n   x",
    "- ```\n  x",
    "1. a\n\n   ~~~\n   x",
    "> ```\n> x",
    "> - ```\n>   x",
    "a\n```",
    "<!-- a",
    "<pre>\nx",
    "<script>\nx",
    "<?php",
    "<![CDATA[ x",
    "<!DOCTYPE",
)


@pytest.mark.parametrize("text", OPEN)
def test_what_a_message_leaves_open_ends_with_it(text: str) -> None:
    whole = "*Hello* there."
    for texts in ([text, whole, text, whole], [whole, text, whole, text]):
        parts = read_back(to_markdown(chat_of(texts)))
        assert parts == [rendered(READER.parse(closed(part))) for part in texts]


def test_a_system_prompt_and_a_question_with_a_file_are_closed_too() -> None:
    known = replace(record("a"), system_prompt="Like this:\n```\n{}")
    question = Message.of_text(
        "q", None, "user", "Why?\n~~~\nx", 0.0, attachments=(Attachment("a", "```", 3),)
    )
    chat = (
        Conversation("c", "A title")
        .add(question)
        .add(Message.of_text("a", "q", "assistant", "So."))
    )
    parts = read_back(to_markdown(chat, {"a": known}, with_figures=False))
    assert len(parts) == 2
    assert parts[1] == "<p>So.</p><p><em>Edited by hand.</em></p>"


def test_what_is_closed_stays_as_it_is() -> None:
    for text in ("```\nx\n```", "a ``` b", "<!-- a -->", "<div>\nx", "- ```\n  x", "", "x\n"):
        assert closed(text) == text


LINE = st.tuples(
    st.sampled_from(("", "", "  ", "    ", "- ", "1. ", "> ", "> - ")),
    st.sampled_from(("```", "````py", "~~~", "~~~~", "``", "text", "*a*", "| a |", "x = 1", "")),
).map("".join)
TEXT = st.lists(LINE, min_size=1, max_size=8).map(lambda lines: "w\n\n" + "\n".join(lines) + "\nz")


@given(st.lists(TEXT, min_size=2, max_size=5))
def test_any_chat_reads_back_as_its_messages(texts: list[str]) -> None:
    assert read_back(to_markdown(chat_of(texts))) == [
        rendered(READER.parse(text)) for text in texts
    ]


def test_names_from_elsewhere_turn_nothing_around() -> None:
    chat = replace(made(), title="A\u202etitle")
    known = record("a")
    assert known.target is not None
    evil = replace(known, target=replace(known.target, name="Qwen\u202e3"))
    text = to_markdown(chat, {"a": evil})
    assert text.startswith("# A�title\n")
    assert "for Qwen�3*" in text
