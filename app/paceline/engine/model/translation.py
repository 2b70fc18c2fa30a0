"""Translation between two vocabularies by the bytes of tokens, and a context that uses it.

A draft model with another tokenizer drafts with the tokens that both vocabularies have, as in
"token-level intersection" (Timor et al. 2025, arXiv 2502.05202): its logits are moved to the
target's ids, and a text that is not one token of the target gets none. So the target's noise,
penalties and grammar apply to such drafts, too.

The share of a text that can be drafted is estimated on a sample of English, code and markup, cut
into the target's tokens. The engine computes it after a load, the catalog before one; both get the
same result.

A drafter that uses the context sees only the target's ids. The model reads the same text in its own
tokens. New text is tokenized together with the end of the text before it, since it may complete a
word there; if that changes the last few tokens, they are removed again.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence

import numpy as np

from paceline.engine.model.backend import LanguageModel, Row, Rows, Vocabulary
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import common_prefix
from paceline.engine.model.vocabularies import BYTE_PAIR_ENCODING, Mismatch, TokenTable
from paceline.errors import NothingAllowedError, refuse
from paceline.params import Translating
from paceline.sentence import sentence

MIN_SHARE = 0.6
"""Minimum share of a text's tokens that can be drafted; with less, a draft of two tokens is cut
short more often than not."""

_SPACE, _BYTE_LEVEL_SPACE = "▁".encode(), "Ġ".encode()
_ITSELF = {*range(33, 127), *range(161, 173), *range(174, 256)}
_BYTE_OF = dict(enumerate((byte for byte in range(256) if byte not in _ITSELF), start=256))
"""Bytes that vocabularies such as GPT-2's write as other characters, by these characters."""
_MAX_TOKEN_BYTES = 32  # longest token to search for
_SAMPLE = b"""\
The first computers filled a whole room, and few people believed that they would ever be of use at \
home. Today a telephone is thousands of times faster. How did that happen, and what comes next?

## What to do
1. **Write down** what you already know; it doesn't have to be complete.
2. Compare the results: 1,024 of 65,536 requests failed (1.6 %), mostly between 08:30 and 09:15.

```python
def average(values: list[float], default: float = 0.0) -> float:
    \"\"\"Return the mean of some numbers.\"\"\"
    if not values:
        return default
    total = sum(value for value in values if value is not None)
    return total / len(values)
```

{"name": "example", "items": [{"id": 1, "title": "A red bicycle"}, {"id": 2, "title": null}]}
I'm sorry, but I can't see the picture. Could you please describe what's in it?
"""


def words_on_translation(differs: Mismatch, share: float) -> str:
    """Return whether drafts are translated, and what that costs, in a few sentences."""
    n = sentence("{n:.0f} %", n=100 * share)
    lost = round(100 * (1 - share))
    fewer = sentence("at least {lost} % fewer", lost=lost) if lost else sentence("fewer")
    if share < MIN_SHARE:
        return sentence(
            "{why:capital}. Drafts cannot be translated either: of the tokens that the main "
            "model writes the draft model has only {n}.",
            why=differs.text,
            n=n,
        )
    return sentence(
        "{why:capital}. So drafts are translated: of the tokens that the main model writes in "
        "English and code the draft model has {n}, and a draft ends at any other. Expect "
        "{fewer} right guesses than with the same tokenizer.",
        why=differs.text,
        n=n,
        fewer=fewer,
    )


def bytes_of_tokens(tokens: TokenTable) -> list[bytes]:
    """Return the bytes of every token, by id; for a control token, its name.

    Takes 0.3 s for 262k tokens.
    """
    texts = list(map(tokens.text, range(tokens.n_tokens)))
    if tokens.kind == BYTE_PAIR_ENCODING:
        n_byte_level, n_marked = (
            sum(text.startswith(space) for text in texts) for space in (_BYTE_LEVEL_SPACE, _SPACE)
        )
        if n_byte_level >= n_marked:  # Gemma 4 marks spaces as SentencePiece does
            return list(map(_from_byte_level, texts))
    return list(map(_from_marked, texts))


def _from_byte_level(text: bytes) -> bytes:
    plain = text.replace(_BYTE_LEVEL_SPACE, b" ")
    if plain.isascii():  # nearly all, at the speed of C
        return plain
    try:
        return text.decode().translate(_BYTE_OF).encode("latin-1")
    except UnicodeError:  # a token that was added by its name
        return text


