"""Search among the Hub's GGUF models, and the card of a repository."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import SearchQuery, Sort, is_reference, parse_reference
from paceline.catalog.judge.curated import BYTES_PER_WEIGHT
from paceline.errors import UserError
from paceline.gui.kit.labels import YieldingCheckBox
from paceline.gui.kit.layouts import row_of
from paceline.gui.kit.sentences import said
from paceline.gui.models.candidates import MachineFacts, Picks
from paceline.gui.models.lists.hub_search import OUT_OF_REACH, HubSearch
from paceline.gui.models.lists.model_list import ModelList
from paceline.gui.models.lists.offers import Offer, offer_of_repository
from paceline.gui.models.lists.page import Instead, Page
from paceline.gui.models.lists.repository_card import RepositoryCard

LICENSES = ("apache-2.0", "mit", "llama3.1", "llama3.2", "gemma", "cc-by-4.0", "cc-by-nc-4.0")
TYPING_MS = 300
"""Pause after the last key before a search: each one is a request to the Hub."""
DRAFT_SIZE_DIVISOR = 4
"""Maximum size of a draft model, as a divisor of its target's weights; larger ones hardly pay."""


class HubPage(Page):
    """Fields and results; an open repository's card takes the place of the results."""

    wide_px = 570

    def __init__(self, hub: HubSearch) -> None:
        super().__init__(name=self.tr("Models on Hugging Face"))
        self._hub = hub
        self.search = self.make_search(self.tr("Search on Hugging Face"), TYPING_MS)
        self.bar.addWidget(self.search, 1)
        self.sort = self.make_choice(
            self.tr("Order"),
            (
                (self.tr("Trending"), "trending"),
                (self.tr("Most downloads"), "downloads"),
                (self.tr("Most likes"), "likes"),
                (self.tr("Newest"), "recent"),
            ),
        )
        self.license = self.make_choice(
            self.tr("License"), ((self.tr("Any license"), ""), *((name, name) for name in LICENSES))
        )
        choices, ticks = QWidget(), QWidget()
        self._filters = (choices, ticks)
        row_of(self.sort, self.license, on=choices, margins=0, spacing=8)
        self.bar.addWidget(choices)
        self.fits = YieldingCheckBox(self.tr("Fits my machine"))
        self.drafts = YieldingCheckBox(self.tr("Drafts for this model"))
        self.drafts.setChecked(True)
        row_of(self.fits, self.drafts, None, on=ticks, margins=0, spacing=16)
        self.column.insertWidget(1, ticks)
        self.card = RepositoryCard()
        self.stack.addWidget(self.card)
        self.add_list(self.card.files)
        self.search.wanted.connect(self.search_if_new)
        for choice in (self.sort, self.license):
            choice.currentIndexChanged.connect(self.search_now)
        for box in (self.fits, self.drafts):
            box.toggled.connect(self.search_now)
        self.card.back_button.clicked.connect(self._on_back)
        self.card.token_given.connect(hub.set_token)
        hub.changed.connect(self.refresh)
        self.rows.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.refresh()

    # ------------------------------------------------------------------------------------- query

    def query(self) -> SearchQuery:
        """Return the present query."""
        if named := self._named():
            return SearchQuery(text=named)
        target = self.picks.target if self.picks.step == 2 else None
        limits = (
            [int(self.machine.n_free / BYTES_PER_WEIGHT)]
            if self.fits.isChecked() and self.machine.n_free
            else []
        )
        architecture = ""
        if target is not None and self.drafts.isChecked():
            architecture = target.architecture
            if target.n_params:
                limits.append(target.n_params // DRAFT_SIZE_DIVISOR)
        sort: Sort = self.sort.currentData()
        return SearchQuery(
            text=self.search.text().strip(),
            sort=sort,
            license=self.license.currentData(),
            max_params=min(limits, default=0),
            architecture=architecture,
        )

    def show_picks(self, picks: Picks, machine: MachineFacts) -> None:
        """Follow the picks: draft models are searched by their target."""
        super().show_picks(picks, machine)
        self.drafts.setVisible(picks.step == 2)
        self.drafts.setEnabled(picks.target is not None)
        self.fits.setEnabled(machine.n_free > 0)
        if self._hub.query is not None and self.isVisible():
            self.search_if_new()

    def begin(self, *, takes_focus: bool) -> None:
        """Show the results of the present fields; typing then changes the search."""
        self.search_if_new()
        if takes_focus:
            self.search.setFocus()

    @Slot()
    def search_if_new(self) -> None:
        """Search unless the results are those of the present fields."""
        if self._hub.query != self.query():
            self.search_now()

    @Slot()
    def search_now(self) -> None:
        """Search by the present fields."""
        self._hub.leave_repository()
        self._hub.search(self.query())
        if named := self._named():
            self.open_repository(named)

    def add_list(self, rows: ModelList) -> None:
        """Add a list whose files can be picked; a repository is opened in its place."""
        if rows is not self.rows:
            super().add_list(rows)
            return
        for signal in (rows.picked, rows.confirmed):
            signal.connect(self._on_repository)

    @Slot(object)
    def _on_repository(self, offer: Offer) -> None:
        self.open_repository(offer.repo)

    def open_repository(self, repo: str) -> None:
        """Open a repository."""
        self.search.emit_now()  # now: a later search would replace the repository
        self._hub.open_repository(repo)

    def _named(self) -> str:
        """Return the repository of an address or a reference in the field; empty for words."""
        text = self.search.text().strip()
        try:
            return parse_reference(text).repo if is_reference(text) else ""
        except HubError:
            return ""

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        if value >= self.rows.verticalScrollBar().maximum() - 2:
            self._hub.more()

    # ----------------------------------------------------------------------------------- display

    def follow(self, *, was_in_front: QWidget | None) -> None:
        """Hide the filters for a repository, since they do not apply to its files."""
        is_card = self.stack.currentWidget() is self.card
        for row in self._filters:
            row.setVisible(not is_card)
        if is_card and was_in_front is not self.card:
            self.card.files.take_focus()

    def offers(self) -> list[Offer]:
        """Return the results of the search."""
        return [offer_of_repository(model) for model in self._hub.models]

    def instead(self) -> Instead | QWidget | None:
        """Return the card of a repository, or the reason for an empty list."""
        hub = self._hub
        if hub.repository is not None:
            self.card.show_repository(hub.repository, self.machine.n_free)
            self.show_rows(self.card.files, self.card.offers)
            self.card.show_recommended()
            return self.card
        if (error := hub.repo_error if hub.repo else hub.error) and (hub.repo or not hub.models):
            return self._failure(error)
        if hub.repo:
            return Instead(self.tr("Looking at {}…").format(hub.repo), is_busy=True)
        if hub.models:
            return None
        if hub.is_searching or hub.query is None:
            return Instead(self.tr("Searching…"), is_busy=True)
        return Instead(
            self.tr("Nothing found"), self.tr("Try fewer words, another license, or fewer limits.")
        )

    def _failure(self, error: UserError) -> Instead:
        if error.code in OUT_OF_REACH:  # the dialog says that for all pages
            return Instead(self.tr("Nothing is found while offline"))
        title = self.tr("Hugging Face did not answer as it should")
        words = said(error.message, error.hint)
        return Instead(title, words, "warning", self.tr("Try again"), self._hub.ask_again)

    @Slot()
    def _on_back(self) -> None:
        self._hub.leave_repository()
        if self.stack.currentWidget() is self.rows:
            self.rows.take_focus()
