"""The context of a draft model with another vocabulary, in the target's tokens.

A drafter that uses it sees the target's ids alone. The model reads the same text in its own tokens.
What follows is tokenized together with the end of what stands before it, since a word may be
completed by it; where the last few tokens become other ones by that, they are taken back.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

import numpy as np

from paceline.engine.model.backend import LanguageModel, Rows
from paceline.engine.model.context import CachedContext, common_prefix
from paceline.engine.model.translation import Translation
from paceline.errors import NothingAllowedError

_OPEN = 16
"""The target's tokens at the text's end that are tokenized again with what follows, at least."""
_TRIES = 8
_LEAD = "\n"


class TranslatedContext(CachedContext):
    """Holds the target's `tokens`, and the model's own for the same text in a second context.

    Where the text outgrows the model's context, half of that is read anew from the text's end.

    Attributes:
        own: What the model holds.
        translation: From its tokens to the target's.
    """

    def __init__(self, model: LanguageModel, translation: Translation) -> None:
        super().__init__(model)
        self.own = CachedContext(model)
        self.translation = translation
        self._wanted: list[int] = []  # the text in the model's tokens
        self._settled = [(0, 0)]  # places in the target's tokens and in these, ascending
        first = model.vocab.tokenize("a", special=False)[:1]
        # Some tokenizers put a space before any text, which is wrong before the end of one.
        has_space = any(model.vocab.piece(token).startswith(b" ") for token in first)
        self._lead = _LEAD if has_space else ""
        self._n_lead = len(model.vocab.tokenize(self._lead, special=False))

    @property
    def n_vocab(self) -> int:
        """As of the target's context."""
        return len(self.translation.written)

    def any_tokens(self, n: int) -> list[int]:
        """Return tokens that stand for no text, of those that are tokens of both."""
        tokens: list[int] = np.random.default_rng(0).choice(self.translation.ids, n).tolist()
        return tokens

    def feed(self, tokens: Sequence[int], n_rows: int, width: int = 0) -> Rows:
        """Read the text that ends with these tokens; see `CachedContext.feed`.

        Args:
            tokens: At least one.
            n_rows: 0 or 1.
            width: Means nothing here.

        Returns:
            The target's row, float32 [1, n_vocab], in its own memory.

        Raises:
            NothingAllowedError: The text ends within a character, or there is none, so that no
                token of the model can follow; nothing was appended.
        """
        del width
        n_held = len(self.tokens)
        self.tokens.extend(tokens)
        try:
            is_whole = self._tokenize()
            if n_rows and not (is_whole and self._wanted):
                raise NothingAllowedError("no-text", "No token of the draft model can follow here.")
            rows = self._read() if self._wanted else np.empty((0, 0), np.float32)
        except BaseException:
            del self.tokens[n_held:]
            raise
        self._settle()
        return self.translation.row(rows[0])[None] if n_rows else rows[:0]

    def rollback(self, n_tokens: int) -> None:
        """Shorten the text; the model follows when it reads the next one."""
        del self.tokens[max(n_tokens, 0) :]
        self._settled = [place for place in self._settled if place[0] <= n_tokens] or [(0, 0)]

    def save_for_draft(self) -> None:
        """Make sure that what is decoded from here on can be taken back, if anything can."""
        self.own.save_for_draft()

    def clear(self, *, wipe: bool = False) -> None:
        """Forget everything; see `LanguageModel.clear`."""
        self.own.clear(wipe=wipe)
        self.tokens.clear()
        self._settled = [(0, 0)]

    # ------------------------------------------------------------------------------ within

    def _tokenize(self) -> bool:
        """Make the model's tokens of the text; False: it ends within a character, left out there.

        Only from the last settled place on; where they find no room, from a later one.
        """
        n_kept = self.own.n_ctx // 2
        while True:
            first, n_before = self._settled[-1]
            self._wanted[n_before:], is_whole = self._tokens_of(self.tokens[first:], n_before)
            if len(self._wanted) < self.own.n_ctx:
                return is_whole
            self._settled = [(max(len(self.tokens) - n_kept, 0), 0)]
            n_kept //= 2

    def _tokens_of(self, tokens: Sequence[int], n_before: int) -> tuple[list[int], bool]:
        """Return the model's tokens for the target's, which come after so many of the model's."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(b"".join(map(self.translation.written.__getitem__, tokens)))
        for ours, instead in self.translation.how.replace:
            text = text.replace(ours, instead)
        vocab = self.model.vocab
        if n_before:
            found = vocab.tokenize(self._lead + text, special=True)[self._n_lead :]
        else:
            begin = [vocab.bos] if vocab.add_bos and vocab.bos >= 0 else []
            found = [*begin, *vocab.tokenize(text, special=True)]
        return found, not decoder.getstate()[0]

    def _read(self) -> Rows:
        """Bring the model's context to what is wanted, and return the last row."""
        own, wanted, n = self.own, self._wanted, self._settled[-1][1]
        own.rollback(min(n + common_prefix(own.tokens[n:], wanted[n:]), len(wanted) - 1))
        return own.extend(wanted, self.model.n_batch, _ignore)

    def _settle(self) -> None:
        """Tokenize from a later place on, where that leaves the tokens before it as they are."""
        first, n_before = self._settled[-1]
        last = len(self.tokens) - _OPEN
        if last - first < _OPEN:
            return
        for end in range(last, last - _TRIES, -1):
            head, is_whole = self._tokens_of(self.tokens[first:end], n_before)
            n = n_before + len(head)
            if is_whole and n and self._wanted[n_before:n] == head:
                self._settled.append((end, n))
                return


def _ignore(_n_done: int) -> None:
    pass
