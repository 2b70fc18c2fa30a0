"""A model's context with the tokens it holds: reuse for the next prompt, and widths of batches.

Where batch widths give bitwise equal rows, they give equal texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.model.backend import LanguageModel, Rows
from paceline.engine.model.tokens import Gap, TokenSequence, common_prefix, gaps_of
from paceline.errors import CancelledError, ContextFullError, EngineError

_MAX_OWED = 16
"""Maximum number of owed tokens that are decoded together with a draft. More are decoded before it,
and the place after them is saved, or they would be decoded again if the draft is rejected."""
PROMPT_END_TOKENS = 32
"""Tokens of a prompt after its saved place: another reply to it begins at its last token, and the
next prompt may write the text before a reply in another way."""


class BatchWidths(NamedTuple):
    """The batches that output rows: multiples of `multiple` tokens, from `lowest` to `highest`.

    Shorter ones are padded with tokens that no row before them attends to, and that are removed
    again. `lowest` and `highest` are multiples themselves.
    """

    lowest: int = 1
    multiple: int = 1
    highest: int = MAX_WIDTH

    def of(self, n_tokens: int) -> int:
        """Return the batch width for a number of tokens; the number itself above `highest`."""
        if n_tokens > self.highest:
            return n_tokens
        return max(-(-n_tokens // self.multiple) * self.multiple, self.lowest)

    def __str__(self) -> str:
        """Return the three numbers as text, for the names of facts."""
        return "-".join(map(str, self))

    @property
    def every(self) -> range:
        """All widths."""
        return range(self.lowest, self.highest + 1, self.multiple)

    @property
    def n_junk(self) -> int:
        """The maximum number of padding tokens in a batch."""
        return max(self.lowest, self.multiple) - 1


UNPADDED = BatchWidths()


def _ignore_progress(_n_tokens: int) -> None:
    """Ignore the progress of a prefill."""


class CachedContext:
    """A model's context and the tokens in it; counts of tokens include the cells of gaps.

    Invariant after every method, also after an exception: the model holds `tokens` without the last
    `n_owed`.

    Attributes:
        tokens: Content of the context.
        n_owed: Number of its last tokens that the model must decode again, since it went back to an
            earlier place; the next decode includes them.
        widths: Widths of decodes that output rows; see `sameness/promise.py`. Shorter batches are
            padded, and the padding is removed.
        prefill_piece: Above 0 only in exact mode, where numbers depend on the batch. A prompt is
            prefilled in pieces that begin at multiples of it, and only whole pieces are reused. So
            each cell of a prompt is computed in the same batch as from an empty context.
        prompt_widths: In exact mode the widths for the last piece of a prompt, since `widths` may
            change; None for `widths`.
        on_place: Called with the number of tokens read when a place in a prompt was saved that the
            context may go back to.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.tokens = TokenSequence()
        self.n_owed = 0
        self.widths = UNPADDED
        self.prefill_piece = 0
        self.prompt_widths: BatchWidths | None = None
        self.on_place: Callable[[int], None] = _ignore_progress
        self._n_whole = 0  # number of leading tokens that were computed in whole pieces

    @property
    def n_vocab(self) -> int:
        """The length of its rows; all token ids are below."""
        return self.model.vocab.n_tokens

    def any_tokens(self, n: int) -> list[int]:
        """Return tokens that represent no text, the same ones every time."""
        tokens: list[int] = np.random.default_rng(0).integers(0, self.n_vocab, n).tolist()
        return tokens

    @property
    def n_ctx(self) -> int:
        """The number of tokens that fit, with room for the padding."""
        return self.model.n_ctx - max(
            self.widths.n_junk, (self.prompt_widths or self.widths).n_junk
        )

    def feed(self, tokens: Sequence[int], n_rows: int, width: int = 0) -> Rows:
        """Decode tokens and append them to the context; see `LanguageModel.decode`.

        Args:
            tokens: At least one.
            n_rows: Number of last tokens that output a row.
            width: Width to pad the batch to, if there is room; `widths` may pad it further.
        """
        n_pad = 0
        if n_rows and (width > len(tokens) or self.widths != UNPADDED):
            n_pad = self.width_of(len(tokens), width) - len(tokens)
        try:
            if not self.model.can_rollback:
                rows = self._after_owed(tokens, n_rows)
            else:
                if self.n_owed:
                    self._repay()  # rare, with sliding windows only, so a separate batch will do
                if n_pad > 0:
                    rows = self._padded(tokens, n_rows, n_pad)
                else:
                    rows = self.model.decode(tokens, n_rows)
        except BaseException as failure:
            self._hold_after(failure, tokens)
            raise
        self.tokens.extend(tokens)
        return rows

    def feed_gap(self, gap: Gap) -> None:
        """Append a gap to the context; raises the errors of `LanguageModel.decode_gap`."""
        try:
            self._repay()
            self.model.decode_gap(gap)
        except BaseException as failure:
            self._hold_after(failure, ())
            raise
        self.tokens.add(gap)

    def _hold_after(self, failure: BaseException, tokens: Sequence[int]) -> None:
        """Update `tokens` to what a failed decode of these has left, or clear the context."""
        if isinstance(failure, ContextFullError):  # nothing was appended
            if self.model.n_past != len(self.tokens) - self.n_owed:
                self.clear()
            return
        if isinstance(failure, CancelledError) and not self.model.can_rollback:
            self._restore(len(self.tokens))  # a recurrent state is partly updated now
            return
        self.tokens.extend(tokens[: self.model.n_past - len(self.tokens)])
        if not self.model.can_rollback or self.model.n_past != len(self.tokens):
            self.clear()

    def _after_owed(self, tokens: Sequence[int], n_rows: int) -> Rows:
        """Decode with the owed tokens before these, in the same batch if it has room."""
        n_most = _MAX_OWED if n_rows > 1 else self.model.n_batch - len(tokens)
        if self.n_owed > min(n_most, len(self.tokens) - self.tokens.gaps.end):
            self._repay()
        if n_rows > 1:
            self.save_for_draft()
        rows = self.model.decode([*self.tokens[len(self.tokens) - self.n_owed :], *tokens], n_rows)
        self.n_owed = 0
        return rows

    def _repay(self, n_wanted: int | None = None) -> None:
        """Decode owed tokens, up to `n_wanted` tokens in the model; all with None."""
        n_wanted = len(self.tokens) if n_wanted is None else n_wanted
        gaps = self.tokens.gaps
        while (n_held := len(self.tokens) - self.n_owed) < n_wanted:
            if gap := gaps.at(n_held):
                self.model.decode_gap(gap)
                self.n_owed -= gap.n_cells
                continue
            end = gaps.text_end(n_held, min(n_held + self.model.n_batch, n_wanted))
            self.model.decode(self.tokens[n_held:end], 0)
            self.n_owed -= end - n_held

    def _repay_safely(self, n_wanted: int) -> None:
        try:
            self._repay(n_wanted)
        except BaseException:
            self.clear()
            raise

    def save_for_draft(self) -> None:
        """Make sure that the tokens decoded from here on can be removed, if possible at all."""
        if self.model.needs_copies and not self.n_owed:  # otherwise an earlier place was saved
            self.model.save("draft")

    def width_of(self, n_tokens: int, width: int = 0) -> int:
        """Return the width of the batch in which `feed` decodes this many tokens."""
        if not self.model.can_rollback:  # it could not remove both padding and a draft
            return n_tokens
        if n_tokens < width <= min(self.widths.highest, self.model.n_ctx - len(self.tokens)):
            n_tokens = width
        return self.widths.of(n_tokens)

    def _padded(self, tokens: Sequence[int], n_rows: int, n_pad: int) -> Rows:
        """Decode with copies of the last token appended, which no row before them attends to."""
        rows = self.model.decode([*tokens, *[tokens[-1]] * n_pad], n_rows + n_pad)
        if not self.model.rollback(self.model.n_past - n_pad):
            raise EngineError(
                "cannot-rollback",
                "This model cannot take padding back, which exact mode needs.",
                "Switch exact mode off.",
            )
        return rows[:n_rows]

    def prefill(
        self,
        prompt: Sequence[int],
        chunk: int,
        on_progress: Callable[[int], None] = _ignore_progress,
    ) -> Rows:
        """Make the context hold exactly `prompt`; return the last token's row, [1, n_vocab].

        Args:
            prompt: At least one token; it ends with an id.
            chunk: Maximum number of tokens per decode; fewer if the memory for so many is not free.
            on_progress: Called with the number of tokens in the context so far.

        Raises:
            ContextFullError: There is no room for even one token.
        """
        n_held = self.reuse(prompt)
        is_long = len(prompt) - n_held > 2 * PROMPT_END_TOKENS
        if self.model.forgets and is_long and not self.prefill_piece:
            first = TokenSequence(prompt).first(len(prompt) - PROMPT_END_TOKENS)
            if len(self.tokens) < len(first):
                self.extend(first, chunk, on_progress)
            else:  # it went back further than the text to keep
                self._repay_safely(len(first))
            self.model.save("prompt")
            self.on_place(len(first) - n_held)
        return self.extend(prompt, self.prefill_piece or chunk, on_progress)

    def extend(
        self,
        tokens: Sequence[int],
        chunk: int,
        on_progress: Callable[[int], None] = _ignore_progress,
    ) -> Rows:
        """Decode what the context lacks of `tokens`, which begin with its content.

        Arguments, result and errors are those of `prefill`.
        """
        chunk = min(chunk, self.model.n_batch)
        gaps = gaps_of(tokens)
        rows: Rows | None = None
        while len(self.tokens) < len(tokens):
            done = len(self.tokens)
            if gap := gaps.at(done):
                self._read_gap(gap)
                on_progress(len(self.tokens))
                continue
            piece = tokens[done : gaps.text_end(done, done + chunk)]
            is_last = done + len(piece) == len(tokens)
            try:
                rows = self._end_prompt(piece) if is_last else self.feed(piece, 0)
            except ContextFullError:
                if len(piece) == 1:
                    raise
                chunk = len(piece) // 2
                continue
            self._note_piece(piece)
            on_progress(len(self.tokens))
        assert rows is not None  # at least one token is left to decode, see `reuse`
        return rows

    def read_on(self, text: Sequence[int], n_most: int) -> None:
        """Decode the next piece of a text that begins with the context's content; outputs no row.

        If it is stopped, the context is unchanged.

        Args:
            text: A text longer than the context's content.
            n_most: Maximum number of tokens in the piece; a gap is a piece of its own.

        Raises the errors of `LanguageModel.decode`.
        """
        done = len(self.tokens)
        gaps = gaps_of(text)
        if gap := gaps.at(done):
            self._read_gap(gap)
            return
        if not self.model.can_rollback:  # a partly read piece could not be removed
            try:
                self._repay()
            except BaseException as failure:
                self._hold_after(failure, ())
                raise
            self.model.save("draft")
        piece = text[done : gaps.text_end(done, min(done + n_most, len(text)))]
        self.feed(piece, 0)
        self._note_piece(piece)

    def _read_gap(self, gap: Gap) -> None:
        self.feed_gap(gap)
        self._n_whole = len(self.tokens) if self.prefill_piece else 0

    def _note_piece(self, piece: Sequence[int]) -> None:
        if len(piece) == self.prefill_piece:
            self._n_whole = len(self.tokens)

    def _end_prompt(self, piece: Sequence[int]) -> Rows:
        usual, self.widths = self.widths, self.prompt_widths or self.widths
        try:
            return self.feed(piece, 1)
        finally:
            self.widths = usual

    def reuse(self, prompt: Sequence[int]) -> int:
        """Keep the longest common prefix with `prompt`, without the prompt's last token.

        Returns:
            The number of its tokens that need not be decoded.
        """
        self.rollback(self.n_reusable(prompt))
        return len(self.tokens) - self.n_owed

    def n_reusable(self, prompt: Sequence[int]) -> int:
        """Return the number of tokens that `reuse` keeps, including owed ones."""
        keep = min(common_prefix(self.tokens, prompt), len(prompt) - 1)
        if self.prefill_piece:
            keep = min(keep, self._n_whole)
            keep -= self.tokens.gaps.n_since(keep) % self.prefill_piece
        return keep

    @property
    def n_lasting(self) -> int:
        """The number of leading tokens whose cells another context can use, up to the first gap.

        In exact mode only whole pieces count. All or none where cells cannot be copied in blocks.
        """
        first_gap = next((start for start, _ in self.tokens.gaps), len(self.tokens))
        n = min(first_gap, self._n_whole if self.prefill_piece else len(self.tokens))
        if self.model.n_block:
            return n
        return n if n == len(self.tokens) and not self.n_owed else 0

    def put(self, tokens: Sequence[int], data: bytes | bytearray) -> bool:
        """Append tokens with the copied content of their cells; see `LanguageModel.put_cells`.

        Returns:
            Whether the context holds them now; otherwise it is unchanged or empty.
        """
        if len(self.tokens) + len(tokens) > self.model.n_ctx:
            return False
        if not self.model.put_cells(len(tokens), data):
            if not self.model.n_block:
                self.clear()
            return False
        self.tokens.extend(tokens)
        if self.prefill_piece:
            self._n_whole = len(self.tokens)
        return True

    def rollback(self, n_tokens: int) -> None:
        """Shorten the context to `n_tokens`; clear it if the model cannot.

        A gap is removed as a whole.
        """
        if n_tokens >= len(self.tokens):
            return
        n_tokens = self.tokens.gaps.whole(n_tokens)
        n_held = len(self.tokens) - self.n_owed
        if n_tokens <= 0:
            self.clear()
        elif n_tokens >= n_held or self.model.rollback(n_tokens):
            self._shorten(n_tokens, min(n_held, n_tokens))
        else:
            self._restore(n_tokens)

    def _restore(self, n_tokens: int) -> None:
        """Hold the first `n_tokens`, owed from the last saved place on; clear without a place."""
        n_held = self.model.restore(n_tokens)
        if n_held < 0:
            self.clear()
        else:
            self._shorten(n_tokens, n_held)

    def _shorten(self, n_tokens: int, n_held: int) -> None:
        self.n_owed = n_tokens - n_held
        self.tokens.cut(n_tokens)
        self._n_whole = min(self._n_whole, n_tokens)

    def clear(self, *, wipe: bool = False) -> None:
        """Remove everything; see `LanguageModel.clear`."""
        self.model.clear(wipe=wipe)
        self.tokens.clear()
        self.n_owed = self._n_whole = 0

    def remake(self, n_ctx: int, n_batch: int) -> None:
        """Replace the context by an empty one of another size; see `LanguageModel.remake`."""
        self.tokens.clear()
        self.n_owed = self._n_whole = 0
        self.model.remake(n_ctx, n_batch)
