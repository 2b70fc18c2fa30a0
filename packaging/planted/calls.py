"""Faults of calls of tools."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
    Fault(
        "a mark in a fence of code begins a call",
        (("fence = None if self._form.is_framed else _FENCE", "fence = None and _FENCE"),),
        ("tests/engine/calls/test_reader.py",),
    ),
    Fault(
        "a mark in a reasoning begins a call",
        (
            (
                "self._marks = MarkFinder(form) if form.is_framed else None",
                "self._marks = MarkFinder(form)",
            ),
        ),
        ("tests/engine/calls/test_waiting.py",),
    ),
    Fault(
        "objects of tools stay open",
        (('found["additionalProperties"] = False', 'found["additionalProperties"] = True'),),
        ("tests/engine/calls/test_tool_schemas.py",),
    ),
)
