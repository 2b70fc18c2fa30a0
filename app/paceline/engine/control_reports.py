"""When a turn tells what Auto knows, and what of it outlives the program."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from paceline.engine.control.priors import Priors
from paceline.messages import ControlReported

if TYPE_CHECKING:
    from paceline.engine.pair import LoadedPair

EVERY_S = 0.5
"""Seconds between two reports."""

_clock = time.monotonic


class ControlReports:
    """Emits reports now and then, and the last one when a turn ends.

    Args:
        report: Makes one; None where Auto is not in charge.
        emit: Takes it.
    """

    def __init__(
        self, report: Callable[[], ControlReported | None], emit: Callable[[ControlReported], None]
    ) -> None:
        self._report = report
        self._emit = emit
        self._due = 0.0

    def step(self) -> None:
        """Emit one if it is time; the first behind the first step."""
        now = _clock()
        if now >= self._due:
            self._due = now + EVERY_S
            self.tell()

    def tell(self) -> None:
        """Emit one now."""
        report = self._report()
        if report is not None:
            self._emit(report)


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
    """Keep how often drafts of each kind were accepted; no text is in it."""
    pair.facts.put(_fact_name(pair), pair.knowledge.priors.to_json())


def _fact_name(pair: LoadedPair) -> str:
    draft = pair.draft.model.facts_key if pair.draft else "none"
    return f"acceptance|{pair.target.model.facts_key}|{draft}"
