"""Workbenches for tests of drafters: a vocabulary of bytes, a plain sampler, and what differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fake_model import ByteVocabulary
from paceline.engine.draft.base import Workbench
from paceline.engine.sample.sampling import Sampler
from paceline.messages import SamplingParams


def workbench(**changes: Any) -> Workbench:
    """Return a workbench without a draft model and without ends, but for what is changed."""
    plain = Workbench(
        vocab=ByteVocabulary(),
        sampler=Sampler(SamplingParams(), 1),
        draft=None,
        eog=frozenset(),
        chunk=16,
    )
    return replace(plain, **changes)
