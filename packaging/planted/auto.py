"""Faults of the decisions of Auto."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
    Fault(
        "a change of strategy renews Auto's allowance",
        (("ledger=self._meter.ledger,", "ledger=None,"),),
        (
            "tests/engine/test_auto_chain.py::test_a_strategy_in_between_does_not_renew_the_allowance",
        ),
    ),
    Fault(
        "wide steps are learned as of an empty context",
        (("costs.add(width, step.n_ctx,", "costs.add(width, 0,"),),
        ("tests/engine/auto/test_controller.py",),
    ),
    Fault(
        "tokens after the rejected one count as judged",
        (
            (
                "step.n_judged = len(proposal.tokens) - n_discarded",
                "step.n_judged = len(proposal.tokens)",
            ),
        ),
        ("tests/engine/test_auto_chain.py", "tests/engine/auto/test_controller.py"),
    ),
    Fault(
        "plain steps are never asked for",
        (
            (
                "        if self._n_since >= 256:\n            self._due = max(self._due, 1)\n",
                "",
            ),
        ),
        ("tests/engine/auto/test_controller.py", "tests/engine/auto/test_pace.py"),
    ),
    Fault(
        "lookups are believed as in the reply before",
        (
            (
                "n for n in self._accepted]\n        self._rates = [None] * _FIRST_PLACE\n",
                "n for n in self._accepted]\n",
            ),
        ),
        ("tests/engine/auto/test_acceptance.py",),
    ),
    Fault(
        "idle time keeps wrong tokens in the draft model's context",
        (("        draft.rollback(n_shared)\n", ""),),
        ("tests/engine/test_idle.py", "tests/integration/test_catching_up.py"),
    ),
    Fault(
        "acceptance is kept under one name however drafts are translated",
        (('        key += f"|{pair.draft.translation.how}"\n', "        pass\n"),),
        ("tests/engine/test_translated_context.py",),
    ),
)
