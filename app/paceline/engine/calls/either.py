"""A grammar of alternatives: a reply follows one of several grammars; its tokens decide which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.errors import EngineError

if TYPE_CHECKING:
    from paceline.engine.model.backend import Grammar
    from paceline.engine.model.token_mask import TokenMask


class EitherGrammar:
    """Implements `backend.Grammar`. Not thread-safe.

    Args:
        grammars: Grammars in their initial states; `close` frees them. One that refuses a token is
            freed at once.
    """

    def __init__(self, *grammars: Grammar) -> None:
        self._going = grammars

    def allowed(self) -> TokenMask | None:
        """Return the tokens that any of them allows next, or None for all tokens."""
        first, *more = (grammar.allowed() for grammar in self._going)
        for mask in more:
            first = None if first is None or mask is None else first.or_of(mask)
        return first

    def accept(self, token: int) -> None:
        """Advance by a token; see `backend.Grammar`."""
        going = tuple(grammar for grammar in self._going if _has_accepted(grammar, token))
        if not going:
            raise EngineError("grammar-refuses", "The grammar does not allow this token here.")
        for grammar in self._going:
            if grammar not in going:
                grammar.close()
        self._going = going

    def forced(self) -> list[int]:
        """Return the tokens that must follow; none while several grammars are possible."""
        return self._going[0].forced() if len(self._going) == 1 else []

    def clone(self) -> EitherGrammar:
        """Return an independent copy with the same state."""
        return EitherGrammar(*(grammar.clone() for grammar in self._going))

    def close(self) -> None:
        """Free the grammars; a second call does nothing."""
        for grammar in self._going:
            grammar.close()


def _has_accepted(grammar: Grammar, token: int) -> bool:
    try:
        grammar.accept(token)
    except EngineError as error:
        if error.code != "grammar-refuses":
            raise
        return False
    return True
