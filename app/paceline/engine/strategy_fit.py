"""What a strategy can do with the loaded models."""

from __future__ import annotations

from dataclasses import replace

from paceline.engine.drafters import off
from paceline.engine.drafters.strategy import Strategy
from paceline.engine.pair import LoadedPair
from paceline.errors import UserError


def fitting(strategy: Strategy, pair: LoadedPair) -> Strategy:
    """Return what can be done of a strategy: on some targets Auto decodes plainly.

    Raises:
        UserError: It speculates, and the target cannot take tokens back.
    """
    if not strategy.speculates or pair.target.model.can_rollback:
        return strategy
    if strategy.is_auto:
        return replace(strategy, drafters=((off.INFO, {}),))
    raise UserError(
        "cannot-rollback",
        "This target cannot take back rejected tokens, so nothing can be drafted for it.",
        "Use the strategy “off” with it.",
    )


def limits_of(strategy: Strategy, pair: LoadedPair) -> tuple[str, ...]:
    """Return what Auto has to do without, in sentences."""
    if not strategy.is_auto:
        return ()
    if not pair.target.model.can_rollback:
        return ("This target cannot take back rejected tokens, so Auto decodes plainly.",)
    if pair.draft is not None and not pair.draft.model.can_rollback:
        return (
            "This draft model cannot take back drafted tokens, so Auto uses the lookups alone.",
        )
    return ()
