"""Files stay small enough to be read in one go."""

from __future__ import annotations

import ast
import re

import pytest

from architecture.source import Module, module, modules

LONG = 350
TOO_LONG = 500


def complaint(candidate: Module) -> str:
    """Why a file is too long; empty when it is not."""
    n_lines = candidate.text.count("\n")
    if n_lines > TOO_LONG:
        return f"{candidate.place} has {n_lines} lines: split it"
    reason = ast.get_docstring(candidate.tree) or ""
    if n_lines > LONG and not re.search(r"\bbecause\b|^Long:", reason, re.MULTILINE):
        return f"{candidate.place} has {n_lines} lines, and its docstring does not say why"
    return ""


def test_files_are_short_or_say_why() -> None:
    complaints = [text for m in modules() if (text := complaint(m))]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("docstring", "n_lines", "is_fine"),
    [
        ("A module.", LONG, True),
        ("A module.", LONG + 1, False),
        ("A module.\n\nLong: one table.", LONG + 1, True),
        ("Both stand here because they share a table.", TOO_LONG, True),
        ("Both stand here because they share a table.", TOO_LONG + 1, False),
    ],
)
def test_the_limits_bite(docstring: str, n_lines: int, is_fine: bool) -> None:
    text = f'"""{docstring}"""\n'
    text += "x = 1\n" * (n_lines - text.count("\n"))
    assert (complaint(module(text)) == "") == is_fine


def test_every_module_says_what_it_is_for() -> None:
    silent = [m.place for m in modules() if not ast.get_docstring(m.tree)]
    assert not silent
