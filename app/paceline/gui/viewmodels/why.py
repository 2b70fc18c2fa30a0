"""What the section “Why” shows: costs of steps, what is known of each drafter, and the balance.

Pure functions over a `ControlReported`; all texts are ready to be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.engine.control.classes import PLACE_OF
from paceline.gui.viewmodels.figures import duration_text, percent_text, ratio_text, speed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.figures import Outlook, WidthCost
    from paceline.gui.viewmodels.sources import Kind, Sources
    from paceline.messages import ControlReported

MOST_ROWS = 10
_USUAL_WIDTHS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17)
"""Of a longer table: where kernels change their ways."""
FULL_WEIGHT = 8.0
"""Tokens from which on a rate is believed as much as it can be; fewer are drawn paler."""
_STEADY = 0.07
"""A pace that is nearer to 1 is not worth a word."""


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a step of one width costs; `share` is its part of the dearest one shown, 0..1."""

    width: int
    time: str
    ratio: str
    share: float
    is_measured: bool
    words: str


@dataclass(frozen=True, slots=True)
class RateBar:
    """A share of accepted tokens, 0..1, and how well founded it is, 0..1."""

    label: str
    share: float
    belief: float
    words: str


@dataclass(frozen=True, slots=True)
class DrafterView:
    """One drafter.

    Attributes:
        drafter_id: Its id.
        title: What it is called.
        kind: Its colour.
        is_open: Whether it is asked at present.
        state: The same in a word.
        facts: What it did so far, and why it pauses.
        places: Acceptance by place in the draft, later places in groups.
        classes: Acceptance by confidence.
    """

    drafter_id: str
    title: str
    kind: Kind
    is_open: bool
    state: str
    facts: str
    places: tuple[RateBar, ...]
    classes: tuple[RateBar, ...]


@dataclass(frozen=True, slots=True)
class WhyView:
    """The whole section."""

    costs: tuple[CostRow, ...]
    drafters: tuple[DrafterView, ...]
    unused: str
    balance: tuple[str, ...]


def why(report: ControlReported, sources: Sources) -> WhyView:
    """Return what is shown of a report."""
    used = [o for o in report.drafters if o.n_judged or not o.is_open]
    idle = [sources.title(o.drafter) for o in report.drafters if o not in used]
    used.sort(key=lambda outlook: -outlook.n_judged)
    unused = _tr("Not used so far: {}.").format(", ".join(idle)) if idle else ""
    return WhyView(
        cost_rows(report.costs),
        tuple(_drafter_view(outlook, sources) for outlook in used),
        unused,
        tuple(_balance(report)),
    )


def cost_rows(costs: Sequence[WidthCost]) -> tuple[CostRow, ...]:
    """Return the costs that are shown, from the smallest width on; none where nothing is known."""
    costs = sorted(costs, key=lambda cost: cost.width)
    if len(costs) > MOST_ROWS:
        usual = [cost for cost in costs[:-1] if cost.width in _USUAL_WIDTHS]
        costs = usual[: MOST_ROWS - 1] + costs[-1:]
    one = next((cost.seconds for cost in costs if cost.width == 1), 0.0)
    dearest = max((cost.seconds for cost in costs), default=0.0)
    return tuple(_cost_row(cost, one, dearest) for cost in costs) if dearest > 0 else ()


def _cost_row(cost: WidthCost, one: float, dearest: float) -> CostRow:
    time = duration_text(cost.seconds)
    ratio = ratio_text(cost.seconds / one) if one else ""
    facts = _tr("1 token: {}") if cost.width == 1 else _tr("{n} tokens: {}")
    words = facts.format(time, n=cost.width)
    if ratio and cost.width > 1:
        words = _tr("{}, {} of a plain step").format(words, ratio)
    basis = _tr("measured") if cost.n_samples else _tr("derived from the widths beside it")
    return CostRow(
        cost.width,
        time,
        ratio,
        cost.seconds / dearest,
        cost.n_samples > 0,
        _tr("{} ({})").format(words, basis),
    )


