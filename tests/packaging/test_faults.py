"""The table of faults: each names tests that are there, and protections that can be taken away."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

import faults
import planted_faults
from architecture.source import modules
from faults import ROWS, Result
from planted import tree


def test_all_rows_of_the_design_are_there() -> None:
    missing = {33, 40}  # power loss needs another file system; there is no local server
    assert [row.name for row in ROWS] == [f"R{n}" for n in range(1, 44) if n not in missing]


def check_that_it_is_there(test: str) -> None:
    """Check that there is a file or folder, or a test in a file: ``file::name[case]``."""
    place, _, name = test.partition("[")[0].partition("::")
    path = faults.ROOT / place
    assert path.exists(), test
    assert not name or re.search(rf"^def {name}\(", path.read_text("utf-8"), re.MULTILINE), test


def test_every_test_is_there() -> None:
    for row in ROWS:
        for test in row.tests:
            check_that_it_is_there(test)


def test_every_place_to_break_is_there_once() -> None:
    texts = [module.text for module in modules()]
    places = [old for row in ROWS for old, _ in row.without]
    assert [old for old in places if sum(old in text for text in texts) != 1] == []


def test_trials_are_counted() -> None:
    report = ET.fromstring(
        "<testsuite><testcase classname='a' name='one' time='2'/>"
        "<testcase classname='a' name='two'><skipped/></testcase>"
        "<testcase classname='b' name='three[1]' time='0.5'><properties>"
        "<property name='trials' value='7'/></properties><failure/></testcase></testsuite>"
    )
    assert faults.counted(report, ("a.py", "b.py::three")) == Result(8, 1, 2.5)
    assert faults.counted(report, ("a.py",)) == Result(1, 0, 2.0)


def test_a_report_is_read_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    known = faults.read_report()
    written: list[str] = []
    monkeypatch.setattr(type(faults.REPORT), "write_text", lambda _, text, __: written.append(text))
    faults.write_report(known)
    assert written == [faults.REPORT.read_text("utf-8")]


def test_every_fault_can_be_planted() -> None:
    texts = [path.read_text("utf-8") for path in tree.sources(tree.ROOT)]
    for fault in itertools.chain.from_iterable(planted_faults.CLASSES.values()):
        for test in fault.tests:
            check_that_it_is_there(test)
        for old, _ in fault.changes:
            assert sum(old in text for text in texts) == 1, f"{fault.name}: {old!r}"
