"""One button for models from the Hub: they are downloaded, and loaded once they are here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot

from paceline import starter
from paceline.catalog.judge.curated import CuratedPair
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.engine.draft.heads import drafts_with
from paceline.gui.context import AppContext
from paceline.gui.models.downloads.controller import DownloadsController, PairFetcher
from paceline.params import DRAFT, OWN_HEAD, Drafting, DraftModel, ModelParams, TargetHead


class PairGetter(PairFetcher):
    """Gets one pair at a time; main thread.

    `line` and `progress` say how far it is and `problem` what is wrong, `cancel` gives it up. After
    a failure, such as a full disk, or a start of the program, `get` goes on with what has arrived.
    """

    def __init__(
        self,
        context: AppContext,
        models: Models,
        downloads: DownloadsController,
        load: Callable[[Pair], None],
        words: str,
    ) -> None:
        """Get nothing yet.

        Args:
            context: The program's parts.
            models: What is here, and where the rest is.
            downloads: Carries downloads out.
            load: Loads files that are here.
            words: Tells that the pair is here, where it is not loaded at once.
        """
        super().__init__(models, downloads, context.background, context.window)
        self._context = context
        self._load, self._words = load, words
        self._before: Pair | None = None
        self.ready.connect(self._on_ready)

    def get(self, pair: Pair) -> None:
        """Download what is missing of a pair, and load it.

        Where other models are loaded meanwhile, a notice offers it instead.
        """
        self._before = self._context.pair.state.pair
        self.fetch(pair)

    def resume(self) -> None:
        """Go on, and load the pair in place of what is loaded now."""
        self._before = self._context.pair.state.pair
        super().resume()

    @Slot(object)
    def _on_ready(self, pair: Pair) -> None:
        if self._context.pair.state.pair == self._before:
            self._load(pair)
        else:
            self.offer(pair, self._words, self._load)


def pair_of(pair: CuratedPair) -> Pair:
    """Return what to fetch and load for an entry that is complete; paths are ``hf:`` references."""
    drafting: Drafting = OWN_HEAD
    if pair.kind == DRAFT:
        drafting = DraftModel(ModelParams(pair.draft_reference))
    elif pair.draft_reference:
        drafting = TargetHead(drafts_with(pair.kind), pair.draft_reference)
    return Pair(ModelParams(pair.target_reference), drafting)


def first_model() -> Pair:
    """Return what to fetch and load where there is no model that talks: `starter`, alone."""
    return Pair(ModelParams(starter.reference()))
