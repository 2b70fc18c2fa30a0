"""About: what this is, its versions, and the licences of everything that comes with it.

The versions are what a bug report needs: no file names, no prompts, no settings, since the text is
made to be posted in public. Licences of libraries come from their installed metadata, so what is
shown belongs to the version that runs. Both read files: call them off the main thread.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil
from PySide6.QtCore import QSize, Qt, Slot, qVersion
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QWidget,
)

from paceline import __version__, starter
from paceline.gui.kit.card import FactsCard
from paceline.gui.kit.dialogs import closing_row, scrolling, within_screen
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.translation import local_size, translator
from paceline.gui.look.scale import GAP, PAGE, SMALL, STEP, px
from paceline.gui.look.theme import mono_font
from paceline.messages import DeviceInfo, EngineDescribed

Fact = tuple[str, str]
"""A name and what is said of it"""

_tr = translator("Versions")


def version_facts(engine: EngineDescribed | None) -> list[Fact]:
    """Return the versions of everything that matters; without the engine's those known here."""
    facts = [
        ("Paceline", __version__),
        ("llama-cpp-python", _installed("llama-cpp-python")),
        ("Qt", qVersion()),
        ("PySide6", _installed("PySide6-Essentials")),
        ("Python", platform.python_version()),
        ("NumPy", _installed("numpy")),
        ("huggingface-hub", _installed("huggingface-hub")),
        (_tr("System"), platform.platform()),
    ]
    if engine is not None:
        facts.insert(2, ("llama.cpp", engine.library_version))
    return facts


def machine_facts(engine: EngineDescribed | None) -> list[Fact]:
    """Return what the machine has: memory, cores, devices, and how llama.cpp was built."""
    memory = psutil.virtual_memory()
    facts = [
        (
            _tr("Processor cores"),
            _tr("{} physical, {} logical").format(
                psutil.cpu_count(logical=False) or "?", psutil.cpu_count() or "?"
            ),
        ),
        (_tr("Main memory"), local_size(memory.total)),
    ]
    if engine is None:
        return [*facts, (_tr("Devices"), _tr("The engine has not answered yet."))]
    facts += [(device.name, _device(device)) for device in engine.devices]
    facts.append((_tr("Build flags"), engine.system_info.strip()))
    return facts


def report(engine: EngineDescribed | None) -> str:
    """Return both as plain text for a bug report."""
    facts = [*version_facts(engine), *machine_facts(engine)]
    return "\n".join(f"{name}: {words}" for name, words in facts)


def requirements() -> Sequence[str]:
    """Return the distributions that this one needs; empty where no metadata came along."""
    try:
        required = metadata.requires("paceline") or []
    except metadata.PackageNotFoundError:
        return ()
    always = [line for line in required if "extra ==" not in line]
    return list(dict.fromkeys(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in always))


def _device(device: DeviceInfo) -> str:
    return _tr("{} ({}), {} of {} free").format(
        device.description,
        device.kind,
        local_size(device.free_bytes),
        local_size(device.total_bytes),
    )


