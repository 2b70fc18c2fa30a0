"""Faults of drafting, verifying and counting."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
    Fault(
        "no rollback after a rejection",
        (("rollback(min(n_held + 1 + verdict.n_accepted, ", "rollback(max(n_held + 99, "),),
        ("tests/engine/test_decoder.py",),
    ),
    Fault(
        "draft counters are off by one",
        (("self.tokens_accepted += n_accepted", "self.tokens_accepted += n_accepted + 1"),),
        ("tests/engine/test_stats.py",),
    ),
    Fault(
        "a stop string across tokens is missed",
        (("max(self._searched - len(stop) + 1, first)", "max(self._searched, first)"),),
        ("tests/engine/test_text.py",),
    ),
    Fault(
        "a draft of tokens that write the same becomes the last of them",
        (("                ids[equal] = found[-1]\n", ""),),
        ("tests/engine/test_translation.py",),
    ),
    Fault(
        "a draft may be one cell too long",
        (("self._max_tokens, target.n_ctx + 1)", "self._max_tokens, target.n_ctx + 2)"),),
        ("tests/engine/test_decoder.py",),
    ),
    Fault(
        "a template's own text counts as the stop text that was asked for",
        (("for stop in stops if stop in self._command.stop), ", "for stop in stops), "),),
        ("tests/engine/test_stops.py",),
    ),
    Fault(
        "n-grams are counted across a gap",
        (
            (
                "                tail = n_known = 0\n                continue\n",
                "                continue\n",
            ),
        ),
        ("tests/engine/test_gaps.py",),
    ),
)
