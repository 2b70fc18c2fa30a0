"""Drafting with the target's own head: layers trained with it to predict further tokens (MTP).

A head reads the target's hidden states, so it needs the target's state for each token of the text.
What it has read of its own drafts is dropped after each step, and the accepted tokens are read
again with the states that the target then has, in the batch that begins the next draft. It draws
with the noise of the position that it predicts, as a draft model does; llama.cpp drafts the most
likely token instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paceline.engine.draft.base import Draft, DrafterInfo, Parameter, Workbench
from paceline.engine.draft.draft_model import INFO as DRAFT_MODEL
from paceline.engine.draft.draft_model import ModelDrafter
from paceline.engine.model.backend import DraftHead
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import gaps_of
from paceline.errors import UserError
from paceline.params import MTP


class Mtp(ModelDrafter):
    """Drafts like a draft model, from hidden states that the target has kept.

    Attributes:
        kind: Id of the kind of head.
    """

    kind = MTP

    def _context_in(self, bench: Workbench) -> CachedContext:
        head = bench.draft.model if bench.draft is not None else None
        if bench.draft is None or not isinstance(head, DraftHead) or head.drafter != self.kind:
            raise self._no_head()
        self._head = head
        return bench.draft

    def _no_head(self) -> UserError:
        """Return the error for a missing head; other kinds override its words."""
        return UserError(
            "no-mtp-head",
            "The strategy “mtp” needs an MTP head, and none is loaded.",
            "Choose a model whose file has one, or name the file of its head; or take a strategy "
            "that needs none, such as prompt-lookup.",
        )

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Keep what it has read of this text, from the first token that it can read."""
        first = gaps_of(history).end
        if self._head.origin != first:
            self._begin_at(first)
        super().begin(history, n_prompt)

    @property
    def n_backlog(self) -> int:
        """Tokens to read before the first drafted one is known."""
        return 1 if self._head.shares_memory else super().n_backlog

    @property
    def n_unread(self) -> int:
        """Tokens before the backlog whose states still exist."""
        n_left = super().n_unread - self._head.first_place
        return 0 if self._head.shares_memory else max(n_left, 0)

    @property
    def _n_anew(self) -> int:
        """Tokens to read as in a draft model, or all that are left if their states are gone."""
        n_anew, head = super()._n_anew, self._head
        if head.shares_memory or self._origin + len(self._context.tokens) >= head.first_place:
            return n_anew
        n_left = max(len(self._history) - head.first_place, 1)
        return min(n_left, n_anew) if n_anew else n_left

    def _begin_at(self, place: int) -> None:
        super()._begin_at(place)
        self._head.origin = place

    def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
        """Draft like `propose` while `goes_on` returns True; see `Paced`."""
        self._head.n_true = n_true = len(self._history)
        try:
            return super().propose_while(min(n_max, self._head.n_most), goes_on, n_read)
        finally:
            self._head.n_true = None
            self._context.rollback(n_true - self._origin)

    def _catch_up(self) -> Sequence[int] | None:
        if not self._head.shares_memory:
            return super()._catch_up()
        text = self._text
        self._context.reuse(text)
        self._context.feed(text[len(self._context.tokens) : -1], 0)  # takes no time
        return text[-1:]


INFO = DrafterInfo(
    id=MTP,
    title="MTP head",
    summary="Layers that were trained with the model predict further tokens from its states: a "
    "drafter that needs no second model.",
    family="model",
    parameters=(
        Parameter(
            "n_max", "int", 3, 1, 10_000, "Tokens ahead",
            "Tokens drafted per step at most. A head is trained for one or a few; each further "
            "one is right more seldom.", can_be_auto=True,
        ),
        *DRAFT_MODEL.parameters[1:],
    ),
    make=Mtp,
)  # fmt: skip
