"""About: what this is, its versions, and the licences of everything that comes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from paceline import __version__
from paceline.gui.scale import GAP, PAGE, SMALL, STEP, px
from paceline.gui.theme import mono_font
from paceline.gui.versions import machine_facts, report, version_facts
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.dialog_parts import closing_row, scrolling
from paceline.gui.widgets.facts_grid import FactsGrid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QIcon

    from paceline.gui.licences import Component
    from paceline.messages import EngineDescribed

_SIGN_PX = 56


class VersionsPage(QWidget):
    """Versions and the machine, as two cards."""

    def __init__(self, engine: EngineDescribed | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "page")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP, 0, GAP)
        column.setSpacing(GAP)
        self.versions, self.machine = FactsGrid(), FactsGrid()
        for title, grid in (
            (self.tr("Versions"), self.versions),
            (self.tr("This machine"), self.machine),
        ):
            card = Card()
            card.set_title(title)
            card.body.addWidget(grid)
            column.addWidget(card)
        column.addStretch(1)
        self.show_engine(engine)

    def show_engine(self, engine: EngineDescribed | None) -> None:
        """Show what the engine said of itself."""
        self.versions.show_facts(version_facts(engine))
        self.machine.show_facts(machine_facts(engine))


class LicencesPage(QWidget):
    """A list of what is shipped, and the text of the chosen one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._components: Sequence[Component] = ()
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("What is shipped"))
        self.list.setFixedWidth(px(220))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentRowChanged.connect(self._on_row)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Text of the licence"))
        self.text.setProperty("kind", "code")
        self.text.setFont(mono_font(SMALL))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, GAP, 0, GAP)
        row.setSpacing(GAP)
        row.addWidget(self.list)
        row.addWidget(self.text, 1)

    def show_components(self, components: Sequence[Component]) -> None:
        """List these; the first one is shown."""
        self._components = components
        self.list.clear()
        for component in components:
            self.list.addItem(component.name)
        self.list.setCurrentRow(0)

    @Slot(int)
    def _on_row(self, row: int) -> None:
        if 0 <= row < len(self._components):
            component = self._components[row]
            text = component.text or self.tr("The text did not come along with this installation.")
            head = f"{component.name}\n{component.licence}\n\n" if component.licence else ""
            self.text.setPlainText(head + text)


class AboutDialog(QDialog):
    """Three things: the name, the facts, the licences."""

    def __init__(
        self, sign: QIcon, engine: EngineDescribed | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("About Paceline"))
        self._engine = engine
        picture = QLabel()
        picture.setPixmap(sign.pixmap(_SIGN_PX, _SIGN_PX))
        name = QLabel("Paceline")
        name.setProperty("role", "heading")
        version = QLabel(self.tr("Version {}").format(__version__))
        version.setProperty("role", "muted")
        purpose = QLabel(
            self.tr(
                "Chat with local language models, made fast by speculative decoding that you can "
                "watch. Free software under the MIT licence."
            )
        )
        purpose.setWordWrap(True)
        purpose.setProperty("role", "muted")
        words = QVBoxLayout()
        words.setSpacing(2)
        title = QHBoxLayout()
        title.setSpacing(STEP)
        title.addWidget(name, 0, Qt.AlignmentFlag.AlignBaseline)
        title.addWidget(version, 0, Qt.AlignmentFlag.AlignBaseline)
        title.addStretch(1)
        words.addLayout(title)
        words.addWidget(purpose)
        head = QHBoxLayout()
        head.setContentsMargins(PAGE, PAGE - 4, PAGE, STEP)
        head.setSpacing(2 * STEP)
        head.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)

        self.versions = VersionsPage(engine)
        self.licences = LicencesPage()
        self.tabs = QTabWidget()
        self.tabs.addTab(
            scrolling(self.versions, self.tr("Versions")), self.tr("Versions and devices")
        )
        self.tabs.addTab(self.licences, self.tr("Licences"))
        self.tabs.tabBar().setAccessibleName(self.tr("Pages"))
        middle = QVBoxLayout()
        middle.setContentsMargins(PAGE, 0, PAGE, 0)
        middle.addWidget(self.tabs)
        self.copy = QPushButton(self.tr("Copy for a bug report"))
        self.copy.setToolTip(
            self.tr("Versions and devices as text; nothing of your chats, files or settings")
        )
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self._on_copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addLayout(middle, 1)
        column.addWidget(closing_row(self, (self.copy,)))
        self.setMinimumSize(480, 360)
        self.resize(px(860), px(640))

    def show_engine(self, engine: EngineDescribed) -> None:
        """Show what the engine said of itself meanwhile."""
        self._engine = engine
        self.versions.show_engine(engine)

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(report(self._engine))
        self.copy.setText(self.tr("Copied"))
