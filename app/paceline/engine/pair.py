"""A loaded pair: two models, the books of their contexts, and what was measured with them."""

from __future__ import annotations

from paceline.engine.backend import LanguageModel
from paceline.engine.facts import Facts
from paceline.engine.prefix import CachedContext
from paceline.engine.stats import PlainSpeed
from paceline.engine.template import ChatTemplate


class LoadedPair:
    """Target and draft with the books of their contexts, and what was measured with them."""

    def __init__(self, target: LanguageModel, draft: LanguageModel | None, facts: Facts) -> None:
        self.target = CachedContext(target)
        self.draft = CachedContext(draft) if draft else None
        self.template = ChatTemplate(target.template, target.vocab)
        self.plain_speed = PlainSpeed(n_last=32)
        self.facts = facts

    def wipe(self) -> None:
        """Empty both contexts to the last byte, since invalid numbers could live on in them."""
        for context in (self.target, self.draft):
            if context:
                context.clear(wipe=True)

    def close(self) -> None:
        """Free both models, the draft first."""
        if self.draft:
            self.draft.model.close()
        self.target.model.close()
