"""Words of a plot: its legend, about one bar, and about a whole reply. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from paceline.chat.auto_words import decision_words
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.state.figures import gain_of, speed_text
from paceline.gui.state.metrics import StepMetrics, StepWindow
from paceline.gui.state.sources import Sources
from paceline.messages import DraftCount, StepCommitted, TurnStats

_tr = translator("PlotWords")


def legend_html(drafters: Sequence[str], sources: Sources) -> str:
    """Return the drafters of a reply beside their colours, or the kinds of drafters."""
    theme = look.theme
    names: dict[str, list[str]] = {"draft": [], "lookup": []}
    for drafter_id in drafters:
        names[sources.kind(drafter_id)].append(sources.title(drafter_id))
    if not drafters:
        names = {"draft": [_tr("Draft model")], "lookup": [_tr("Lookup")]}
    return entries_html(
        (
            *((theme.accent, name) for name in dict.fromkeys(names["draft"])),
            *((theme.lookup, name) for name in dict.fromkeys(names["lookup"])),
            (theme.rejected, _tr("Wrong guesses")),
        )
    )


def entries_html(entries: Iterable[tuple[str, str]], sign: str = "■") -> str:
    """Return colours with their meanings; an entry does not break."""
    return " &nbsp; ".join(
        f'<span style="color:{colour}">{sign}</span>&nbsp;{unbroken(text)}'
        for colour, text in entries
    )


def unbroken(text: str) -> str:
    """Return a text that does not break, for a label with rich text."""
    return escape(text).replace(" ", "&nbsp;").replace("\u202f", "&nbsp;")


def step_words(number: int, step: StepCommitted, tokens_per_s: float, sources: Sources) -> str:
    """Describe a step, with a line per drafter.

    Args:
        number: Number of the verify step in the reply, from 1.
        step: The step.
        tokens_per_s: The speed there, averaged over preceding steps.
        sources: Titles of drafters.
    """
    lines = [_tr("Step {}, tokens committed: {}").format(number, len(step.tokens))]
    drafted = [count for count in step.drafted if count.n_drafted]
    lines += [_count_words(count, sources) for count in drafted]
    if not drafted:
        lines.append(_tr("Nothing was drafted"))
    if tokens_per_s > 0:
        lines.append(_tr("{} tokens per second").format(speed_text(tokens_per_s)))
    if step.decision is not None:
        lines.append(said(decision_words(step.decision)))
    return "\n".join(lines)


def _count_words(count: DraftCount, sources: Sources) -> str:
    words = _tr("{}: {} of {} guesses were right").format(
        sources.full_title(count.drafter), count.n_accepted, count.n_drafted
    )
    if count.n_discarded:
        words += _tr(", {} never judged").format(count.n_discarded)
    return words


def place_words(window: StepWindow, place: int) -> str:
    """Describe several steps that share a place."""
    first = window.first + place * window.per_place + 1
    return "\n".join(
        (
            _tr("Steps {} to {}").format(first, first + window.per_place - 1),
            _tr("{:.1f} of {:.1f} guesses per step were right").format(
                local(window.accepted[place]), local(window.drafted[place])
            ),
            _tr("{} tokens per second").format(speed_text(window.tokens_per_s[place])),
        )
    )


def spoken(
    metrics: StepMetrics, sources: Sources, stats: TurnStats | None, *, judges: bool = True
) -> str:
    """Describe a whole reply in one sentence for screen readers; a loss only if `judges`."""
    parts = [
        _tr("{}: {} of {} guesses were right").format(
            sources.full_title(drafter), tally.tokens_accepted, tally.tokens
        )
        for drafter, tally in metrics.tallies.items()
    ] or [_tr("Nothing was drafted")]
    speed = stats.tokens_per_s if stats is not None else metrics.tokens_per_s
    if speed:
        parts.append(_tr("{} tokens per second").format(speed_text(speed)))
    if gain := gain_of(stats, judges=judges).text:
        parts.append(_tr("{} as fast as alone").format(gain))
    return ", ".join(parts)
