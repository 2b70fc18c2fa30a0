"""Search among the Hub's GGUF models, and the card of one of them. Requests go out as signals.

The card of a repository says what it is, whether its files may be had, and which one to take.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QSizePolicy, QWidget

from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import (
    HubChoice,
    HubModel,
    HubRepository,
    SearchQuery,
    Sort,
    is_reference,
    parse_reference,
)
from paceline.catalog.judge.curated import BYTES_PER_WEIGHT
from paceline.catalog.sidecar import sidecar_in_path
from paceline.errors import UserError
from paceline.gui.kit.labels import ElidedLabel, YieldingButton, YieldingCheckBox, text_label
from paceline.gui.kit.layouts import IconButton, Shown, column_of, row_of, set_look, styled
from paceline.gui.kit.rows import ROW, Index, Rows
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, local_weights
from paceline.gui.look.current import look
from paceline.gui.models.candidates import (
    Candidate,
    Picks,
    facts,
    head_text,
    hub_facts,
    of_choice,
    spoken,
)
from paceline.gui.models.lists.hub_controller import HubResults
from paceline.gui.models.lists.page import Badge, ModelList, Page, RowText
from paceline.names import visible

_NAME_PX = 2000


class _Choices(Rows[HubChoice]):
    """The models of one repository."""

    def title(self, row: HubChoice) -> str:
        return row.path

    def spoken(self, row: HubChoice) -> str:
        if sidecar := sidecar_in_path(row.path):
            return spoken(row.path, sidecar.sentence, known_size(row.n_bytes))
        return spoken(row.quantisation, row.path, known_size(row.n_bytes))


class RepositoryCard(Shown):
    """Shows a `HubRepository`; files that may not be had are shown and cannot be picked."""

    picked = Signal(object)
    """Candidate"""
    confirmed = Signal()
    token_given = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.repository: HubRepository | None = None
        """What is shown."""
        self._recommended: HubChoice | None = None
        self._n_free = 0
        self._picked = ""
        back, tip = self.tr("Back to the results"), self.tr("Back to the results (Alt+Left)")
        self.back_button = IconButton("back", back, tip)
        self.back_button.setShortcut("Alt+Left")
        self.name = styled(ElidedLabel(_NAME_PX), role="title")
        self.facts = styled(ElidedLabel(_NAME_PX, Qt.TextElideMode.ElideRight), role="small")
        self.page_button = styled(QPushButton(self.tr("Open in browser")), kind="link")
        self.page_button.setIcon(look.icon("external"))
        self.license_button = styled(QPushButton(self.tr("License")), kind="link")
        for label in (self.name, self.facts):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.pill = text_label("", "pill")
        self.gate = self._make_gate()
        self.files = ModelList(self.tr("Files"), self.row_text)
        self._choices = _Choices(self)
        self.files.setModel(self._choices)
        self._lay_out()
        self.page_button.clicked.connect(self._on_page)
        self.license_button.clicked.connect(self._on_license)
        self.files.picked.connect(self._pick)
        self.files.confirmed.connect(self._on_confirmed)

    def _lay_out(self) -> None:
        words = column_of(self.name, self.facts, spacing=2)
        top = row_of(
            self.back_button,
            (words, 1),
            (self.pill, 0, Qt.AlignmentFlag.AlignVCenter),
            (self.license_button, 0, Qt.AlignmentFlag.AlignVCenter),
            (self.page_button, 0, Qt.AlignmentFlag.AlignVCenter),
            spacing=8,
        )
        column_of(top, self.gate, (self.files, 1), on=self, margins=(0, 8, 0, 0), spacing=8)

    def _make_gate(self) -> QFrame:
        gate = styled(QFrame(), kind="notice", tone="lookup")
        self.gate_text = text_label("", "", wraps=True)
        self.ask_button = styled(YieldingButton(self.tr("Ask for access…")), kind="compact")
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText(self.tr("Access token, hf_…"))
        self.token.setAccessibleName(self.tr("Access token of Hugging Face"))
        self.token_button = styled(YieldingButton(self.tr("Use token")), kind="compact")
        self.token_button.setEnabled(False)
        row = row_of((self.token, 1), self.token_button, self.ask_button, spacing=8)
        column_of(self.gate_text, row, on=gate, margins=(12, 10, 12, 10), spacing=8)
        self.ask_button.clicked.connect(self._on_page)
        self.token.textChanged.connect(self._on_token_typed)
        self.token.returnPressed.connect(self._on_token)
        self.token_button.clicked.connect(self._on_token)
        return gate

    def show_repository(
        self, repository: HubRepository, recommended: HubChoice | None, n_free: int
    ) -> None:
        """Show a repository, and which of its models suits `n_free` bytes of memory."""
        self.repository, self._recommended, self._n_free = repository, recommended, n_free
        model = repository.model
        self.name.setText(visible(model.repo))
        self.facts.setText(hub_facts(model))
        self.license_button.setVisible(bool(repository.license_url))
        is_gated = model.gate != "open"
        self.pill.setVisible(is_gated)
        self.pill.setText(self.tr("access granted") if repository.has_access else self.tr("gated"))
        set_look(self.pill, tone="accent" if repository.has_access else "lookup")
        self.gate.setVisible(not repository.has_access)
        who = (
            self.tr("Access is granted as soon as you agree to its terms on the web page.")
            if model.gate == "auto"
            else self.tr("Its owner decides who may have it.")
        )
        self.gate_text.setText(
            self.tr("Access must be asked for. {} Then enter a token of your account here.").format(
                who
            )
        )
        self.token.clear()
        self._choices.set_rows(repository.choices + repository.sidecars)
        if recommended is not None and recommended in repository.choices:
            at = self._choices.index(repository.choices.index(recommended), 0)
            self.files.setCurrentIndex(at)

    def mark(self, reference: str) -> None:
        """Mark the model with this reference as the picked one."""
        self._picked = reference
        self.files.viewport().update()

    def _candidate(self, index: Index) -> Candidate:
        assert self.repository is not None  # it has the rows
        return of_choice(self.repository, index.data(ROW))

    def row_text(self, index: Index) -> RowText:
        """What the row of a file says."""
        candidate = self._candidate(index)
        choice: HubChoice = index.data(ROW)
        badges = []
        if choice == self._recommended:
            badges.append(Badge(self.tr("recommended"), "accent"))
        elif 0 < self._n_free < choice.n_bytes:
            badges.append(Badge(self.tr("more than the free memory"), "lookup"))
        problem = "" if candidate.is_head else said(candidate.problem)
        n_parts = len(choice.files)
        files = choice.path if n_parts == 1 else self.tr("{} parts").format(n_parts)
        return RowText(
            title=candidate.quantisation or candidate.title,
            facts=facts(files, head_text(candidate)),
            size=known_size(choice.n_bytes),
            badges=tuple(badges),
            is_picked=candidate.reference == self._picked,
            is_dimmed=bool(problem) or not self._has_access,
            problem=problem,
        )

    @Slot(QModelIndex)
    def _pick(self, index: QModelIndex) -> bool:
        candidate = self._candidate(index)
        if not self._has_access or (candidate.problem and not candidate.is_head):
            return False
        self.picked.emit(candidate)
        return True

    @property
    def _has_access(self) -> bool:
        return self.repository is not None and self.repository.has_access

    @Slot(QModelIndex)
    def _on_confirmed(self, index: QModelIndex) -> None:
        if self._pick(index):
            self.confirmed.emit()

    @Slot()
    def _on_page(self) -> None:
        if self.repository is not None:
            QDesktopServices.openUrl(QUrl(self.repository.url))

    @Slot()
    def _on_license(self) -> None:
        if self.repository is not None:
            QDesktopServices.openUrl(QUrl(self.repository.license_url))

    @Slot(str)
    def _on_token_typed(self, text: str) -> None:
        self.token_button.setEnabled(bool(text.strip()))

    @Slot()
    def _on_token(self) -> None:
        token = self.token.text().strip()
        if token:
            self.token.clear()
            self.token_given.emit(token)


LICENSES = ("apache-2.0", "mit", "llama3.1", "llama3.2", "gemma", "cc-by-4.0", "cc-by-nc-4.0")
TYPING_MS = 300
"""After the last key: each search is a request to the Hub."""
SHARE_OF_A_DRAFT = 4
"""A draft model has at most this part of its target's weights; larger ones hardly pay."""


