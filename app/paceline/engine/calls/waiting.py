"""A grammar that waits for a call: until its mark is in the answer, any text is allowed.

What a model writes before the mark is, token by token, what it would write without a grammar, and
costs no mask. From the mark on the reply must consist of calls. A mark is ordinary text if the
token that contains it already continues in a way that no call does.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from paceline.engine.calls.form import CallForm
from paceline.engine.calls.mark_finder import MarkFinder
from paceline.engine.decode.reply_marks import AnswerFinder
from paceline.engine.prompt.segments import tokenize_after
from paceline.errors import EngineError

if TYPE_CHECKING:
    from paceline.engine.decode.text import TextAssembler
    from paceline.engine.model.backend import Grammar, Vocabulary
    from paceline.engine.model.token_mask import TokenMask


class WaitingGrammar:
    """Implements `backend.Grammar`. Not thread-safe.

    Args:
        vocab: The model's vocabulary.
        form: Form in which it writes calls.
        text: Assembler of the reply's text, in its initial state.
        calls: Grammar of calls from any mark on, in its initial state; `close` frees it.
    """

    def __init__(
        self, vocab: Vocabulary, form: CallForm, text: TextAssembler, calls: Grammar
    ) -> None:
        self._vocab = vocab
        self._form = form
        self._text = text
        self._calls = calls
        self._answer = AnswerFinder()
        self._marks = MarkFinder(form) if form.is_framed else None
        self._now: Grammar | None = None
        self._is_copy = False

    def allowed(self) -> TokenMask | None:
        """Return the tokens that may come next, or None for all before a call has begun."""
        return self._now.allowed() if self._now else None

    def accept(self, token: int) -> None:
        """Advance by a token; see `backend.Grammar`."""
        if self._now:
            self._now.accept(token)
            return
        self._text.push(token)
        text = self._text.text
        if self._marks is None:
            self._answer.scan(text)
            if self._answer.begin is None:
                return
            self._marks = MarkFinder(self._form, self._answer.begin)
        while self._now is None and (found := self._marks.find(text)):
            at, mark = found
            self._now = self._begun(text[at:])
            self._marks.go_past(at + len(mark))

    def _begun(self, text: str) -> Grammar | None:
        """Return the grammar of calls after its first text, or None if the text is not a call."""
        calls = self._calls.clone()
        try:
            for token in tokenize_after(self._vocab, text, special=True):
                calls.accept(token)
        except EngineError:
            calls.close()
            return None
        return calls

    def forced(self) -> list[int]:
        """Return the tokens that must follow."""
        return self._now.forced() if self._now else []

    def clone(self) -> WaitingGrammar:
        """Return an independent copy with the same state, while this one is open."""
        other = copy.copy(self)
        other._is_copy = True
        if self._now:
            other._now = self._now.clone()
        else:
            other._text = self._text.copy()
            other._answer = copy.copy(self._answer)
            other._marks = copy.copy(self._marks)
        return other

    def close(self) -> None:
        """Free the grammar; a second call does nothing."""
        if self._now:
            self._now.close()
        if not self._is_copy:
            self._calls.close()
