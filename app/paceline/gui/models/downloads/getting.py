"""A button for models from the Hub: they are downloaded, then loaded."""

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
    """Downloads and loads one pair at a time; main thread.

    `line` and `progress` describe the progress and `problem` a failure; `cancel` stops it. After a
    failure, such as a full disk, or a restart of the program, `get` continues with the received
    data.
    """

    def __init__(
        self,
        context: AppContext,
        models: Models,
        downloads: DownloadsController,
        load: Callable[[Pair], None],
        words: str,
    ) -> None:
        """Connect the parts; nothing is requested yet.

        Args:
            context: The program's parts.
            models: Finds local files, and the others on the Hub.
            downloads: Carries downloads out.
            load: Loads local files.
            words: Words that offer the pair where it is not loaded at once.
        """
        super().__init__(models, downloads, context.background, context.window)
        self._context = context
        self._load, self._words = load, words
        self._before: Pair | None = None
        self.ready.connect(self._on_ready)

    def get(self, pair: Pair) -> None:
        """Download the missing files of a pair, and load it.

        If other models were loaded meanwhile, a notice offers the pair instead.
        """
        self._before = self._context.pair.state.pair
        self.fetch(pair)

    def resume(self) -> None:
        """Continue, and load the pair in place of the one loaded now."""
        self._before = self._context.pair.state.pair
        super().resume()

    @Slot(object)
    def _on_ready(self, pair: Pair) -> None:
        if self._context.pair.state.pair == self._before:
            self._load(pair)
        else:
            self.offer(pair, self._words, self._load)


def pair_of(pair: CuratedPair) -> Pair:
    """Return the pair of a complete entry, with ``hf:`` references as paths."""
    drafting: Drafting = OWN_HEAD
    if pair.kind == DRAFT:
        drafting = DraftModel(ModelParams(pair.draft_reference))
    elif pair.draft_reference:
        drafting = TargetHead(drafts_with(pair.kind), pair.draft_reference)
    return Pair(ModelParams(pair.target_reference), drafting)


def first_model() -> Pair:
    """Return the first model, for a computer without a chat model: `starter`, alone."""
    return Pair(ModelParams(starter.reference()))