class HubPage(Page):
    """Fields, results, and in their place the card of a repository while one is looked at."""

    wide_px = 480
    search_requested = Signal(object)
    """SearchQuery"""
    repository_requested = Signal(str)
    """``OWNER/NAME``"""
    more_requested = Signal()
    online_requested = Signal()
    """The user wants to leave the offline mode."""

    def __init__(self, results: HubResults) -> None:
        super().__init__(name=self.tr("Models on Hugging Face"))
        self._n_free = 0
        self._repository_wanted = ""
        self._asked: SearchQuery | None = None
        self.bar.addWidget(self.make_search(self.tr("Search on Hugging Face"), TYPING_MS), 1)
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
        self.drafts = YieldingCheckBox(self.tr("Drafts for this target"))
        self.drafts.setChecked(True)
        row_of(self.fits, self.drafts, None, on=ticks, margins=0, spacing=16)
        self.column.insertWidget(1, ticks)
        self.card = RepositoryCard()
        self.stack.addWidget(self.card)
        self.stack.currentChanged.connect(self._on_shown)
        self.rows.setModel(results)
        self._results = results
        self.search.wanted.connect(self.begin)
        for choice in (self.sort, self.license):
            choice.currentIndexChanged.connect(self.search_now)
        for box in (self.fits, self.drafts):
            box.toggled.connect(self.search_now)
        self.state.asked.connect(self._on_asked)
        self.card.back_button.clicked.connect(self.show_results)
        self.card.picked.connect(self.picked)
        self.card.confirmed.connect(self.confirmed)
        results.state_changed.connect(self._show_state)
        self.rows.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    @Slot()
    def _on_shown(self) -> None:
        """Leave the room of the filters to a repository: they say nothing about its files."""
        for row in self._filters:
            row.setVisible(self.stack.currentWidget() is not self.card)

    # ----------------------------------------------------------------------------- what is asked

    def query(self) -> SearchQuery:
        """What is to be looked for now."""
        if named := self._named():
            return SearchQuery(text=named)
        target = self.picks.target if self.picks.step == 2 else None
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
        """Follow what is picked: draft models are searched by their target."""
        self.picks, self._n_free = picks, n_free
        self.drafts.setVisible(picks.step == 2)
        self.drafts.setEnabled(picks.target is not None)
        self.fits.setEnabled(n_free > 0)
        self.card.mark(picks.picked.reference if picks.picked else "")
        if self._asked is not None and self.query() != self._asked and self.isVisible():
            self.search_now()

    @Slot()
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
        if named := self._named():
            self.open_repository(named)

    def _named(self) -> str:
        """The repository of an address or a reference in the field; empty: it holds words."""
        text = self.search.text().strip()
        try:
            return parse_reference(text).repo if is_reference(text) else ""
        except HubError:
            return ""

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
        sign = "warning"
        if error is not None and error.code == "offline":
            title, text = self.tr("Offline mode is on"), self.tr("Go online")
            action, sign = "online", "offline"
        elif error is not None and error.code == "no-network":
            title, sign = self.tr("Hugging Face cannot be reached"), "offline"
        words_of_it = said(error.message, error.hint) if error is not None else ""
        self.state.show_state(
            title, words_of_it, sign=look.icon(sign), action=action, action_text=text
        )

    def show_repository_failed(self, error: UserError) -> None:
        """The repository that was asked for cannot be looked at."""
        if self.shows_repository:
            self._show_failure(error)
            self.stack.setCurrentWidget(self.state)

    def open_repository(self, repo: str) -> None:
        """Look at a repository."""
        self.search.tell_now()  # now: a search that came later would take its place
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
        model: HubModel = index.data(ROW)
        badges = (Badge(self.tr("gated"), "lookup"),) if model.gate != "open" else ()
        counts = self.tr("{} downloads").format(local_weights(model.downloads) or "0")
        return RowText(model.repo, hub_facts(model), counts, badges, is_picked=None)

    def pick(self, index: QModelIndex) -> bool:
        """Open the card of a row; the model itself is picked there."""
        model: HubModel = index.data(ROW)
        self.open_repository(model.repo)
        return False
