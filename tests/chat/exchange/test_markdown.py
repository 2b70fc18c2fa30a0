from __future__ import annotations

from dataclasses import replace

from paceline.chat.exchange.words import Words, to_markdown
from paceline.conversation import Attachment, Conversation, Message
from paceline.run_record import RunError, RunRecord
from storage.chats import record

REPLY = "<think>\nHm.\n\nSo.\n</think>\n\nUse:\n\n```py\nx = 1\n```"


def made() -> Conversation:
    conversation = Conversation("c", "A title")
    file = Attachment("a.py", "print('```')\n", 13)
    conversation = conversation.add(Message("q", None, "user", "How?", 0.0, (file,)))
    conversation = conversation.add(Message("old", "q", "assistant", "another version"))
    return conversation.add(Message("a", "q", "assistant", REPLY))


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
        "*part 2 of the reply · 30.0 tokens/s · 2.00× · ≈ 15.0 without drafts"
        " · 68 % of 88 drafted accepted · first token 0.12 s · draft for A model*\n"
    )


def test_a_ratio_is_told_only_where_tokens_were_drafted_and_plain_decoding_is_known() -> None:
    known = record("a")
    assert known.stats is not None
    for stats in (
        replace(known.stats, plain_low=None, plain_high=None),
        replace(known.stats, n_drafted=0, n_accepted=0, acceptance_rate=None),
    ):
        text = to_markdown(made(), {"a": replace(known, stats=stats)})
        assert "30.0 tokens/s" in text
        assert "*30.0 tokens/s" in to_markdown(made(), {"a": replace(known, n_parts=1)})
        assert "plain" not in text
        assert "×" not in text


def test_figures_can_be_left_out_and_words_changed() -> None:
    text = to_markdown(made(), {"a": record("a")}, words=Words(you="Du"), with_figures=False)
    assert "tokens/s" not in text
    assert "## Du\n" in text


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
