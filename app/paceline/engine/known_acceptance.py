"""How often drafts were accepted, kept in the facts from one load of a pair to the next.

No text is in it. `known_costs.py` keeps what decodes cost.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from paceline.engine.control.priors import Priors

if TYPE_CHECKING:
    from paceline.engine.pair import LoadedPair


def recall_acceptance(pair: LoadedPair) -> None:
    """Let Auto begin with what it learned of these two models in earlier sessions."""
    kept = pair.facts.get(_fact_name(pair))
    if isinstance(kept, str):
        with contextlib.suppress(ValueError, RecursionError):
            pair.knowledge.priors = Priors.from_json(kept)


def recall_what_was_forgotten(pair: LoadedPair) -> None:
    """Let a reply whose acceptance will be kept begin with what was kept, not with a benchmark's.

    Else what it learns would replace what many sessions have.
    """
    if pair.has_forgotten:
        pair.has_forgotten = False
        pair.knowledge.forget()
        recall_acceptance(pair)


def keep_acceptance(pair: LoadedPair) -> None:
    """Keep how often drafts were accepted and what replies gained; no text is in it."""
    pair.knowledge.close_accounts()
    pair.facts.put(_fact_name(pair), pair.knowledge.priors.to_json())


def _fact_name(pair: LoadedPair) -> str:
    draft = pair.draft.model.facts_key if pair.draft else "none"
    return f"acceptance|{pair.target.model.facts_key}|{draft}"
