"""Loads models for real, fills their contexts, and prints how much memory that took.

``python tests/memory_probe.py N_CTX TYPE TARGET [DRAFT]`` prints bytes of PSS: what the process
grew by from before the load to after the last decode. A process of its own, so that nothing that
was loaded earlier counts. A target alone is loaded with its MTP head, if it has one.
"""

from __future__ import annotations

import sys
from functools import partial

import psutil

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
from paceline.engine.model.backend import LanguageModel
from paceline.engine.model.states import MAX_STATES
from paceline.engine.sameness.look import self_test
from paceline.messages import ModelParams
from paceline.params import MTP


def main(n_ctx: str, kind: str, *paths: str) -> None:
    """Print the growth."""
    backend = LlamaBackend()
    backend.describe()  # the library itself is no model's memory
    before = pss()
    models: list[LanguageModel] = []
    for path, n_rows, n_states in zip(paths, (MAX_WIDTH, 1), (MAX_STATES, 0), strict=False):
        params = ModelParams(path, n_ctx=int(n_ctx), kv_type_k=kind, kv_type_v=kind, device="CPU")
        load = partial(backend.load, cancel=CancelFlag(), progress=lambda _: None)
        model = load(params, n_rows=n_rows, with_head=len(paths) == 1)
        model.can_rollback = self_test(model).can_rollback
        if len(paths) == 1:
            give = partial(backend.load_head, cancel=CancelFlag(), progress=lambda _: None)
            head = give(model, MTP, params)
            models += [head] if head is not None else []
        if not model.can_rollback:
            model.keep_states(n_states)
        models.append(model)
    models.sort(key=lambda model: model.drafter == MTP)  # which reads what the target decodes
    for model in models:
        fill(model)
        if model.needs_copies:
            model.save("prompt")
            model.save("draft")
    print(pss() - before)
    for model in models:
        model.close()


def pss() -> int:
    """Memory of this process, in which a page that others share counts in part."""
    return int(psutil.Process().memory_full_info().pss)


def fill(model: LanguageModel) -> None:
    """Decode until the context is full, at last with as many rows as are allowed."""
    while model.n_past < model.n_ctx:
        past = model.n_past
        n = min(model.n_batch, model.n_ctx - past)
        rows = model.max_rows if past + n == model.n_ctx else 1
        model.decode([5 + (past + i) % 500 for i in range(n)], min(rows, n))


if __name__ == "__main__":
    main(*sys.argv[1:])
