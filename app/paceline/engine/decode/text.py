"""Committed tokens to the reply's text: bytes that may end within a character, and stop texts."""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Sequence

from paceline.engine.model.backend import Vocabulary


class TextAssembler:
    """Grows a reply token by token.

    A token may end in the middle of a UTF-8 character; its bytes wait for the rest. Text that could
    be the beginning of a stop text waits, too, until that is decided. Bytes that can never become
    a character turn into U+FFFD.

    Attributes:
        text_end: Characters decoded so far, held-back and cut ones included.

    Args:
        vocab: Tells the tokens' bytes.
        stop: Texts that end the reply, which is cut before them.
        opening: What the reply begins with before its first token: the mark of reasoning that the
            prompt ends with, without which readers could not tell it from the answer.
    """

    def __init__(self, vocab: Vocabulary, stop: Sequence[str] = (), opening: str = "") -> None:
        self._vocab = vocab
        self._stop = tuple(text for text in stop if text)
        self._open = b""  # of a character that is not whole yet
        self._text = opening
        self.text_end = self._n_opening = len(opening)
        self._shown = 0
        self._cut: int | None = None

    def begin(self, tokens: Sequence[int], shown: str) -> None:
        """Go on after these tokens, of which this text has been shown; stops in it are passed."""
        self._append(b"".join(map(self._vocab.piece, tokens)))
        passed = [at + len(s) for s in self._stop if (at := self._text.rfind(s)) >= 0]
        self._n_opening = max(self._n_opening, *passed) if passed else self._n_opening
        self._shown = len(shown)

    @property
    def text(self) -> str:
        """The reply, cut before a stop text."""
        return self._text if self._cut is None else self._text[: self._cut]

    def push(self, token: int) -> bool:
        """Append a token; True when the text now contains a stop text, which ends the reply."""
        before = self.text_end
        self._append(self._vocab.piece(token))
        if self._stop and self.text_end > before:
            return self._find_stop(before)
        return False

    def take(self) -> str:
        """Return what can be shown and was not yet."""
        end = self.text_end if self._cut is None else self._cut
        if self._stop and self._cut is None:
            end -= self._undecided()
        new = self._text[self._shown : end]
        self._shown = max(end, self._shown)
        return new

    def finish(self) -> str:
        """End the reply: bytes of an open character become U+FFFD. Return the rest to show."""
        self._append(b"", final=True)
        end = self.text_end if self._cut is None else self._cut
        new = self._text[self._shown : end]
        self._shown = max(end, self._shown)
        return new

    def _append(self, piece: bytes, *, final: bool = False) -> None:
        data = self._open + piece
        text, n_whole = utf_8_decode(data, "replace", final)
        self._open = data[n_whole:]
        self._text += text
        self.text_end += len(text)

    def _find_stop(self, before: int) -> bool:
        hits = [
            at
            for stop in self._stop
            if (at := self._text.find(stop, max(before - len(stop) + 1, self._n_opening))) >= 0
        ]
        if hits:
            self._cut = min(hits)
        return bool(hits)

    def _undecided(self) -> int:
        """Return the length of the longest end of the text that begins a stop text."""
        text, longest = self._text, 0
        for stop in self._stop:
            tail = text[-(len(stop) - 1) :] if len(stop) > 1 else ""
            at = tail.find(stop[0])
            while at >= 0 and len(tail) - at > longest:
                if stop.startswith(tail[at:]):
                    longest = len(tail) - at
                at = tail.find(stop[0], at + 1)
        return longest
