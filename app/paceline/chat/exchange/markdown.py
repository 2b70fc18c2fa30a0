"""The shown path of a conversation as a Markdown file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.chat.exchange.words import Words, date_text, end_line, figures_line
from paceline.chat.prompt import with_attachments
from paceline.chat.reasoning import answer_of, reasoning_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paceline.conversation import Conversation, Message
    from paceline.run_record import RunRecord


def to_markdown(
    conversation: Conversation,
    records: Mapping[str, RunRecord] | None = None,
    *,
    words: Words | None = None,
    with_figures: bool = True,
) -> str:
    """Return the shown path as Markdown.

    Messages stay as they were written, so code stays code. Attached files stand in fences of their
    own, as the model got them. Reasoning is quoted, since Markdown cannot fold.

    Args:
        conversation: The conversation.
        records: What is known of its replies, by message id; steps are not needed.
        words: Headings in another language.
        with_figures: Whether a line below each reply says how fast it was, and why.
    """
    records = records or {}
    words = words or Words()
    path = conversation.path()
    parts = [f"# {' '.join(conversation.title.split()) or words.reply}"]
    about = date_text(conversation.created_s)
    if about:
        parts.append(f"*{about}*")
    system_prompt = system_prompt_of(path, records)
    if system_prompt:
        parts += [f"## {words.system_prompt}", system_prompt]
    for message in path:
        parts += _message(message, records.get(message.message_id), words, with_figures)
    return "\n\n".join(parts) + "\n"


def system_prompt_of(path: tuple[Message, ...], records: Mapping[str, RunRecord]) -> str:
    """Return the system prompt of the last reply whose record is known."""
    known = (records.get(message.message_id) for message in reversed(path))
    return next((record.system_prompt.strip() for record in known if record is not None), "")


def _message(
    message: Message,
    record: RunRecord | None,
    words: Words,
    with_figures: bool,  # noqa: FBT001
) -> list[str]:
    if message.role == "user":
        return [f"## {words.you}", with_attachments(message)]
    parts = [f"## {words.reply}"]
    reasoning = reasoning_of(message.content).strip()
    if reasoning:
        quoted = "\n".join(f"> {line}".rstrip() for line in reasoning.split("\n"))
        parts += [f"> **{words.reasoning}**\n>\n{quoted}"]
    answer = answer_of(message.content).strip("\n")
    if answer:
        parts.append(answer)
    lines = end_line(record, words), figures_line(record, words) if with_figures else ""
    return [*parts, *(f"*{line}*" for line in lines if line)]
