"""Faults of the promise of the same text."""

from __future__ import annotations

from planted.fault import Fault

NATIVE = ("tests/integration/test_native_params.py",)

FAULTS = (
    Fault(
        "facts without the model's file",
        (
            (
                "                self.info.file_id, llama_cpp.__version__,",
                "                llama_cpp.__version__,",
            ),
        ),
        NATIVE,
    ),
    Fault(
        "facts without the build",
        (("self.info.file_id, llama_cpp.__version__,", "self.info.file_id,"),),
        NATIVE,
    ),
    Fault(
        "facts without the types of the cache",
        (('params.kv_type_k, params.kv_type_v, f"fa-', 'f"fa-'),),
        NATIVE,
    ),
    Fault(
        "facts without whether windows alone are kept",
        (('                *(() if params.swa_full else ("windows",)),\n', ""),),
        NATIVE,
    ),
    Fault(
        "facts without whether states are copied",
        (('                *(("copies",) if self.needs_copies else ()),\n', ""),),
        ("tests/integration/test_hybrids.py::test_it_says_how_far_it_goes_back",),
    ),
    Fault(
        "a padded plain step counts as a wide one",
        (
            (
                "width = target.model.last_decode[0] if n_draft or n_owed else 1",
                "width = target.model.last_decode[0]",
            ),
        ),
        ("tests/engine/test_api.py",),
    ),
    Fault(
        "facts without whether hidden states are put out",
        (('                *(("hidden",) if self._hidden is not None else ()),\n', ""),),
        (
            "tests/integration/test_mtp.py::test_a_draft_model_replaces_the_head_and_off_leaves_it_out",
        ),
    ),
    Fault(
        "exact mode keeps whole pieces that were taken back",
        (("self._n_whole = min(self._n_whole, n_tokens)", "pass"),),
        ("tests/engine/test_context.py",),
    ),
    Fault(
        "exact mode reuses parts of pieces",
        (("            keep -= self.tokens.gaps.n_since(keep) % self.prefill_piece\n", ""),),
        ("tests/engine/test_context.py", "tests/integration/test_exact_context.py"),
    ),
    Fault(
        "padding stays in the context",
        (
            (
                "if not self.model.rollback(self.model.n_past - n_pad):",
                "if not self.model.can_rollback:",
            ),
        ),
        ("tests/engine/sameness", "tests/engine/test_context.py"),
    ),
    Fault(
        "a look leaves cells",
        (
            (
                "                    if apart := difference(row, other):",
                "                    n_held = len(context.tokens)\n"
                "                    if apart := difference(row, other):",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "one look at one place is enough",
        (
            (
                "return sum(looks) >= ENOUGH_LOOKS and all(looks[part] for part in self._parts)",
                "return sum(looks) > 0",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "exact mode takes cheaper widths before enough was compared",
        (("return next(filter(self._is_sure, choices), choices[-1]", "return (choices[0]"),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "a row that differs does not withdraw the promise",
        (
            (
                "if not self._is_possible or self._evidence.refutes(widths):",
                "if not self._is_possible:",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "own products are enough for a promise, whoever computes attention",
        (
            (
                'own = [use.by == "own" for use in model.info.kernels]',
                'own = [u.by == "own" for u in model.info.kernels if u.kind != "attention"]',
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "a batch is padded beyond the widths that agree",
        (
            (
                "if n_tokens < width <= min(self.widths.highest, "
                "self.model.n_ctx - len(self.tokens)):",
                "if n_tokens < width:",
            ),
        ),
        ("tests/engine/test_context.py",),
    ),
    Fault(
        "costs of other widths are believed",
        (
            (
                "        if has_changed:\n"
                "            self.knowledge.costs = self.knowledge.costs.emptied()\n",
                "",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "evidence of another processor",
        (('return f"{model.facts_key}|{processor()}"', "return model.facts_key"),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "exact mode with a memory that overwrites what is far back",
        (("self._is_exact = is_exact and not context.model.forgets", "self._is_exact = is_exact"),),
        ("tests/integration/test_hybrids.py::test_exact_mode_is_refused_in_words",),
    ),
    Fault(
        "a promise by construction with a memory that overwrites",
        (("        if model.max_rollback and model.forgets:\n", "        if False:\n"),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "padding is taken after too few looks",
        (
            (
                "if self._has_enough(widths) and self._is_cheap(widths):",
                "if self._is_cheap(widths):",
            ),
        ),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "what a step took at other widths is told",
        (("            self._cost = None  # not known until the next load\n", ""),),
        ("tests/engine/sameness/test_promise.py",),
    ),
    Fault(
        "other widths wait for the next load",
        (
            (
                "if self._pair.choose_widths() and self._idle_work is not None:",
                "if False and self._idle_work is not None:",
            ),
        ),
        ("tests/engine/test_full_calibration.py",),
    ),
    Fault(
        "a state that comes back is not looked at",
        (("return n_held == 2 and bool(np.allclose(", "return n_held == 2 or bool(np.allclose("),),
        ("tests/engine/test_self_test.py",),
    ),
    Fault(
        "the last program's evidence alone is kept",
        (("        self._read(self._facts.newest(self._name))\n", ""),),
        ("tests/engine/sameness/test_evidence.py",),
    ),
    Fault(
        "what a load's self-test saw of rows is not kept",
        (
            (
                "            if apart:\n                seen =",
                "            if False:\n                seen =",
            ),
        ),
        ("tests/engine/test_self_test.py",),
    ),
)
