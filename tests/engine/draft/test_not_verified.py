"""Proposals that nobody verified, and steps that a lookup sees late: neither changes a lookup.

Auto scores what it does not verify, and lets a lookup see several steps at once. So one that is
asked for nothing in every step must propose what one proposes that was left alone.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chain_members import bench
from paceline.engine.draft import registry
from paceline.engine.draft.base import Drafter, DrafterInfo, Extender, Settings

SHORT = {"n": 2, "m": 4, "n_match": 2, "n_min": 1, "min_match": 1}
LOOKUPS = [info for info in registry.available() if info.family == "lookup"]
TEXTS = st.lists(st.integers(0, 3), min_size=20, max_size=80)
STEPS = st.lists(st.integers(1, 5), min_size=1, max_size=30)


def settings_of(info: DrafterInfo) -> Settings:
    """Its defaults, but for short matches, so that it finds something all the time."""
    return {p.name: SHORT.get(p.name, p.default) for p in info.parameters}


CASES = [(info, settings_of(info)) for info in LOOKUPS] + [
    (info, settings)
    for info, settings in registry.portfolio({"n_max": 32}, model="", has_cache=True)
]  # fmt: skip


def propose(drafter: Drafter, n_max: int = 9) -> list[int]:
    return list(drafter.propose(n_max).tokens)


@pytest.mark.parametrize(("info", "settings"), CASES, ids=[info.id for info, _ in CASES])
@given(text=TEXTS, steps=STEPS, n_prompt=st.integers(1, 12))
def test_being_asked_for_nothing_changes_nothing(
    info: DrafterInfo, settings: Settings, text: list[int], steps: list[int], n_prompt: int
) -> None:
    asked, alone = info.make(bench(), settings), info.make(bench(), settings)
    seen, late = text[:n_prompt], text[:n_prompt]
    for drafter, history in ((asked, seen), (alone, late)):
        drafter.begin(history, n_prompt)
    for n in steps:
        propose(asked)
        if isinstance(asked, Extender):
            asked.extend([1, 2], 5)
        new = text[len(seen) : len(seen) + n]
        seen += new
        late += new
        asked.observe(None)
    alone.observe(None)
    assert propose(asked) == propose(alone)
    for drafter in (asked, alone):
        drafter.close()
