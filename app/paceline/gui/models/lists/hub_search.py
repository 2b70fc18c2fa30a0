"""Requests of the window to the Hub, and their results, without blocking it.

Every request runs on a thread of its own pool, since one may take 40 s; a request that is no longer
needed is cancelled and ends within a fraction of a second. Late answers are dropped. Main thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog.fetching import repository_page
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.values import HubModel, HubRepository, SearchQuery
from paceline.catalog.inspect.inspector import Inspector
from paceline.errors import UserError
from paceline.gui.kit.background import Background, Batch, next_batch

CLOSE_TIMEOUT_MS = 900
OUT_OF_REACH = ("offline", "no-network")
"""Error codes for a Hub that must not be asked, or cannot be reached."""
_MAX_RESULTS = 1000
_BATCH, _BATCH_S = 20, 0.2


class HubSearch(QObject):
    """One search at a time, and one open repository, which takes precedence over its results.

    Attributes:
        query: The query, or None before the first search.
        models: The repositories found, each once.
        error: Why the search failed, perhaps after some results.
        is_searching: Whether a search is running.
        has_more: Whether further results can be requested.
        repo: ``OWNER/NAME`` of the open repository; empty while results are shown.
        repository: Its page; None while it is being loaded, and after a failure.
        repo_error: Why the page could not be loaded.
    """

    changed = Signal()
    token_failed = Signal(object)
    """UserError"""
    online_wanted = Signal()
    """The user leaves the offline mode; failed requests are repeated afterwards."""

    def __init__(
        self, hub: Hub, parent: QObject | None = None, *, inspector: Inspector | None = None
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._inspector = inspector
        self._background = Background(self)
        self._is_closed = False
        self._search = self._look = threading.Event()
        self._found: Iterator[HubModel] = iter(())
        self._n_wanted = 0
        self._forget()

    def _forget(self) -> None:
        self.query: SearchQuery | None = None
        self.models: tuple[HubModel, ...] = ()
        self.error: UserError | None = None
        self.is_searching = self.has_more = False
        self.repo = ""
        self.repository: HubRepository | None = None
        self.repo_error: UserError | None = None

    @property
    def out_of_reach(self) -> str:
        """Code of `OUT_OF_REACH` for the reason why the Hub cannot be asked now, or empty."""
        error = self.repo_error or self.error
        found = error.code if error is not None and error.code in OUT_OF_REACH else ""
        return OUT_OF_REACH[0] if self._hub.offline else found

    # ---------------------------------------------------------------------------------- search

    def search(self, query: SearchQuery) -> None:
        """Search now, in place of earlier results. `query.limit` rows are loaded at first."""
        if self._is_closed:
            return
        self._search.set()
        self._search = stop = threading.Event()
        self.query, self.models = query, ()
        self._found = self._hub.search(
            replace(query, limit=max(_MAX_RESULTS, query.limit)), stop.is_set
        )
        self._ask(query.limit)

    @Slot()
    def more(self) -> None:
        """Load that many further rows."""
        if self.query is not None and self.has_more and not self._is_closed:
            self._ask(self.query.limit)

    def _ask(self, n_more: int) -> None:
        self._n_wanted = len(self.models) + n_more
        self.error, self.is_searching, self.has_more = None, True, False
        self._ask_on()
        self.changed.emit()

    def _ask_on(self) -> None:
        search, n = self._search, min(_BATCH, self._n_wanted - len(self.models))
        self._background.start(
            partial(next_batch, self._found, n, _BATCH_S),
            partial(self._on_found, search),
            partial(self._on_failed, search),
        )

    def _on_found(self, search: threading.Event, batch: Batch[HubModel]) -> None:
        if search is not self._search:
            return
        found = (*self.models, *batch.values)  # a repository may be on two pages
        self.models = tuple({model.repo: model for model in found}.values())
        is_enough = len(self.models) >= self._n_wanted
        if batch.error is not None:
            self._on_failed(search, batch.error)
            return
        if batch.is_last or is_enough:
            self.is_searching, self.has_more = False, not batch.is_last
        else:
            self._ask_on()
        self.changed.emit()

    def _on_failed(self, search: threading.Event, error: UserError) -> None:
        if search is self._search:
            self.error, self.is_searching = error, False
            self.changed.emit()

    # ------------------------------------------------------------------------------ repository

    def open_repository(self, repo: str) -> None:
        """Open a repository; an earlier request for one is dropped."""
        if self._is_closed:
            return
        self._look.set()
        self._look = look = threading.Event()
        self.repo, self.repository, self.repo_error = repo, None, None
        self._background.start(
            partial(repository_page, self._hub, self._inspector, repo, is_stopped=look.is_set),
            partial(self._on_looked, look),
            partial(self._on_not_looked, look),
        )
        self.changed.emit()

    @Slot()
    def leave_repository(self) -> None:
        """Return to the results."""
        self._look.set()
        self.repo, self.repository, self.repo_error = "", None, None
        self.changed.emit()

    def _on_looked(self, look: threading.Event, repository: HubRepository) -> None:
        if look is self._look and not look.is_set():
            self.repository = repository
            self.changed.emit()

    def _on_not_looked(self, look: threading.Event, error: UserError) -> None:
        if look is self._look and not look.is_set():
            self.repo_error = error
            self.changed.emit()

    # --------------------------------------------------------------------------------- the rest

    @Slot()
    def ask_again(self) -> None:
        """Repeat the present request."""
        if self.repo:
            self.open_repository(self.repo)
        elif self.query is not None:
            self.search(self.query)

    @Slot()
    def go_online(self) -> None:
        """Leave the offline mode, and repeat the request."""
        self.online_wanted.emit()
        self.ask_again()

    @Slot(str)
    def set_token(self, token: str) -> None:
        """Store an access token, and repeat the request; a keyring may have to be unlocked."""
        if not self._is_closed:
            keep = partial(self._hub.tokens.set_token, token)
            self._background.start(keep, self._on_kept, self.token_failed.emit)

    def _on_kept(self, _result: None) -> None:
        self.ask_again()

    def set_offline(self, is_offline: bool) -> None:  # noqa: FBT001
        """Allow or forbid the network; requests that failed for that reason must be repeated."""
        self._hub.offline = is_offline
        if is_offline:
            self._look.set()
        self.changed.emit()

    def stop(self) -> None:
        """Cancel the requests, and drop the results."""
        self._search.set()
        self._look.set()
        self._search = self._look = threading.Event()
        self._forget()
        self.changed.emit()

    def close(self) -> bool:
        """Cancel everything within a second; return False if something hangs, such as a keyring."""
        self._is_closed = True
        self.stop()
        return self._background.close(CLOSE_TIMEOUT_MS)