def _from_marked(text: bytes) -> bytes:
    if len(text) == len("<0x00>") and text.startswith(b"<0x"):
        try:
            return bytes([int(text[3:5], 16)])
        except ValueError:
            return text
    return text.replace(_SPACE, b" ")


def share_of(target: TokenTable, draft: TokenTable) -> float:
    """Return the share of the target's tokens in the sample that the draft model has, 0..1."""
    return _share({*bytes_of_tokens(target)}, {*bytes_of_tokens(draft)})


def _share(ours: Collection[bytes], theirs: Collection[bytes]) -> float:
    at = n_tokens = n_equal = 0
    while at < len(_SAMPLE):
        text = _longest(ours, _SAMPLE[at : at + _MAX_TOKEN_BYTES])
        n_tokens += 1
        n_equal += text in theirs
        at += len(text) or 1
    return n_equal / n_tokens


def _longest(tokens: Collection[bytes], text: bytes) -> bytes:
    """Return the longest prefix of a text that is a token, or empty.

    This is nearly the tokenizer's own choice: with 16 vocabularies the shares of the sample differ
    by at most 0.015.
    """
    return next((text[:n] for n in range(len(text), 0, -1) if text[:n] in tokens), b"")


_LEADS = ("\n", "a", "1", ".")
"""Texts to put before another one, such that no token spans both. A tokenizer that puts a space
before any text puts it before these."""


def token_of_each_text(vocab: Vocabulary, written: Sequence[bytes]) -> dict[bytes, int]:
    """Return the token for each text, in the middle of other text.

    Several tokens may have the same text, for example a letter and its byte: then the tokenizer's
    choice counts; among tokens that it never chooses, the last one.

    Args:
        vocab: The vocabulary.
        written: Text of each token by id; tokens with an empty one are ignored.
    """
    ids = {text: token for token, text in enumerate(written) if text}
    equals = {text for token, text in enumerate(written) if text and ids[text] != token}
    leads = [(lead, vocab.tokenize(lead, special=True)) for lead in _LEADS if equals]
    for equal in equals:
        try:
            text = equal.decode()
        except UnicodeDecodeError:  # a part of a character, which never occurs alone in a text
            continue
        for lead, before in leads:
            found = vocab.tokenize(lead + text, special=True)
            if found and found[:-1] == before and written[found[-1]] == equal:
                ids[equal] = found[-1]
                break
    return ids


class Translation:
    """A mapping from a draft model's tokens to a target's; takes up to 0.7 s for 262k tokens.

    A text of several target tokens maps to the one that the target's tokenizer chooses, since that
    is what the target has learned to write.

    Attributes:
        written: Bytes of the target's tokens by id; empty for the token that begins every text,
            which the tokenizer adds.
        ids: The target's tokens that can be drafted, int64 [n], ascending.
        share: Share of the sample that can be drafted, as in `share_of`.
        how: The requested kind of translation.

    Raises:
        ValueOutOfRangeError: A replacement is empty.
    """

    def __init__(self, target: Vocabulary, draft: TokenTable, how: Translating) -> None:
        if not all(map(all, how.replace)):
            refuse(
                "A text that is to be replaced for the draft model, or its replacement, is empty.",
                "Give both.",
            )
        self.how = how
        self.written = bytes_of_tokens(target)
        if target.add_bos and target.bos >= 0:
            self.written[target.bos] = b""
        ids = token_of_each_text(target, self.written)
        theirs = bytes_of_tokens(draft)
        self.share = _share(ids, {*theirs})
        for ours, instead in how.replace:
            theirs = [text.replace(instead.encode(), ours.encode()) for text in theirs]
        equals = [ids.get(text, -1) for text in theirs]
        if how.bridges:
            equals = [
                ids.get(_longest(ids, text), -1) if token < 0 else token
                for token, text in zip(equals, theirs, strict=True)
            ]
        ours_of = np.array(equals, np.int64)
        order = np.argsort(ours_of, kind="stable")
        self._sources = order[np.count_nonzero(ours_of < 0) :]
        self.ids, self._firsts = np.unique(ours_of[self._sources], return_index=True)

    def row(self, row: Row) -> Row:
        """Convert a row of the draft model into one for the target.

        Args:
            row: float32 [n tokens of the draft model].

        Returns:
            float32 [n tokens of the target], in its own memory: for each token the largest logit of
            the draft model's tokens with its text, or -inf if there is none.
        """
        found = np.full(len(self.written), -np.inf, np.float32)
        logits = row[self._sources]
        if len(self.ids) < len(logits):
            logits = np.maximum.reduceat(logits, self._firsts)
        found[self.ids] = logits
        return found


