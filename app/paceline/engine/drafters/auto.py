"""Auto: a portfolio of drafters, of which a controller takes in each step what pays.

The free drafters are asked in every step and scored whether their proposals are verified or not; a
draft model is asked where it is expected to gain more than it costs. `control` decides by measured
costs and acceptance. The settings here leave lengths open: short proposals come up as soon as
there is anything to go by, long ones end where nobody could want more.
"""

from __future__ import annotations

from typing import NoReturn

from paceline.engine.drafters import (
    draft_model,
    ngram_cache,
    ngram_mod,
    prompt_lookup,
    suffix,
)
from paceline.engine.drafters.base import DrafterInfo, Parameter, Settings, Workbench
from paceline.errors import UserError

LONGEST = 32
"""Tokens per draft at most, where nothing else is said."""

_OPEN: dict[str, dict[str, float]] = {
    "suffix": {"min_match": 1, "p_min": 0.2},
    "prompt-lookup": {"max_ngram": 3},
    "ngram-cache": {},
    "ngram-mod": {"n_match": 16, "n_min": 1},
    "draft": {"n_min": 0, "p_min": 0},
}
_LENGTHS = {"suffix": "max", "prompt-lookup": "n_pred"}


def portfolio(settings: Settings, *, has_draft_model: bool) -> list[tuple[DrafterInfo, Settings]]:
    """Return Auto's drafters with their settings: lookups, and the draft model where there is one.

    Args:
        settings: Auto's own.
        has_draft_model: Whether one is loaded that can take tokens back.
    """
    lookups = [module.INFO for module in (suffix, prompt_lookup, ngram_cache, ngram_mod)]
    infos = [*lookups, draft_model.INFO] if has_draft_model else lookups
    return [
        (info, {**_OPEN[info.id], _LENGTHS.get(info.id, "n_max"): settings["n_max"]})
        for info in infos
    ]


def _make(bench: Workbench, settings: Settings) -> NoReturn:
    """Refuse: Auto's drafters are made one by one.

    Raises:
        UserError: Always.
    """
    del bench, settings
    raise UserError(
        "bad-strategy", "“auto” is no drafter of its own.", "Use it as a strategy, by itself."
    )


INFO = DrafterInfo(
    id="auto",
    title="Auto",
    summary="Drafts with whatever pays in each step, by what was measured, and decodes plainly "
    "where nothing does.",
    family="auto",
    parameters=(
        Parameter(
            "n_max", "int", LONGEST, 1, 62, "Tokens ahead",
            "Tokens drafted per step at most; how many pay is decided anew in every step.",
        ),
    ),
    make=_make,
)  # fmt: skip
