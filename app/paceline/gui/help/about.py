"""The About dialog: the program, its versions, and the licences of all shipped parts.

The versions are those that a bug report needs: no file names, no prompts, no settings, since the
text is meant to be posted in public. Licences of libraries come from their installed metadata, so
they belong to the running version; a package brings the list of its parts. Licences are read off
the main thread.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path

import psutil
from PySide6.QtCore import QDate, QLocale, QSize, Qt, Slot, qVersion
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
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, local_size, translator
from paceline.gui.look.scale import GAP, PAGE, SMALL, STEP, px
from paceline.gui.look.theme import mono_font
from paceline.installation import package
from paceline.installation.components import (
    Component,
    library_component,
    listed_components,
    resource_components,
)
from paceline.messages import DeviceInfo, EngineDescribed

Fact = tuple[str, str]
"""A name and its value."""

OLD_DAYS = 180
"""Age in days from which the version is said to be possibly out of date."""

_tr = translator("Versions")


def version_facts(engine: EngineDescribed | None) -> list[Fact]:
    """Return all relevant versions; without the engine's description, those known here."""
    facts = [
        ("Paceline", __version__),
        (_tr("Installation"), said(package.installed_as())),
        ("llama-cpp-python", _installed("llama-cpp-python")),
        ("Qt", qVersion()),
        ("PySide6", _installed("PySide6-Essentials")),
        ("Python", platform.python_version()),
        ("NumPy", _installed("numpy")),
        ("huggingface-hub", _installed("huggingface-hub")),
        (_tr("System"), platform.platform()),
    ]
    if engine is not None:
        facts.insert(3, ("llama.cpp", engine.library_version))
    return facts


def machine_facts(engine: EngineDescribed | None) -> list[Fact]:
    """Return the machine's memory, cores and devices, and the build of llama.cpp."""
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
    if engine.cpu_variant:
        facts.append((_tr("Code for this processor"), engine.cpu_variant))
    facts.append((_tr("Build flags"), engine.system_info.strip()))
    return facts


def report(engine: EngineDescribed | None) -> str:
    """Return both as plain text for a bug report."""
    facts = [*version_facts(engine), *machine_facts(engine)]
    return "\n".join(f"{name}: {words}" for name, words in facts)


def version_words(built: date | None, today: date) -> str:
    """Return the version, with the age of the build if that is known.

    Args:
        built: The day of the build.
        today: The present day; if it precedes the build, a clock is wrong, and no age is given.
    """
    if built is None:
        return _tr("Version {}").format(__version__)
    day = QLocale().toString(QDate(built.year, built.month, built.day), _tr("d MMMM yyyy"))
    days = (today - built).days
    if days < 0:
        return _tr("Version {}, built on {}").format(__version__, day)
    ages = {0: _tr("today"), 1: _tr("yesterday")}
    age = ages.get(days) or _tr("{} days ago").format(local(days))
    return _tr("Version {}, built on {} ({})").format(__version__, day, age)


def old_words(built: date | None, today: date) -> str:
    """Return that a newer version may exist, or empty if the build is young or of unknown age."""
    if built is None or (today - built).days <= OLD_DAYS:
        return ""
    return _tr(
        "There may be a newer version: look where you got this one. Paceline does not look for "
        "updates itself."
    )


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


@dataclass(frozen=True, slots=True)
class ReadLicences:
    """Reader of all licences, a job for the background."""

    resources: Path
    libraries: Sequence[str]

    def __call__(self) -> tuple[Component, ...]:
        """Return the parts of a package, or the program with its shipped folders and libraries."""
        parts_list = package.parts_file()
        if parts_list is not None:
            return listed_components(parts_list)
        fetched = Component(starter.NAME, "Apache-2.0", f"{starter.SOURCE}\n{starter.LICENCE}")
        own = (library_component("paceline"), *resource_components(self.resources), fetched)
        libraries = sorted((library_component(name) for name in self.libraries), key=_name)
        return tuple(each for each in (*own, *libraries) if each.licence or each.text)


def _name(component: Component) -> str:
    return component.name.casefold()


_SIGN_PX = 56


class AboutDialog(QDialog):
    """Dialog with the name, the facts and the licences."""

    def __init__(
        self, sign: QIcon, engine: EngineDescribed | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Paceline"))
        self._engine = engine
        picture = QLabel(pixmap=sign.pixmap(_SIGN_PX, _SIGN_PX))
        name = text_label("Paceline", "heading")
        built, today = package.built_at(), datetime.now(UTC).date()
        version = text_label(version_words(built, today), "muted")
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
        self.old = text_label("", "muted", wraps=True)
        say(self.old, old_words(built, today))
        words = column_of(title, purpose, self.old, spacing=2)
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
        self.resize(within_screen(self, QSize(px(900), px(640))))

    def show_engine(self, engine: EngineDescribed) -> None:
        """Show the engine's description, once it is there."""
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
        """Show the engine's description."""
        self.versions.show_rows(version_facts(engine))
        self.machine.show_rows(machine_facts(engine))


class LicencesPage(QWidget):
    """List of shipped parts, the licence of the selected one, and words on replaceable parts."""

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
        self.replaceable = text_label("", "muted", wraps=True)
        both = row_of(self.list, (self.text, 1), spacing=GAP)
        column_of((both, 1), self.replaceable, on=self, margins=(0, GAP, 0, GAP), spacing=GAP)
        file = package.parts_file()
        say(self.replaceable, self._on_replacing(file.parents[1]) if file else "")

    def _on_replacing(self, folder: Path) -> str:
        return self.tr(
            "The libraries under the LGPL, such as Qt, are files of their own in {}: a build of "
            "yours, of the same version, can take the place of each."
        ).format(folder)

    def show_components(self, components: Sequence[Component]) -> None:
        """List these parts; the first one is selected."""
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
