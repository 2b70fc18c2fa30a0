"""A chat as Markdown, and the texts of exported files beside the chat itself.

The caller may give translated ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import localtime, strftime
from types import MappingProxyType

from paceline.chat.prompt import with_attachments
from paceline.chat.reasoning import answer_of, reasoning_of
from paceline.chat.reply import known_of
from paceline.chat.syntax.open_blocks import closed
from paceline.content import text_of
from paceline.conversation import Conversation, Message, heading_of
from paceline.engine.draft.heads import usable_heads
from paceline.figures import TokenTrace
from paceline.messages import SOURCE_TARGET, FinishReason, StepCommitted
from paceline.names import visible
from paceline.params import DRAFT
from paceline.run_record import RunRecord
from paceline.sizes import percent

_MODEL_FAMILY = (DRAFT, *(kind.id for kind in usable_heads()))


@dataclass(frozen=True, slots=True)
class Words:
    """Texts with placeholders in braces.

    Attributes:
        you: Heading of a question.
        reply: Heading of a reply.
        system_prompt: Heading of the system prompt.
        reasoning: Heading of the model's reasoning.
        attached: An attached file: its name and its size.
        exported: Version that wrote the file, and date.
        failed: Why a reply failed.
        cuts: Why a reply ends before its end, with the most tokens that it was allowed.
        edited: That its user wrote the text of a reply.
        version: Which other version of a reply stands beside the shown one.
        part: Which part of a continued reply the figures are of.
        speed: Speed of a reply.
        plain: Speed without speculation.
        accepted: Share and number of the drafted tokens that were accepted.
        first_token: Seconds until the first token.
        strategy: Which strategy drafted, for which model.
        by_target: A token that the target chose, in which step.
        by_drafter: A drafted token: its drafter, its place, the draft's length and the step.
        confidence: The drafter's confidence.
        legend: Explanation of the colours.
        legend_target: Explanation of text without a colour.
        local: Formats a number with a language's separators.
    """

    you: str = "You"
    reply: str = "Reply"
    system_prompt: str = "System prompt"
    reasoning: str = "Reasoning"
    attached: str = "{name} ({size})"
    exported: str = "Exported by Paceline {version} on {date}"
    failed: str = "This reply failed: {why}"
    cuts: Mapping[FinishReason, str] = field(
        default_factory=lambda: MappingProxyType(
            {
                "length": "Cut off at the limit of {} tokens.",
                "context": "Cut off: the context is full.",
                "cancelled": "Stopped before its end.",
            }
        )
    )
    edited: str = "Edited by hand."
    version: str = "Beside version {other} of {n}"
    part: str = "part {} of the reply"
    speed: str = "{} tokens/s"
    plain: str = "alone about {}"
    accepted: str = "{share:.0f} % of {n} guesses were right"
    first_token: str = "first token {:.2f} s"
    strategy: str = "{strategy} for {model}"
    by_target: str = "the model's own · step {step}"
    by_drafter: str = "guess of {who} · {place} of {total} · step {step}"
    confidence: str = "confidence {:.2f}"
    legend: str = "Who wrote ahead:"
    legend_target: str = "the model itself"
    local: Callable[[float], object] = float


@dataclass(frozen=True, slots=True)
class Sourcing:
    """The drafters' names, and which of them are models.

    Attributes:
        titles: Names by the drafter's id; a drafter without one is called by its id.
        models: Ids of drafters that are models; all others are lookups.
    """

    titles: Mapping[str, str]
    models: frozenset[str] = frozenset(_MODEL_FAMILY)

    def title(self, drafter: str) -> str:
        """Return a source's name."""
        return self.titles.get(drafter, drafter)


def end_line(record: RunRecord | None, words: Words) -> str:
    """Return one line about why a reply has no proper end; empty where it has, or none is known."""
    if record is None:
        return ""
    if record.error is not None:
        return words.failed.format(why=record.error.message)
    if record.edited:
        return words.edited
    return words.cuts.get(record.reason or "eog", "").format(f"{record.max_tokens:,}")


