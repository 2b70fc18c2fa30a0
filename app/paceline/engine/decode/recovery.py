"""What a reply does when the target's decode fails: try less, try again, and give up in time.

llama.cpp tells failures by a number (`llama_decode` in include/llama.h), and most of them need not
cost the reply:

- no room for the batch: the draft is dropped and the pending token decoded alone; where not even
  that has room, the context is full;
- a batch that it takes for wrong: without drafts from then on;
- too little memory: what the context held is decoded again in small pieces, then once more in a
  smaller context, and the reply goes on plainly;
- anything else cannot be mended from here.

What is decoded again is never sampled again: the reply goes on after its last token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paceline.engine.model.backend import Rows
from paceline.engine.model.context import CachedContext, common_prefix
from paceline.errors import (
    BatchRefusedError,
    ContextFullError,
    DecodeMemoryError,
    EngineError,
    ModelError,
)

PIECE = 32
"""Tokens per decode when a context is filled again. No wider than a draft, since so many give the
same logits as one by one, where that was promised: the reply then goes on with the same text."""
SMALL_BATCH = 128
"""`n_batch` of a context that is made again: less memory for what a decode computes."""
_ROOM = 256  # a context that would end the reply at once is no help to it


class Recovery:
    """Brings the target back after a failed decode, for one reply.

    Attributes:
        plainly: Why the reply goes on without drafts; None as long as it may draft.
    """

    def __init__(self, target: CachedContext) -> None:
        self._target = target
        self._n_short_of_memory = 0
        self.plainly: EngineError | None = None

    def rows_after(
        self,
        tokens: Sequence[int],
        n_prompt: int,
        failure: EngineError,
        *,
        n_draft: int = 0,
        n_left: int = _ROOM,
        on_prefill: Callable[[int], None] = lambda _n_done: None,
    ) -> Rows:
        """Bring the context to exactly `tokens` and return the last one's row, [1, n_vocab].

        Args:
            tokens: What the context is to hold, at least the prompt.
            n_prompt: How many of them are the prompt's.
            failure: What a decode has raised.
            n_draft: Drafted tokens after `tokens` in that decode; they are dropped.
            n_left: Tokens that the reply may still get.
            on_prefill: Called with the tokens in the context, when it is filled again.

        Raises:
            CancelledError: The user stopped the turn.
            ContextFullError: Not even one token has room.
            BatchRefusedError: Without a draft, too.
            DecodeMemoryError: In a smaller context, too; no context may be left.
            EngineError: The failure, where it cannot be mended.
        """
        while True:
            if isinstance(failure, DecodeMemoryError):
                self._make_room(failure, len(tokens), n_left)
            elif isinstance(failure, BatchRefusedError) and n_draft:
                self._go_on_plainly(
                    "batch-refused", "llama.cpp refused a batch, so the reply goes on plainly."
                )
            elif not (isinstance(failure, ContextFullError) and n_draft):
                raise failure
            n_draft = 0
            try:
                return self._fill(tokens, n_prompt, on_prefill)
            except EngineError as next_failure:
                failure = next_failure

    def _fill(
        self, tokens: Sequence[int], n_prompt: int, on_prefill: Callable[[int], None]
    ) -> Rows:
        """Decode what the context lacks; in exact mode at the widths that agree with each other."""
        target = self._target
        target.rollback(min(common_prefix(target.tokens, tokens), len(tokens) - 1))
        if len(target.tokens) < n_prompt:
            rows = target.prefill(tokens[:n_prompt], PIECE, on_prefill)
            if n_prompt == len(tokens):
                return rows
        return target.extend(tokens, min(PIECE, target.widths.highest), on_prefill)

    def _go_on_plainly(self, code: str, message: str) -> None:
        self.plainly = EngineError(code, message, "The next reply may draft again.")

    def _make_room(self, failure: EngineError, n_tokens: int, n_left: int) -> None:
        """Empty the context, the second time for a smaller one, the third time give up."""
        self._n_short_of_memory += 1
        target = self._target
        if self._n_short_of_memory == 1:
            target.clear(wipe=True)
            self._go_on_plainly("out-of-memory", "Memory is short, so the reply goes on plainly.")
        elif self._n_short_of_memory == 2:
            n_ctx = target.model.n_ctx
            n_padding = n_ctx - target.n_ctx
            if n_tokens + min(n_left, _ROOM) + n_padding <= n_ctx // 2:
                n_ctx //= 2
            try:
                target.remake(n_ctx, SMALL_BATCH)
            except ModelError as refusal:
                raise DecodeMemoryError(
                    "out-of-memory", f"Memory ran out in mid-reply. {refusal.message}", failure.hint
                ) from refusal
            self._go_on_plainly(
                "out-of-memory",
                "Memory is short, so the reply goes on plainly and in a context of "
                f"{n_ctx} tokens.",
            )
        else:
            raise failure
