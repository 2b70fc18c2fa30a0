"""Conversion of committed tokens into the reply's text: partial characters and stop texts."""

from __future__ import annotations

import copy
from codecs import utf_8_decode
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from paceline.engine.decode.reply_marks import AnswerFinder, MarkWriter
from paceline.engine.model.backend import Vocabulary
from paceline.engine.prompt.learned_marks import MarkTexts
from paceline.engine.prompt.reasoning_marks import PAIRS


class TextAssembler:
    """Builds a reply's text token by token.

    A token may end in the middle of a UTF-8 character; its bytes wait for the rest. Text that may
    be the beginning of a stop text is held back until that is decided. Bytes that can never become
    a character turn into U+FFFD. Stop texts count in the answer, not in the reasoning before it,
    unless they contain the mark that ends it.

    Attributes:
        text_end: Number of characters decoded so far, including those held back and cut.
        stopped_by: Stop texts before which the reply is cut, the longest first: those that begin
            first.

    Args:
        vocab: Vocabulary for the bytes of tokens.
        stop: Texts that end the reply; it is cut before them.
        opening: Text before the first token: the mark of reasoning that the prompt ends with,
            without which readers could not tell reasoning from answer.
        marks: Learned marks of reasoning to replace by known ones, or None if all are known.
        shown: Control tokens that appear as text in this reply, with their texts.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        stop: Sequence[str] = (),
        opening: str = "",
        marks: MarkTexts | None = None,
        shown: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self._vocab = vocab
        self._stop = tuple(text for text in stop if text)
        self._stop_anywhere = tuple(
            stop for stop in self._stop if any(mark in stop for mark in PAIRS.values())
        )
        self._open = b""  # bytes of an incomplete character
        self._text = opening
        self.text_end = len(opening)
        self._shown = self._begun = 0
        self._cut: int | None = None
        self.stopped_by: tuple[str, ...] = ()
        self._finder = AnswerFinder()
        self._shown_tokens = {**shown, **(marks.stand_ins if marks else {})}
        self._writer = MarkWriter(marks, is_opened=bool(opening)) if marks else None
        self._passed = self._searched = 0  # in the answer: up to where stop texts do not count

    def begin(self, tokens: Sequence[int], shown: str) -> None:
        """Continue after these tokens, whose text was shown before; stop texts in it are ignored.

        If the tokens decode to another text, as in a vocabulary without capital letters, the shown
        text stays.
        """
        for token in tokens:
            self._add(self._read(token))
        is_other = not self._text.startswith(shown.rstrip("\ufffd"))
        if is_other:
            self._open, self._text, self.text_end = b"", shown, len(shown)
        finder = self._finder
        finder.scan(self._text)
        if is_other and self._writer is not None:
            self._writer.go_on(in_reasoning=finder.is_reasoning, in_answer=finder.begin is not None)
        ends = [self._text.rfind(stop) + len(stop) for stop in self._stop if stop in self._text]
        self._passed = max(ends, default=0)
        self._searched = 0 if finder.begin is None else self.text_end
        self._shown = self._begun = min(len(shown), self.text_end)

    def copy(self) -> TextAssembler:
        """Return an independent copy that continues from here."""
        other = copy.copy(self)
        other._finder, other._writer = copy.copy(self._finder), copy.copy(self._writer)
        return other

    @property
    def text(self) -> str:
        """The reply, cut before a stop text."""
        return self._text if self._cut is None else self._text[: self._cut]

    def push(self, token: int) -> bool:
        """Append a token; return True if the answer now contains a stop text, which ends it."""
        text = self._add(self._read(token))
        return bool(self._stop and text) and self._find_stop()

    def take(self) -> str:
        """Return the text that can be shown and was not shown yet."""
        end = self.text_end if self._cut is None else self._cut
        if self._stop and self._cut is None:
            end -= self._undecided()
        return self._show(end)

    def finish(self, *, is_cut: bool = False) -> str:
        """End the reply and return the rest to show.

        Args:
            is_cut: Whether the reply was cut off. Then the bytes of an incomplete character are not
                in the text, and come with the next token if the reply is continued. Otherwise they
                become U+FFFD.
        """
        if not is_cut:
            self._add(self._decode(b"", final=True), final=True)
        if self._cut is None:
            self._find_stop(is_whole=True)
        return self._show(self.text_end if self._cut is None else self._cut)

    def _show(self, end: int) -> str:
        begin, self._shown = self._shown, max(end, self._shown)
        return self._text[begin:end]

    def _read(self, token: int) -> str:
        if token in self._shown_tokens:
            return self._decode(b"", final=True) + self._shown_tokens[token]
        return self._decode(self._vocab.piece(token))

    def _decode(self, piece: bytes, *, final: bool = False) -> str:
        data = self._open + piece if self._open else piece
        text, n_whole = utf_8_decode(data, "replace", final)
        self._open = data[n_whole:]
        return text

    def _add(self, text: str, *, final: bool = False) -> str:
        if self._writer is not None:
            text = self._writer.write(text, final=final)
        self._text += text
        self.text_end += len(text)
        return text

    def _find_stop(self, *, is_whole: bool = False) -> bool:
        if not self._stop:
            return False
        self._finder.scan(self._text, is_whole=is_whole)
        begin = self._finder.begin
        hits = [
            (at, stop)
            for stop in self._stop_anywhere
            if (at := self._text.find(stop, self._passed)) >= 0
        ]
        if begin is not None:
            first = max(begin, self._passed)
            hits += [
                (at, stop)
                for stop in self._stop
                if (at := self._text.find(stop, max(self._searched - len(stop) + 1, first))) >= 0
            ]
            self._searched = self.text_end
        if hits:
            first, _ = min(hits)
            self._cut = max(first, self._begun)  # text that was shown stays
            stops = {stop for at, stop in hits if at == first}
            self.stopped_by = tuple(sorted(stops, key=len, reverse=True))
        return bool(hits)

    def _undecided(self) -> int:
        """Return the length of the text's end that may belong to a stop text."""
        begin = self._finder.begin
        anywhere = self._begun_of(self._stop_anywhere)
        if begin is not None:
            return max(anywhere, min(self._begun_of(self._stop), self.text_end - begin))
        waits = 0 if self._finder.is_reasoning else self.text_end - self._finder.read
        return max(anywhere, waits)

    def _begun_of(self, stops: Sequence[str]) -> int:
        """Return the length of the longest end of the text that begins one of these."""
        text, longest = self._text, 0
        for stop in stops:
            tail = text[-(len(stop) - 1) :] if len(stop) > 1 else ""
            at = tail.find(stop[0])
            while at >= 0 and len(tail) - at > longest:
                if stop.startswith(tail[at:]):
                    longest = len(tail) - at
                at = tail.find(stop[0], at + 1)
        return longest
