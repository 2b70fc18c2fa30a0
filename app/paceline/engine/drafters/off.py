"""Plain decoding: the drafter that proposes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.drafters.base import NO_DRAFT, Draft, DrafterInfo, Settings, Workbench


class Off:
    """Never drafts."""

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        del bench, settings

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Do nothing."""

    def propose(self, n_max: int) -> Draft:
        """Propose nothing."""
        del n_max
        return NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


INFO = DrafterInfo(
    id="off",
    title="Off",
    summary="Plain decoding, one token per step: the yardstick for everything else.",
    family="off",
    parameters=(),
    make=Off,
)
