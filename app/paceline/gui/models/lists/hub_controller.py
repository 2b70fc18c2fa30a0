"""Searches on the Hub and looks at repositories for the window, without ever keeping it waiting.

Every request runs on a thread of its own pool, since one may take 40 s; a request that is no longer
needed is stopped and ends within a fraction of a second. Late answers are dropped. Main thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog.fetching import repository_page
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.listing import recommended
from paceline.catalog.hub.values import HubModel, HubRepository, SearchQuery
from paceline.catalog.inspect.inspector import Inspector
from paceline.errors import UserError
from paceline.gui.kit.background import Background
from paceline.gui.kit.rows import Rows
from paceline.gui.kit.translation import local_weights
from paceline.gui.models.candidates import spoken

State = Literal["idle", "searching", "results", "empty", "offline", "failed"]


class HubResults(Rows[HubModel]):
    """What a search on the Hub has found: one row per repository.

    Rows are only appended, or all removed, so that a view keeps its place. Main thread.

    Attributes:
        state: "searching": there is no row yet; "results": there are some, and more may come.
        error: Why the search failed, or could not go on after the rows that are there.
        has_more: Whether further rows can be asked for.
    """

    state_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state: State = "idle"
        self.error: UserError | None = None
        self.has_more = False

    def begin(self) -> None:
        """A search has begun: take away what an earlier one has found."""
        self.set_rows(())
        self._become("searching")

    def append(self, models: Sequence[HubModel]) -> None:
        """Append these; a repository may appear on two pages."""
        known = {model.repo for model in self.rows}
        new = [model for model in models if model.repo not in known]
        self.add_rows(new)
        if new and self.state != "results":
            self._become("results")

    def end(self, *, has_more: bool) -> None:
        """The search has ended, or rests until more is asked for."""
        self._become("results" if self.rows else "empty", has_more=has_more)

    def fail(self, error: UserError) -> None:
        """The search has ended with an error; rows that are there stay."""
        if self.rows:
            self._become("results", error=error)
        else:
            self._become("offline" if error.code == "offline" else "failed", error=error)

    def title(self, row: HubModel) -> str:
        """Name the repository."""
        return row.repo

    def spoken(self, row: HubModel) -> str:
        """Say what is painted beside its name."""
        weights = local_weights(row.n_params)
        return spoken(
            row.repo,
            self.tr("{} parameters").format(weights) if weights else "",
            self.tr("{} downloads").format(row.downloads),
            row.license,
            self.tr("must be asked for") if row.gate != "open" else "",
        )

    def _become(
        self, state: State, *, error: UserError | None = None, has_more: bool = False
    ) -> None:
        self.state, self.error, self.has_more = state, error, has_more
        self.state_changed.emit()


END_MS = 900
_MOST = 1000
_BATCH, _BATCH_S = 20, 0.2


class HubController(QObject):
    """Owns what is asked of the Hub; rows and states of a search go to the results."""

    repository_ready = Signal(object, object)
    """`HubRepository`, and the `HubChoice` that suits this machine or None."""
    repository_failed = Signal(object)
    """UserError"""
    _found = Signal(object, list)
    token_kept = Signal()
    token_failed = Signal(object)
    """UserError"""

    def __init__(
        self, hub: Hub, parent: QObject | None = None, *, inspector: Inspector | None = None
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._inspector = inspector
        self.results = HubResults(self)
        """What the search has found, and how it stands"""
        self._background = Background(self)
        self._search: _Search | None = None
        self._is_asking = False
        self._look: threading.Event | None = None
        self._is_closed = False
        self._found.connect(self._on_found)

    # ---------------------------------------------------------------------------------- search

    @Slot(object)
    def search(self, query: SearchQuery) -> None:
        """Search now; what was found before goes. `query.limit` rows come at first."""
        if not self._is_closed:
            self._drop_search()
            self.results.begin()
            self._search = _Search(self._hub, query, self._found.emit)
            self._ask()

    @Slot()
    def more(self) -> None:
        """Find as many more rows again."""
        if self.results.has_more and not self._is_asking and not self._is_closed:
            self.results.has_more = False
            self._ask()

    def _ask(self) -> None:
        if (search := self._search) is not None:
            self._is_asking = True
            self._background.start(
                search, partial(self._on_searched, search), partial(self._on_not_searched, search)
            )

    def _drop_search(self) -> None:
        if self._search is not None:
            self._search.stop()
            self._search = None
        self._is_asking = False

    @Slot(object, list)
    def _on_found(self, search: _Search, models: list[HubModel]) -> None:
        if search is self._search:
            self.results.append(models)

    def _on_searched(self, search: _Search, has_more: bool) -> None:  # noqa: FBT001
        if search is self._search:
            self._is_asking = False
            self.results.end(has_more=has_more)

    def _on_not_searched(self, search: _Search, error: UserError) -> None:
        if search is self._search:
            self._is_asking = False
            self.results.fail(error)

    # ------------------------------------------------------------------------------ repository

    def open_repository(self, repo: str, n_free: int = 0) -> None:
        """Look at a repository; a look at another one before is dropped.

        Args:
            repo: ``OWNER/NAME``.
            n_free: Bytes of memory that a model may take, for the recommendation.
        """
        if self._is_closed:
            return
        self._drop_look()
        self._look = look = threading.Event()
        self._background.start(
            partial(repository_page, self._hub, self._inspector, repo, is_stopped=look.is_set),
            partial(self._on_looked, look, n_free),
            partial(self._on_not_looked, look),
        )

    def _drop_look(self) -> None:
        if self._look is not None:
            self._look.set()
            self._look = None

    def _on_looked(self, look: threading.Event, n_free: int, repository: HubRepository) -> None:
        if look is self._look:
            self._look = None
            is_asked = n_free and not repository.newer
            best = recommended(repository.choices, n_free) if is_asked else None
            self.repository_ready.emit(repository, best)

    def _on_not_looked(self, look: threading.Event, error: UserError) -> None:
        if look is self._look:
            self._look = None
            self.repository_failed.emit(error)

    # --------------------------------------------------------------------------------- the rest

    @Slot(str)
    def set_token(self, token: str) -> None:
        """Keep an access token, then say so by `token_kept`; a keyring may have to be unlocked."""
        if not self._is_closed:
            keep = partial(self._hub.tokens.set_token, token)
            self._background.start(keep, self._on_kept, self.token_failed.emit)

    def _on_kept(self, _result: None) -> None:
        self.token_kept.emit()

    def set_offline(self, is_offline: bool) -> None:  # noqa: FBT001
        """Use the network, or do not; what failed for that reason has to be asked for again."""
        self._hub.offline = is_offline
        if is_offline:
            self._drop_look()

    def stop(self) -> None:
        """Drop what is under way."""
        self._drop_search()
        self._drop_look()

    def close(self) -> bool:
        """Stop everything, within a second; false: something hangs, such as a keyring."""
        self._is_closed = True
        self.stop()
        return self._background.close(END_MS)


class _Search:
    """One search, a batch of rows per call; called on a worker's thread."""

    def __init__(
        self, hub: Hub, query: SearchQuery, tell: Callable[[_Search, list[HubModel]], None]
    ) -> None:
        self._tell = tell
        self._n_wanted = query.limit
        self._is_stopped = threading.Event()
        self._models: Iterator[HubModel] = hub.search(
            replace(query, limit=max(_MOST, query.limit)), self._is_stopped.is_set
        )

    def stop(self) -> None:
        """End soon; any thread."""
        self._is_stopped.set()

    def __call__(self) -> bool:
        """Find rows, one call at a time; returns whether there may be more.

        Raises:
            UserError: The Hub does not answer as it should.
        """
        batch: list[HubModel] = []
        sent_s = time.monotonic()
        try:
            for n_found, model in enumerate(self._models, start=1):
                batch.append(model)
                if n_found >= self._n_wanted:
                    return True
                if len(batch) >= _BATCH or time.monotonic() - sent_s > _BATCH_S:
                    self._tell(self, batch)
                    batch, sent_s = [], time.monotonic()
        finally:
            if batch:
                self._tell(self, batch)
        return False
