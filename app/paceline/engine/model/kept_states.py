"""Storing of what a pair's contexts hold, and restoring before a reply, so nothing is read twice.

Before a reply, content of the contexts that belongs to another text is copied into the store, and
the longest stored prefix of the prompt is put into them if it is longer than what they hold. In
idle time new content is copied, a block at a time, and then written to files. After a long prompt
that happens before the first token, for a few hundredths of the time that reading took.

Numbers of another text are never used: the key of a block covers all tokens before it, the model
with its settings, the kernels that computed it and the processor. So a reply from a stored state
equals the reply from the live context, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from paceline.engine.model.backend import DraftHead
from paceline.engine.model.context import CachedContext
from paceline.engine.model.model_file import written_parts
from paceline.engine.model.own_kernels import processor
from paceline.engine.model.stored_states import StateStore, StateTree
from paceline.engine.model.tokens import common_prefix
from paceline.figures import Warmth
from paceline.messages import StateOwner

LONG_TOKENS = 1024
"""Number of read tokens from which on they are stored at once."""
_READ_AGAIN_TOKENS = 256
"""Tokens that are read again rather than copied: a whole state may take hundreds of megabytes."""
CLOSING_S = 1.5
"""Maximum seconds of writing when models are freed; the rest is dropped.

An engine's process that has to end gets two seconds for everything."""
AT_ONCE_S = 0.25
"""Maximum seconds of writing before the first token that follows a long prompt."""

_clock = time.monotonic


def _key_of(context: CachedContext, weights: str) -> str:
    """Return the key of everything that states of a context depend on besides its text.

    A folder may serve several machines; own kernels with their build are part of `facts_key`.
    """
    model, piece = context.model, context.prefill_piece
    numbers = f"{model.facts_key}|{processor()}|{weights}"
    return f"{numbers}|ctx{model.info.n_ctx}|piece{piece}|{model.n_block}"


def _weights_of(context: CachedContext) -> str:
    """Return the key that distinguishes a model's files from others of the same size and start."""
    parts = written_parts((context.model.info.path,)).values()
    return " ".join(f"{n_bytes}-{written_ns}" for _, (n_bytes, written_ns) in parts)


def _can_be_kept(context: CachedContext) -> bool:
    """Return whether storing its states is useful.

    A head needs the target's hidden state at each token, which no stored state contains; and a
    draft model with another vocabulary has a text of its own, which is read again in idle time.
    """
    return type(context) is CachedContext and not isinstance(context.model, DraftHead)