def _installed(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return _tr("not known")


_STIX = "https://github.com/stipub/stixfonts"
_WORDS = ("license", "licence", "copying", "notice")
_MOST_LETTERS = 300_000
_MOST_TEXTS = 12


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that is shipped.

    Attributes:
        name: What it is called.
        licence: The licence in a few words; empty: see the text.
        text: The whole text; empty: none came along.
    """

    name: str
    licence: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadLicences:
    """Reads them all; a job for the background."""

    resources: Path
    libraries: Sequence[str]

    def __call__(self) -> tuple[Component, ...]:
        """Return the program itself, what lies in its folders, and its libraries."""
        own = (
            _library("paceline"),
            _shipped("Inter", "OFL-1.1", self.resources / "fonts" / "Inter-OFL.txt"),
            _shipped("JetBrains Mono", "OFL-1.1", self.resources / "fonts/JetBrainsMono-OFL.txt"),
            _shipped("Demo models", "PSF-2.0", self.resources / "models" / "LICENSE-PSF-2.0.txt"),
        )
        fetched = Component(starter.NAME, "Apache-2.0", f"{starter.SOURCE}\n{starter.LICENCE}")
        formulas = Component("STIX Two Math", "OFL-1.1", f"{_STIX}\nIt comes with ziamath.")
        libraries = sorted((_library(name) for name in self.libraries), key=_name)
        return tuple(
            each for each in (*own, fetched, formulas, *libraries) if each.licence or each.text
        )


def _name(component: Component) -> str:
    return component.name.casefold()


def _shipped(name: str, licence: str, file: Path) -> Component:
    try:
        return Component(name, licence, file.read_text(encoding="utf-8")[:_MOST_LETTERS])
    except (OSError, UnicodeDecodeError):
        return Component(name, licence, "")


def _library(name: str) -> Component:
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return Component(name, "", "")
    about = distribution.metadata
    licence = "\n".join(about.get_all("License-Expression") or about.get_all("License") or ())
    if not licence:
        classified = [
            line.rsplit("::", 1)[-1].strip()
            for line in about.get_all("Classifier") or ()
            if line.startswith("License ::")
        ]
        licence = ", ".join(classified)
    # Some put the whole text into the short field.
    short = licence.strip().splitlines()[0] if licence.strip() else ""
    texts = []
    for file in distribution.files or ():
        if any(word in file.name.casefold() for word in _WORDS) and file.suffix != ".py":
            try:
                texts.append(file.read_text(encoding="utf-8").strip())
            except (OSError, UnicodeDecodeError):
                continue
        if len(texts) == _MOST_TEXTS:
            break
    title = f"{about['Name'] or name} {distribution.version}"
    return Component(title, short[:80], "\n\n\n".join(texts)[:_MOST_LETTERS])


_SIGN_PX = 56


class AboutDialog(QDialog):
    """Three things: the name, the facts, the licences."""

    def __init__(
        self, sign: QIcon, engine: EngineDescribed | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Paceline"))
        self._engine = engine
        picture = QLabel(pixmap=sign.pixmap(_SIGN_PX, _SIGN_PX))
        name = text_label("Paceline", "heading")
        version = text_label(self.tr("Version {}").format(__version__), "muted")
        purpose = text_label(
            self.tr(
                "Chat with local language models, made fast by speculative decoding that you can "
                "watch. Free software under the MIT licence."
            ),
            "muted",
            wraps=True,
        )
        title = row_of(
            (name, 0, Qt.AlignmentFlag.AlignBaseline),
            (version, 0, Qt.AlignmentFlag.AlignBaseline),
            None,
            spacing=STEP,
        )
        words = column_of(title, purpose, spacing=2)
        head = row_of(
            (picture, 0, Qt.AlignmentFlag.AlignTop),
            (words, 1),
            margins=(PAGE, PAGE - 4, PAGE, STEP),
            spacing=2 * STEP,
        )

        self.versions = VersionsPage(engine)
        self.licences = LicencesPage()
        self.tabs = QTabWidget()
        self.tabs.addTab(
            scrolling(self.versions, self.tr("Versions")), self.tr("Versions and devices")
        )
        self.tabs.addTab(self.licences, self.tr("Licences"))
        self.tabs.tabBar().setAccessibleName(self.tr("Pages"))
        middle = column_of(self.tabs, margins=(PAGE, 0, PAGE, 0))
        self.copy = QPushButton(self.tr("Copy for a bug report"), autoDefault=False)
        self.copy.setToolTip(
            self.tr("Versions and devices as text; nothing of your chats, files or settings")
        )
        self.copy.clicked.connect(self._on_copy)
        column_of(head, (middle, 1), closing_row(self, (self.copy,)), on=self, margins=0, spacing=0)
        self.setMinimumSize(480, 360)
        self.resize(within_screen(self, QSize(px(860), px(640))))

    def show_engine(self, engine: EngineDescribed) -> None:
        """Show what the engine said of itself meanwhile."""
        self._engine = engine
        self.versions.show_engine(engine)

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(report(self._engine))
        self.copy.setText(self.tr("Copied"))


class VersionsPage(QWidget):
    """Versions and the machine, as two cards."""

    def __init__(self, engine: EngineDescribed | None) -> None:
        super().__init__()
        self.setProperty("kind", "page")
        self.versions = FactsCard(self.tr("Versions"))
        self.machine = FactsCard(self.tr("This machine"))
        column_of(self.versions, self.machine, None, on=self, margins=(0, GAP, 0, GAP), spacing=GAP)
        self.show_engine(engine)

    def show_engine(self, engine: EngineDescribed | None) -> None:
        """Show what the engine said of itself."""
        self.versions.show_rows(version_facts(engine))
        self.machine.show_rows(machine_facts(engine))


class LicencesPage(QWidget):
    """A list of what is shipped, and the text of the chosen one."""

    def __init__(self) -> None:
        super().__init__()
        self._components: Sequence[Component] = ()
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("What is shipped"))
        self.list.setFixedWidth(px(220))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentRowChanged.connect(self._on_row)
        self.text = styled(QPlainTextEdit(readOnly=True, tabChangesFocus=True), kind="code")
        self.text.setAccessibleName(self.tr("Text of the licence"))
        self.text.setFont(mono_font(SMALL))
        row_of(self.list, (self.text, 1), on=self, margins=(0, GAP, 0, GAP), spacing=GAP)

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
