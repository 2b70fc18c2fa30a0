"""Search among the Hub's GGUF models, and the page of one of them. It asks nobody by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QHBoxLayout, QWidget

from paceline.catalog import words
from paceline.catalog.hub.values import HubModel, SearchQuery
from paceline.gui.viewmodels.candidates import hub_facts
from paceline.gui.viewmodels.hub_results import MODEL_ROLE, HubResults
from paceline.gui.viewmodels.recommended import BYTES_PER_WEIGHT
from paceline.gui.widgets.fields import Choice
from paceline.gui.widgets.picker.model_rows import Badge, RowText
from paceline.gui.widgets.picker.page import Page
from paceline.gui.widgets.picker.repository_card import RepositoryCard

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QIcon, QResizeEvent

    from paceline.catalog.hub.values import HubChoice, HubRepository, Sort
    from paceline.errors import UserError
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.picks import Picks
    from paceline.gui.widgets.picker.model_rows import Index

LICENSES = ("apache-2.0", "mit", "llama3.1", "llama3.2", "gemma", "cc-by-4.0", "cc-by-nc-4.0")
_WIDE_PX = 480
SHARE_OF_A_DRAFT = 4
"""A draft model has at most this part of its target's weights; larger ones hardly pay."""


class HubPage(Page):
    """Fields, results, and in their place the card of a repository while one is looked at."""

    search_requested = Signal(object)
    """SearchQuery"""
    typed = Signal(object)
    """SearchQuery, which may be another one after the next key"""
    repository_requested = Signal(str)
    """``OWNER/NAME``"""
    more_requested = Signal()
    online_requested = Signal()
    """The user wants to leave the offline mode."""

    def __init__(self, results: HubResults, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(name=self.tr("Models on Hugging Face"), theme=theme, parent=parent)
        self._picks: Picks | None = None
        self._n_free = 0
        self._repository_wanted = ""
        self._asked: SearchQuery | None = None
        self._signs: dict[str, QIcon] = {}
        self.bar.addWidget(self.make_search(self.tr("Search on Hugging Face")), 1)
        self.sort = self._choice(
            self.tr("Order"),
            (
                (self.tr("Trending"), "trending"),
                (self.tr("Most downloads"), "downloads"),
                (self.tr("Most likes"), "likes"),
                (self.tr("Newest"), "recent"),
            ),
        )
        self.license = self._choice(
            self.tr("License"), ((self.tr("Any license"), ""), *((name, name) for name in LICENSES))
        )
        choices, ticks = QWidget(), QWidget()
        self._filters = (choices, ticks)
        self._lay_out(choices, 8, self.sort, self.license)
        self.bar.addWidget(choices)
        self.fits = QCheckBox(self.tr("Fits my machine"))
        self.drafts = QCheckBox(self.tr("Drafts for this target"))
        self.drafts.setChecked(True)
        self._lay_out(ticks, 16, self.fits, self.drafts).addStretch(1)
        self.column.insertWidget(1, ticks)
        self.card = RepositoryCard(theme)
        self.stack.addWidget(self.card)
        self.stack.currentChanged.connect(self._on_shown)
        self.rows.setModel(results)
        self._results = results
        self.search.textChanged.connect(self._on_typed)
        self.search.returnPressed.connect(self.search_now)
        for choice in (self.sort, self.license):
            choice.currentIndexChanged.connect(self.search_now)
        for box in (self.fits, self.drafts):
            box.toggled.connect(self.search_now)
        self.state.asked.connect(self._on_asked)
        self.card.back.connect(self.show_results)
        self.card.picked.connect(self.picked)
        self.card.confirmed.connect(self.confirmed)
        results.state_changed.connect(self._show_state)
        self.rows.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    @staticmethod
    def _choice(name: str, entries: tuple[tuple[str, str], ...]) -> Choice:
        choice = Choice()
        choice.setAccessibleName(name)
        choice.setToolTip(name)
        for text, value in entries:
            choice.addItem(text, value)
        choice.setMinimumContentsLength(12)
        return choice

    @staticmethod
    def _lay_out(row: QWidget, spacing: int, *widgets: QWidget) -> QHBoxLayout:
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(spacing)
        for widget in widgets:
            layout.addWidget(widget)
        return layout

    @Slot()
    def _on_shown(self) -> None:
        """Leave the room of the filters to a repository: they say nothing about its files."""
        for row in self._filters:
            row.setVisible(self.stack.currentWidget() is not self.card)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the choices below the search field where they would leave nothing of it."""
        super().resizeEvent(event)
        is_wide = self.width() >= _WIDE_PX
        self.bar.setDirection(
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )

    # ----------------------------------------------------------------------------- what is asked

    def query(self) -> SearchQuery:
        """What is to be looked for now."""
        picks = self._picks
        target = picks.target if picks is not None and picks.step == 2 else None
        limits = (
            [int(self._n_free / BYTES_PER_WEIGHT)] if self.fits.isChecked() and self._n_free else []
        )
        architecture = ""
        if target is not None and self.drafts.isChecked():
            architecture = target.architecture
            if target.n_params:
                limits.append(target.n_params // SHARE_OF_A_DRAFT)
        sort: Sort = self.sort.currentData()
        return SearchQuery(
            text=self.search.text().strip(),
            sort=sort,
            license=self.license.currentData(),
            max_params=min(limits, default=0),
            architecture=architecture,
        )

    def show_picks(self, picks: Picks, n_free: int) -> None:
        """Know what is picked: drafts are looked for by their target."""
        self._picks, self._n_free = picks, n_free
        self.drafts.setVisible(picks.step == 2)
        self.drafts.setEnabled(picks.target is not None)
        self.fits.setEnabled(n_free > 0)
        picked = picks.target if picks.step == 1 else picks.draft
        self.card.mark(picked.reference if picked else "")
        if self._asked is not None and self.query() != self._asked and self.isVisible():
            self.search_now()

    def begin(self) -> None:
        """Search if that was not done yet for what the fields say."""
        if self._asked != self.query():
            self.search_now()

    @Slot()
    def search_now(self) -> None:
        """Ask for what the fields say."""
        self._asked = self.query()
        self._repository_wanted = ""
        self.search_requested.emit(self._asked)

    @Slot()
    def _on_typed(self) -> None:
        self._asked = self.query()
        self._repository_wanted = ""
        self.typed.emit(self._asked)

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        if value >= self.rows.verticalScrollBar().maximum() - 2 and self._results.has_more:
            self.more_requested.emit()

    @Slot(str)
    def _on_asked(self, action: str) -> None:
        if action == "online":
            self.online_requested.emit()
        else:
            self.look_again()

    # ----------------------------------------------------------------------------- what is shown

    @Slot()
    def show_results(self) -> None:
        """Show the list, or why there is none; also when a repository was looked at."""
        was_card = self.shows_repository
        self._repository_wanted = ""
        self._show_state()
        if was_card and self.stack.currentWidget() is self.rows:
            self.rows.take_focus()

    @Slot()
    def _show_state(self) -> None:
        if self.shows_repository:
            return
        results = self._results
        match results.state:
            case "results":
                self.stack.setCurrentWidget(self.rows)
                return
            case "empty":
                self.state.show_state(
                    self.tr("Nothing found"),
                    self.tr("Try fewer words, another license, or fewer limits."),
                )
            case "offline" | "failed":
                self._show_failure(results.error)
            case _:
                self.state.show_state(self.tr("Searching…"), is_busy=True)
        self.stack.setCurrentWidget(self.state)

    def _show_failure(self, error: UserError | None) -> None:
        action = "repository" if self.shows_repository else "search"
        title, text = self.tr("Hugging Face did not answer as it should"), self.tr("Try again")
        sign = self._signs.get("failed")
        if error is not None and error.code == "offline":
            title, text = self.tr("Offline mode is on"), self.tr("Go online")
            action, sign = "online", self._signs.get("offline")
        elif error is not None and error.code == "no-network":
            title, sign = self.tr("Hugging Face cannot be reached"), self._signs.get("offline")
        words_of_it = f"{error.message} {error.hint}".strip() if error is not None else ""
        self.state.show_state(title, words_of_it, sign=sign, action=action, action_text=text)

    def show_repository_failed(self, error: UserError) -> None:
        """The repository that was asked for cannot be looked at."""
        if self.shows_repository:
            self._show_failure(error)
            self.stack.setCurrentWidget(self.state)

    def set_signs(self, offline: QIcon, failed: QIcon) -> None:
        """Show these above what went wrong."""
        self._signs = {"offline": offline, "failed": failed}

    def open_repository(self, repo: str) -> None:
        """Look at a repository."""
        self._repository_wanted = repo
        self.state.show_state(self.tr("Looking at {}…").format(repo), is_busy=True)
        self.stack.setCurrentWidget(self.state)
        self.repository_requested.emit(repo)

    def look_again(self) -> None:
        """Ask once more for what is shown."""
        if self.shows_repository:
            self.open_repository(self._repository_wanted)
        else:
            self.search_now()

    def show_repository(self, repository: HubRepository, recommended: HubChoice | None) -> None:
        """Show the card of the repository that was asked for; others are too late."""
        if repository.model.repo != self._repository_wanted:
            return
        self.card.show_repository(repository, recommended, self._n_free)
        self.stack.setCurrentWidget(self.card)
        self.card.files.take_focus()

    @property
    def shows_repository(self) -> bool:
        """Whether a repository is looked at, or about to be."""
        return bool(self._repository_wanted)

    def row_text(self, index: Index) -> RowText:
        """What a row says."""
        model = index.data(MODEL_ROLE)
        if not isinstance(model, HubModel):
            return RowText("")
        badges = (Badge(self.tr("gated"), "lookup"),) if model.gate != "open" else ()
        counts = self.tr("{} downloads").format(words.weights(model.downloads) or "0")
        return RowText(model.repo, hub_facts(model), counts, badges, is_picked=None)

    def pick(self, index: QModelIndex) -> bool:
        """Open the card of a row; the model itself is picked there."""
        model = index.data(MODEL_ROLE)
        if isinstance(model, HubModel):
            self.open_repository(model.repo)
        return False

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        super().set_theme(theme)
        self.card.set_theme(theme)