class KeptStates:
    """Stores and restores the states of a pair's contexts; also a job for idle time.

    Args:
        target: The target's context.
        draft: The draft model's context, or None without one.
        store: The store of states.

    Attributes:
        owner: Owner of the text in the contexts, or None if it is not stored.
    """

    def __init__(
        self, target: CachedContext, draft: CachedContext | None, store: StateStore
    ) -> None:
        self.owner: StateOwner | None = None
        self._is_replying = self._was_dropped = False
        self._target = target
        self._store = store
        self._contexts = [context for context in (target, draft) if context]
        self._kept = [context for context in self._contexts if _can_be_kept(context)]
        self._weights = {context: _weights_of(context) for context in self._kept}
        target.on_place = self._at_place

    @property
    def contexts(self) -> Sequence[CachedContext]:
        """The contexts that idle work decodes in: none."""
        return ()

    @property
    def most_bytes(self) -> int:
        """The maximum bytes of memory for states; 0 if nothing is stored."""
        return self._store.most_bytes

    def _tree(self, context: CachedContext) -> StateTree:
        """Return the tree for a context's present settings, which may change between replies."""
        return self._store.tree(_key_of(context, self._weights[context]), context.model.n_block)

    # -------------------------------------------------------------------------- before a reply

    def begin(self, prompt: Sequence[int], owner: StateOwner | None, *, with_draft: bool) -> Warmth:
        """Put the stored part of a prompt into the contexts, if longer than theirs; see `end`.

        Args:
            prompt: Tokens of the next reply's prompt, with the reply's fixed beginning.
            owner: Owner of the prompt's text.
            with_draft: Whether the draft model will be used.

        Returns:
            The origin of the target's prefix.
        """
        before, self.owner = self.owner, owner
        self._is_replying = True
        for context in self._kept:
            goes_on = common_prefix(context.tokens, prompt) == len(context.tokens)
            if before and not (before == owner and goes_on):
                self._keep_all(context, before)
        if before and before.private and before != owner:
            for context in self._contexts:
                context.clear()
        if owner is None:
            return "context"
        self._store.refresh()
        for context in self._kept[1:]:
            if with_draft and len(prompt) < context.n_ctx:
                self._bring(context, prompt, owner)
        warm = self._bring(self._target, prompt, owner)
        if before != owner:  # from now on the contexts' content counts as this owner's
            for context in self._contexts:
                n_same = common_prefix(context.tokens, prompt)
                if type(context) is CachedContext:
                    context.rollback(n_same)
                elif n_same < len(
                    context.tokens
                ):  # its model goes back only when it reads the next text
                    context.clear()
        return warm

    def _bring(self, context: CachedContext, prompt: Sequence[int], owner: StateOwner) -> Warmth:
        tree, n_live = self._tree(context), common_prefix(context.tokens, prompt)
        n_block = context.model.n_block
        if not n_block and n_live < len(context.tokens):
            n_live = 0  # a place to go back to is stored as well
        found = tree.find(prompt[: len(prompt) - 1], owner.name)
        self._store.use(tree, reversed(found.blocks))  # so that a text's end is evicted first
        if found.n_tokens <= n_live:
            return "context"
        warm: Warmth = "memory"
        wanted, n_first, done = [], 0, 0
        for block in found.blocks:
            n = len(block.tokens)
            done += n
            if done <= n_live:
                n_first += n
                continue
            if block.data is None:
                warm = "disk"
            data = self._store.data(tree, block)
            if data is None:
                break
            wanted.append((block.tokens, data))
        n_stored = min(n_first + sum(len(tokens) for tokens, _ in wanted), found.n_tokens)
        if n_stored <= n_live:
            return "context"
        context.rollback(n_first)
        if len(context.tokens) != n_first:
            return "context"
        for tokens, data in wanted:
            if not context.put(tokens, data):
                break
        if n_block:  # the end of the last block may be another owner's text
            context.rollback(common_prefix(context.tokens, prompt))
        return warm

    # ---------------------------------------------------------------------------------- after it

    def _at_place(self, n_read: int) -> None:
        """Store the state at a place in a prompt, where only whole states can be stored."""
        if self.owner is not None and n_read >= _READ_AGAIN_TOKENS:
            self._keep_all(self._target, self.owner)

    def after_reading(self, n_read: int) -> None:
        """Store a long prompt at once after it was read."""
        if self.owner is not None and n_read >= LONG_TOKENS:
            if self._target.model.n_block:  # otherwise it was stored before the prompt's end
                self._keep_all(self._target, self.owner)
            self._write(AT_ONCE_S)

    def slice(self) -> bool:
        """Copy a block, or write one; return False if everything is stored."""
        for context in self._kept:  # so that no reply has to wait for the first listing of files
            self._tree(context)
        if self.owner is not None:
            for context in self._kept:
                if self._keep_block(context, self.owner):
                    return True
        return self._store.file_one()

    def _keep_all(self, context: CachedContext, owner: StateOwner) -> None:
        while self._keep_block(context, owner):
            pass

    def _keep_block(self, context: CachedContext, owner: StateOwner) -> bool:
        """Copy the next block that is not stored; return False without one or if that fails."""
        n_lasting = context.n_lasting
        if not n_lasting or not self._store.most_bytes:
            return False
        tree = self._tree(context)
        missing = tree.missing(context.tokens[:n_lasting], owner)
        if missing is None:
            return False
        parent, first, n = missing
        try:
            data = context.model.copy_cells(first, n)
        except MemoryError:  # only stored states are lost
            return False
        if data is None or len(data) > self._store.most_bytes:
            return False
        block = tree.add(parent, context.tokens[first : first + n], data, owner)
        return block in parent.children  # otherwise there was no room for it

    def forget(self, owners: Sequence[str]) -> None:
        """Drop the states that belong to these owners alone; all states without any owner.

        A text in the contexts without an owner may be theirs, so it is dropped, too.
        """
        for name in owners or ("",):
            self._store.forget(name)
        if self.owner is None or not owners or self.owner.name in owners:
            self.owner, self._was_dropped = None, True
            if not self._is_replying:
                self.end()

    def end(self) -> None:
        """Note the end of the reply, and empty contexts whose text was dropped meanwhile."""
        if self._was_dropped:
            for context in self._contexts:
                context.clear()
        self._is_replying = self._was_dropped = False

    def keep(self) -> None:
        """Store what the contexts hold."""
        if self.owner is not None:
            for context in self._kept:
                self._keep_all(context, self.owner)

    def n_stored(self, text: Sequence[int], owner: StateOwner) -> int:
        """Return how many leading tokens of a text are stored for the target."""
        return self._tree(self._target).find(text, owner.name).n_tokens

    def leave(self) -> None:
        """Store what the contexts hold, before they get content that is not to be stored."""
        self.keep()
        self.owner = None

    def close(self) -> None:
        """Store what is new, and write it to files as far as time allows."""
        until = _clock() + CLOSING_S
        self.leave()
        self._write(until - _clock())

    def _write(self, seconds: float) -> None:
        until = _clock() + seconds
        while _clock() < until and self._store.file_one(wants_ends=True):
            pass
