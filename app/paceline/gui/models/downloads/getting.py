"""One button for a recommended pair: it is downloaded, and loaded once it is here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot

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
    ) -> None:
        """Get nothing yet.

        Args:
            context: The program's parts.
            models: What is here, and where the rest is.
            downloads: Carries downloads out.
            load: Loads files that are here.
        """
        super().__init__(models, downloads, context.background, context.window)
        self._context = context
        self._load = load
        self._before: Pair | None = None
        self.ready.connect(self._on_ready)

    def get(self, pair: CuratedPair) -> None:
        """Download what is missing of a pair that is complete, and load it.

        Where other models are loaded meanwhile, a notice offers it instead.
        """
        self._before = self._context.pair.state.pair
        self.fetch(pair_of(pair))

    @Slot(object)
    def _on_ready(self, pair: Pair) -> None:
        if self._context.pair.state.pair == self._before:
            self._load(pair)
        else:
            self.offer(pair, self.tr("The recommended pair is downloaded."), self._load)


def pair_of(pair: CuratedPair) -> Pair:
    """Return what to fetch and load for an entry that is complete; paths are ``hf:`` references."""
    drafting: Drafting = OWN_HEAD
    if pair.kind == DRAFT:
        drafting = DraftModel(ModelParams(pair.draft_reference))
    elif pair.draft_reference:
        drafting = TargetHead(drafts_with(pair.kind), pair.draft_reference)
    return Pair(ModelParams(pair.target_reference), drafting)
