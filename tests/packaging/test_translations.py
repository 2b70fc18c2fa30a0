"""The strings of the interface are found, and what is translated says the same as its source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import translations
from linguist import catalogue, checks
from linguist.catalogue import Entry
from linguist.sources import SENTENCES, Found, Source, find_all, find_in, find_sentences

IS_PARTIAL = False
"""True while strings may lack a translation; once it is False, a new string without one fails here,
and so does a translation whose string is gone."""


@pytest.fixture(scope="module")
def found() -> Found:
    return find_all(translations.PACKAGE)


def test_every_string_can_be_translated(found: Found) -> None:
    assert found.refused == []
    assert len(found.strings) > 1000


def test_the_translations_are_in_order(found: Found) -> None:
    assert translations.faults(found, is_partial=IS_PARTIAL) == []


def strings_of(source: str) -> tuple[set[tuple[str, str]], list[str]]:
    found = Found()
    find_in(source, "made.py", found)
    return {(each.context, each.text) for each in found.strings}, found.refused


def test_strings_of_classes_helpers_and_literals() -> None:
    strings, refused = strings_of(
        """
from PySide6.QtCore import QCoreApplication
_CONTEXT = "Words"
def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)
def words(n: int) -> str:
    tr = QCoreApplication.translate
    return _tr("one" "two") + tr("Other", "three") + QCoreApplication.translate("Third", "four")
class Outer(QWidget):
    class Inner(QWidget):
        def fill(self):
            tr = self.tr
            tr("five")
    def fill(self):
        self.tr("six {}").format(6)
        self.tr("seven" if self.x else "eight")
"""
    )
    assert refused == []
    assert strings == {
        ("Words", "onetwo"),
        ("Other", "three"),
        ("Third", "four"),
        ("Inner", "five"),
        ("Outer", "six {}"),
        ("Outer", "seven"),
        ("Outer", "eight"),
    }


@pytest.mark.parametrize(
    "line",
    ['self.tr(f"a {x}")', "self.tr(text)", 'owner.tr("a")', '_tr("a")', 'self.tr("a" + x)'],
)
def test_a_text_that_cannot_be_translated_is_refused(line: str) -> None:
    strings, refused = strings_of(f"class A:\n    def b(self):\n        {line}\n")
    assert not strings
    assert len(refused) == 1
    assert refused[0].startswith("made.py:3:")


def sentences_of(source: str) -> tuple[set[str], list[str]]:
    found = Found()
    find_sentences({"made.py": ast.parse(source)}, found)
    return {each.text for each in found.strings if each.context == SENTENCES}, found.refused


def test_templates_of_sentences_and_errors() -> None:
    templates, refused = sentences_of(
        """
class OwnError(UserError): ...
class NarrowError(OwnError): ...
class WhyError(ReasonError): ...
def check(scope, path, n, problem):
    if n:
        raise NarrowError("code", "{n:,} are" if n > 1 else "{n} is", "Give " "{n}.", n=n)
    scope.reject("keyword", "does not lead to “{path}”", path=path)
    refuse("{n} is too much.", n=n)
    raise WhyError("it has no {part}", part=sentence("name of {path}", path=path))
    raise UserError("other-code", problem.message, _tr("Stop {}.").format(n))
    raise ValueError("no words for users")
"""
    )
    assert refused == []
    assert templates == {
        "{n:,} are",
        "{n} is",
        "Give {n}.",
        "does not lead to “{path}”",
        "{n} is too much.",
        "it has no {part}",
        "name of {path}",
    }


@pytest.mark.parametrize(
    "line",
    [
        'raise UserError("code", f"{x} is wrong.")',
        'raise UserError("code", "It is wrong.", "Choose " + x)',
        'raise UserError("code", "{} is wrong.".format(x))',
        'raise UserError("code", ", ".join(x))',
        'raise UserError("code", "{x} is wrong.", y=x)',
        'text = f"{x} is wrong."; raise UserError("code", text)',
        'text = "It is wrong."; refuse(text)',
    ],
)
def test_what_is_no_template_is_refused(line: str) -> None:
    _, refused = sentences_of(f"def check(x):\n    {line}\n")
    assert len(refused) == 1
    assert refused[0].startswith("made.py:2:")


def test_an_update_keeps_marks_and_drops(tmp_path: Path) -> None:
    file = tmp_path / "paceline_de.ts"
    found = Found()
    for text in ("kept", "gone", "<b>{}</b> & more"):
        found.add("A", text, "a.py")
    entries = {source: Entry(source.text.upper(), is_finished=True) for source in found.strings}
    catalogue.write(file, entries, found, "de_DE")
    assert catalogue.read(file) == entries
    later = Found()
    for text in ("kept", "new", "<b>{}</b> & more"):
        later.add("A", text, "a.py")
    brought = catalogue.brought_up(catalogue.read(file), later)
    assert brought == {
        Source("A", "kept"): Entry("KEPT", is_finished=True),
        Source("A", "new"): Entry(),
        Source("A", "<b>{}</b> & more"): Entry("<B>{}</B> & MORE", is_finished=True),
    }
    assert list(checks.gaps(entries, later)) == [
        "A “new”: it is not in the file",
        "A “gone”: the sources no longer say it",
    ]
    assert list(checks.gaps(brought, later)) == ["A “new”: it is not translated"]


@pytest.mark.parametrize(
    ("source", "text", "fault"),
    [
        ("{} of {}", "{}", "placeholders"),
        ("{:.1f} s", "{} s", "placeholders"),
        ("&Open", "Öffnen", "key"),
        ("Rock & roll", "&Rock und Roll", "key"),
        ("<b>{}</b>", "{}", "tags"),
        ("Open…", "Öffnen", "…"),
        ("a ", "b", "begins or ends"),
        ("a", " ", "empty"),
    ],
)
def test_faults_of_a_translation(source: str, text: str, fault: str) -> None:
    (said,) = checks.faults_of_entries({Source("A", source): Entry(text, is_finished=True)})
    assert fault in said
    assert not list(checks.faults_of_entries({Source("A", source): Entry(text)}))


def test_a_release_that_says_something_else_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "paceline_de.ts"
    found = Found()
    found.add("A", "Yes", "a.py")
    found.add("A", "No", "a.py")
    entries = {
        Source("A", "Yes"): Entry("Ja", is_finished=True),
        Source("A", "No"): Entry(),
    }
    catalogue.write(file, entries, found, "de_DE")
    translations.release(file)
    qm = file.with_suffix(".qm")
    assert list(checks.faults_of_release(entries, qm)) == []
    newer = {**entries, Source("A", "No"): Entry("Nein", is_finished=True)}
    (fault,) = checks.faults_of_release(newer, qm)
    assert fault.startswith("A “No”")
    qm.write_bytes(b"no release")
    assert list(checks.faults_of_release(entries, qm)) == ["paceline_de.qm cannot be loaded"]


@pytest.mark.parametrize(
    "text", ["<TS", "<TS><context><name>A</name>" + "<message><source>b</source></message>" * 2]
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "paceline_de.ts"
    file.write_text(text)
    with pytest.raises(ValueError, match="paceline_de"):
        catalogue.read(file)
