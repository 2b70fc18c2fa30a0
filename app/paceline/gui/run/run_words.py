"""A run record in words and figures. Pure functions.

Unknown facts are left out, so that a failed or interrupted reply shows the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QDateTime, QLocale

from paceline.figures import SpeedupVerdict
from paceline.gui.kit.card import Row
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import fields_in_words, local, translator, value_in_words
from paceline.gui.state.figures import (
    gain_of,
    kept_words,
    kernel_words,
    percent_text,
    seconds_text,
    speed_of,
    speed_text,
)
from paceline.gui.state.metrics import TimeShares
from paceline.messages import TurnStats
from paceline.params import SamplingParams
from paceline.run_record import RunRecord

_tr = translator("RunDetails")


@dataclass(frozen=True, slots=True)
class Figure:
    """A large figure with its meaning; `value` is empty where it is unknown."""

    caption: str
    value: str
    unit: str = ""
    tone: SpeedupVerdict | None = None


def figures(record: RunRecord, *, judges: bool = True) -> tuple[Figure, ...]:
    """Return the large figures of a run; a loss only if `judges`."""
    speed, rate, stats = speed_of(record), acceptance_of(record), record.stats
    gain = gain_of(stats, judges=judges)
    plain = stats.plain_tokens_per_s if stats is not None and gain.plain else None
    first = record.first_token_s
    if stats is not None:
        n_tokens = stats.n_generated
    else:
        n_tokens = sum(len(step.tokens) for step in record.last_part)
    return (
        Figure(_tr("Speed"), speed_text(speed) if speed else "", _tr("t/s")),
        Figure(_tr("Alone"), f"≈ {speed_text(plain)}" if plain else "", _tr("t/s")),
        Figure(_tr("Ratio"), gain.text, tone=gain.tone if gain.text else None),
        Figure(_tr("Guesses that were right"), percent_text(rate) if rate is not None else ""),
        Figure(_tr("First token"), seconds_text(first) if first is not None else "", _tr("s")),
        Figure(_tr("Tokens"), f"{local(n_tokens):,}" if n_tokens else ""),
    )


def acceptance_of(record: RunRecord) -> float | None:
    """Return the accepted share of the judged tokens, 0..1."""
    if record.stats is not None:
        return record.stats.acceptance_rate
    counts = [count for step in record.last_part for count in step.drafted]
    judged = sum(count.n_drafted - count.n_discarded for count in counts)
    return sum(count.n_accepted for count in counts) / judged if judged > 0 else None


def figures_words(record: RunRecord) -> str:
    """Return the known figures in one line that breaks between them."""
    return " · ".join(
        f"{figure.caption} {figure.value} {figure.unit}".rstrip().replace(" ", "\N{NO-BREAK SPACE}")
        for figure in figures(record)
        if figure.value
    )


def plain_words(record: RunRecord, *, judges: bool = True) -> str:
    """Return the estimated time of plain decoding, and how it was estimated.

    The text is empty where it is unknown, and for a loss unless `judges`.
    """
    stats = record.stats
    if stats is None or (stats.verdict == "loss" and not judges):
        return ""
    if not stats.n_drafted:
        return _tr("This reply was written without drafts: one token per step.")
    low, high = stats.plain_low, stats.plain_high
    if not (stats.speedup and low and high):
        return _tr("How fast the model would have been alone was not measured.")
    n, n_plain = stats.n_generated, sum(step.plain for step in record.last_part)
    words = _tr(
        "Alone, the model would have taken {} to {} s for these tokens; this took {} s."
    ).format(seconds_text(n / high), seconds_text(n / low), seconds_text(stats.decode_s))
    if n_plain == 1:
        source = _tr(
            "That is estimated from the one step of this reply without a draft, and from what "
            "wider steps cost here."
        )
    elif n_plain:
        source = _tr(
            "That is estimated from {} steps of this reply without a draft, and from what wider "
            "steps cost here."
        ).format(n_plain)
    else:
        source = _tr("That is estimated from what wider steps cost here.")
    words += " " + source
    if stats.machine_busy:
        words += " " + _tr("Other programs kept the machine busy, so speeds scatter.")
    return words


def ending_words(record: RunRecord) -> str:
    """Return how the reply ended, or empty if it failed."""
    words = {
        "eog": _tr("The model ended the reply."),
        "stop": _tr("A stop text ended the reply."),
        "length": _tr("The token limit ended the reply."),
        "context": _tr("The context was full."),
        "cancelled": _tr("You stopped the reply."),
    }
    return words.get(record.reason or "", "")


def times(record: RunRecord) -> TimeShares:
    """Return the parts of the time, prefill included; from the steps without final figures."""
    steps, stats = record.last_part, record.stats
    verify = sum(step.verify_s for step in steps)
    draft = sum(step.draft_s for step in steps)
    sample = sum(step.sample_s for step in steps)
    decode = stats.decode_s if stats is not None else sum(step.total_s for step in steps)
    rest = max(decode - verify - draft - sample, 0.0)
    prefill = stats.prefill_s if stats is not None else 0.0
    return TimeShares(verify, draft, sample, rest, prefill)


def heading(record: RunRecord) -> str:
    """Return the time and the manner of the run in one line."""
    parts = [record.strategy or record.asked_strategy]
    if record.n_parts > 1:
        parts.append(_tr("part {} of the reply").format(record.n_parts))
    if record.started_s:
        when = QDateTime.fromSecsSinceEpoch(int(record.started_s))
        parts.insert(0, QLocale().toString(when, _tr("d MMM yyyy HH:mm")))
    if record.error is None:  # the error is shown above, in full
        parts.append(ending_words(record))
    return " · ".join(filter(None, parts))


def settings_rows(record: RunRecord) -> tuple[Row, ...]:
    """Return the settings of the reply."""
    strategy = record.asked_strategy or record.strategy
    if record.strategy and record.strategy != strategy:
        strategy = _tr("{} at first, {} at the end").format(strategy, record.strategy)
    rows = [(_tr("Strategy"), strategy), (_tr("Sampling"), sampling_words(record.sampling))]
    if record.seed is not None:
        rows.append((_tr("Seed"), str(record.seed)))
    if record.stats is not None and record.stats.kept is not None:
        rows.append((_tr("Earlier reply"), kept_words(record.stats.kept)))
    if record.max_tokens:
        rows.append((_tr("Tokens at most"), f"{local(record.max_tokens):,}"))
    if record.prompting.template:
        rows.append((_tr("Chat template"), _tr("your own")))
    rows += [
        (_tr("Reasoning"), record.prompting.think),
        (_tr("Stop texts"), ", ".join(repr(text) for text in record.stop)),
        (_tr("JSON schema"), record.sampling.json_schema),
        (_tr("Grammar"), record.sampling.grammar),
    ]
    if record.n_cut:
        one, more = _tr("1 old message was left out"), _tr("{} old messages were left out")
        rows.append((_tr("Context"), one if record.n_cut == 1 else more.format(record.n_cut)))
    rows += _prompt_rows(record)
    versions = [
        text.format(version)
        for text, version in (
            (_tr("Paceline {}"), record.app_version),
            (_tr("llama-cpp-python {}"), record.engine_version),
        )
        if version
    ]
    rows.append((_tr("Versions"), ", ".join(versions)))
    return tuple(row for row in rows if row[1])


def _prompt_rows(record: RunRecord) -> list[Row]:
    stats = record.stats
    if stats is None:
        return []
    words = {
        "context": _tr("{:,} tokens, {:,} of them still in the context"),
        "memory": _tr("{:,} tokens, {:,} of them kept in memory"),
        "disk": _tr("{:,} tokens, {:,} of them kept on disk"),
    }[stats.warm]
    rows = [(_tr("Prompt"), words.format(local(stats.n_prompt), local(stats.n_reused)))]
    if stats.reread is not None:
        rows.append((_tr("Read again"), said(stats.reread.words)))
    if stats.kernels:
        rows.append((_tr("Kernels"), kernel_words(stats.kernels)))
    rows.append((_tr("Logits"), logit_words(stats)))
    return rows


def logit_words(stats: TurnStats) -> str:
    """Return whether the text can depend on drafts, with the evidence."""
    if stats.batch_invariant is None:
        return _tr("not known yet whether they depend on the batch width")
    if not stats.batch_invariant:
        most = stats.logit_difference
        words = _tr("they depend on the batch width, so near-ties may fall either way")
        return words if most is None else _tr("{} (up to {:.2g} apart)").format(words, local(most))
    if stats.any_context:
        return _tr("the same text with any drafts, whatever was in the context before")
    return _tr("checked: the same text with any drafts")


_TRUNCATION = ("top_k", "top_p", "min_p")
"""Settings without effect where the most likely token is always taken"""


def sampling_words(sampling: SamplingParams) -> str:
    """Return the settings that are not off."""
    parts = []
    for name, parameter in fields_in_words(SamplingParams).items():
        value = getattr(sampling, name)
        is_idle = sampling.temperature == 0 and name in _TRUNCATION
        if parameter.is_number and value != parameter.off and not is_idle:
            parts.append(value_in_words(parameter, value))
    if sampling.temperature == 0:
        parts[0] = _tr("{} (the likeliest token)").format(parts[0])
    if sampling.logit_bias:
        parts.append(_tr("{} logit biases").format(len(sampling.logit_bias)))
    return ", ".join(parts)
