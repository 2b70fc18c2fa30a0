"""A loaded pair: two models, the books of their contexts, and what was measured with them."""

from __future__ import annotations

import functools
from pathlib import Path

from paceline.engine.backend import LanguageModel
from paceline.engine.control.costs import VerifyCosts
from paceline.engine.control.knowledge import Knowledge
from paceline.engine.drafters import draft_model
from paceline.engine.facts import Facts
from paceline.engine.known_acceptance import recall_acceptance
from paceline.engine.plain_time import RecentPlain
from paceline.engine.prefix import CachedContext
from paceline.engine.prompt_size import PromptSizes
from paceline.engine.sameness.promise import Promise
from paceline.engine.template import ChatTemplate
from paceline.engine.vocab import vocabulary_hash
from paceline.errors import ComputeFailedError

_GUESS = 1.5
"""Decoding reads every weight once, so it takes time in proportion to a model's size; and half as
much again for what does not shrink with the model."""


class LoadedPair:
    """Target and draft with the books of their contexts, and what was measured with them.

    Attributes:
        knowledge: What Auto knows of their costs and of how often drafts are accepted.
        promise: What holds of the same text, and which batch widths make it so.
        has_forgotten: Whether what Auto knows of acceptance is what it has seen since `forget`,
            not what was kept in earlier sessions.
        uses_draft: Whether the last reply's strategy drafts with the model, if there is one.
        is_lost: Whether a decode has failed in such a way that nothing may go on in these
            contexts; whoever loaded the pair has to close it.
    """

    def __init__(
        self,
        target: LanguageModel,
        draft: LanguageModel | None,
        facts: Facts,
        *,
        memory_dir: str = "",
        lookup_cache: str = "",
        is_exact: bool = False,
    ) -> None:
        self.target = CachedContext(target)
        self.draft = CachedContext(draft) if draft else None
        self.template = ChatTemplate(target.template, target.vocab)
        self.sizes = PromptSizes(self.template)
        self.recent_plain = RecentPlain()
        self.facts = facts
        self.notes: tuple[str, ...] = ()
        self.kept: dict[str, object] = {}
        self.knowledge = Knowledge()
        if draft is not None and draft.info.size_bytes and target.info.size_bytes:
            share = draft.info.size_bytes / target.info.size_bytes
            self.knowledge.draft_cost(draft_model.INFO.id).guess = min(_GUESS * share, 1.0)
        self.promise = Promise(self.target, facts, lambda: self.knowledge.costs, is_exact=is_exact)
        self.has_forgotten = False
        self.uses_draft = False
        self.is_lost = False
        self._memory_dir = memory_dir
        self.lookup_cache = Path(lookup_cache) if lookup_cache else None
        recall_acceptance(self)

    @functools.cached_property
    def memory(self) -> Path | None:
        """The folder for what drafters learn of this vocabulary; None: nothing is kept."""
        if not self._memory_dir:
            return None
        return Path(self._memory_dir) / vocabulary_hash(self.target.model.vocab)

    def settle(self) -> bool:
        """Take the batch widths that the evidence leaves, between two replies.

        Returns:
            Whether they are other ones, so that nothing is known of what steps cost any more.
        """
        has_changed = self.promise.settle()
        if has_changed:
            self.knowledge.costs = VerifyCosts()
        return has_changed

    def look(self) -> bool:
        """Compare some rows in idle time; see `Promise.slice`.

        Raises:
            ComputeFailedError: Neither contexts nor device can be trusted any more.
        """
        try:
            return not self.is_lost and self.promise.slice()
        except ComputeFailedError:
            self.is_lost = True
            raise

    @property
    def models(self) -> tuple[LanguageModel, ...]:
        """The target and, if there is one, the draft model."""
        return (self.target.model, self.draft.model) if self.draft else (self.target.model,)

    def empty(self, *, wipe: bool = False) -> None:
        """Empty both contexts."""
        for context in (self.target, self.draft):
            if context:
                context.clear(wipe=wipe)

    def wipe(self) -> None:
        """Empty both contexts to the last byte, since invalid numbers could live on in them."""
        self.empty(wipe=True)

    def forget(self, *, keeps_rates: bool = False) -> None:
        """Forget every text; what was measured stays, and if wanted how often drafts were taken."""
        self.empty()
        self.kept.clear()
        self.knowledge.forget(keeps_rates=keeps_rates)
        self.has_forgotten = True

    def close(self) -> None:
        """Free both models, the draft first. A second call does nothing."""
        for model in reversed(self.models):
            model.close()
