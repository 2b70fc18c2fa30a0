"""What Auto's measurements say about a pair: a draft model in vain, and drafts that cannot pay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paceline.chat.advice import CACHE_BYTES, MIN_JUDGED, findings
from paceline.figures import Outlook, WidthCost
from paceline.messages import ControlReported, ModelInfo

INFO = ModelInfo(
    "m.gguf", "", "llama", "", 1, 70 << 20, 2048, 2048, 100, 2, 1, 1, 0,
    can_rollback=True, has_template=True,
)  # fmt: skip
DRAFT = Outlook("draft", True, 0.001, (0.5,), (), 0.9, MIN_JUDGED, 900, -2.0)
FLAT = (1.0, 1.05, 1.1, 1.2)
DEAR = (1.0, 1.95, 2.9, 3.8)


def told(*drafters: Outlook, curve: tuple[float, ...] = FLAT) -> ControlReported:
    costs = tuple(WidthCost(n, 0.01 * t, 5) for n, t in enumerate(curve, 1))
    return ControlReported("t", 9, 0.01, 1.0, 0.0, costs, drafters)


def codes(report: ControlReported, *, draft: ModelInfo | None = INFO, target: ModelInfo = INFO):  # type: ignore[no-untyped-def]
    found = findings(report, models={"draft"}, target=target, draft=draft)
    return [finding.code for finding in found]


def test_a_draft_model_that_has_not_paid_is_named_with_its_memory() -> None:
    draft = replace(INFO, size_bytes=123)
    (found,) = findings(told(DRAFT), models={"draft"}, target=INFO, draft=draft)
    assert (found.code, found.drafter) == ("draft-does-not-pay", "draft")
    assert (found.n_judged, found.saved_s, found.draft_bytes) == (MIN_JUDGED, -2.0, 123)


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        ({}, True),
        ({"n_judged": MIN_JUDGED - 1}, False),
        ({"saved_s": 5.0, "gain": 1.02}, True),
        ({"saved_s": 5.0, "gain": 1.5}, False),
        ({"saved_s": 5.0, "gain": None}, False),
        ({"saved_s": 0.0, "gain": None}, True),
        ({"drafter": "suffix"}, False),
    ],
)
def test_it_takes_many_tokens_and_no_gain(changes: dict[str, object], is_found: bool) -> None:
    outlook = replace(DRAFT, **changes)  # type: ignore[arg-type]
    assert codes(told(outlook)) == (["draft-does-not-pay"] if is_found else [])
    assert codes(told(outlook), draft=None) == []


def test_steps_that_cost_like_their_tokens_cannot_pay() -> None:
    assert codes(told(curve=DEAR)) == ["cannot-pay-cached"]
    assert codes(told(DRAFT, curve=DEAR)) == ["cannot-pay-cached"]  # one thing at a time
    big = replace(INFO, size_bytes=CACHE_BYTES + 1)
    assert codes(told(curve=DEAR), target=big) == ["cannot-pay"]
    assert codes(told(curve=DEAR), target=replace(INFO, n_gpu_layers=4)) == ["cannot-pay"]
    # Many experts: expensive from the second token on, whatever the cache.
    assert codes(told(curve=(1.0, 3.05, 3.5, 3.9))) == ["cannot-pay"]


def test_what_is_not_measured_proves_nothing() -> None:
    assert codes(told(curve=DEAR[:3])) == []
    assert codes(told(curve=(1.0, 1.8, 2.9, 3.8))) == []
    assert codes(told(curve=(1.0, 1.9, 2.9, 3.3))) == []
