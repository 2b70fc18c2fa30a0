"""Drafting of forced text: where a grammar allows only one text, it is drafted for free.

JSON by a schema has many such places: the names of its properties. The draft is the text's usual
tokenization, up to the last token that cannot become a longer one, and the target judges it like
any other. Where the grammar allows no other tokens for the text, all of it is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Settings, Workbench
from paceline.engine.model.backend import Grammar
from paceline.errors import EngineError, UserError

NAME = "grammar"


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

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Do nothing: the grammar knows the reply's state."""

    def propose(self, n_max: int) -> Draft:
        """Return the tokens of the text that must follow."""
        return self.extend((), n_max) if self._grammar.forced() else NO_DRAFT

    def extend(self, ahead: Sequence[int], n_max: int) -> Draft:
        """Return the tokens of the text that must follow `ahead`."""
        state = self._grammar.clone()
        tokens: list[int] = []
        try:
            for token in ahead:
                state.accept(token)
            while len(tokens) < n_max and (found := state.forced()):
                for token in found:
                    state.accept(token)
                    tokens.append(token)
        except EngineError:  # the grammar does not allow `ahead`, or is too complex to continue
            return NO_DRAFT
        finally:
            state.close()
        return Draft(tokens[:n_max]) if tokens else NO_DRAFT

    def observe(self, n_accepted: int | None) -> None:
        """Do nothing: the sampler advances the grammar."""

    def close(self) -> None:
        """Do nothing: the grammar belongs to the sampler."""


INFO = DrafterInfo(
    id=NAME,
    title="Grammar",
    summary="Drafts what the grammar forces; works by itself wherever there is one.",
    family="lookup",
    parameters=(),
    make=ForcedTokens,
)
