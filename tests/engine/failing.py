"""A scripted model whose decodes fail on request, in each way that a backend can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fake_model import FakeModel
from paceline.engine.model.backend import Rows
from paceline.errors import (
    BatchRefusedError,
    ComputeFailedError,
    ContextFullError,
    DecodeMemoryError,
    EngineError,
)

FULL = ContextFullError("context-full", "No room.")
REFUSED = BatchRefusedError("batch-refused", "Refused.")
NO_MEMORY = DecodeMemoryError("out-of-memory", "No memory.", "Take less.")
BROKEN = ComputeFailedError("compute-failed", "Broken.")


class Failing(FakeModel):
    """Raises at the decodes that `plan` names, counted from 1, and decodes nothing then.

    Attributes:
        n_decodes: Decodes so far, those that failed included.
        n_hits: Decodes that failed.
        remade: The sizes of the contexts that were made in place of others.
        wiped: Number of times that the memory was zeroed.
    """

    def __init__(self, *args: Any, plan: dict[int, EngineError] | None = None, **options: Any):
        super().__init__(*args, **options)
        self.plan = plan or {}
        self.n_decodes = self.n_hits = self.wiped = 0
        self.remade: list[tuple[int, int]] = []

    def decode(self, tokens: Sequence[int], n_rows: int) -> Rows:
        self.n_decodes += 1
        if self.n_decodes in self.plan:
            self.n_hits += 1
            raise self.plan[self.n_decodes]
        return super().decode(tokens, n_rows)

    def clear(self, *, wipe: bool = False) -> None:
        self.wiped += wipe
        super().clear(wipe=wipe)

    def remake(self, n_ctx: int, n_batch: int) -> None:
        self.remade.append((n_ctx, n_batch))
        super().remake(n_ctx, n_batch)