def figures_line(record: RunRecord | None, words: Words) -> str:
    """Return one line about how a reply was made; empty where nothing is known."""
    if record is None or record.stats is None:
        return ""
    stats = record.stats
    parts = [words.part.format(record.n_parts)] if record.n_parts > 1 else []
    parts.append(words.speed.format(_speed(stats.tokens_per_s, words)))
    if stats.verdict == "even":
        parts.append("≈ 1×")
    elif stats.verdict is not None and stats.speedup is not None:
        parts.append(f"{words.local(stats.speedup.ratio):.1f}×")
        parts.append(words.plain.format(_speed(stats.plain_tokens_per_s or 0.0, words)))
    if stats.acceptance_rate is not None:
        n_judged = stats.n_drafted - stats.n_discarded
        parts.append(words.accepted.format(share=percent(stats.acceptance_rate), n=n_judged))
    if record.first_token_s is not None:
        parts.append(words.first_token.format(words.local(record.first_token_s)))
    model = record.target.name or record.target.file if record.target is not None else ""
    if model:
        parts.append(words.strategy.format(strategy=record.strategy, model=visible(model)))
    elif record.strategy:
        parts.append(record.strategy)
    return " · ".join(parts)


def token_line(trace: TokenTrace, step: StepCommitted, words: Words, sourcing: Sourcing) -> str:
    """Return one line about a committed token."""
    if trace.source == SOURCE_TARGET:
        return words.by_target.format(step=step.step)
    total = sum(count.n_drafted for count in step.drafted)
    line = words.by_drafter.format(
        who=sourcing.title(trace.source),
        place=trace.position + 1,
        total=max(total, trace.position + 1),
        step=step.step,
    )
    if trace.confidence is not None:
        line += " · " + words.confidence.format(words.local(trace.confidence))
    return line


def date_text(seconds: float) -> str:
    """Return a time as a date; empty for 0, which stands for unknown."""
    if seconds <= 0:
        return ""
    try:
        return strftime("%Y-%m-%d %H:%M", localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return ""


def _speed(tokens_per_s: float, words: Words) -> str:
    return f"{words.local(tokens_per_s):.{0 if tokens_per_s >= 100 else 1}f}"


def to_markdown(
    conversation: Conversation,
    records: Mapping[str, RunRecord] | None = None,
    *,
    words: Words | None = None,
    with_figures: bool = True,
) -> str:
    """Return the shown path as Markdown.

    Messages stay as they were written, so code stays code; a block that one of them leaves open is
    closed, or it would take in all that follows. Attached files stand in fences of their own, as
    the model got them. Reasoning is quoted, since Markdown cannot fold.

    Args:
        conversation: The conversation.
        records: Records of its replies, by message id; steps are not needed.
        words: Headings in another language.
        with_figures: Whether a line below each reply says how fast it was, and why.
    """
    records = records or {}
    words = words or Words()
    path = conversation.path()
    parts = [f"# {visible(heading_of(conversation)) or words.reply}"]
    about = date_text(conversation.created_s)
    if about:
        parts.append(f"*{about}*")
    system_prompt = system_prompt_of(path, records)
    if system_prompt:
        parts += [f"## {words.system_prompt}", closed(system_prompt)]
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
        return [f"## {words.you}", closed(text_of(with_attachments(message)))]
    parts = [f"## {words.reply}"]
    reasoning = reasoning_of(message.text, known_of(record)).strip("\n")
    if reasoning:
        quoted = "\n".join(f"> {line}".rstrip() for line in reasoning.split("\n"))
        parts += [f"> **{words.reasoning}**\n>\n{quoted}"]
    answer = answer_of(message.text, known_of(record)).strip("\n")
    if answer:
        parts.append(closed(answer))
    lines = end_line(record, words), figures_line(record, words) if with_figures else ""
    return [*parts, *(f"*{line}*" for line in lines if line)]
