"""Tokenization of a prompt in pieces, such that the tokens are those of the whole text.

Some vocabularies (SentencePiece's of Llama 2, Mistral 7B, Phi-3) put a blank before every text that
they tokenize, and llama.cpp puts one after every control token. Within a text there must be none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from paceline.engine.model.backend import Vocabulary

Segment = tuple[str, bool]
"""A piece of a prompt, and whether names of control tokens in it become control tokens."""
_SIGNS = ("\n", "|", "0")
"""Texts to put before another text, so that it is not the first one. A sign that forms one token
with the text's beginning cannot be used."""


def encode_segments(vocab: Vocabulary, segments: Iterable[Segment]) -> list[int]:
    """Return the tokens of a text in pieces, with the same blanks as for the whole text."""
    tokens: list[int] = []
    for text, special in segments:
        if not text:
            continue
        if not tokens or _is_own_text(vocab, tokens[-1]):
            tokens += vocab.tokenize(text, special=special)
        else:
            tokens += tokenize_after(vocab, text, special=special)
    return tokens


_WAYS: tuple[Callable[[str], str], ...] = (
    str,
    str.strip,
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: json.dumps(text)[1:-1],
)
"""The ways in which a template writes a text that it does not rewrite."""


def filled(pieces: Sequence[str], texts: Mapping[str, str], plain: str) -> list[Segment]:
    """Return a prompt that was split at placeholders, with the texts in their places.

    Args:
        pieces: Text of the template and a placeholder, alternately.
        texts: Text for each placeholder.
        plain: The prompt without placeholders.

    Returns:
        Its segments, where the texts contain no control tokens; empty if the template rewrites
        texts.
    """
    for way in (str, str.strip):
        found = [(way(texts[p]), False) if p in texts else (p, True) for p in pieces]
        if "".join(text for text, _ in found) == plain:
            return found
    found, at = [], 0
    for piece, then in zip(pieces, [*pieces[1:], ""], strict=True):
        ways = [way(texts[piece]) for way in _WAYS] if piece in texts else [piece]
        follows = "" if then in texts else then
        text = next((text for text in ways if plain.startswith(text + follows, at)), None)
        if text is None:
            return []
        found.append((text, piece not in texts))
        at += len(text)
    return found if at == len(plain) else []


def tokenize_after(vocab: Vocabulary, text: str, *, special: bool) -> list[int]:
    """Return the tokens of a text that continues another one: no blank comes before it."""
    if b"".join(map(vocab.piece, vocab.tokenize("a", special=False))) == b"a":
        return vocab.tokenize(text, special=special)
    for sign in _SIGNS:
        before = vocab.tokenize(sign, special=False)
        tokens = vocab.tokenize(sign + text, special=special)
        if tokens[: len(before)] == before:
            return tokens[len(before) :]
    return vocab.tokenize(text, special=special)


def _is_own_text(vocab: Vocabulary, token: int) -> bool:
    """Return whether a token's text is its entry in the vocabulary, as for control tokens."""
    name = vocab.text(token).decode("utf-8", "replace")
    return bool(name) and vocab.tokenize(name, special=True) == [token]
