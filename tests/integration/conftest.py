"""Fixtures shared by the tests on real weights."""

from __future__ import annotations

import pytest

from paceline.engine.sameness import promise


@pytest.fixture(autouse=True)
def _short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare rows for a short time only: beside other tests, a look takes seconds."""
    monkeypatch.setattr(promise, "LIMIT_S", 4.0)
    monkeypatch.setattr(promise, "IDLE_S", 2.0)
