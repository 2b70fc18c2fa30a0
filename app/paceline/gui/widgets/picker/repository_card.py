"""A repository of the Hub: what it is, whether its files may be had, and which one to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.theme import restyle
from paceline.gui.viewmodels.candidates import hub_facts, of_choice, size_text, spoken
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.picker.model_list import ModelList
from paceline.gui.widgets.picker.model_rows import Badge, RowText

if TYPE_CHECKING:
    from typing import Any

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QIcon

    from paceline.catalog.hub.values import HubChoice, HubRepository
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.candidates import Candidate
    from paceline.gui.widgets.picker.model_rows import Index

_NAME_PX = 2000
CHOICE_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class _Choices(QAbstractListModel):
    """The models of one repository."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._choices: tuple[HubChoice, ...] = ()

    def show_choices(self, choices: tuple[HubChoice, ...]) -> None:
        """Have these rows."""
        self.beginResetModel()
        self._choices = choices
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        """Number of models."""
        return 0 if parent is not None and parent.isValid() else len(self._choices)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The model of a row, or its name."""
        if not index.isValid():
            return None
        choice = self._choices[index.row()]
        if role == CHOICE_ROLE:
            return choice
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(choice.quantisation, choice.path, size_text(choice.n_bytes))
        return choice.path if role == Qt.ItemDataRole.DisplayRole else None


class RepositoryCard(QWidget):
    """Shows a `HubRepository`; files that may not be had are shown and cannot be picked."""

    back = Signal()
    picked = Signal(object)
    """Candidate"""
    confirmed = Signal()
    token_given = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._repository: HubRepository | None = None
        self._recommended: HubChoice | None = None
        self._n_free = 0
        self._picked = ""
        self.back_button = QToolButton()
        self.back_button.setProperty("kind", "quiet")
        self.back_button.setText("‹")
        self.back_button.setToolTip(self.tr("Back to the results (Alt+Left)"))
        self.back_button.setAccessibleName(self.tr("Back to the results"))
        self.back_button.setShortcut("Alt+Left")
        self.name = ElidedLabel(_NAME_PX)
        self.name.setProperty("role", "title")
        self.facts = ElidedLabel(_NAME_PX, Qt.TextElideMode.ElideRight)
        self.facts.setProperty("role", "small")
        self.page_button = QPushButton(self.tr("Open in browser"))
        self.page_button.setProperty("kind", "link")
        self.license_button = QPushButton(self.tr("License"))
        self.license_button.setProperty("kind", "link")
        for label in (self.name, self.facts):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.pill = QLabel()
        self.pill.setProperty("role", "pill")
        self.gate = self._make_gate()
        self.files = ModelList(self.tr("Files"), self.row_text, theme)
        self._choices = _Choices(self)
        self.files.setModel(self._choices)
        self._lay_out()
        self.back_button.clicked.connect(self.back)
        self.page_button.clicked.connect(self._on_page)
        self.license_button.clicked.connect(self._on_license)
        self.files.picked.connect(self._on_picked)
        self.files.confirmed.connect(self._on_confirmed)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.name)
        words.addWidget(self.facts)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.back_button)
        top.addLayout(words, 1)
        for widget in (self.pill, self.license_button, self.page_button):
            top.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self.gate)
        column.addWidget(self.files, 1)

    def _make_gate(self) -> QFrame:
        gate = QFrame()
        gate.setProperty("kind", "notice")
        gate.setProperty("tone", "lookup")
        self.gate_text = QLabel()
        self.gate_text.setWordWrap(True)
        self.ask_button = QPushButton(self.tr("Ask for access…"))
        self.ask_button.setProperty("kind", "compact")
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText(self.tr("Access token, hf_…"))
        self.token.setAccessibleName(self.tr("Access token of Hugging Face"))
        self.token_button = QPushButton(self.tr("Use token"))
        self.token_button.setProperty("kind", "compact")
        self.token_button.setEnabled(False)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.token, 1)
        row.addWidget(self.token_button)
        row.addWidget(self.ask_button)
        column = QVBoxLayout(gate)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(8)
        column.addWidget(self.gate_text)
        column.addLayout(row)
        self.ask_button.clicked.connect(self._on_page)
        self.token.textChanged.connect(self._on_token_typed)
        self.token.returnPressed.connect(self._on_token)
        self.token_button.clicked.connect(self._on_token)
        return gate

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self.files.set_theme(theme)

    def set_icons(self, back: QIcon, external: QIcon) -> None:
        """Show icons on the buttons."""
        if not back.isNull():
            self.back_button.setIcon(back)
            self.back_button.setText("")
        self.page_button.setIcon(external)

    @property
    def repository(self) -> HubRepository | None:
        """What is shown."""
        return self._repository

    def show_repository(
        self, repository: HubRepository, recommended: HubChoice | None, n_free: int
    ) -> None:
        """Show a repository, and which of its models suits `n_free` bytes of memory."""
        self._repository, self._recommended, self._n_free = repository, recommended, n_free
        model = repository.model
        self.name.set_full_text(model.repo)
        self.facts.set_full_text(hub_facts(model))
        self.license_button.setVisible(bool(repository.license_url))
        is_gated = model.gate != "open"
        self.pill.setVisible(is_gated)
        self.pill.setText(self.tr("access granted") if repository.has_access else self.tr("gated"))
        self.pill.setProperty("tone", "accent" if repository.has_access else "lookup")
        restyle(self.pill)
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
        self._choices.show_choices(repository.choices)
        if recommended is not None and recommended in repository.choices:
            at = self._choices.index(repository.choices.index(recommended), 0)
            self.files.setCurrentIndex(at)

    def mark(self, reference: str) -> None:
        """Mark the model with this reference as the picked one."""
        self._picked = reference
        self.files.viewport().update()

    def _candidate(self, index: Index) -> Candidate | None:
        choice = index.data(CHOICE_ROLE)
        if self._repository is None or choice is None:
            return None
        return of_choice(self._repository, choice)

    def row_text(self, index: Index) -> RowText:
        """What the row of a file says."""
        candidate = self._candidate(index)
        if candidate is None or self._repository is None:
            return RowText("")
        choice: HubChoice = index.data(CHOICE_ROLE)
        badges = []
        if choice == self._recommended:
            badges.append(Badge(self.tr("recommended"), "accent"))
        elif 0 < self._n_free < choice.n_bytes:
            badges.append(Badge(self.tr("more than the free memory"), "lookup"))
        n_parts = len(choice.files)
        return RowText(
            title=choice.quantisation or candidate.title,
            facts=choice.path if n_parts == 1 else self.tr("{} parts").format(n_parts),
            size=size_text(choice.n_bytes),
            badges=tuple(badges),
            is_picked=candidate.reference == self._picked,
            is_dimmed=bool(candidate.problem) or not self._repository.has_access,
            problem=candidate.problem,
        )

    def _pick(self, index: Index) -> bool:
        candidate = self._candidate(index)
        if candidate is None or candidate.problem or not self._has_access:
            return False
        self.picked.emit(candidate)
        return True

    @property
    def _has_access(self) -> bool:
        return self._repository is not None and self._repository.has_access

    @Slot("QModelIndex")
    def _on_picked(self, index: QModelIndex) -> None:
        self._pick(index)

    @Slot("QModelIndex")
    def _on_confirmed(self, index: QModelIndex) -> None:
        if self._pick(index):
            self.confirmed.emit()

    @Slot()
    def _on_page(self) -> None:
        if self._repository is not None:
            QDesktopServices.openUrl(QUrl(self._repository.url))

    @Slot()
    def _on_license(self) -> None:
        if self._repository is not None:
            QDesktopServices.openUrl(QUrl(self._repository.license_url))

    @Slot(str)
    def _on_token_typed(self, text: str) -> None:
        self.token_button.setEnabled(bool(text.strip()))

    @Slot()
    def _on_token(self) -> None:
        token = self.token.text().strip()
        if token:
            self.token.clear()
            self.token_given.emit(token)
