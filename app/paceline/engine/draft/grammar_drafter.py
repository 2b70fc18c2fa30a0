"""What a grammar forces: where only one text can follow, it is drafted for free.

JSON by a schema is full of such places: the names of its properties. The grammar is asked byte by
byte, with the vocabulary's single-byte tokens: as long as exactly one is allowed, that byte is
certain. What tokens the target makes of the text remains its own choice, so the draft is the
text's usual tokenization, and the target judges it like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Settings, Workbench
from paceline.engine.model.backend import Grammar, Vocabulary
from paceline.errors import EngineError, UserError

NAME = "grammar"
_BYTES_PER_TOKEN = 6  # forced texts are mostly keys and punctuation
_MAX_BYTES = 96  # each costs a question to the grammar
# Of most places where several texts may follow, two of these tell so: within strings, numbers,
# white space, and between values.
_TELLING = b'ae01 \n",}]'


class ForcedTokens:
    """Drafts the only text that the grammar allows, if there is just one.

    Raises:
        UserError: There is no grammar.
    """

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        del settings
        if bench.grammar is None:
            raise UserError(
                "no-grammar", "There is no grammar that could force anything.", "Give one."
            )
        self._grammar: Grammar = bench.grammar
        self._vocab = bench.vocab
        ids = _byte_tokens(bench.vocab, bench.kept)
        eog = sorted(bench.eog)
        self._end = [bench.vocab.eos] if bench.vocab.eos in bench.eog else eog[:1]
        self._values = (ids >= 0).nonzero()[0]
        self._ids = np.concatenate((ids[self._values], np.array(eog, np.int64)))
        telling = ids[np.frombuffer(_TELLING, np.uint8)]
        self._telling = np.concatenate((telling[telling >= 0], np.array(self._end, np.int64)))

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Do nothing: the grammar knows how far the reply has come."""

    def propose(self, n_max: int) -> Draft:
        """Return the tokens of the text that must follow."""
        if self._is_open(self._grammar):
            return NO_DRAFT
        return self.extend((), n_max)

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Return the tokens of the text that must follow `ahead`."""
        state = self._grammar.clone()
        try:
            for token in ahead:
                state.accept(token)
            text, ends = self._forced_text(state, n_max)
        except EngineError:  # the grammar does not allow `ahead`: nothing can follow it
            return NO_DRAFT
        finally:
            state.close()
        tokens = self._tokenize(text)[:n_max] if text else []
        if ends and len(tokens) < n_max:
            tokens += self._end
        return Draft(tokens) if tokens else NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Do nothing: the sampler advances the grammar."""

    def close(self) -> None:
        """Do nothing: the grammar belongs to the sampler."""

    def _is_open(self, state: Grammar) -> bool:
        """Return whether several texts may follow, as far as a few tokens tell."""
        return int(np.count_nonzero(state.allowed(self._telling))) > 1

    def _forced_text(self, state: Grammar, n_max: int) -> tuple[str, bool]:
        """Return the forced text, and whether the reply must end after it."""
        data = bytearray()
        values = self._values
        ends = False
        for _ in range(min(n_max * _BYTES_PER_TOKEN, _MAX_BYTES)):
            if self._is_open(state):
                break
            allowed = state.allowed(self._ids).nonzero()[0]
            n_bytes = int(np.count_nonzero(allowed < len(values)))
            ends = n_bytes == 0 and len(allowed) > 0
            if n_bytes != 1 or len(allowed) > 1:
                break
            state.accept(int(self._ids[allowed[0]]))
            data.append(int(values[allowed[0]]))
        return data.decode("utf-8", "ignore"), ends

    def _tokenize(self, text: str) -> list[int]:
        """Return the tokens that make up a text in mid-reply; nothing where that is unclear.

        Some tokenizers put a space before any text, so the text may have to stand
        after another one.
        """
        for before in ("", "\n"):
            tokens = self._vocab.tokenize(before + text, special=False)
            pieces = [self._vocab.piece(token) for token in tokens]
            n_extra = sum(map(len, pieces)) - len(text.encode())
            start = 0
            while n_extra > 0 and start < len(tokens):
                n_extra -= len(pieces[start])
                start += 1
            if n_extra == 0 and b"".join(pieces[start:]) == text.encode():
                return tokens[start:]
        return []


def _byte_tokens(vocab: Vocabulary, kept: dict[str, object]) -> NDArray[np.int64]:
    """Return, for every byte, the lowest token that is this byte alone, int64 [256]; -1: none."""
    ids = kept.get(NAME)
    if not isinstance(ids, np.ndarray):
        ids = np.full(256, -1, np.int64)
        n_missing = 256
        for token in range(vocab.n_tokens):
            piece = vocab.piece(token)
            if len(piece) == 1 and ids[piece[0]] < 0:
                ids[piece[0]] = token
                n_missing -= 1
                if not n_missing:  # they are among the first in most vocabularies
                    break
        kept[NAME] = ids
    return ids


INFO = DrafterInfo(
    id=NAME,
    title="Grammar",
    summary="Drafts what the grammar forces; works by itself wherever there is one.",
    family="lookup",
    parameters=(),
    make=ForcedTokens,
)
