"""Tokens of one vocabulary as those of another one, by their bytes.

A draft model whose tokenizer is another one drafts by the tokens that both write alike, as in
"token-level intersection" (Timor et al. 2025, arXiv 2502.05202): its logits are moved to the
target's ids, and what the target does not write as one token gets none. So the noise, penalties and
grammar of the target hold for such drafts, too.

How much of a text can be drafted is told by a sample of English, code and markup, cut into the
target's tokens. The engine asks after a load, the catalog before one; both say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paceline.engine.model.backend import Row
from paceline.engine.model.vocabularies import BYTE_PAIR_ENCODING, Mismatch, Tokens
from paceline.errors import ValueOutOfRangeError
from paceline.params import Translating

LEAST_SHARE = 0.6
"""Of a text's tokens; with fewer, a draft of two tokens is cut short more often than not."""

_SPACE, _BYTE_LEVEL_SPACE = "▁".encode(), "Ġ".encode()
_ITSELF = {*range(33, 127), *range(161, 173), *range(174, 256)}
_BYTE_OF = dict(enumerate((byte for byte in range(256) if byte not in _ITSELF), start=256))
"""The bytes that vocabularies such as GPT-2's write as other characters, by these."""
_LONGEST = 32  # bytes of a token that is looked for
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
    """Return whether drafts are translated, and what is lost by that, in a few sentences."""
    why = f"{differs.text[:1].upper()}{differs.text[1:]}."
    n = f"{100 * share:.0f} %"
    lost = round(100 * (1 - share))
    fewer = f"at least {lost} % fewer" if lost else "fewer"
    if share < LEAST_SHARE:
        return (
            f"{why} Drafts cannot be translated either: of the tokens that the target writes the "
            f"draft model has only {n}."
        )
    return (
        f"{why} So drafts are translated: of the tokens that the target writes in English and code "
        f"the draft model has {n}, and a draft ends at any other. Expect {fewer} accepted tokens "
        "than with the same tokenizer."
    )


def bytes_of_tokens(tokens: Tokens) -> list[bytes]:
    """Return what every token writes, by id; a control token is written by its name.

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


def share_of(target: Tokens, draft: Tokens) -> float:
    """Return how many of the target's tokens in the sample are the draft model's, too, 0..1."""
    written = bytes_of_tokens(target)
    return _share(_ids(written), {*bytes_of_tokens(draft)})


def _ids(written: Sequence[bytes]) -> dict[bytes, int]:
    # The last one of equals: single bytes stand before the letters that are written by them.
    return {text: token for token, text in enumerate(written) if text}


def _share(ids: Mapping[bytes, int], theirs: set[bytes]) -> float:
    at = n_tokens = n_equal = 0
    while at < len(_SAMPLE):
        text = _longest(ids, _SAMPLE[at : at + _LONGEST])
        n_tokens += 1
        n_equal += text in theirs
        at += len(text) or 1
    return n_equal / n_tokens


def _longest(ids: Mapping[bytes, int], text: bytes) -> bytes:
    """Return the longest beginning of a text that is a token; empty: none is.

    So the first token is found in a text, nearly as by the tokenizer itself: with 16 vocabularies
    the shares of the sample differ by at most 0.015.
    """
    return next((text[:n] for n in range(len(text), 0, -1) if text[:n] in ids), b"")


class Translation:
    """From a draft model's tokens to a target's. Making one takes up to 0.7 s, for 262k tokens.

    Attributes:
        written: What the target's tokens write, by id; nothing for the one that begins every text,
            which is added by the tokenizer.
        ids: The target's tokens that can be drafted, int64 [n], ascending.
        share: As `share_of` says.
        how: What was asked for.

    Raises:
        ValueOutOfRangeError: A replacement is empty.
    """

    def __init__(self, target: Tokens, draft: Tokens, how: Translating) -> None:
        if not all(map(all, how.replace)):
            raise ValueOutOfRangeError(
                "value-out-of-range",
                "A text that is to be replaced for the draft model, or its replacement, is empty.",
                "Give both.",
            )
        self.how = how
        self.written = bytes_of_tokens(target)
        if target.add_bos and target.bos >= 0:
            self.written[target.bos] = b""
        ids = _ids(self.written)
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
        """Return the target's row for one of the draft model's.

        Args:
            row: float32 [n tokens of the draft model].

        Returns:
            float32 [n tokens of the target], in its own memory: for each token the largest logit of
            those that stand for it, -inf where none does.
        """
        found = np.full(len(self.written), -np.inf, np.float32)
        logits = row[self._sources]
        if len(self.ids) < len(logits):
            logits = np.maximum.reduceat(logits, self._firsts)
        found[self.ids] = logits
        return found
