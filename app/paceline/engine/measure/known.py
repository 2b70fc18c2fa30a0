"""Costs and acceptance of a pair, kept in the facts from one load to the next.

The target's table is stored under its own key, which names model, build, threads and cache types,
and under the batch widths in use; the draft model's costs are stored under its key alone.
Acceptance is stored under the keys of both models and the chosen translation of vocabularies. None
of it contains anything of a text.
"""

from __future__ import annotations

import contextlib
import json
from typing import NamedTuple

from paceline.engine.auto.acceptance import rates_from_json, rates_to_json
from paceline.engine.auto.costs import DraftCosts, VerifyCosts
from paceline.engine.draft.heads import HEAD_KINDS
from paceline.engine.facts import Facts
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.model.translation import TranslatedContext
from paceline.engine.pair import LoadedPair
from paceline.params import DRAFT, Translating

USUAL_CONTEXT = 1024
"""Tokens in the context of a typical chat, for which speeds are reported."""
MIN_JUDGED = 100
"""Minimum number of drafted tokens for a reliable acceptance."""
BACKLOG_TOKENS = 32
"""Tokens of the batch that measures what catching up costs the draft model."""
_MAX_S = 1e3  # no draft model takes longer for a token, so the file must be damaged


def recall_costs(pair: LoadedPair) -> bool:
    """Give the pair what was measured in an earlier load; return False if there is nothing.

    A text that cannot be read counts as nothing.
    """
    text = pair.facts.get(_target_key(pair.target))
    if not isinstance(text, str):
        return False
    try:
        pair.knowledge.costs = VerifyCosts.from_json(text)
    except (ValueError, RecursionError):
        return False
    if pair.draft:
        seconds = _parse(pair.facts.get(_draft_key(pair.draft)))
        if seconds:
            add_draft_costs(pair.knowledge.draft_costs[pair.draft.model.drafter], *seconds)
    return True


def keep_costs(pair: LoadedPair) -> None:
    """Store the known costs, measured or learned from real steps."""
    costs = pair.knowledge.costs
    if costs.plain is not None:
        _put(pair.facts, _target_key(pair.target), costs.to_json())
    if pair.draft:
        drafting = pair.knowledge.draft_costs[pair.draft.model.drafter]
        if drafting.per_token is not None:
            seconds = [drafting.per_token, drafting.per_backlog or 0.0]
            _put(pair.facts, _draft_key(pair.draft), json.dumps(seconds))


def _put(facts: Facts, key: str, text: str) -> None:
    if facts.get(key) != text:
        facts.put(key, text)


def add_draft_costs(costs: DraftCosts, token_s: float, backlog_s: float) -> None:
    """Count the seconds of one token alone and, if above 0, of one more in a batch."""
    costs.add(1, token_s)
    if backlog_s > 0:
        costs.add(BACKLOG_TOKENS, token_s + backlog_s * (BACKLOG_TOKENS - 1), BACKLOG_TOKENS)


def _target_key(target: CachedContext) -> str:
    key = f"verify_costs|{target.model.facts_key}"
    if target.widths != BatchWidths():
        key += f"|w{target.widths}"
    return key


def _draft_key(draft: CachedContext) -> str:
    return f"draft_costs|{draft.model.facts_key}"


def _parse(fact: object) -> tuple[float, float] | None:
    try:
        token_s, backlog_s = (float(part) for part in json.loads(str(fact)))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    is_sound = 0 < token_s < _MAX_S and 0 <= backlog_s < _MAX_S
    return (token_s, backlog_s) if is_sound else None


def recall_acceptance(pair: LoadedPair) -> None:
    """Give Auto what it learned of these two models in earlier sessions."""
    kept = pair.facts.get(_acceptance_key(pair))
    if isinstance(kept, str):
        with contextlib.suppress(ValueError, RecursionError):
            pair.knowledge.rates.update(rates_from_json(kept))


def recall_what_was_forgotten(pair: LoadedPair) -> None:
    """Restore the kept acceptance before a reply whose acceptance will be kept.

    After a benchmark the reply's few tokens would otherwise replace what many sessions have
    learned.
    """
    if pair.has_forgotten:
        pair.has_forgotten = False
        pair.knowledge.forget()
        recall_acceptance(pair)


def keep_acceptance(pair: LoadedPair) -> None:
    """Store acceptance and the gains of replies; they contain nothing of a text."""
    pair.facts.put(_acceptance_key(pair), rates_to_json(pair.knowledge.rates))


def _acceptance_key(pair: LoadedPair) -> str:
    draft = pair.draft.model.facts_key if pair.draft else "none"
    key = f"acceptance|{pair.target.model.facts_key}|{draft}"
    if isinstance(pair.draft, TranslatedContext) and pair.draft.translation.how != Translating():
        key += f"|{pair.draft.translation.how}"
    return key


class MeasuredPair(NamedTuple):
    """Figures of a pair measured by loads and replies here, at the usual context length.

    Attributes:
        plain_s: Seconds of a plain step.
        steps: Cost of steps with 0, 1, 2… drafted tokens, in plain steps.
        draft_s: Seconds of a drafted token, or None if not known.
        acceptance: Share of drafted tokens that were accepted, or None with too few tokens.
    """

    plain_s: float
    steps: tuple[float, ...]
    draft_s: float | None = None
    acceptance: float | None = None


def measured_before(facts: Facts, target: str, draft: str = "") -> MeasuredPair | None:
    """Return what is known of two models, or None if nothing is known of the target.

    Of several builds, settings and thread counts the fastest counts.

    Args:
        facts: Facts of earlier loads.
        target: The target's `ModelInfo.file_id`.
        draft: The draft model's `ModelInfo.file_id`, or that of a head's file; empty for none.
    """
    tables = []
    for text in facts.below(f"verify_costs|{target}|").values():
        with contextlib.suppress(ValueError, RecursionError):
            tables.append(VerifyCosts.from_json(str(text)))
    found = [(s, costs) for costs in tables if (s := costs.seconds(1, USUAL_CONTEXT))]
    if not found:
        return None
    plain_s, costs = min(found, key=lambda each: each[0])
    measured = MeasuredPair(plain_s, tuple(costs.ratios(USUAL_CONTEXT)))
    if not draft:
        return measured
    drafting = [_parse(fact) for fact in facts.below(f"draft_costs|{draft}|").values()]
    draft_s = min((seconds[0] for seconds in drafting if seconds), default=None)
    return measured._replace(draft_s=draft_s, acceptance=_accepted(facts, target, draft))


def _accepted(facts: Facts, target: str, draft: str) -> float | None:
    names = {DRAFT, *(kind.drafts_as for kind in HEAD_KINDS)}
    n_judged = n_accepted = 0
    for key, text in facts.below(f"acceptance|{target}|").items():
        if f"|{draft}|" not in key:
            continue
        with contextlib.suppress(ValueError, RecursionError):
            rates = rates_from_json(str(text))
            for each in (rates[name] for name in names & rates.keys()):  # lookups have rates, too
                n_judged += each.n_judged
                n_accepted += each.n_accepted
    return n_accepted / n_judged if n_judged >= MIN_JUDGED else None
