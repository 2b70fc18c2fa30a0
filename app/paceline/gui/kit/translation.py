"""The interface's language: English in the sources, others from files made by Qt's own tools.

Texts are looked up when widgets are made, so a language is installed before the window and another
one takes effect with the next start. Qt's own words (buttons of its dialogs, menus of text fields)
come from the file that PySide brings along. Numbers keep one style in every language: the locale of
the program stays `QLocale.c()`. Main thread; `QCoreApplication` must exist.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.engine.draft.base import DrafterInfo

ENGLISH = "en"
FOLDER = "translations"
"""Below the resources."""
DRAFTERS = "Drafters"
"""Context of what drafters say of themselves; `packaging/translations.py` collects it."""

_logger = logging.getLogger(__name__)


def language_of(setting: str) -> str:
    """Return the code of the language that a setting means: "system" is the desktop's."""
    if setting != "system":
        return setting
    code = QLocale(QLocale.system().uiLanguages()[0]).name().split("_")[0]
    return ENGLISH if code == "C" else code


def install_language(setting: str, resources: Path) -> tuple[QTranslator, ...]:
    """Translate everything that is made from now on.

    Args:
        setting: `Settings.language`.
        resources: The files that are shipped.

    Returns:
        The installed translators, owned by the application; none for English, and for a language
        that there is no file for.
    """
    language = language_of(setting)
    app = QCoreApplication.instance()
    ours = QTranslator(app)
    if language == ENGLISH or app is None:
        return ()
    if not ours.load(f"paceline_{language}", str(resources / FOLDER)):
        _logger.info("there is no translation for the language %r", language)
        return ()
    QCoreApplication.installTranslator(ours)
    of_qt = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if not of_qt.load(f"qtbase_{language}", folder):
        return (ours,)
    QCoreApplication.installTranslator(of_qt)
    return ours, of_qt


def in_words(info: DrafterInfo) -> DrafterInfo:
    """Return a drafter's description in the language of the interface.

    A plug-in's own words stay as they are.
    """
    parameters = tuple(
        replace(each, title=_tr(each.title), help=_tr(each.help)) for each in info.parameters
    )
    return replace(info, title=_tr(info.title), summary=_tr(info.summary), parameters=parameters)


def _tr(text: str) -> str:
    return QCoreApplication.translate(DRAFTERS, text)
