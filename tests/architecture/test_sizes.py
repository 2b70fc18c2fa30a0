"""A file holds one concept; one that grows long is pointed out."""

from __future__ import annotations

import ast

import pytest

from architecture.measures import folders
from architecture.source import Module, module, modules

LONG = 600
MOST_FILES = 20
"""Files of a folder; one with more is not seen at a glance."""


def is_long(candidate: Module) -> bool:
    return candidate.text.count("\n") > LONG


def test_long_files_are_pointed_out() -> None:
    """No failure: a concept may take more. It is shown among the skipped tests."""
    long = [f"{m.place} has {m.text.count(chr(10))} lines" for m in modules() if is_long(m)]
    if long:
        pytest.skip(f"are these still one concept each? {', '.join(long)}")


def test_the_limit_is_seen() -> None:
    assert not is_long(module("x = 1\n" * LONG))
    assert is_long(module("x = 1\n" * (LONG + 1)))


def test_folders_are_seen_at_a_glance() -> None:
    full = {name: n for name, n in folders().items() if n > MOST_FILES}
    assert not full


def test_every_module_says_what_it_is_for() -> None:
    silent = [m.place for m in modules() if not ast.get_docstring(m.tree)]
    assert not silent
