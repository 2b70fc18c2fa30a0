"""The interface's language: English in the sources, others from files of Qt's own tools.

Texts are looked up when widgets are made, so a language is installed before the window and another
one takes effect with the next start. Qt's own words (buttons of its dialogs, menus of text fields)
come from the file that PySide brings along. Numbers and dates follow the language, too: it is the
program's `QLocale`, which is `QLocale.c()` in English, and `local` gives a number its signs. Main
thread; `QCoreApplication` must exist.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from paceline.engine.draft.base import DrafterInfo
from paceline.parameters import Parameter, parameters_of
from paceline.sizes import part_and_whole, readable_size, weights

ENGLISH = "en"
FOLDER = "translations"
"""Name of the folder of translations, below the resources."""
DRAFTERS = "Drafters"
"""Context of the drafters' own words; `packaging/translations.py` collects it."""
FIELDS = "Fields"
"""Context of the words of parameters, those of drafters included."""

_logger = logging.getLogger(__name__)


def translator(context: str) -> Callable[[str], str]:
    """Return the function that translates words of a context, where there is no object's `tr`."""
    return partial(QCoreApplication.translate, context)


_tr = translator(DRAFTERS)
_of_field = translator(FIELDS)


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
        resources: The folder of shipped files.

    Returns:
        The installed translators, owned by the application; empty for English and for a language
        without a file.
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
    QLocale.setDefault(QLocale(language))
    of_qt = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if not of_qt.load(f"qtbase_{language}", folder):
        return (ours,)
    QCoreApplication.installTranslator(of_qt)
    return ours, of_qt


def in_words(info: DrafterInfo) -> DrafterInfo:
    """Return a drafter's description in the language of the interface.

    The words of a plug-in stay as they are.
    """
    parameters = tuple(map(parameter_in_words, info.parameters))
    return replace(info, title=_tr(info.title), summary=_tr(info.summary), parameters=parameters)


def parameter_in_words(parameter: Parameter) -> Parameter:
    """Return a parameter in the language of the interface."""
    return replace(
        parameter,
        title=_of_field(parameter.title),
        help=_of_field(parameter.help),
        unset=_of_field(parameter.unset),
        unit=_of_field(parameter.unit),
        choices=tuple((value, _of_field(words)) for value, words in parameter.choices),
    )


def value_in_words(parameter: Parameter, value: Any) -> str:
    """Return a parameter, already translated, with its value in a few words."""
    if value in (None, "", ()):
        return parameter.unset
    if not parameter.is_number:
        return parameter.title
    if parameter.unit:
        return f"{parameter.title} {local(value):,} {parameter.unit}"
    return f"{parameter.title} {value if parameter.kind == 'int' else format(local(value), 'g')}"


def fields_in_words(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a dataclass's fields in the language of the interface."""
    return {name: parameter_in_words(each) for name, each in parameters_of(cls).items()}


class local:  # noqa: N801  # it reads as a function
    """A number that is formatted with the signs of the interface's language.

    Every number that is shown is wrapped: ``f"{local(speed):.1f}"``, ``words.format(local(n))``.
    """

    __slots__ = ("_number",)

    def __init__(self, number: float) -> None:
        self._number = number

    def __format__(self, how: str) -> str:
        return with_signs(format(self._number, how))


def local_size(n_bytes: float) -> str:
    """Return a size in words, as `readable_size`."""
    return with_signs(readable_size(n_bytes))


def known_size(n_bytes: float) -> str:
    """Return a file's size in words, or empty for 0, an unknown size."""
    return local_size(n_bytes) if n_bytes else ""


def local_weights(n_params: int) -> str:
    """Return a number of weights or downloads, as `weights`, or empty for 0, an unknown number."""
    return with_signs(weights(n_params))


def local_sizes(n_part: float, n_whole: float) -> tuple[str, str]:
    """Return two sizes in one unit, as `part_and_whole`."""
    part, whole = part_and_whole(n_part, n_whole)
    return with_signs(part), with_signs(whole)


def with_signs(number: str) -> str:
    """Return a number in Python's form with the signs of the interface's language."""
    locale = QLocale()
    return number.translate({ord("."): locale.decimalPoint(), ord(","): locale.groupSeparator()})


def with_unit(number: str) -> str:
    """Return a number with the language's signs, and its unit after a thin non-breaking space."""
    return with_signs(number).replace(" ", "\N{NARROW NO-BREAK SPACE}")