_MIN_OPEN_TOKENS = 16
"""Minimum number of target tokens at the text's end that are tokenized again with new text."""
_TRIES = 8
_LEAD = "\n"


class TranslatedContext(CachedContext):
    """A context with the target's `tokens`; the model reads the same text in a second context.

    When the text outgrows the model's context, the last half of a context is read again.

    Attributes:
        own: The context with the model's own tokens.
        translation: The mapping from its tokens to the target's.
    """

    def __init__(self, model: LanguageModel, translation: Translation) -> None:
        super().__init__(model)
        self.own = CachedContext(model)
        self.translation = translation
        self._wanted: list[int] = []  # the text in the model's tokens
        self._settled = [(0, 0)]  # matching indices in the target's tokens and in these, ascending
        first = model.vocab.tokenize("a", special=False)[:1]
        # Some tokenizers put a space before any text, which is wrong within a text.
        has_space = any(model.vocab.piece(token).startswith(b" ") for token in first)
        self._lead = _LEAD if has_space else ""
        self._n_lead = len(model.vocab.tokenize(self._lead, special=False))

    @property
    def n_vocab(self) -> int:
        """The length of the target's rows."""
        return len(self.translation.written)

    def any_tokens(self, n: int) -> list[int]:
        """Return tokens that represent no text, among those that both vocabularies have."""
        tokens: list[int] = np.random.default_rng(0).choice(self.translation.ids, n).tolist()
        return tokens

    def feed(self, tokens: Sequence[int], n_rows: int, width: int = 0) -> Rows:
        """Read the text that ends with these tokens; see `CachedContext.feed`.

        Args:
            tokens: At least one.
            n_rows: 0 or 1.
            width: Ignored.

        Returns:
            The target's row, float32 [1, n_vocab], in its own memory.

        Raises:
            NothingAllowedError: The text is empty or ends within a character, so that no token of
                the model can follow; nothing was appended.
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
            self.tokens.cut(n_held)
            raise
        self._advance_settled()
        return self.translation.row(rows[0])[None] if n_rows else rows[:0]

    def rollback(self, n_tokens: int) -> None:
        """Shorten the text; the model's context is shortened when it reads the next text."""
        self.tokens.cut(max(n_tokens, 0))
        self._settled = [place for place in self._settled if place[0] <= n_tokens] or [(0, 0)]

    def save_for_draft(self) -> None:
        """Make sure that the tokens decoded from here on can be removed, if possible at all."""
        self.own.save_for_draft()

    def clear(self, *, wipe: bool = False) -> None:
        """Remove everything; see `LanguageModel.clear`."""
        self.own.clear(wipe=wipe)
        self.tokens.clear()
        self._wanted.clear()
        self._settled = [(0, 0)]

    # ------------------------------------------------------------------------------ within

    def _tokenize(self) -> bool:
        """Tokenize the text for the model; return False if a partial last character is left out.

        Starts at the last settled place, or at a later one if there is no room.
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
        """Return the model's tokens for the target's, given the number of model tokens before."""
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
        """Make the model's context hold the wanted text, and return the last row."""
        own, wanted, n = self.own, self._wanted, self._settled[-1][1]
        own.rollback(min(n + common_prefix(own.tokens[n:], wanted[n:]), len(wanted) - 1))
        return own.extend(wanted, self.model.n_batch)

    def _advance_settled(self) -> None:
        """Add a later settled place, from which tokenizing leaves earlier tokens unchanged."""
        first, n_before = self._settled[-1]
        last = len(self.tokens) - _MIN_OPEN_TOKENS
        if last - first < _MIN_OPEN_TOKENS:
            return
        for end in range(last, last - _TRIES, -1):
            head, is_whole = self._tokens_of(self.tokens[first:end], n_before)
            n = n_before + len(head)
            if is_whole and n and self._wanted[n_before:n] == head:
                self._settled.append((end, n))
                return
