"""The card of a repository of the Hub: its facts, access to its files, and the recommended one."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QSizePolicy

from paceline.catalog.hub.listing import recommended
from paceline.catalog.hub.values import HubChoice, HubRepository
from paceline.gui.kit.labels import ElidedLabel, YieldingButton, text_label
from paceline.gui.kit.layouts import IconButton, Shown, column_of, row_of, set_look, styled
from paceline.gui.look.current import look
from paceline.gui.models.candidates import hub_facts
from paceline.gui.models.lists.model_list import ModelList
from paceline.gui.models.lists.offers import Offer, files_of
from paceline.names import visible

_NAME_PX = 2000


class RepositoryCard(Shown):
    """Card of a `HubRepository`; files without access are shown and cannot be picked."""

    token_given = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.repository: HubRepository | None = None
        """The shown repository."""
        self._recommended: HubChoice | None = None
        self._is_other = False
        self.offers: list[Offer] = []
        """Offers of its files."""
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
        self.files = ModelList(self.tr("Files"))
        self._lay_out()
        self.page_button.clicked.connect(self._on_page)
        self.license_button.clicked.connect(self._on_license)

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

    def show_repository(self, repository: HubRepository, n_free: int) -> None:
        """Show a repository, and put its files for `n_free` bytes of memory into `offers`."""
        self._is_other, self.repository = repository is not self.repository, repository
        if self._is_other:
            self._show_head(repository)
            is_asked = n_free and not repository.newer
            self._recommended = recommended(repository.choices, n_free) if is_asked else None
        self.offers = files_of(repository, self._recommended, n_free)

    def show_recommended(self) -> None:
        """Go to the recommended file of a newly shown repository."""
        if self._is_other and self._recommended is not None and self.repository is not None:
            self.files.show_row(self.repository.choices.index(self._recommended))

    def _show_head(self, repository: HubRepository) -> None:
        model = repository.model
        self.name.setText(visible(model.repo))
        self.facts.setText(hub_facts(model))
        self.license_button.setVisible(bool(repository.license_url))
        self.pill.setVisible(model.gate != "open")
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