def _drafter_view(outlook: Outlook, sources: Sources) -> DrafterView:
    places = _place_bars(outlook)
    classes, lower = [], 0.0
    for rate in outlook.by_confidence:
        words = _tr("confidence {:.2f} to {:.2f}: {} accepted").format(
            lower, rate.upper, percent_text(rate.share)
        )
        classes.append(
            RateBar(f"{rate.upper:.2g}", rate.share, min(rate.weight / FULL_WEIGHT, 1.0), words)
        )
        lower = rate.upper
    return DrafterView(
        outlook.drafter,
        sources.title(outlook.drafter),
        sources.kind(outlook.drafter),
        outlook.is_open,
        _tr("asked") if outlook.is_open else _tr("pauses"),
        _facts(outlook),
        places,
        tuple(classes),
    )


def _place_bars(outlook: Outlook) -> tuple[RateBar, ...]:
    bars, reach = [], float(outlook.n_judged)
    for group, share in enumerate(outlook.acceptance):
        first, n_places = PLACE_OF.index(group) + 1, PLACE_OF.count(group)
        last = first + n_places - 1
        if last == len(PLACE_OF):
            label = f"{first}+"
            words = _tr("place {first} and later: {} accepted, if all before were")
        elif n_places > 1:
            label = f"{first}–{last}"
            words = _tr("places {first} to {last}: {} accepted, if all before were")
        else:
            label = str(first)
            words = _tr("place {first}: {} accepted, if all before were")
        words = words.format(percent_text(share), first=first, last=last)
        # How many tokens got as far is not told; at the first place of the group it is no more.
        bars.append(RateBar(label, share, min(reach / FULL_WEIGHT, 1.0), words))
        reach *= share**n_places
    return tuple(bars)


def _facts(outlook: Outlook) -> str:
    parts = [_tr("{:,} of {:,} tokens accepted").format(outlook.n_accepted, outlook.n_judged)]
    if outlook.seconds_per_token > 0:
        per_token = duration_text(outlook.seconds_per_token)
        parts.append(_tr("{} per drafted token").format(per_token))
    parts.append(_saved(outlook.saved_s))
    words = " · ".join(parts)
    if outlook.is_open:
        return words
    if outlook.gain is not None and outlook.gain < 1:
        pause = _tr(
            "It pauses because its steps gave {} of plain decoding's speed; it is tried again."
        )
        return f"{words}. {pause.format(ratio_text(outlook.gain))}"
    return f"{words}. " + _tr("It pauses because it did not pay of late; it is tried again.")


def _saved(seconds: float) -> str:
    words = _tr("saved {}") if seconds >= 0 else _tr("lost {}")
    return words.format(duration_text(abs(seconds)))


def _balance(report: ControlReported) -> list[str]:
    rows = []
    if report.plain_s > 0:
        rows.append(
            _tr("Plain decoding would give {} tokens/s now: {} per token.").format(
                speed_text(1 / report.plain_s), duration_text(report.plain_s)
            )
        )
    if abs(report.pace - 1) > _STEADY and report.pace > 0:
        rows.append(
            _tr("The machine is at {} of the speed that was measured first.").format(
                percent_text(report.pace)
            )
        )
    saved = sum(outlook.saved_s for outlook in report.drafters)
    if any(outlook.n_judged for outlook in report.drafters):
        words = (
            _tr("Drafting has saved {} with these models so far.")
            if saved >= 0
            else _tr("Drafting has cost {} with these models so far.")
        )
        rows.append(words.format(duration_text(abs(saved))))
    words = (
        _tr("Drafts may still lose {} before this reply is later than promised.")
        if report.slack_s > 0
        else _tr("Drafts may lose nothing more in this reply until they have won it back.")
    )
    return [*rows, words.format(duration_text(report.slack_s))]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Why", text)
